/** Deposits on Solana that cannot be settled go back, and the books balance after whatever was settled besides. */
import { afterAll, beforeAll, expect, test } from "vitest";
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
  // CAST: as the command prints it.
  const listed = integrators as readonly { name: string; refundSolana: string }[];
  const found = listed.find(({ name }) => name === "acme");
  if (!found) throw new Error("acme is an integrator");
  return found.refundSolana;
}

async function deliverBothWays(): Promise<void> {
  const there = await world.depositUsdc("solana", "ethereum", 25n * USDC);
  const back = await world.depositUsdc("ethereum", "solana", 25n * USDC);
  for (const { address } of [there, back]) {
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
  }
}

test("a deposit that cannot be delivered goes back to its refund authority, and the ledger is proved", async () => {
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
  await world.payTokens(mint, address, TOO_MUCH);
  await world.until("inventory is too low for it", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.status === "deferred" && swap.error?.code === "INSUFFICIENT_BALANCE";
  });
  const [{ id } = { id: "" }] = await world.swapsOf(address);
  const refund = (to: string) => world.command(["settlement", "refund", id, "--to", to, ...REASON]);
  await expect(refund(address)).rejects.toThrow(/can go back to nobody else/);

  expect(await refund(authority)).toMatchObject({
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
