/**
 * Accepts one payment: asks for an address, checks it before anybody pays to it, shows a URI that wallets open, and
 * waits until the money is where it belongs.
 */
import {
  createSluiceClient,
  type SluiceClientOptions,
  type Swap,
  toEvmPaymentUri,
  verifyDepositAddress,
  waitForSettlement,
} from "@sluice/sdk";

export interface Order {
  /** What the customer is to pay, in base units of `fromToken`. */
  readonly amount: bigint;
  readonly fromChain: string;
  readonly fromToken: string;
  /** EIP-155 id of the chain that the customer pays on. */
  readonly evmChainId: number;
  readonly toChain: string;
  readonly toToken: string;
  /** Your own wallet. */
  readonly destination: `0x${string}`;
  /** From your own configuration, never from an answer. */
  readonly factory: `0x${string}`;
  /** 20 bytes that stand for the order: the same order has the same address. */
  readonly orderId: `0x${string}`;
}

/** Returns the settlement: paid when its status is `completed`. `show` gets what the customer is to see. */
export async function acceptPayment(
  service: SluiceClientOptions,
  order: Order,
  show: (payment: { readonly address: string; readonly uri: string }) => Promise<void>,
): Promise<Swap> {
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
  const outcome = verifyDepositAddress({
    address,
    commitment: quote.payDepositCommitment,
    factory: order.factory,
    expected: { destWallet: destination, maxFeeBps: 50 },
  });
  if (outcome.kind !== "ok") throw new Error(`${outcome.field} is ${outcome.actual}`);

  const uri = toEvmPaymentUri({
    address,
    evmChainId: order.evmChainId,
    token: fromToken,
    amount,
  });
  await show({ address, uri });
  return waitForSettlement(client, { walletAddress: address, timeoutMs: 30 * 60_000 });
}
