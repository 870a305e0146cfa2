/**
 * Accepts one payment: requests a deposit address, verifies it before anyone pays, shows a payment URI, and waits until
 * the full amount is delivered.
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

/** Terms agreed with the service's operator. Take them from your own configuration, never from a response. */
export interface Terms {
  readonly factory: `0x${string}`;
  /** Your integrator id, a UUID. */
  readonly integrator: string;
  /** Account that can take a deposit back. */
  readonly refundAuthority: `0x${string}`;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
}

export interface Order {
  /** Amount that the customer pays, in base units of `fromToken`. */
  readonly amount: bigint;
  readonly fromChain: string;
  readonly fromToken: string;
  /** EIP-155 chain id of the chain on which the customer pays. */
  readonly evmChainId: number;
  readonly toChain: string;
  /** Bridge chain id of `toChain`. */
  readonly toChainId: number;
  readonly toToken: string;
  /** Your own wallet. */
  readonly destination: `0x${string}`;
  /** 20 bytes that identify the order: the same order id gives the same address. */
  readonly orderId: `0x${string}`;
  /** Timeout for the payment, in milliseconds. */
  readonly waitMs: number;
}

/** Result of an order. */
export interface Outcome {
  /** Whether the full amount was delivered. A `completed` settlement may be of a smaller amount. */
  readonly isPaid: boolean;
  /** Sum of the delivered deposits, in base units of `fromToken`, before fees. */
  readonly delivered: bigint;
}

/** Returns when the order is paid or the timeout is over. `show` displays the payment to the customer. */
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
    throw new Error("no quote has a deposit address for this payment");
  }

  const address = quote.payDepositAddress;
  const { factory, ...agreed } = terms;
  const checked = verifyDepositAddress({
    address,
    commitment: quote.payDepositCommitment,
    factory,
    // Pass all ten fields: a field left out here is not verified.
    expected: {
      ...agreed,
      userId: orderId,
      destChain: order.toChainId,
      destWallet: destination,
      destToken: toToken,
    },
  });
  if (checked.kind !== "ok") {
    throw new Error(`${checked.field}: expected ${checked.expected}, got ${checked.actual}`);
  }

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
    // A partial payment, another token or a failure: the rest may still arrive.
    last = { after: ended.id };
  }
}

/** Returns the sum of an address's deposits in one token whose settlement is completed. */
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
    const isToken = deposit.tokenAddress.toLowerCase() === paid.token.toLowerCase();
    if (isToken && completed.has(deposit.queueItemId ?? "")) sum += BigInt(deposit.amount);
  }
  return sum;
}
