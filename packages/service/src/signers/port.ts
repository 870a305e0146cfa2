/**
 * The signer port: the only code that holds keys is behind it. A signer is told what to sign, not bytes to sign: it
 * builds the transaction or the typed message itself, and signs nothing that its policy does not allow.
 */
import type {
  Call,
  ClaimProof,
  Payout,
  Fees,
  Lifetime,
  PriceRequest,
  ReturnProof,
} from "../chains/port/index.ts";
import type { LanePurpose } from "../config/index.ts";
import type { Commitment } from "../core/commitment.ts";
import type { Address, Hex, TxHash } from "../core/hex.ts";

export interface SigningRequest {
  readonly call: Call;
  /** Only orders transactions where the chain has nonces. */
  readonly nonce: number;
  readonly gas: bigint;
  readonly fees: Fees;
  /** Set on a chain without nonces, and only there. */
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
  /** Ends what it has begun, and begins nothing. */
  readonly retired: boolean;
  /** Throws `SignerRefusal` for what the policy does not allow, `SignerWaits` for what it does not allow yet, RPC_UNAVAILABLE when the key cannot be reached. */
  sign(intent: SigningRequest): Promise<SignedTransaction>;
  /** What deliveries may still pay of a token today, in base units; only where no contract but the signer keeps the cap. */
  getCapLeft?(token: Address): Promise<bigint>;
}

/** The second key: says what is final, and so what inventory may pay and what escrows may release. Throws as above. */
export interface AttestorSigner {
  readonly address: Address;
  /** Signs towards the `Delivery` contract of the destination chain. */
  signDelivery(destChain: number, order: Payout): Promise<Hex>;
  /** Signs towards the `Escrow` contract of the source chain. */
  signClaim(srcChain: number, claim: ClaimProof): Promise<Hex>;
  /** Signs towards the same contract that a lock may go back to its deposit address. */
  signReturn(srcChain: number, proof: ReturnProof): Promise<Hex>;
  /** Signs towards a priced route of the source chain. */
  signPrice(srcChain: number, order: PriceRequest): Promise<Hex>;
}

/** Derives the deposit addresses of a chain where nobody else can. It signs nothing but its word for them. */
export interface VaultSigner {
  /** Bridge chain id. */
  readonly chainId: number;
  /** Whose signature a proof is. */
  readonly binding: Address;
  /** The one deposit address of a commitment, and the proof of it. */
  deriveVault(commitment: Commitment): Promise<{ readonly wallet: Address; readonly proof: Hex }>;
}
