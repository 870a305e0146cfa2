import {
  type HashTypedDataParameters,
  hashTypedData,
  serializeSignature,
  type TypedData,
  type TypedDataDomain,
} from "viem";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address, EvmAddress, Hex } from "../../core/hex.ts";
import { deliveryIdOfPayout, hashCommitment } from "../../chains/evm/commitment.ts";
import type { AttestorSigner } from "../port.ts";
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
      /** The EVM factory. Delivery ids use the address that it would give a commitment's wallet. */
      readonly factory: EvmAddress;
      /** Accounts of the Solana signer, which verifies the signatures in place of contracts. */
      readonly escrow: Address;
      readonly delivery: Address;
    };

const DELIVER = {
  Deliver: [
    { name: "deliveryId", type: "bytes32" },
    { name: "commitment", type: "bytes32" },
    { name: "amount", type: "uint256" },
    { name: "deadline", type: "uint256" },
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
 * Creates the attestor's signer. It builds each message itself: delivery id and commitment hash are computed from the
 * payout; contract and chain id (on Solana, the signer's account) come from the configuration. Throws CONFIG_MISSING
 * for a chain that is not configured.
 */
export function createEvmAttestorSigner(options: {
  readonly key: EvmKey;
  /** By bridge chain id. */
  readonly chains: ReadonlyMap<number, AttestedChain>;
}): AttestorSigner {
  const { key, chains } = options;
  async function sign<const Types extends TypedData, PrimaryType extends keyof Types>(
    message: HashTypedDataParameters<Types, PrimaryType>,
  ): Promise<Hex> {
    return serializeSignature(await key.sign(hashTypedData(message)));
  }

  return {
    address: key.address,

    async signDelivery(destChain, order) {
      const destination = getChain(chains, destChain);
      const { commitment, amount, deadline } = order;
      assert(commitment.destChain === destChain, "an order is for the chain of its commitment");
      assert(
        order.escrow === getChain(chains, order.srcChain).escrow,
        "an order names the escrow of its source chain",
      );
      return sign({
        domain: domainOf("Sluice Delivery", destination, destination.delivery),
        types: DELIVER,
        primaryType: "Deliver",
        message: {
          deliveryId: deliveryIdOfPayout(destination.factory, order),
          commitment: hashCommitment(commitment),
          amount,
          deadline,
        },
      });
    },

    async signClaim(srcChain, { deliveryId, paidAmount, deadline }) {
      const source = getChain(chains, srcChain);
      return sign({
        domain: domainOf("Sluice Escrow", source, source.escrow),
        types: CLAIM,
        primaryType: "Claim",
        message: { deliveryId, paidAmount, deadline },
      });
    },

    async signReturn(srcChain, { deliveryId, deadline }) {
      const source = getChain(chains, srcChain);
      return sign({
        domain: domainOf("Sluice Escrow", source, source.escrow),
        types: RETURN,
        primaryType: "Return",
        message: { deliveryId, deadline },
      });
    },

    async signPrice(srcChain, { route, ...price }) {
      const source = getChain(chains, srcChain);
      if (source.kind === "svm") {
        assert(route === source.escrow, "a price for Solana is for its escrow");
        return sign({
          domain: domainOf("Sluice PricedRoute", source, route),
          types: PRICE_OF_SOLANA,
          primaryType: "Price",
          message: { factory: source.factory, ...price },
        });
      }
      return sign({
        domain: domainOf("Sluice PricedRoute", source, route),
        types: PRICE,
        primaryType: "Price",
        message: { factory: source.factory, ...price },
      });
    },
  };
}

/** Returns the EIP-712 domain. On Solana the account of the verifying signer is its salt, in place of a contract. */
function domainOf(name: string, chain: AttestedChain, verifier: Address): TypedDataDomain {
  if (chain.kind === "svm") return { name, salt: verifier };
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
