/**
 * Plays one deposit from payment to delivery, as an integrator would: with the descriptor and the public interface only.
 * The stream is only a wake-up signal. Events are read from the replay and the status from the settlement, so nothing is
 * missed while the stream is down.
 */
import {
  connectStream,
  createSluiceClient,
  type EventItem,
  type SluiceClient,
  type Swap,
} from "@sluice/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import {
  formatUnits,
  getAddress,
  isHex,
  parseAbiItem,
  parseUnits,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { USDC } from "./chain-specs.ts";
import type { DescribedEvmChain, Descriptor } from "./descriptor.ts";
import { SandboxError } from "./errors.ts";
import { createEvmClient } from "./evm-client.ts";
import { balanceOf, pay } from "./tokens.ts";
import { verifyQuote } from "./verify-quote.ts";

/** Options of `runDemo`. */
export interface DemoOptions {
  readonly descriptor: Descriptor;
  /** The factory that the payer trusts. The deposit address is verified against it before the payment. */
  readonly factory: Address;
  /** Amount in whole tokens. Default 25. */
  readonly amount?: string;
  /** Timeout until the delivery, in milliseconds. Default 60000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly onStep: (step: string, text: string) => void;
}

/** Result of `runDemo`. Amounts are in base units. */
export interface DemoResult {
  readonly depositAddress: Address;
  readonly settlementId: string;
  readonly paid: bigint;
  readonly delivered: bigint;
  /** From the payment to the delivery, in milliseconds. */
  readonly elapsedMs: number;
}

/** The user of the demo. It never changes, so that the deposit address does not either. */
const USER_ID = "0x00000000000000000000000000000000000a11ce";
const POLL_MS = 200;
const STREAM_WAIT_MS = 5_000;
/** The step of a completed settlement. */
const SETTLED = "settled";
const TRANSFER = parseAbiItem(
  "event Transfer(address indexed from, address indexed to, uint256 value)",
);

/** Plays the demo: USDC from the first EVM chain to the second. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { descriptor, onStep } = options;
  const [source, destination] = evmChainsOf(descriptor);
  const [integrator] = descriptor.integrators;
  if (!source || !destination || !integrator)
    throw new Error("the descriptor lacks a chain or an integrator");
  const client = createSluiceClient({ ...descriptor, apiKey: integrator.apiKey });
  const from = createParty(source);
  const to = createParty(destination);
  const paid = parseUnits(options.amount ?? "25", from.decimals);

  const depositAddress = await issueAddress(client, options, { from, to, paid });
  const eventSignal = openEventSignal(descriptor.baseUrl, integrator.apiKey);
  try {
    const known = await waitForEarlier(client, options, depositAddress);
    const since = await findNewestTimestamp(client);
    await eventSignal.connected;
    const before = await balanceOf(to.client, { owner: to.account.address, token: to.token });
    const fromBlock = (await to.client.getBlockNumber()) + 1n;
    const startedAt = performance.now();
    const hash = await pay(from.client, {
      from: from.account,
      to: depositAddress,
      token: from.token,
      amount: paid,
    });
    onStep("paid", `${formatUnits(paid, from.decimals)} USDC on ${source.name}, tx ${hash}`);
    const swap = await followSettlement(client, options, {
      eventSignal,
      known,
      since,
      depositAddress,
    });
    const elapsedMs = performance.now() - startedAt;
    const after = await balanceOf(to.client, { owner: to.account.address, token: to.token });
    const delivery = await findDelivery(to, fromBlock);
    const delivered = after - before;
    onStep(
      "delivered",
      `${formatUnits(delivered, to.decimals)} USDC on ${destination.name} to ${to.account.address}, tx ${delivery}`,
    );
    return { depositAddress, settlementId: swap.id, paid, delivered, elapsedMs };
  } finally {
    eventSignal.close();
  }
}

/** Returns the quote request of the demo, for sending it by hand. */
export function demoQuoteRequest(descriptor: Descriptor) {
  const [source, destination] = evmChainsOf(descriptor);
  if (!source || !destination) throw new Error("the descriptor lacks a chain or an integrator");
  const { decimals } = createParty(source);
  return quoteRequest(createParty(source), createParty(destination), parseUnits("25", decimals));
}

function evmChainsOf({ chains }: Descriptor): readonly DescribedEvmChain[] {
  return chains.filter((chain) => chain.kind === "evm");
}

type Party = ReturnType<typeof createParty>;

function createParty(chain: DescribedEvmChain) {
  const token = chain.tokens.find(({ symbol }) => symbol === USDC.symbol);
  const [funded] = chain.funded;
  if (!token || !funded)
    throw new Error(`the descriptor of ${chain.name} lacks a token or an account`);
  return {
    chain: chain.name,
    chainId: chain.chainId,
    token: token.address,
    decimals: token.decimals,
    account: privateKeyToAccount(funded.privateKey),
    client: createEvmClient(chain, chain.rpcUrl),
  };
}

function quoteRequest(from: Party, to: Party, amount: bigint) {
  return {
    amountIn64: amount.toString(),
    fromChain: from.chain,
    fromToken: from.token,
    toChain: to.chain,
    toToken: to.token,
    slippageBps: "auto",
    destinationAddress: to.account.address,
    payDeposit: true,
    payUserId: USER_ID,
  };
}

async function issueAddress(
  client: SluiceClient,
  { factory, onStep }: DemoOptions,
  { from, to, paid }: { from: Party; to: Party; paid: bigint },
): Promise<Address> {
  const { quotes } = await client.quote(quoteRequest(from, to, paid));
  const quote = quotes.find((one) => one.payDepositAddress !== null);
  if (!quote) throw new SandboxError("no quote has a deposit address");
  const delivery = { chainId: to.chainId, wallet: to.account.address, token: to.token };
  const address = getAddress(verifyQuote(quote, { kind: "evm", factory }, delivery));
  const output = `${quote.expectedAmountOut} ${quote.toToken.symbol} expected on ${to.chain}`;
  onStep(
    "address issued",
    `${address} on ${from.chain} (${quote.type}, ${output}, verified offline)`,
  );
  return address;
}

/** The stream, used only as a wake-up signal. */
interface EventSignal {
  /** Resolves when the stream has connected, at the latest after 5 s. */
  readonly connected: Promise<void>;
  /** Resolves at the next event, at the latest after 200 ms. */
  next(signal?: AbortSignal): Promise<void>;
  close(): void;
}

function openEventSignal(baseUrl: string, apiKey: string): EventSignal {
  const connected = Promise.withResolvers<void>();
  let wake = Promise.withResolvers<void>();
  const stream = connectStream({
    baseUrl,
    apiKey,
    onConnected: () => connected.resolve(),
    onEvent: () => wake.resolve(),
  });
  return {
    connected: Promise.race([connected.promise, sleep(STREAM_WAIT_MS, undefined, { ref: false })]),
    next: async (signal) => {
      await Promise.race([wake.promise, sleep(POLL_MS, undefined, signal ? { signal } : {})]);
      wake = Promise.withResolvers<void>();
    },
    close: () => stream.close(),
  };
}

/** Returns the timestamp of the newest event, after which the demo reads; undefined if there is none. */
async function findNewestTimestamp(client: SluiceClient): Promise<string | undefined> {
  let newest: string | undefined;
  for await (const event of client.iterateEvents({ limit: 200 })) newest = event.timestamp;
  return newest;
}

/** Waits until the service has ended the settlements of an interrupted run. Returns the ids of all of them. */
async function waitForEarlier(
  client: SluiceClient,
  { onStep, timeoutMs = 60_000, signal }: DemoOptions,
  wallet: Address,
): Promise<ReadonlySet<string>> {
  const deadline = Date.now() + timeoutMs;
  let reported = false;
  for (;;) {
    const swaps = await listSwapsOf(client, wallet);
    const open = swaps.find((swap) => !swap.terminal);
    if (!open) return new Set(swaps.map((swap) => swap.id));
    if (!reported) {
      onStep("earlier deposit", `waiting for settlement ${open.id}, which is ${open.status}`);
    }
    reported = true;
    if (Date.now() > deadline) {
      throw new SandboxError(
        `the earlier settlement ${open.id} is still ${open.status} after ${timeoutMs} ms: ${errorOf(open)}`,
      );
    }
    await sleep(POLL_MS, undefined, signal ? { signal } : {});
  }
}

async function listSwapsOf(client: SluiceClient, wallet: Address): Promise<readonly Swap[]> {
  const { items } = await client.listSwaps({ limit: 100 });
  return items.filter((swap) => swap.walletAddress === wallet);
}

/** Reports every step of the new settlement until it is completed. */
async function followSettlement(
  client: SluiceClient,
  { onStep, timeoutMs = 60_000, signal }: DemoOptions,
  context: {
    readonly eventSignal: EventSignal;
    readonly known: ReadonlySet<string>;
    readonly since: string | undefined;
    readonly depositAddress: Address;
  },
): Promise<Swap> {
  let { since } = context;
  const deadline = Date.now() + timeoutMs;
  const reported = new Set<string>();
  const report = (step: string, text: string, key = step) => {
    if (reported.has(key)) return;
    reported.add(key);
    onStep(step, text);
  };
  for (;;) {
    const swaps = await listSwapsOf(client, context.depositAddress);
    for await (const event of client.iterateEvents(since === undefined ? {} : { since })) {
      since = event.timestamp;
      if (event.data.walletAddress === context.depositAddress) reportEvent(event, report);
    }
    const swap = swaps.find((one) => !context.known.has(one.id));
    if (swap) {
      // The replay is behind the settlement by a moment: it ends with the last step that it reports.
      if (swap.status === "completed" && reported.has(SETTLED)) return swap;
      if (swap.terminal && swap.status !== "completed") {
        throw new SandboxError(`settlement ${swap.id} is ${swap.status}: ${errorOf(swap)}`);
      }
    }
    if (Date.now() > deadline) {
      const state = swap
        ? `its settlement is ${swap.status}: ${errorOf(swap)}`
        : "it has no settlement";
      throw new SandboxError(`the deposit was not delivered within ${timeoutMs} ms: ${state}`);
    }
    await context.eventSignal.next(signal);
  }
}

function reportEvent(
  { type, data }: EventItem,
  report: (step: string, text: string, key?: string) => void,
): void {
  if (type === "deposit_detected") {
    if (!data.queued) throw new SandboxError(`the deposit was not queued: ${data.ignoredReason}`);
    report("deposit found", "settlement queued");
    return;
  }
  const { status, txHash, error, retryCount } = data;
  if (status === "pending_swap" && txHash !== null) report("wallet deployed", `tx ${txHash}`);
  if (status === "swapping") report("settling", "settlement transaction sent");
  if (status === "completed" && txHash !== null) report(SETTLED, `tx ${txHash}`);
  if (error) {
    report("waiting", `${error.code}: ${error.message}`, `${status} ${retryCount}`);
  }
}

async function findDelivery(to: Party, fromBlock: bigint): Promise<Hex> {
  const logs = await to.client.getLogs({
    address: to.token,
    event: TRANSFER,
    args: { to: to.account.address },
    fromBlock,
  });
  const hash = logs.at(-1)?.transactionHash;
  if (!isHex(hash)) {
    throw new SandboxError(`no transfer to ${to.account.address} found on ${to.chain}`);
  }
  return hash;
}

function errorOf(swap: Swap): string {
  return swap.error ? `${swap.error.code}, ${swap.error.message}` : "no error";
}
