/** Addresses and payments of benchmarks on a sandbox, USDC from one chain to another. */
import type { Sandbox } from "@sluice/sandbox";
import { connectStream, createSluiceClient } from "@sluice/sdk";
import { type Address, getAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { sendToken } from "../packages/sandbox/src/tokens.ts";

/** Five USDC: thousands of deposits are less than the payers and the inventory have. */
const AMOUNT = 5_000_000n;
const ADDRESSES_AT_ONCE = 500;

/** Source and destination of a route in the sandbox. */
export const ROUTES = {
  SWIFT: { from: "ethereum", to: "base" },
  MONO_CHAIN: { from: "base", to: "base" },
} as const;
export type Route = keyof typeof ROUTES;

/** Returns the client of the first integrator. */
export function clientOf({ descriptor, service }: Sandbox) {
  const { baseUrl, quoteUrl } = service;
  return createSluiceClient({ baseUrl, quoteUrl, apiKey: apiKeyOf(descriptor) });
}

export function apiKeyOf({ integrators }: Sandbox["descriptor"]): string {
  return integrators[0]?.apiKey ?? "";
}

/** Issues addresses of new recipients. */
export async function issue(
  sandbox: Sandbox,
  { route, deposits }: { readonly route: Route; readonly deposits: number },
): Promise<readonly Address[]> {
  const { from, to } = ROUTES[route];
  const client = clientOf(sandbox);
  const issued: Address[] = [];
  while (issued.length < deposits) {
    const count = Math.min(ADDRESSES_AT_ONCE, deposits - issued.length);
    const { addresses } = await client.issueAddresses({
      addresses: Array.from({ length: count }, () => ({
        fromChain: from,
        toChain: to,
        toToken: sandbox.deployment.chains[to].token,
        destinationAddress: privateKeyToAccount(generatePrivateKey()).address,
      })),
    });
    issued.push(...addresses.map(({ walletAddress }) => getAddress(walletAddress)));
  }
  return issued;
}

/** Pays USDC to each address, without waiting for a block; 5 by default. */
export async function payAll(
  { chains, keys, deployment }: Sandbox,
  chain: "ethereum" | "base",
  addresses: readonly Address[],
  amount = AMOUNT,
): Promise<void> {
  const { client } = chains[chain];
  const { token } = deployment.chains[chain];
  const payers = keys.payers[chain];
  const payments = addresses.map((to, place) => {
    const payer = payers[place % payers.length];
    if (!payer) throw new Error("the sandbox has payers");
    return { from: payer.account, to, token, amount };
  });
  await Promise.all(payments.map((payment) => sendToken(client, payment)));
}

/** Calls back for the wallet of each settlement that completes, once the stream is connected. Returns what closes it. */
export async function watchCompletions(
  { descriptor }: Sandbox,
  onCompleted: (wallet: Address) => void,
): Promise<() => void> {
  const connected = Promise.withResolvers<void>();
  const stream = connectStream({
    baseUrl: descriptor.baseUrl,
    apiKey: apiKeyOf(descriptor),
    onConnected: () => connected.resolve(),
    onEvent({ type, data }) {
      if (type !== "status_changed" || data.status !== "completed") return;
      onCompleted(getAddress(data.walletAddress));
    },
  });
  await connected.promise;
  return () => stream.close();
}
