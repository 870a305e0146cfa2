/** Everything that a signer of Solana signs with, made of one seed and what the operator configured. */
import type { MintFacts } from "../../chains/solana/instructions.ts";
import type { Payout } from "../../chains/port/index.ts";
import type { Commitment } from "../../core/commitment.ts";
import { type Address, type EvmAddress, type Hex32, padAddress } from "../../core/hex.ts";
import type { Secret } from "../../core/secret.ts";
import type { Guard } from "../guard.ts";
import type { LaneSigner, VaultSigner } from "../port.ts";
import { SignerRefusal } from "../refusal.ts";
import { createSolanaLaneSigner } from "./lane-signer.ts";
import { createOrderPolicy, type LockPair } from "./policy.ts";
import { createSeed, type Seed } from "./seed.ts";
import { createSolanaVaultSigner } from "./vault-signer.ts";

/** A token that a signer moves. Any other lies where it is. */
export interface CustodyToken {
  /** Mint, or zero for SOL itself. */
  readonly token: Address;
  /** Null for SOL itself. */
  readonly mint: MintFacts | null;
  /** The most that deliveries may pay of it in any 24 hours, in base units. */
  readonly dailyCap: bigint;
}

export interface CustodyOptions {
  readonly seed: Secret;
  /** The setting that names the seed, for messages. */
  readonly setting: string;
  /** Bridge chain id. */
  readonly chainId: number;
  /** Where claims and fees go. */
  readonly treasury: Address;
  /** Any of them may attest. */
  readonly attestors: readonly EvmAddress[];
  readonly tokens: readonly CustodyToken[];
  /** What may be locked for a delivery elsewhere. */
  readonly pairs: readonly LockPair[];
  /** Lamports that each fee payer may commit to fees and rent in 24 hours; undefined for any. */
  readonly dailyBudget?: bigint | undefined;
  /** Lamports that an account costs per byte and for 128 more; more than the chain asks does no harm. */
  readonly lamportsPerByte?: bigint;
  /** The EVM factory: wallets are named by the address that it gives their commitments. */
  readonly factory: EvmAddress;
  /** How commitments are hashed and locks are named on every chain. */
  readonly hashing: {
    hashCommitment(commitment: Commitment): Hex32;
    predictWallet(factory: EvmAddress, commitment: Commitment): EvmAddress;
    deliveryIdOf(lock: {
      readonly srcChain: number;
      readonly escrow: Hex32;
      readonly wallet: Hex32;
      readonly token: Hex32;
      readonly seq: bigint;
    }): Hex32;
  };
}

/** The most that a transaction may use on Solana. */
const UNIT_LIMIT_MAX = 1_400_000n;
/** Micro-lamports: at most 0.014 SOL for a transaction. */
const UNIT_PRICE_MAX = 10_000_000n;
/** What accounts cost before it was lowered. */
const LAMPORTS_PER_BYTE = 6_960n;

/** The fee payers behind the guard's memory, and what derives vaults. Throws CONFIG_MISSING for a malformed seed. */
export function openCustody(
  options: CustodyOptions,
  guard: Guard,
): {
  readonly lanes: readonly LaneSigner[];
  readonly vaults: VaultSigner;
  /** What the seed comes to, to be compared with what was configured. */
  readonly accounts: Seed["accounts"];
} {
  const { chainId, treasury, factory, pairs, dailyBudget } = options;
  const { hashCommitment, predictWallet, deliveryIdOf } = options.hashing;
  const { lamportsPerByte = LAMPORTS_PER_BYTE } = options;
  const seed = createSeed(options.seed, options.setting);
  const { escrow, delivery } = seed.accounts;
  const tokens = new Map(options.tokens.map((listed) => [listed.token, listed]));
  const evmWalletOf = (commitment: Commitment) => predictWallet(factory, commitment);

  const deliveryIdOfPayout = (
    order: Pick<Payout, "commitment" | "srcChain" | "escrow" | "srcToken" | "seq">,
  ) =>
    deliveryIdOf({
      srcChain: order.srcChain,
      escrow: padAddress(order.escrow),
      wallet: padAddress(evmWalletOf(order.commitment)),
      token: padAddress(order.srcToken),
      seq: order.seq,
    });
  const facts = {
    treasury,
    hashCommitment,
    deliveryIdOfPayout,
    deliveryIdOfLock: ({
      commitment,
      token,
      seq,
    }: {
      readonly commitment: Commitment;
      readonly token: Address;
      readonly seq: bigint;
    }) => deliveryIdOfPayout({ commitment, srcChain: chainId, escrow, srcToken: token, seq }),
    mintFactsOf(mint: Address) {
      const found = tokens.get(mint)?.mint;
      if (!found) throw new SignerRefusal(`the token ${mint}`);
      return found;
    },
    rentOf: (bytes: number) => (128n + BigInt(bytes)) * lamportsPerByte,
  };

  const lanes = (["settle", "deliver"] as const).map((purpose) => {
    const checkOrder = createOrderPolicy(purpose, {
      ...facts,
      chainId,
      escrow,
      delivery,
      factory,
      evmWalletOf,
      pairs,
      ownAccounts: new Set(Object.values(seed.accounts)),
      vaultOf: (commitment) => seed.vaultOf(hashCommitment(commitment)),
      attestors: new Set(options.attestors),
      isListed: (token) => tokens.has(token),
    });
    const signer = createSolanaLaneSigner({ seed, chainId, purpose, facts, checkOrder });
    return guard.guardOrders(signer, {
      gasMax: UNIT_LIMIT_MAX,
      maxFeePerGas: UNIT_PRICE_MAX,
      dailyBudget,
      dailyCapOf: (token) => tokens.get(token)?.dailyCap ?? 0n,
    });
  });
  const vaults = createSolanaVaultSigner({ seed, chainId, hashCommitment });
  return { lanes, vaults, accounts: seed.accounts };
}
