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

/** What a signature for a chain is bound to. */
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
      /** The EVM factory: wallets are named by the address that it gives their commitments. */
      readonly factory: EvmAddress;
      /** Accounts of the signer that verifies. */
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

/** As above, of a token in 32 bytes. */
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
 * The attestor's key. Builds each message itself: the delivery id and the commitment's hash are computed from the order,
 * the contract and chain id come from the configuration, or the account of the signer on Solana. Throws CONFIG_MISSING when a message is for a chain that is not
 * configured.
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

/** Where no contract verifies, the account of the signer that does stands in its place. */
function domainOf(name: string, chain: AttestedChain, verifier: Address): TypedDataDomain {
  if (chain.kind === "svm") return { name, salt: verifier };
  return { name, version: "1", chainId: chain.evmChainId, verifyingContract: verifier };
}

function getChain(chains: ReadonlyMap<number, AttestedChain>, chainId: number): AttestedChain {
  const chain = chains.get(chainId);
  if (chain) return chain;
  throw new OperatingError("CONFIG_MISSING", "The attestor does not know this chain.", {
    details: { chainId },
  });
}
