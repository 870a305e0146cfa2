/**
 * The signer port: only code behind it holds keys. A signer receives facts, never bytes to sign: it builds the
 * transaction or the typed message itself and signs nothing that its policy does not allow.
 */
import type {
  Call,
  ClaimProof,
  Payout,
  Fees,
  Lifetime,
  LockFacts,
  PriceRequest,
  RefundProof,
  ReturnProof,
} from "../chains/port/index.ts";
import type { LanePurpose } from "../config/index.ts";
import type { Commitment } from "../core/commitment.ts";
import type { Address, EvmAddress, Hex, Hex32, TxHash } from "../core/hex.ts";

/** Most by which a claim may offer more than the gas price cap of its chain: a claim that comes too late loses a payout. */
export const CLAIM_CAP_FACTOR_MAX = 8n;

export interface SigningRequest {
  readonly call: Call;
  /** On a chain without nonces it only orders the lane's transactions. */
  readonly nonce: number;
  readonly gas: bigint;
  readonly fees: Fees;
  /** Transactions of the settlement: a payout's lock may be in one of them. Tried first, never trusted. */
  readonly hints?: readonly TxHash[] | undefined;
  /** Set exactly on chains without nonces. */
  readonly lifetime?: Lifetime | undefined;
}

export interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: TxHash;
}

/** A sender account on one chain, for one purpose. */
export interface LaneSigner {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly purpose: LanePurpose;
  readonly address: Address;
  /** The lane finishes its open transactions and takes no new ones. */
  readonly retired: boolean;
  /**
   * Builds and signs a transaction. Throws `SignerRefusal` when the policy forbids it, `SignerWaits` when the policy
   * does not allow it yet, RPC_UNAVAILABLE when the key cannot be reached.
   */
  sign(intent: SigningRequest): Promise<SignedTransaction>;
  /** Returns what deliveries may still pay of a token in 24 hours, in base units. Only where the signer keeps the cap. */
  getCapLeft?(token: Address): Promise<bigint>;
}

/**
 * The second key: attests finality, which allows inventory to pay and escrows to release. Each method throws as
 * `LaneSigner.sign` does.
 */
export interface AttestorSigner {
  readonly address: Address;
  /**
   * Signs a payout for the `Delivery` contract of the destination chain. For a lock that is not final `worth` is the value at
   * risk, in US dollars times 1e18: it is counted until the lock is covered, and `SignerWaits` is thrown where the exposure of
   * the lock's chain has no room for it.
   */
  signDelivery(destChain: number, order: Payout, worth?: bigint): Promise<Hex>;
  /** The count of early payouts. A signer without one signs none. */
  readonly early?: EarlyCount;
  /** Signs a claim for the `Escrow` contract of the source chain. */
  signClaim(srcChain: number, claim: ClaimProof): Promise<Hex>;
  /** Signs a return for the `Escrow` contract of the source chain: the lock may go back to its deposit address. */
  signReturn(srcChain: number, proof: ReturnProof): Promise<Hex>;
  /** Signs a price for a priced route of the source chain. */
  signPrice(srcChain: number, order: PriceRequest): Promise<Hex>;
  /** Signs a refund for the factory of a chain; at most one of a wallet and token is valid at a time. */
  signRefund(chainId: number, proof: RefundProof): Promise<Hex>;
}

/** An attestor's count of early payouts: those that it signed, and others that it saw. */
export interface EarlyCount {
  /** Lists those that are counted, the oldest first. */
  list(): Promise<readonly CountedPayout[]>;
  /** No longer counts a payout: its lock is final, or it can no longer be made. */
  cover(deliveryId: Hex32): Promise<void>;
  /** Returns which of these payouts are neither signed by this attestor nor counted. */
  listOthers(deliveryIds: readonly Hex32[]): Promise<readonly Hex32[]>;
  /** Counts a payout that other attestors signed. It is made already, so it counts also beyond the exposure. */
  countOther(payout: CountedPayout): Promise<void>;
  /** Returns the block of a destination up to which payouts of others are counted; null before the first. */
  getReadTo(destChain: number): Promise<bigint | null>;
  recordReadTo(destChain: number, block: bigint): Promise<void>;
}

/** A payout that was signed, or seen, before its lock was final. */
export interface CountedPayout {
  readonly deliveryId: Hex32;
  readonly srcChain: number;
  readonly destChain: number;
  readonly escrow: Address;
  readonly lock: LockFacts;
  /** US dollars times 1e18. */
  readonly worth: bigint;
  /** End of the payout window, in Unix seconds. */
  readonly deadline: bigint;
  /** When it was signed or seen first, in Unix milliseconds. */
  readonly signedAtMs: number;
}

/** A message for attestors to sign, and the bridge chain id of the chain that verifies it. */
export type AttestedMessage = { readonly chainId: number } & (
  | { readonly kind: "delivery"; readonly order: Payout }
  | { readonly kind: "claim"; readonly order: ClaimProof }
  | { readonly kind: "return"; readonly order: ReturnProof }
  | { readonly kind: "price"; readonly order: PriceRequest }
  | { readonly kind: "refund"; readonly order: RefundProof }
);

/** The attestors of an installation, as the settler counts them. */
export interface AttestorSet {
  /** Signatures that an attestation needs. */
  readonly threshold: number;
  /** Whose signatures count; empty if anybody's does, for the contracts to judge. */
  readonly accounts: readonly EvmAddress[];
  /** Returns whose signature over the message it is; null if nobody's. Throws CONFIG_MISSING for an unknown chain. */
  recover(message: AttestedMessage, signature: Hex): EvmAddress | null;
}

/** Derives deposit addresses (vaults) on a chain where only the signer can. Signs bindings and nothing else. */
export interface VaultSigner {
  /** Bridge chain id. */
  readonly chainId: number;
  /** The account whose signature a proof is. */
  readonly binding: Address;
  /** Returns a commitment's vault and its binding. */
  deriveVault(commitment: Commitment): Promise<{ readonly wallet: Address; readonly proof: Hex }>;
}
