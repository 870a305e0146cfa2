/**
 * One deposit from arrival to delivery, as an integrator sees it: it knows the descriptor and the public interface.
 * The stream says at once that something happened; what happened is read from the replay and from the settlement, so
 * that nothing is missed when the stream is down.
 */
import {
  connectStream,
  createSluiceClient,
  type EventItem,
  type Quote,
  type SluiceClient,
  type Swap,
  verifyDepositAddress,
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
import type { DescribedEvmChain, Descriptor } from "./descriptor.ts";
import { SandboxError } from "./errors.ts";
import { createEvmClient } from "./evm-client.ts";
import { balanceOf, pay } from "./tokens.ts";

/** How to play it. */
export interface DemoOptions {
  readonly descriptor: Descriptor;
  /** The factory that the payer trusts; addresses are verified against it before money is sent. */
  readonly factory: Address;
  /** In whole tokens. Default 25. */
  readonly amount?: string;
  /** Until delivery, in milliseconds. Default 60000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** What just happened. */
  readonly onStep: (step: string, text: string) => void;
}

/** What came of it. */
export interface DemoResult {
  readonly depositAddress: Address;
  readonly settlementId: string;
  readonly paid: bigint;
  readonly delivered: bigint;
  /** From the payment to the delivery, in milliseconds. */
  readonly elapsedMs: number;
}

/** The user of the demo: always the same, so that its address is too. */
const USER_ID = "0x00000000000000000000000000000000000a11ce";
const POLL_MS = 200;
const STREAM_WAIT_MS = 5_000;
const TRANSFER = parseAbiItem(
  "event Transfer(address indexed from, address indexed to, uint256 value)",
);

/** Plays the demo: USDC from the first chain to the second. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { descriptor, onStep } = options;
  const [source, destination] = evmChainsOf(descriptor);
  const [integrator] = descriptor.integrators;
  if (!source || !destination || !integrator) throw new Error("the descriptor is incomplete");
  const client = createSluiceClient({ ...descriptor, apiKey: integrator.apiKey });
  const from = partyOn(source);
  const to = partyOn(destination);
  const paid = parseUnits(options.amount ?? "25", from.decimals);

  const depositAddress = await issueAddress(client, options, { from, to, paid });
  const watch = openWatch(descriptor.baseUrl, integrator.apiKey);
  try {
    const known = await settleEarlier(client, options, depositAddress);
    const since = await findNewestStamp(client);
    await watch.connected;
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
    const swap = await follow(client, options, { watch, known, since, depositAddress });
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
    watch.close();
  }
}

/** The demo's quote, ready to be sent by hand. */
export function demoQuoteRequest(descriptor: Descriptor) {
  const [source, destination] = evmChainsOf(descriptor);
  if (!source || !destination) throw new Error("the descriptor is incomplete");
  const { decimals } = partyOn(source);
  return quoteRequest(partyOn(source), partyOn(destination), parseUnits("25", decimals));
}

function evmChainsOf({ chains }: Descriptor): readonly DescribedEvmChain[] {
  return chains.filter((chain) => chain.kind === "evm");
}

type Party = ReturnType<typeof partyOn>;

function partyOn(chain: DescribedEvmChain) {
  const [token] = chain.tokens;
  const [funded] = chain.funded;
  if (!token || !funded) throw new Error(`${chain.name} is described without token or account`);
  return {
    chain: chain.name,
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
  if (!quote?.payDepositAddress) throw new SandboxError("no quote carries a deposit address");
  const address = getAddress(quote.payDepositAddress);
  const verified = verifyQuote(quote, address, factory, to);
  const output = `${quote.expectedAmountOut} ${quote.toToken.symbol} expected on ${to.chain}`;
  onStep("address issued", `${address} on ${from.chain} (${quote.type}, ${output}${verified})`);
  return address;
}

/** Nothing is paid to an address that does not promise this delivery. */
function verifyQuote(quote: Quote, address: Address, factory: Address, to: Party): string {
  const { payDepositCommitment: commitment } = quote;
  if (!commitment) return "";
  const pad = (value: Hex): string => `0x${value.slice(2).toLowerCase().padStart(64, "0")}`;
  const verification = verifyDepositAddress({
    address,
    commitment,
    factory,
    expected: {
      destChain: quote.toToken.wChainId,
      destWallet: pad(to.account.address),
      destToken: pad(to.token),
    },
  });
  if (verification.kind === "ok") return ", verified offline";
  throw new SandboxError(
    `the quote's address does not hold what was asked: ${verification.field} is ${verification.actual}, not ${verification.expected}`,
  );
}

/** The stream as an alarm clock. */
interface Watch {
  /** Resolves when the stream is open, or after a while without it. */
  readonly connected: Promise<void>;
  /** Resolves with the next event, or after a while. */
  next(signal?: AbortSignal): Promise<void>;
  close(): void;
}

function openWatch(baseUrl: string, apiKey: string): Watch {
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

/** The stamp of the newest event, from which the demo reads on; undefined when there is none. */
async function findNewestStamp(client: SluiceClient): Promise<string | undefined> {
  let newest: string | undefined;
  for await (const event of client.iterateEvents({ limit: 200 })) newest = event.timestamp;
  return newest;
}

/** Leaves what an interrupted run began to the service, waits for it, and returns every settlement known by then. */
async function settleEarlier(
  client: SluiceClient,
  { onStep, timeoutMs = 60_000, signal }: DemoOptions,
  wallet: Address,
): Promise<ReadonlySet<string>> {
  const deadline = Date.now() + timeoutMs;
  let told = false;
  for (;;) {
    const swaps = await listSwapsOf(client, wallet);
    const open = swaps.find((swap) => !swap.terminal);
    if (!open) return new Set(swaps.map((swap) => swap.id));
    if (!told) onStep("earlier deposit", `settlement ${open.id} is still ${open.status}`);
    told = true;
    if (Date.now() > deadline) {
      throw new SandboxError(`an earlier settlement is still ${open.status}: ${errorOf(open)}`);
    }
    await sleep(POLL_MS, undefined, signal ? { signal } : {});
  }
}

async function listSwapsOf(client: SluiceClient, wallet: Address): Promise<readonly Swap[]> {
  const { items } = await client.listSwaps({ limit: 100 });
  return items.filter((swap) => swap.walletAddress === wallet);
}

/** Tells every step of the new settlement until it is completed. */
async function follow(
  client: SluiceClient,
  { onStep, timeoutMs = 60_000, signal }: DemoOptions,
  context: {
    readonly watch: Watch;
    readonly known: ReadonlySet<string>;
    readonly since: string | undefined;
    readonly depositAddress: Address;
  },
): Promise<Swap> {
  let { since } = context;
  const deadline = Date.now() + timeoutMs;
  const told = new Set<string>();
  const tell = (step: string, text: string, key = step) => {
    if (told.has(key)) return;
    told.add(key);
    onStep(step, text);
  };
  for (;;) {
    // Settlements first: an event of what they show is in the replay by then.
    const swaps = await listSwapsOf(client, context.depositAddress);
    for await (const event of client.iterateEvents(since === undefined ? {} : { since })) {
      since = event.timestamp;
      if (event.data.walletAddress === context.depositAddress) tellEvent(event, tell);
    }
    const swap = swaps.find((one) => !context.known.has(one.id));
    if (swap) {
      if (swap.swapTxHash !== null) tell("settled", `tx ${swap.swapTxHash}`);
      if (swap.status === "completed") return swap;
      if (swap.terminal) throw new SandboxError(`the settlement is dead: ${errorOf(swap)}`);
    }
    if (Date.now() > deadline) {
      const state = swap ? `${swap.status}: ${errorOf(swap)}` : "not seen by the service";
      throw new SandboxError(`the deposit was not delivered in ${timeoutMs} ms, it is ${state}`);
    }
    await context.watch.next(signal);
  }
}

function tellEvent(
  { type, data }: EventItem,
  tell: (step: string, text: string, key?: string) => void,
): void {
  if (type === "deposit_detected") {
    if (!data.queued) throw new SandboxError(`the deposit was ignored: ${data.ignoredReason}`);
    tell("deposit seen", "queued");
    return;
  }
  const { status, txHash, error, retryCount } = data;
  if (status === "pending_swap" && txHash !== null) tell("wallet deployed", `tx ${txHash}`);
  if (status === "swapping") tell("settling", "the settlement transaction is on its way");
  if (error) {
    tell("waiting", `${error.code}: ${error.message}`, `${status} ${retryCount}`);
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
  if (!isHex(hash)) throw new SandboxError(`no transfer to ${to.account.address} is on chain`);
  return hash;
}

function errorOf(swap: Swap): string {
  return swap.error ? `${swap.error.code}, ${swap.error.message}` : "no error";
}
