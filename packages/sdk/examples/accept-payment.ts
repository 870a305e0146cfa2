/**
 * Accepts one payment: asks for an address, checks it before anybody pays to it, shows a URI that wallets open, and
 * waits until all of the money is where it belongs.
 */
import {
  createSluiceClient,
  type SluiceClient,
  type SluiceClientOptions,
  SluiceTimeoutError,
  toEvmPaymentUri,
  verifyDepositAddress,
  waitForSettlement,
} from "@sluice/sdk";

/** What the service's operator agreed with you. From your own configuration, never from an answer. */
export interface Terms {
  readonly factory: `0x${string}`;
  /** Your own id, a UUID. */
  readonly integrator: string;
  /** Who may take a deposit back. */
  readonly refundAuthority: `0x${string}`;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
}

export interface Order {
  /** What the customer is to pay, in base units of `fromToken`. */
  readonly amount: bigint;
  readonly fromChain: string;
  readonly fromToken: string;
  /** EIP-155 id of the chain that the customer pays on. */
  readonly evmChainId: number;
  readonly toChain: string;
  /** Bridge chain id of `toChain`. */
  readonly toChainId: number;
  readonly toToken: string;
  /** Your own wallet. */
  readonly destination: `0x${string}`;
  /** 20 bytes that stand for the order: the same order has the same address. */
  readonly orderId: `0x${string}`;
  /** How long to wait for the money, in milliseconds. */
  readonly waitMs: number;
}

/** What came of an order. */
export interface Outcome {
  /** Whether everything that was asked for was delivered. A settlement that is `completed` may be of less. */
  readonly isPaid: boolean;
  /** What was paid and is delivered, in base units of `fromToken`, before the fee that the address allows. */
  readonly delivered: bigint;
}

/** Returns when the order is paid, or the time is over. `show` gets what the customer is to see. */
export async function acceptPayment(
  service: SluiceClientOptions,
  { order, terms }: { readonly order: Order; readonly terms: Terms },
  show: (payment: { readonly address: string; readonly uri: string }) => Promise<void>,
): Promise<Outcome> {
  const client = createSluiceClient(service);
  const { amount, fromChain, fromToken, toChain, toToken, destination, orderId } = order;
  const { quotes } = await client.quote({
    amountIn64: amount.toString(),
    fromChain,
    fromToken,
    toChain,
    toToken,
    slippageBps: "auto",
    destinationAddress: destination,
    payDeposit: true,
    payUserId: orderId,
  });
  const quote = quotes.find((one) => one.payDepositAddress !== null);
  if (!quote?.payDepositAddress || !quote.payDepositCommitment) {
    throw new Error("there is no address for this payment now");
  }

  const address = quote.payDepositAddress;
  const { factory, ...agreed } = terms;
  const checked = verifyDepositAddress({
    address,
    commitment: quote.payDepositCommitment,
    factory,
    // All eight fields: whichever is left out, the service may choose.
    expected: {
      ...agreed,
      userId: orderId,
      destChain: order.toChainId,
      destWallet: destination,
      destToken: toToken,
    },
  });
  if (checked.kind !== "ok") throw new Error(`${checked.field} is ${checked.actual}`);

  const uri = toEvmPaymentUri({
    address,
    evmChainId: order.evmChainId,
    token: fromToken,
    amount,
  });
  await show({ address, uri });

  const chainId = quote.fromToken.wChainId;
  const deadline = Date.now() + order.waitMs;
  let last: { readonly after?: string } = {};
  for (;;) {
    const timeoutMs = deadline - Date.now();
    const ended = await waitForSettlement(client, {
      walletAddress: address,
      timeoutMs,
      ...last,
    }).catch((error: unknown) => {
      if (!(error instanceof SluiceTimeoutError)) throw error;
    });
    const delivered = await sumDelivered(client, { address, chainId, token: fromToken });
    if (delivered >= amount || !ended) return { isPaid: delivered >= amount, delivered };
    // It was a part, or another token, or it failed: the rest may still come.
    last = { after: ended.id };
  }
}

/** What was paid to an address in one token and is delivered. */
async function sumDelivered(
  client: SluiceClient,
  paid: { readonly address: string; readonly chainId: number; readonly token: string },
): Promise<bigint> {
  const { address: walletAddress, chainId } = paid;
  const completed = new Set<string>();
  for await (const swap of client.iterateSwaps({ walletAddress, chainId, status: "completed" })) {
    completed.add(swap.id);
  }
  let sum = 0n;
  for await (const deposit of client.iterateDeposits({ walletAddress, chainId })) {
    const isOurs = deposit.tokenAddress.toLowerCase() === paid.token.toLowerCase();
    if (isOurs && completed.has(deposit.queueItemId ?? "")) sum += BigInt(deposit.amount);
  }
  return sum;
}
