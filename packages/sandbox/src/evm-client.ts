import {
  type Chain,
  type Client,
  createTestClient,
  defineChain,
  type Hex,
  http,
  type HttpTransport,
  type PrivateKeyAccount,
  type PublicActions,
  publicActions,
  type TestActions,
  type TestRpcSchema,
} from "viem";
import type { ChainSpec } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";

const GWEI = 1_000_000_000n;
/** Far above the base fee of a sandbox chain. */
const MAX_FEE_PER_GAS = 200n * GWEI;
const RECEIPT_TIMEOUT_MS = 30_000;

/** A client of one node: reads, raw transactions and anvil's methods. */
export type EvmClient = Client<
  HttpTransport,
  Chain,
  undefined,
  TestRpcSchema<"anvil">,
  TestActions & PublicActions<HttpTransport, Chain>
>;

/** Creates a client for the node of a chain. */
export function createEvmClient(
  spec: Pick<ChainSpec, "evmChainId"> & { name: string },
  rpcUrl: string,
): EvmClient {
  const chain = defineChain({
    id: spec.evmChainId,
    name: spec.name,
    nativeCurrency: { name: "Test Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  return createTestClient({
    chain,
    mode: "anvil",
    transport: http(rpcUrl, { retryCount: 0, timeout: 10_000 }),
    pollingInterval: 50,
    cacheTime: 0,
  }).extend(publicActions);
}

/** A transaction to send. Without `to` it deploys `data`. */
export interface Call {
  /** Name of the transaction in an error message. */
  readonly label: string;
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas: bigint;
}

/** Signs and sends transactions of one account under consecutive nonces from `nonce` on. Does not wait for blocks. */
export async function sendCalls(
  client: EvmClient,
  account: PrivateKeyAccount,
  calls: readonly Call[],
  nonce: number,
): Promise<readonly Hex[]> {
  const hashes: Hex[] = [];
  for (const [index, { label: _label, ...call }] of calls.entries()) {
    const serializedTransaction = await account.signTransaction({
      ...call,
      type: "eip1559",
      chainId: client.chain.id,
      nonce: nonce + index,
      maxFeePerGas: MAX_FEE_PER_GAS,
      maxPriorityFeePerGas: GWEI,
    });
    hashes.push(await client.sendRawTransaction({ serializedTransaction }));
  }
  return hashes;
}

/** Waits until a transaction is mined. Throws a `SandboxError` if it reverted. */
export async function awaitMined(client: EvmClient, hash: Hex, label: string) {
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS });
  if (receipt.status !== "success") {
    throw new SandboxError(`${label} reverted on ${client.chain.name} (${hash})`);
  }
  return receipt;
}
