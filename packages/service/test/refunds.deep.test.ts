/** Refunds by policy on real nodes: the attestor signs, a lane sends, and the ledger matches. */
import { encodeFunctionData, parseAbi, parseEther } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { setPaused } from "./support/pause.ts";
import { openWorld, type World } from "./support/world.ts";

const wethAbi = parseAbi([
  "function deposit() payable",
  "function transfer(address, uint256) returns (bool)",
]);
const REASON = ["--reason", "dust, ticket 7"] as const;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

type Answer = Awaited<ReturnType<World["command"]>>;

const refund = (address: string, token: string, chain = "ethereum") => {
  const { address: to } = world.refundAuthority("acme");
  const of = ["addresses", "refund", address, token, "--chain", chain];
  return world.command(...of, "--to", to, ...REASON, "--json");
};

/** Repeats a refund until the payment is in a final block. */
async function onceFinal(ask: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await world.until("the payment is final", async () => {
    answer = await ask().catch((error: unknown) => {
      if (String(error).includes("holds nothing of the token")) return undefined;
      throw error;
    });
    return answer !== undefined;
  });
  if (!answer) throw new Error("the refund was answered");
  return answer;
}

/** Waits until the audit proves everything. Of a token that is not configured the ledger knows only what left. */
async function expectProved(unread: string): Promise<void> {
  await world.until("the ledger is proved", async () => {
    const { ok, breaches, unsettled } = await world.command("audit", "--json");
    expect(breaches).toEqual([]);
    // CAST: the form that the command prints.
    const open = (unsettled as readonly { readonly token: string }[]).filter(
      ({ token }) => token !== unread.toLowerCase(),
    );
    return ok === true && open.length === 0;
  });
}

test("dust and a token without a route are refunded, and the address goes on settling", async () => {
  const authority = world.refundAuthority("acme").address;
  const paid = await deposit(world, USDC / 2n);
  await world.deposits(paid.address, 1);
  const shown = await onceFinal(() => refund(paid.address, "USDC"));
  expect(shown).toMatchObject({
    outcome: "refunded",
    policyReason: "below_minimum",
    refusal: null,
    amount: String(USDC / 2n),
    refundTo: authority,
    changed: true,
  });
  expect(await refund(paid.address, "USDC")).toEqual({ ...shown, changed: false });
  expect(await world.balance("ethereum", authority)).toBe(USDC / 2n);
  expect(await world.balance("ethereum", paid.address)).toBe(0n);

  const { weth } = world.deployment.chains.ethereum;
  const payer = world.stranger();
  const wrap = encodeFunctionData({ abi: wethAbi, functionName: "deposit" });
  const value = parseEther("0.5");
  await world.sendAs("ethereum", payer, { to: weth, data: wrap, value });
  const args = [paid.address, value] as const;
  const send = encodeFunctionData({ abi: wethAbi, functionName: "transfer", args });
  await world.sendAs("ethereum", payer, { to: weth, data: send });
  expect(await onceFinal(() => refund(paid.address, weth))).toMatchObject({
    outcome: "refunded",
    policyReason: "unlisted",
    amount: String(value),
  });

  await world.pay("ethereum", paid.address, 5n * USDC);
  await expectDelivered(world, { ...paid, amount: 5n * USDC });
  await expectEmptyEscrow(world);
  await expectProved(weth);
});

test("a deposit above the minimum is not refunded, and is kept for its authority", async () => {
  await setPaused(world, true);
  const paid = await deposit(world, 7n * USDC);
  await world.until("it fails", async () => {
    const [swap] = await world.swapsOf(paid.address);
    return swap?.status === "failed_swap";
  });
  await expect(refund(paid.address, "USDC")).rejects.toThrow(/Settlement .* is settling/);
  const [{ id } = { id: "" }] = await world.swapsOf(paid.address);
  const { address: to } = world.refundAuthority("acme");
  const end = (at: string) =>
    world.command("settlement", "refund", id, "--to", at, ...REASON, "--json");
  await expect(end(paid.recipient)).rejects.toThrow(/nobody else/);
  expect(await end(to)).toMatchObject({
    kind: "call",
    attested: null,
    notAttested: expect.stringMatching(/allows no refund that is dead.*sluice rescue/),
  });
  await expect(refund(paid.address, "USDC")).rejects.toThrow(/allows no refund that is dead/);
  expect(await world.balance("ethereum", paid.address)).toBe(7n * USDC);
  await setPaused(world, false);
});

test("dust goes back by itself where the policy says so", async () => {
  const other = await openWorld({
    configure(config) {
      config["refunds"] = { belowMinimum: true, automatic: { afterSeconds: 5, timesGas: 1 } };
    },
  });
  try {
    const dust = (9n * USDC) / 10n;
    const paid = await deposit(other, dust);
    await other.deposits(paid.address, 1);
    const { address: authority } = other.refundAuthority("acme");
    await other.until("the refund authority has it", async () => {
      return (await other.balance("ethereum", authority)) === dust;
    });
    await other.until("the ledger is proved", async () => {
      const { ok, breaches, unsettled } = await other.command("audit", "--json");
      expect(breaches).toEqual([]);
      return ok === true && Array.isArray(unsettled) && unsettled.length === 0;
    });
  } finally {
    await other.close();
  }
});
