/** Addresses, pay links and payments of the browser tests: USDC for a new recipient on base. */
import { type SolanaSandbox, USDC } from "./solana-sandbox.ts";

/** Issues an address for a new recipient. */
export async function issueNew(
  world: SolanaSandbox,
  {
    family = "evm",
    amount = 25n * USDC,
  }: { readonly family?: "evm" | "solana"; readonly amount?: bigint } = {},
) {
  const recipient = world.newEvmWallet();
  const onSolana = family === "solana";
  const { address } = await world.quote({
    fromChain: onSolana ? "solana" : "ethereum",
    fromToken: onSolana ? world.mintOf("USDC") : world.tokenOn("ethereum"),
    toChain: "base",
    toToken: world.tokenOn("base"),
    recipient,
    amount,
  });
  return { address, recipient };
}

/** Issues an address for a new recipient, and returns it with a pay link. */
export async function openLink(
  world: SolanaSandbox,
  family: "evm" | "solana" = "evm",
  title = "Order 17",
) {
  const issued = await issueNew(world, { family });
  for await (const one of world.client().iterateDepositAddresses()) {
    if (one.walletAddress !== issued.address) continue;
    const { token, url } = await world.client().createPayLink({ depositAddressId: one.id, title });
    return { ...issued, token, url };
  }
  throw new Error("the service lists the address");
}

/** Pays an amount of USDC to a new address on ethereum, and returns the address. */
export async function payNew(world: SolanaSandbox, amount: bigint): Promise<string> {
  const { address } = await issueNew(world, { amount });
  await world.payEvm("ethereum", address, amount, world.tokenOn("ethereum"));
  return address;
}
