/** The texts of the pay page in English. Another language has exactly these. */
import type { PayWaitReason } from "@sluice/sdk/wire";
import type { PaymentState } from "../pay/payments.ts";

export const en = {
  language: "English",
  title: "Payment",
  arrives: (token: string, chain: string) => `Arrives as ${token} on ${chain} at`,
  loading: "Loading the payment details…",
  problems: {
    unknown: [
      "This link is not known",
      "Check that the address of this page is complete, or ask the sender for a new link.",
    ],
    expired: [
      "This link has expired",
      "Ask the sender for a new link. A payment that you have already sent is still processed.",
    ],
    revoked: [
      "This link was withdrawn",
      "Ask the sender for a new link. A payment that you have already sent is still processed.",
    ],
    unreachable: [
      "The service cannot be reached",
      "This page tries again by itself. A payment that you have already sent is processed all the same.",
    ],
  } satisfies Record<"unknown" | "expired" | "revoked" | "unreachable", readonly [string, string]>,
  connection: {
    offline: "No connection. Payments are processed without this page; it catches up by itself.",
    polling: "Updates every few seconds.",
    live: "Updates live.",
    connecting: "Connecting…",
  },
  choose: "What do you pay with?",
  token: "Token",
  network: "Network",
  amount: "Amount to send (optional)",
  badAmount: (decimals: number) => `Enter a number with at most ${decimals} decimals.`,
  minimum: (amount: string) => `Minimum ${amount}`,
  noMinimum: "No minimum",
  terms: {
    arrives: "Arrives",
    atLeast: (amount: string) => `at least ${amount}`,
    about: (amount: string) => `about ${amount}`,
    fees: "Fees",
    none: "none",
    time: "Usual time",
    tooSmall: (minimum: string) =>
      `This is less than the minimum of ${minimum}. It would wait at the address until more arrives.`,
    belowMinimum:
      "This amount is too small to be delivered. It would wait at the address until more arrives.",
    unavailable: "No estimate is available now. The address works all the same.",
    computing: "Calculating…",
  },
  address: "Deposit address",
  sendOnly: (token: string, chain: string) => `Send ${token} on ${chain} to this address.`,
  anyTime: "You can pay it several times, in any of the tokens that are listed.",
  copy: "Copy address",
  copied: "Copied",
  copyFailed: "Copying failed. Select the address and copy it.",
  openWallet: "Open in wallet",
  qr: (address: string) => `QR code of the address ${address}`,
  check: {
    running: "Checking the address…",
    evm: "Checked in your browser",
    evmText:
      "The address was computed from the recipient below. The contract behind it can pay nobody else, except a refund to the refund address.",
    svm: "Signed by the operator's signer",
    svmText:
      "The signer confirms that the address belongs to the recipient below. On Solana no contract enforces this: you trust the signer.",
    byHost:
      "The values that this check starts from come from the page that you came from, not from the payment service.",
    byServer:
      "This page comes from the payment service itself, so the check relies on it. Compare the recipient with the one you expect.",
    unchecked:
      "This browser cannot verify the signature of the address. Compare the recipient with the one you expect.",
    recipient: "Recipient",
    refundAddress: "Refund address",
    bad: "Do not pay to this address",
    badText:
      "The check in your browser failed: the address does not belong to the expected recipient. Tell the person who sent you this link.",
  },
  details: "Details of the check",
  every: "All tokens and networks",
  table: { token: "Token", network: "Network", minimum: "Minimum", time: "Usual time" },
  help: "What happens if something goes wrong?",
  helpItems: [
    [
      "Another token",
      "A token that is not listed is not delivered. It stays at the address until the operator or the refund address takes it back. Ask the sender of this link.",
    ],
    [
      "Another network",
      "The address is valid on the networks that are listed. On another network nobody may be watching, and the payment may be lost.",
    ],
    [
      "Too little",
      "Less than the minimum waits at the address. Send the rest, and both are delivered together.",
    ],
    ["Too much, or twice", "Everything that arrives is delivered to the recipient."],
  ] satisfies readonly (readonly [string, string])[],
  payments: "Payments",
  noPayments:
    "Waiting for a payment. It appears here within seconds of arriving, also if you reload the page.",
  more: "Older payments are not shown.",
  states: {
    received: "Received",
    moving: "On its way",
    delivered: "Delivered",
    short: "Too little",
    held: "Not delivered",
    orphaned: "Network is reordering",
    dropped: "Dropped by the network",
    refundable: "Not delivered",
    refunding: "Being refunded",
    refunded: "Refunded",
  } satisfies Record<PaymentState, string>,
  stateTexts: {
    received: "The payment has arrived and is being confirmed.",
    moving: "The payment is on its way to the recipient.",
    delivered: "The recipient has received the payment.",
    short: "The payment has arrived, but is less than the minimum. Nothing is lost.",
    held: "The payment has arrived, but cannot be delivered from here at present. Ask the sender of this link.",
    orphaned:
      "The network replaced the block of this payment. The payment usually appears again by itself; check it in your wallet.",
    dropped:
      "The network took this payment out of its blocks again, and it did not come back: nothing has left your wallet by it. Check your wallet, and pay again.",
    refundable:
      "The payment could not be delivered. It is still at the address and can be refunded. Ask the sender of this link.",
    refunding: "The payment is on its way to the refund address.",
    refunded: "The payment went back to the refund address.",
  } satisfies Record<PaymentState, string>,
  steps: { received: "Received", moving: "On its way", delivered: "Delivered" },
  confirmations: (done: number, required: number | null) =>
    required === null
      ? `${done} confirmations`
      : `${Math.min(done, required)} of ${required} confirmations`,
  final: "Confirmed",
  waiting: {
    worker: "Next in the queue.",
    confirmations: "Waiting for confirmations of the network.",
    transaction: "Waiting for the network to include the transaction.",
    bridge: "Waiting for the bridge between the networks.",
    delivery: "The payout to the recipient is being sent.",
    gas_price: "Network fees are high at present. The delivery waits until they fall.",
    liquidity: "The operator's funds on the other network are being refilled.",
    operator:
      "The operator has to release this payment. Ask the sender of this link if it takes long.",
    price: "Waiting for a current price.",
    node: "A network cannot be reached at present. The delivery goes on by itself.",
    amount_too_small: "The amount does not cover the fees at present. Send more, or wait.",
    recipient: "The recipient cannot receive at present.",
    refund: "A refund is under way.",
    reorg: "The network is reordering its newest blocks.",
    retry: "A step failed and is tried again.",
  } satisfies Record<PayWaitReason, string>,
  nextTry: (time: string) => `Next try at ${time}.`,
  usually: (time: string) => `Usually ${time} in all.`,
  addMore: (amount: string, chain: string) =>
    `Send at least ${amount} more on ${chain} to the same address.`,
  sent: "Paid",
  arrived: "Arrived",
  fees: "Fees",
  transactions: "Transactions",
  paymentTx: "Payment",
  deliveryTx: "Delivery",
  sweepTx: "Collection from the address",
  refundTx: "Refund",
  newTab: "opens in a new tab",
  receipt: "Receipt",
  print: "Print",
  json: "Save as JSON",
  expires: (time: string) => `This link shows the payment until ${time}. The address stays valid.`,
  seconds: (count: number) => (count === 1 ? "1 second" : `${count} seconds`),
  minutes: (count: number) => (count === 1 ? "1 minute" : `${count} minutes`),
  hours: (count: number) => (count === 1 ? "1 hour" : `${count} hours`),
};

/** The texts of one language. */
export type Texts = typeof en;
