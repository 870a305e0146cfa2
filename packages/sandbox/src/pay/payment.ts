/** Pays a deposit address of a running sandbox as a customer would, and follows the deposit to its delivery. */
import { randomBytes } from "node:crypto";
import {
  createSluiceClient,
  type EventItem,
  followEvents,
  type Quote,
  SluiceApiError,
  type SluiceClient,
  SluiceResponseError,
  type SourceChain,
  type SourceToken,
} from "@sluice/sdk";
import { formatUnits, parseUnits } from "viem";
import type { DescribedChain, Descriptor } from "../descriptor.ts";
import { SandboxError } from "../errors.ts";
import { type Trusted, verifyQuote } from "../verify-quote.ts";
import type { PayRequest } from "./command-line.ts";
import { createEvmParty } from "./evm-party.ts";
import { findChain, findSameToken, findToken } from "./find-token.ts";
import type { Party } from "./party.ts";
import { createSolanaParty } from "./solana-party.ts";

/** Options of `runPayment`. */
export interface PaymentOptions {
  readonly descriptor: Descriptor;
  readonly request: PayRequest;
  readonly signal?: AbortSignal;
  /** Called after each step and with each event of the deposit. */
  readonly onStep: (step: string, text: string) => void;
}

/** Result of `runPayment`. Amounts are in base units. */
export interface PaymentResult {
  readonly depositAddress: string;
  readonly settlementId: string;
  readonly paid: bigint;
  readonly delivered: bigint;
}

/** One side of a payment. */
interface Side {
  readonly described: DescribedChain;
  readonly chain: SourceChain;
  readonly token: SourceToken;
  readonly decimals: number;
}

/**
 * Creates a deposit address, pays it, and reports every event until the settlement ends.
 * @throws SandboxError if the request is invalid, or the deposit was not delivered before the timeout.
 */
export async function runPayment(options: PaymentOptions): Promise<PaymentResult> {
  const { descriptor, request, onStep } = options;
  const [integrator] = descriptor.integrators;
  if (!integrator) throw new SandboxError("the sandbox has no integrator: start it with --fresh");
  const client = createSluiceClient({ ...descriptor, apiKey: integrator.apiKey });
  const { source, destination } = await readSides(client, descriptor, request);
  const amount = parseAmount(request.amount, source);
  const from = await createParty(source.described, 0);
  const to = await createParty(destination.described, 1);
  const recipient = request.recipient ?? to.address;
  const nameOf = ({ token }: Side) => token.symbol ?? token.address;

  await assertFunded(from, source, amount);
  const quote = await requestQuote(client, { source, destination, amount, recipient });
  const depositAddress = verifyQuote(quote, trustedOf(source.described), {
    chainId: destination.chain.chainId,
    wallet: recipient,
    token: destination.token.address,
  });
  onStep(
    "address issued",
    `${depositAddress} on ${source.chain.name} for ${nameOf(destination)} on ${destination.chain.name} to ${recipient}` +
      ` (${quote.type}, verified offline)`,
  );
  onStep(
    "expected",
    `about ${quote.expectedAmountOut} ${nameOf(destination)} on ${destination.chain.name} for ${request.amount} ${nameOf(source)}`,
  );
  const since = await findCreation(client, depositAddress);
  const before = await to.balanceOf(recipient, destination.token);
  const startedAt = performance.now();
  const hash = await from.pay({ to: depositAddress, token: source.token, amount });
  onStep(
    "paid",
    `${request.amount} ${nameOf(source)} on ${source.chain.name} from ${from.address}, tx ${hash}`,
  );
  const settlementId = await followDeposit(options, {
    client,
    apiKey: integrator.apiKey,
    depositAddress,
    since,
  });
  const delivered = (await to.balanceOf(recipient, destination.token)) - before;
  onStep(
    "delivered",
    `${formatUnits(delivered, destination.decimals)} ${nameOf(destination)} on ${destination.chain.name} to ${recipient}`,
  );
  onStep("done", `${Math.round(performance.now() - startedAt)} ms from payment to delivery`);
  return { depositAddress, settlementId, paid: amount, delivered };
}

/** Resolves both chains and tokens of a request. */
async function readSides(
  client: SluiceClient,
  descriptor: Descriptor,
  request: PayRequest,
): Promise<{ readonly source: Side; readonly destination: Side }> {
  const config = await ask(descriptor.baseUrl, () => client.sourceConfig());
  const sideOf = (chain: SourceChain, token: SourceToken): Side => {
    const described = descriptor.chains.find(({ chainId }) => chainId === chain.chainId);
    const { decimals } = token;
    if (!described || decimals === undefined) {
      throw new SandboxError(`the descriptor of the sandbox lacks ${chain.name}: start it again`);
    }
    return { described, chain, token, decimals };
  };
  const from = findChain(config, "--from", request.from);
  const paid = findToken(from, "--token", request.token);
  const to = findChain(config, "--to", request.to);
  const received =
    request.toToken === undefined
      ? findSameToken(to, paid)
      : findToken(to, "--to-token", request.toToken);
  return { source: sideOf(from, paid), destination: sideOf(to, received) };
}

/** Returns the amount in base units. Throws if the token has fewer decimals, or a larger minimum. */
function parseAmount(text: string, { chain, token, decimals }: Side): bigint {
  const name = token.symbol ?? token.address;
  const [, fraction = ""] = text.split(".");
  if (fraction.replace(/0+$/, "").length > decimals) {
    throw new SandboxError(`--amount ${text}: ${name} has ${decimals} decimals`);
  }
  const amount = parseUnits(text, decimals);
  const { minDeposit } = token;
  if (minDeposit !== undefined && amount < parseUnits(minDeposit, decimals)) {
    throw new SandboxError(
      `--amount ${text}: the minimum deposit on ${chain.name} is ${minDeposit} ${name}`,
    );
  }
  return amount;
}

/** Returns the party of one of a chain's funded accounts; the first if there are not as many. */
async function createParty(chain: DescribedChain, index: number): Promise<Party> {
  if (chain.kind === "evm") {
    return createEvmParty(chain, pick(chain.name, chain.funded, index));
  }
  return createSolanaParty(chain, pick(chain.name, chain.funded, index));
}

function pick<T>(name: string, funded: readonly T[], index: number): T {
  const account = funded[index] ?? funded[0];
  if (account) return account;
  throw new SandboxError(`the sandbox has no funded account on ${name}: start it with --fresh`);
}

function trustedOf(chain: DescribedChain): Trusted {
  return chain.kind === "evm"
    ? { kind: "evm", factory: chain.factory }
    : { kind: "svm", bindingAccount: chain.bindingAccount };
}

/** Requests a quote with a deposit address for a new user, so that the address has no earlier deposits. */
async function requestQuote(
  client: SluiceClient,
  {
    source,
    destination,
    amount,
    recipient,
  }: {
    readonly source: Side;
    readonly destination: Side;
    readonly amount: bigint;
    readonly recipient: string;
  },
): Promise<Quote> {
  const { quotes } = await ask("the quote service", () =>
    client.quote({
      amountIn64: amount.toString(),
      fromChain: source.chain.name,
      fromToken: source.token.address,
      toChain: destination.chain.name,
      toToken: destination.token.address,
      slippageBps: "auto",
      destinationAddress: recipient,
      payDeposit: true,
      payUserId: `0x${randomBytes(20).toString("hex")}`,
    }),
  );
  const quote = quotes.find(({ payDepositAddress }) => payDepositAddress !== null);
  if (quote) return quote;
  throw new SandboxError("the quote service returned no deposit address");
}

/** Returns the time at which the address was created. Every event of its deposits is later. */
async function findCreation(client: SluiceClient, address: string): Promise<string> {
  for await (const created of client.iterateDepositAddresses({ limit: 100 })) {
    if (created.walletAddress === address) return created.createdAt;
  }
  throw new SandboxError(`the service does not list its deposit address ${address}`);
}

async function assertFunded(from: Party, { chain, token, decimals }: Side, amount: bigint) {
  const spendable = await from.readSpendable(token);
  if (spendable >= amount) return;
  throw new SandboxError(
    `the funded account ${from.address} has only ${formatUnits(spendable, decimals)} ${token.symbol ?? token.address} on ${chain.name}`,
  );
}

/** Reports every event of the deposit address until its settlement is completed. Returns the settlement's id. */
async function followDeposit(
  { descriptor, request, signal, onStep }: PaymentOptions,
  deposit: {
    readonly client: SluiceClient;
    readonly apiKey: string;
    readonly depositAddress: string;
    readonly since: string;
  },
): Promise<string> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const events = followEvents({
    ...deposit,
    baseUrl: descriptor.baseUrl,
    pollMs: POLL_MS,
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    onError: (error) => onStep("retrying", error instanceof Error ? error.message : String(error)),
  });
  let last = "it was not detected";
  for await (const event of events) {
    if (event.data.walletAddress !== deposit.depositAddress) continue;
    last = describeEvent(event);
    onStep(event.type, last);
    if (event.type === "deposit_detected") {
      if (event.data.queued) continue;
      throw new SandboxError(`the deposit was not queued: ${event.data.ignoredReason}`);
    }
    const { queueItemId, status, terminal } = event.data;
    if (status === "completed") return queueItemId;
    if (terminal) throw new SandboxError(`the settlement ${queueItemId} ended: ${last}`);
  }
  signal?.throwIfAborted();
  throw new SandboxError(
    `the deposit was not delivered within ${request.timeoutMs / 1_000} s; last event: ${last}`,
  );
}

const POLL_MS = 1_000;

function describeEvent(event: EventItem): string {
  if (event.type === "deposit_detected") {
    return event.data.queued ? "queued" : `ignored: ${event.data.ignoredReason}`;
  }
  const { prevStatus, status, txHash, error, retryCount } = event.data;
  return [
    `${prevStatus} -> ${status}`,
    ...(txHash === null ? [] : [`tx ${txHash}`]),
    ...(error ? [`${error.code}: ${error.message} (retry ${retryCount})`] : []),
  ].join(", ");
}

/** Calls the service. Throws a `SandboxError` for an error response and for a service that does not answer. */
async function ask<T>(service: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SluiceApiError) {
      throw new SandboxError(`${service} refused: ${error.code}: ${error.message}`, {
        cause: error,
      });
    }
    if (error instanceof SluiceResponseError || error instanceof TypeError) {
      throw new SandboxError(
        `${service} does not answer, it may still be starting: try again (${error.message})`,
        { cause: error },
      );
    }
    throw error;
  }
}
