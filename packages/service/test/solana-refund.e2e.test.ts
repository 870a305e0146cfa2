/** Deposits on Solana that cannot be settled go back, and the books balance after whatever was settled besides. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox } from "./support/solana-sandbox.ts";

const USDC = 1_000_000n;
/** The sandbox's WETH has nine decimals less a digit, as Wormhole's has. */
const WETH = 100_000_000n;
const REASON = ["--reason", "no route takes it, ticket 7"] as const;

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(async () => {
  (await import("node:fs")).writeFileSync("/tmp/s8-service.log", world.readLog());
  await world.close();
});

async function refundAuthority(): Promise<string> {
  const { integrators } = await world.command(["integrator", "list"]);
  // CAST: as the command prints it.
  const listed = integrators as readonly { name: string; refundSolana: string }[];
  const found = listed.find(({ name }) => name === "acme");
  if (!found) throw new Error("acme is an integrator");
  return found.refundSolana;
}

async function deliverBothWays(): Promise<void> {
  const mint = world.mintOf("USDC");
  const there = await world.quote({
    fromChain: "solana",
    fromToken: mint,
    toChain: "ethereum",
    toToken: world.tokenOn("ethereum"),
    recipient: world.newEvmWallet(),
    amount: 25n * USDC,
  });
  await world.mint("USDC", there.address, 25n * USDC);
  const back = await world.quote({
    fromChain: "ethereum",
    fromToken: world.tokenOn("ethereum"),
    toChain: "solana",
    toToken: mint,
    recipient: "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9",
    amount: 25n * USDC,
  });
  await world.payEvm("ethereum", back.address, 25n * USDC, world.tokenOn("ethereum"));
  for (const { address } of [there, back]) {
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
  }
}

test("a deposit that no route takes goes back to its refund authority, and the ledger is proved", async () => {
  await deliverBothWays();
  const authority = await refundAuthority();
  const mint = world.mintOf("WETH");
  const { address } = await world.quote({
    fromChain: "solana",
    fromToken: world.mintOf("USDC"),
    toChain: "ethereum",
    toToken: world.tokenOn("ethereum"),
    recipient: world.newEvmWallet(),
    amount: 25n * USDC,
    userId: "0x7e",
  });
  await world.mint("WETH", address, 3n * WETH);
  await world.until("no route takes it", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.error?.code === "UNSUPPORTED_ROUTE";
  });
  const [{ id } = { id: "" }] = await world.swapsOf(address);
  const refund = (to: string) => world.command(["settlement", "refund", id, "--to", to, ...REASON]);
  await expect(refund(address)).rejects.toThrow(/can go back to nobody else/);

  expect(await refund(authority)).toMatchObject({
    kind: "order",
    balance: String(3n * WETH),
    changed: true,
    intent: `refund:${id}:1`,
  });
  await world.until("the record says so", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.status === "dead" && swap.error?.details?.["reason"] === "refunded";
  });
  expect(await world.solanaBalance(authority, mint)).toBe(3n * WETH);
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
