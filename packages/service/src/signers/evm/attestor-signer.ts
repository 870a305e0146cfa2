import { hashTypedData, serializeSignature, type TypedDataDomain } from "viem";
import type { PriceRequest, RefundProof } from "../../chains/port/index.ts";
import { assert, assertNever } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address, EvmAddress, Hex, Hex32 } from "../../core/hex.ts";
import { deliveryIdOfPayout, predictWallet } from "../../chains/evm/commitment.ts";
import { numberOfReason } from "../../core/refund-reason.ts";
import type { AttestedMessage, AttestorSigner } from "../port.ts";
import type { EvmKey } from "./key.ts";

/** The facts of a chain that go into the EIP-712 domain of its signatures. */
export type AttestedChain =
  | {
      readonly kind: "evm";
      /** EIP-155 chain id. */
      readonly evmChainId: number;
      readonly factory: EvmAddress;
      readonly escrow: EvmAddress;
      readonly delivery: EvmAddress;
    }
  | {
      readonly kind: "svm";
      /** Hash of the cluster's first block. */
      readonly cluster: Hex32;
      /** The EVM factory. Prices name the address that it would give a commitment's wallet. */
      readonly factory: EvmAddress;
      /** Accounts of the Solana signer, which verifies the signatures in place of contracts. */
      readonly escrow: Address;
      readonly delivery: Address;
    };

/** The EIP-712 type of a payout. */
export const DELIVER = {
  Deliver: [
    { name: "deliveryId", type: "bytes32" },
    { name: "amount", type: "uint256" },
    { name: "windowStart", type: "uint256" },
  ],
} as const;

const CLAIM = {
  Claim: [
    { name: "deliveryId", type: "bytes32" },
    { name: "paidAmount", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

const RETURN = {
  Return: [
    { name: "deliveryId", type: "bytes32" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

const PRICE = {
  Price: [
    { name: "factory", type: "address" },
    { name: "wallet", type: "address" },
    { name: "token", type: "address" },
    { name: "rate", type: "uint256" },
    { name: "maxAmount", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** The EIP-712 type of a refund. */
export const REFUND = {
  Refund: [
    { name: "wallet", type: "address" },
    { name: "token", type: "address" },
    { name: "maxAmount", type: "uint256" },
    { name: "reason", type: "uint8" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** `PRICE` with a token of 32 bytes. */
const PRICE_OF_SOLANA = {
  Price: [
    { name: "factory", type: "address" },
    { name: "wallet", type: "address" },
    { name: "token", type: "bytes32" },
    { name: "rate", type: "uint256" },
    { name: "maxAmount", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/**
 * Creates the function that returns the digest of a message, which is what attestors sign and verifiers recover from. It
 * builds each message itself: the delivery id is computed from the whole lock; contract and chain id (on Solana, the
 * signer's account and the cluster) come from the configuration. Throws CONFIG_MISSING for a chain that is not
 * configured.
 */
export function createAttestationDigest(
  /** By bridge chain id. */
  chains: ReadonlyMap<number, AttestedChain>,
): (message: AttestedMessage) => Hex {
  return (message) => {
    const { chainId } = message;
    const verifier = getChain(chains, chainId);
    switch (message.kind) {
      case "delivery": {
        const { order } = message;
        const { commitment, amount, windowStart } = order;
        assert(commitment.destChain === chainId, "an order is for the chain of its commitment");
        assert(
          order.escrow === getChain(chains, order.srcChain).escrow,
          "an order names the escrow of its source chain",
        );
        return hashTypedData({
          domain: domainOf("Sluice Delivery", verifier, verifier.delivery),
          types: DELIVER,
          primaryType: "Deliver",
          message: {
            deliveryId: deliveryIdOfPayout(verifier.delivery, order),
            amount,
            windowStart,
          },
        });
      }
      case "claim": {
        const { deliveryId, paidAmount, deadline } = message.order;
        return hashTypedData({
          domain: domainOf("Sluice Escrow", verifier, verifier.escrow),
          types: CLAIM,
          primaryType: "Claim",
          message: { deliveryId, paidAmount, deadline },
        });
      }
      case "return": {
        const { deliveryId, deadline } = message.order;
        return hashTypedData({
          domain: domainOf("Sluice Escrow", verifier, verifier.escrow),
          types: RETURN,
          primaryType: "Return",
          message: { deliveryId, deadline },
        });
      }
      case "price":
        return hashPrice(verifier, message.order);
      case "refund":
        return hashRefund(verifier, message.order);
      default:
        return assertNever(message);
    }
  };
}

function hashPrice(verifier: AttestedChain, { route, ...price }: PriceRequest): Hex {
  const domain = domainOf("Sluice PricedRoute", verifier, route);
  const message = { factory: verifier.factory, ...price };
  if (verifier.kind === "evm") {
    return hashTypedData({ domain, types: PRICE, primaryType: "Price", message });
  }
  assert(route === verifier.escrow, "a price for Solana is for its escrow");
  return hashTypedData({ domain, types: PRICE_OF_SOLANA, primaryType: "Price", message });
}

function hashRefund(verifier: AttestedChain, proof: RefundProof): Hex {
  assert(verifier.kind === "evm", "only a factory verifies refunds");
  const { commitment, reason, ...terms } = proof;
  const { factory } = verifier;
  return hashTypedData({
    domain: domainOf("Sluice DepositFactory", verifier, factory),
    types: REFUND,
    primaryType: "Refund",
    message: {
      ...terms,
      wallet: predictWallet(factory, commitment),
      reason: numberOfReason(reason),
    },
  });
}

/** Creates the attestor's signer, over the digests of its messages. */
export function createEvmAttestorSigner(options: {
  readonly key: EvmKey;
  /** By bridge chain id. */
  readonly chains: ReadonlyMap<number, AttestedChain>;
}): AttestorSigner {
  const { key, chains } = options;
  const digestOf = createAttestationDigest(chains);
  const sign = async (message: AttestedMessage): Promise<Hex> =>
    serializeSignature(await key.sign(digestOf(message)));
  return {
    address: key.address,
    signDelivery: (chainId, order) => sign({ kind: "delivery", chainId, order }),
    signClaim: (chainId, order) => sign({ kind: "claim", chainId, order }),
    signReturn: (chainId, order) => sign({ kind: "return", chainId, order }),
    signPrice: (chainId, order) => sign({ kind: "price", chainId, order }),
    signRefund: (chainId, order) => sign({ kind: "refund", chainId, order }),
  };
}

/**
 * Returns the EIP-712 domain. On Solana the account of the verifying signer is its salt, in place of a contract, and the
 * hash of the cluster's first block its chain id.
 */
function domainOf(name: string, chain: AttestedChain, verifier: Address): TypedDataDomain {
  if (chain.kind === "svm") {
    return { name, version: "1", chainId: BigInt(chain.cluster), salt: verifier };
  }
  return { name, version: "1", chainId: chain.evmChainId, verifyingContract: verifier };
}

function getChain(chains: ReadonlyMap<number, AttestedChain>, chainId: number): AttestedChain {
  const chain = chains.get(chainId);
  if (chain) return chain;
  throw new OperatingError(
    "CONFIG_MISSING",
    `Chain ${chainId} is not configured for the attestor.`,
    {
      details: { chainId },
    },
  );
}
