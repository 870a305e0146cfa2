/** Deposits on Solana that cannot be settled are refunded, and the ledger balances afterwards. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

/** Far more than the sandbox can deliver. */
const TOO_MUCH = 1_000_000_000n * USDC;
const REASON = ["--reason", "more than there is, ticket 7"] as const;

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(() => world.close());

async function refundAuthority(): Promise<string> {
  const { integrators } = await world.command(["integrator", "list"]);
  // CAST: the form that the command prints.
  const listed = integrators as readonly { name: string; refundSolana: string }[];
  const found = listed.find(({ name }) => name === "acme");
  if (!found) throw new Error("acme is an integrator");
  return found.refundSolana;
}

type Answer = Awaited<ReturnType<SolanaSandbox["command"]>>;

/** Repeats a refund until the payment that it returns is final: payments are shown before they are. */
async function onceFinal(refund: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await world.until("the payment is final", async () => {
    answer = await refund().catch((error: unknown) => {
      if (String(error).includes("holds nothing of the token")) return undefined;
      throw error;
    });
    return answer !== undefined;
  });
  if (!answer) throw new Error("the refund was answered");
  return answer;
}

async function deliverBothWays(): Promise<void> {
  const there = await world.depositUsdc("solana", "ethereum", 25n * USDC);
  const back = await world.depositUsdc("ethereum", "solana", 25n * USDC);
  for (const { address } of [there, back]) {
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
  }
}

test("refunds an undeliverable deposit to its refund authority, and the ledger matches", async () => {
  await deliverBothWays();
  const authority = await refundAuthority();
  const mint = world.mintOf("USDC");
  const { address } = await world.quote({
    fromChain: "solana",
    fromToken: mint,
    toChain: "ethereum",
    toToken: world.tokenOn("ethereum"),
    recipient: world.newEvmWallet(),
    amount: 25n * USDC,
    userId: "0x7e",
  });
  // Held, so that no part of it is delivered meanwhile.
  await world.command(["pause", "start", "--chain", "solana", ...REASON]);
  await world.payTokens(mint, address, TOO_MUCH);
  await world.until("it is held", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.status === "deferred" && swap.error?.details?.["reason"] === "paused";
  });
  const [{ id } = { id: "" }] = await world.swapsOf(address);
  const refund = (to: string) => world.command(["settlement", "refund", id, "--to", to, ...REASON]);
  await expect(refund(address)).rejects.toThrow(/nobody else can get a refund/);

  expect(await onceFinal(() => refund(authority))).toMatchObject({
    kind: "order",
    balance: String(TOO_MUCH),
    changed: true,
    intent: `refund:${id}:1`,
  });
  await world.until("the record says so", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.status === "dead" && swap.error?.details?.["reason"] === "refunded";
  });
  expect(await world.solanaBalance(authority, mint)).toBe(TOO_MUCH);
  expect(await world.solanaBalance(address, mint)).toBe(0n);
  await expect(refund(authority)).rejects.toThrow(/holds nothing/);
  expect(await world.command(["settlement", "show", id])).toMatchObject({
    settlement: { status: "dead" },
    value: { place: "refund_authority", walletBalance: "0" },
    transactions: [{ intent: `refund:${id}:1`, succeeded: true }],
    actions: [{ action: "refund", reason: REASON[1] }],
  });

  const audit = await world.command(["audit"]);
  expect(audit).toMatchObject({ ok: true, breaches: [], unsettled: [] });
  expect(audit["chains"]).toContainEqual({
    chainId: 1,
    block: expect.stringMatching(/^\d+$/),
    wallets: expect.any(Number),
  });
});

describe("a deposit without a settlement", () => {
  const WETH = 100_000_000n;
  /** Below every minimum, and enough for an account to exist. */
  const LAMPORTS = 900_000n;
  let address: string;
  let authority: string;

  beforeAll(async () => {
    authority = await refundAuthority();
    ({ address } = await world.quote({
      fromChain: "solana",
      fromToken: world.mintOf("USDC"),
      toChain: "ethereum",
      toToken: world.tokenOn("ethereum"),
      recipient: world.newEvmWallet(),
      amount: 25n * USDC,
      userId: "0xd057",
    }));
  });

  const refund = (token: string, to = authority, of = address) =>
    world.command(["addresses", "refund", of, token, "--to", to, ...REASON]);

  /** Waits until an address has `count` deposits, the newest ignored for `reason`. */
  async function ignored(count: number, reason: string): Promise<void> {
    await world.until(`a deposit is ignored as ${reason}`, async () => {
      const { items } = await world.client().listDeposits({ limit: 100, walletAddress: address });
      return items.length === count && items[0]?.ignoredReason === reason;
    });
  }

  test("is refunded once it is final, with its reason in the memo: dust, SOL, and a token without a route [T203]", async () => {
    const before = await world.solanaBalance(authority);
    await world.payTokens(world.mintOf("USDC"), address, USDC / 2n);
    await ignored(1, "below_token_min");
    await world.payTokens(world.mintOf("WETH"), address, WETH);
    await ignored(2, "no_adapter");
    await world.paySol(address, LAMPORTS);
    await ignored(3, "below_token_min");
    expect(await world.swapsOf(address)).toEqual([]);

    for (const [token, amount, reason] of [
      ["USDC", USDC / 2n, 1],
      [world.mintOf("WETH"), WETH, 2],
      ["native", LAMPORTS, 1],
    ] as const) {
      const paid = await onceFinal(() => refund(token));
      expect(paid).toMatchObject({
        outcome: "refunded",
        amount: String(amount),
        refundTo: authority,
        txHash: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,}$/),
        changed: true,
      });
      const [memo] = await world.memosOf(String(paid["txHash"]));
      expect(memo).toMatchObject({ sluice: "refund", amount: String(amount), to: authority });
      // 1 and 2 of the frozen format: below the minimum, and without a route.
      expect(memo).toMatchObject({ reason });
      // Like a command that was killed before it answered.
      expect(await refund(token)).toEqual({ ...paid, changed: false });
    }
    expect(await world.solanaBalance(authority, world.mintOf("WETH"))).toBe(WETH);
    expect((await world.solanaBalance(authority)) - before).toBe(LAMPORTS);
    expect(await world.solanaBalance(address, world.mintOf("WETH"))).toBe(0n);
    expect(await world.solanaBalance(address)).toBe(0n);
    expect(await world.swapsOf(address)).toEqual([]);
  });

  test("is refused for a wrong address or token, and nothing is sent", async () => {
    await expect(refund("USDT")).rejects.toThrow(/holds nothing of the token/);
    await expect(refund("USDC", address)).rejects.toThrow(/nobody else can get a refund/);
    await expect(refund("USDC", authority, authority)).rejects.toThrow(/no deposit address/);
    await expect(refund("USDC", authority, world.tokenOn("ethereum"))).rejects.toThrow(
      /--chain: expected one of the address's chains/,
    );
    await expect(refund("DOGE")).rejects.toThrow(/expected a token of the chain/);
  });

  test("is not refunded while a settlement uses it", async () => {
    const mint = world.mintOf("USDC");
    await world.payTokens(mint, address, TOO_MUCH);
    await world.until("a settlement waits for inventory", async () => {
      const [swap] = await world.swapsOf(address);
      return swap?.status === "deferred";
    });
    const [{ id } = { id: "" }] = await world.swapsOf(address);
    await expect(refund("USDC")).rejects.toThrow(`Settlement ${id} is settling`);
    await onceFinal(() =>
      world.command(["settlement", "refund", id, "--to", authority, ...REASON]),
    );
    await world.until(
      "it went back",
      async () => (await world.solanaBalance(address, mint)) === 0n,
    );
  });

  test("leaves nothing outside the ledger", async () => {
    const audit = await world.audit();
    expect(audit).toMatchObject({ ok: true, breaches: [], unsettled: [] });
  });
});
