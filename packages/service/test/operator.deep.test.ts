/** Settlements that end dead on real nodes, and the operator's commands that retry or refund them. */
import { type Address, type Hex, isAddress, isHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Deposit,
  deposit,
  expectDelivered,
  expectEmptyEscrow,
  USDC,
} from "./support/deposits.ts";
import { setPaused } from "./support/pause.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

/** Enough for six runs of the command line on a busy machine. */
const DEATH_DEADLINE_MS = 150_000;
const REASON = ["--reason", "the token was paused, ticket 7"] as const;

/** Breaks the escrow of the source, or repairs it: a contract that reverts without a reason. */
async function breakEscrow(): Promise<() => Promise<void>> {
  const { client } = world.chains.ethereum;
  const address = world.escrow("ethereum");
  const code = await client.getCode({ address });
  const setCode = (bytes: Hex | undefined) =>
    // CAST: a method of the node that the client's types do not include.
    client.request({ method: "anvil_setCode", params: [address, bytes] } as never);
  await setCode("0x5f5ffd");
  return () => setCode(code);
}

/** Retries by hand until the settlement is dead: every try fails. */
async function awaitDeath({ address }: Deposit): Promise<string> {
  let id = "";
  let retriedAt = 0;
  await world.until(
    "the settlement is dead",
    async () => {
      const [swap] = await world.swapsOf(address);
      if (!swap) return false;
      id = swap.id;
      // Once for each try: the retry of a dead settlement would open another.
      if (swap.category === "retrying" && swap.retryCount > retriedAt) {
        retriedAt = swap.retryCount;
        await world.command("settlement", "retry", id, ...REASON, "--json");
      }
      return swap.status === "dead";
    },
    DEATH_DEADLINE_MS,
  );
  return id;
}

const show = (id: string) => world.command("settlement", "show", id, "--json");

test("a dead settlement is shown, retried after its cause is gone, and delivered once", async () => {
  const repair = await breakEscrow();
  const paid = await deposit(world, 30n * USDC);
  const id = await awaitDeath(paid);
  const dead = await show(id);
  expect(dead).toMatchObject({
    settlement: { status: "dead", step: "done", retryCount: 7, triesUsed: 7 },
    error: { code: "SIMULATION_REVERTED", retryable: false },
    value: { place: "deposit_address", walletBalance: String(30n * USDC) },
    waitsFor: null,
    integrator: "acme",
    deposits: [{ amount: String(30n * USDC), txHash: paid.payment, orphanedAt: null }],
    deliveries: [],
  });
  expect(dead).toMatchObject({ transactions: [{ intent: `deploy:${id}:1`, succeeded: true }] });

  await repair();
  const retried = await world.command("settlement", "retry", id, ...REASON, "--json");
  expect(retried).toMatchObject({ kind: "reopened", changed: true });
  const swap = await expectDelivered(world, paid);
  expect(swap.id).toBe(retried["settlementId"]);
  // A delivered settlement can be neither retried nor refunded.
  for (const over of [id, swap.id]) {
    await expect(world.command("settlement", "retry", over, ...REASON, "--json")).rejects.toThrow(
      /nothing to retry/,
    );
  }
  await expectEmptyEscrow(world);
  expect(await show(swap.id)).toMatchObject({
    value: { place: "recipient", walletBalance: "0" },
    transactions: [
      { intent: `sweep:${swap.id}:1`, succeeded: true, attempts: [{ accepted: true }] },
      { intent: expect.stringMatching(/^deliver:/), succeeded: true },
      { intent: expect.stringMatching(/^claim:/), succeeded: true },
    ],
  });
  expect(await show(id)).toMatchObject({ value: { place: "elsewhere" }, deposits: [] });
  // A try that came due by itself needed no retry by hand.
  const actions = (await show(id))["actions"] as readonly unknown[];
  expect(actions.length).toBeGreaterThan(1);
  expect(actions).toMatchObject([
    ...actions.slice(1).map(() => ({ action: "retry", fromStatus: "failed_swap" })),
    { action: "retry", fromStatus: "dead", successorId: swap.id, reason: REASON[1] },
  ]);
  expect(await world.countDeliveries("base", paid.recipient)).toBe(1);
  expect(await world.balance("ethereum", paid.address)).toBe(0n);
});

test("a settlement waits for the end of a pause without a try, and is delivered then [T153]", async () => {
  await setPaused(world, true);
  const paid = await deposit(world, 10n * USDC);
  let id = "";
  let retriedAt = 0;
  await world.until(
    "it was tried more often than a settlement can fail",
    async () => {
      const [swap] = await world.swapsOf(paid.address);
      if (!swap) return false;
      id = swap.id;
      if (swap.category === "retrying" && swap.retryCount > retriedAt) {
        retriedAt = swap.retryCount;
        await world.command("settlement", "retry", id, ...REASON, "--json");
      }
      return swap.retryCount > 7;
    },
    DEATH_DEADLINE_MS,
  );
  expect(await show(id)).toMatchObject({
    settlement: { status: "failed_swap", triesUsed: 0 },
    error: { code: "NO_ROUTE", details: { reason: "IsPaused" } },
  });
  // The settler reads the end of the pause and retries by itself.
  await setPaused(world, false);
  expect((await expectDelivered(world, paid)).id).toBe(id);
});

test("only the refund authority can take a refund, even while sweeps are paused", async () => {
  await setPaused(world, true);
  const paid = await deposit(world, 20n * USDC);
  await world.until("it fails", async () => {
    const [swap] = await world.swapsOf(paid.address);
    return swap?.status === "failed_swap";
  });
  const [{ id } = { id: "" }] = await world.swapsOf(paid.address);
  const authority = world.refundAuthority("acme");
  const refund = (to: Address) =>
    world.command("settlement", "refund", id, "--to", to, ...REASON, "--json");
  await expect(refund(paid.recipient)).rejects.toThrow(/nobody else can get a refund/);

  const prepared = await refund(authority.address);
  expect(prepared).toMatchObject({
    authority: authority.address.toLowerCase(),
    balance: String(20n * USDC),
    obstacle: "the refund authority has no coin for gas on this chain",
    changed: true,
  });
  expect((await world.swapsOf(paid.address))[0]).toMatchObject({
    status: "dead",
    error: { code: "NO_ROUTE", retryable: false, details: { reason: "IsPaused" } },
  });
  const call = readCall(prepared["call"]);
  await expect(world.sendAs("ethereum", world.stranger(), call)).rejects.toThrow("reverted");
  await world.sendAs("ethereum", authority, call);
  expect(await world.balance("ethereum", authority.address)).toBe(20n * USDC);

  await world.until("the record says so", async () => {
    const [swap] = await world.swapsOf(paid.address);
    return swap?.error?.details?.["reason"] === "refunded";
  });
  await setPaused(world, false);
  await expect(world.command("settlement", "retry", id, ...REASON, "--json")).rejects.toThrow(
    /holds too little/,
  );
  await expect(refund(authority.address)).rejects.toThrow(/holds nothing/);
  expect(await show(id)).toMatchObject({
    settlement: { status: "dead" },
    value: { place: "refund_authority", walletBalance: "0" },
    actions: [{ action: "refund", fromStatus: "failed_swap", reason: REASON[1] }],
  });
  // Only the deployment was ever sent, and nobody was paid.
  expect(await world.swapsOf(paid.address)).toHaveLength(1);
  expect(await world.countDeliveries("base", paid.recipient)).toBe(0);
  expect(await world.balance("base", paid.recipient)).toBe(0n);
  await expectEmptyEscrow(world);
});

function readCall(value: unknown): { readonly to: Address; readonly data: Hex } {
  if (typeof value === "object" && value !== null && "to" in value && "data" in value) {
    const { to, data } = value;
    if (typeof to === "string" && isAddress(to) && isHex(data)) return { to, data };
  }
  throw new Error("no call was printed");
}
