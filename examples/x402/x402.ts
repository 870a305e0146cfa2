/**
 * The objects of x402 (version 2, scheme `exact` by EIP-3009) for a resource that is paid to a deposit address: the
 * seller asks, an agent signs, and the seller checks before a facilitator moves the tokens. Sluice then delivers them to
 * the seller's wallet on another chain. Nothing here uses a network.
 */
import { type Hex, toHex, verifyTypedData } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";

/** The names of the HTTP headers. Their values are JSON in base64. */
export const HEADERS = {
  required: "PAYMENT-REQUIRED",
  signature: "PAYMENT-SIGNATURE",
  response: "PAYMENT-RESPONSE",
} as const;

const address = Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }));
const units = Type.String({ pattern: "^(0|[1-9][0-9]*)$" });
const hexOf = (bytes: number) =>
  Type.Unsafe<Hex>(Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$` }));

export const PaymentRequirements = Type.Object({
  scheme: Type.Literal("exact"),
  network: Type.String({ pattern: "^eip155:[1-9][0-9]*$" }),
  amount: units,
  asset: address,
  payTo: address,
  maxTimeoutSeconds: Type.Integer({ minimum: 1 }),
  /** Name and version of the token's EIP-712 domain. */
  extra: Type.Object({ name: Type.String(), version: Type.String() }),
});
export type PaymentRequirements = Static<typeof PaymentRequirements>;

const Resource = Type.Object({
  url: Type.String(),
  description: Type.Optional(Type.String()),
  mimeType: Type.Optional(Type.String()),
});

export const PaymentRequired = Type.Object({
  x402Version: Type.Literal(2),
  error: Type.Optional(Type.String()),
  resource: Resource,
  accepts: Type.Array(PaymentRequirements),
  extensions: Type.Optional(Type.Object({})),
});
export type PaymentRequired = Static<typeof PaymentRequired>;

export const PaymentPayload = Type.Object({
  x402Version: Type.Literal(2),
  resource: Type.Optional(Resource),
  accepted: PaymentRequirements,
  payload: Type.Object({
    signature: hexOf(65),
    authorization: Type.Object({
      from: address,
      to: address,
      value: units,
      validAfter: units,
      validBefore: units,
      nonce: hexOf(32),
    }),
  }),
  extensions: Type.Optional(Type.Object({})),
});
export type PaymentPayload = Static<typeof PaymentPayload>;

export const SettlementResponse = Type.Object({
  success: Type.Boolean(),
  errorReason: Type.Optional(Type.String()),
  payer: Type.Optional(address),
  transaction: Type.String(),
  network: Type.String(),
});
export type SettlementResponse = Static<typeof SettlementResponse>;

/** Writes an object as the value of a header. */
export const encodeHeader = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64");

/** Reads the object of a header. Throws if it has another shape. */
export function decodeHeader<T extends Parameters<typeof Value.Check>[1]>(
  schema: T,
  header: string,
): Static<T> {
  const value: unknown = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
  if (Value.Check(schema, value)) return value;
  throw new Error(`header: ${Value.Errors(schema, value)[0]?.message ?? "expected another shape"}`);
}

/** Asks for a payment to a deposit address. Take the address of one order: its deposits then belong to the order. */
export function requirePayment(order: {
  readonly url: string;
  readonly evmChainId: number;
  readonly depositAddress: Hex;
  readonly token: { readonly address: Hex; readonly name: string; readonly version: string };
  /** In base units: at least the address's minimum, below which a deposit is not settled. */
  readonly amount: bigint;
}): PaymentRequired {
  const { address: asset, name, version } = order.token;
  return {
    x402Version: 2,
    error: `${HEADERS.signature} header is required`,
    resource: { url: order.url },
    accepts: [
      {
        scheme: "exact",
        network: `eip155:${order.evmChainId}`,
        amount: String(order.amount),
        asset,
        payTo: order.depositAddress,
        maxTimeoutSeconds: 60,
        extra: { name, version },
      },
    ],
  };
}

const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** Returns the typed data that the payer signs: a transfer of the token to the deposit address. */
function typedDataOf(
  { network, asset, extra }: PaymentRequirements,
  authorization: PaymentPayload["payload"]["authorization"],
) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return {
    domain: { ...extra, chainId: Number(network.split(":")[1]), verifyingContract: asset },
    types: TYPES,
    primaryType: "TransferWithAuthorization",
    message: {
      from,
      to,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
    },
  } as const;
}

/** Signs a payment as an agent does, if it costs no more than the agent's limit. */
export async function signPayment(
  agent: PrivateKeyAccount,
  { resource, accepts }: PaymentRequired,
  limits: { readonly network: string; readonly asset: Hex; readonly amountMax: bigint },
  nowSeconds = Math.floor(Date.now() / 1_000),
): Promise<PaymentPayload> {
  const accepted = accepts.find(
    ({ network, asset, amount }) =>
      network === limits.network &&
      asset.toLowerCase() === limits.asset.toLowerCase() &&
      BigInt(amount) <= limits.amountMax,
  );
  if (!accepted) throw new Error("no accepted payment is within the agent's limits");
  const authorization = {
    from: agent.address,
    to: accepted.payTo,
    value: accepted.amount,
    // The time of a chain is that of its newest block, which may be behind.
    validAfter: String(nowSeconds - 600),
    validBefore: String(nowSeconds + accepted.maxTimeoutSeconds),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  };
  const signature = await agent.signTypedData(typedDataOf(accepted, authorization));
  return { x402Version: 2, resource, accepted, payload: { signature, authorization } };
}

/**
 * Returns why a payment does not pay for what was asked, by the error codes of x402, or null. The facilitator that moves
 * the tokens also checks the payer's balance.
 */
export async function findFault(
  asked: PaymentRequirements,
  { accepted, payload }: PaymentPayload,
  nowSeconds = Math.floor(Date.now() / 1_000),
): Promise<string | null> {
  const { signature, authorization } = payload;
  const { from, to, value, validAfter, validBefore } = authorization;
  if (!Value.Equal(accepted, asked)) return "invalid_payment_requirements";
  if (to.toLowerCase() !== asked.payTo.toLowerCase()) {
    return "invalid_exact_evm_payload_recipient_mismatch";
  }
  if (value !== asked.amount) return "invalid_exact_evm_payload_authorization_value_mismatch";
  if (BigInt(validAfter) > BigInt(nowSeconds)) {
    return "invalid_exact_evm_payload_authorization_valid_after";
  }
  if (BigInt(validBefore) <= BigInt(nowSeconds)) {
    return "invalid_exact_evm_payload_authorization_valid_before";
  }
  const isSigned = await verifyTypedData({
    address: from,
    signature,
    ...typedDataOf(asked, authorization),
  });
  return isSigned ? null : "invalid_exact_evm_payload_signature";
}
