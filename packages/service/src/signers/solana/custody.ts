/** Composes the Solana signer: its lanes and vault signer, from one seed and the configuration. */
import { createLockIds, type MintFacts } from "../../chains/solana/order-facts.ts";
import type { LockFacts } from "../../chains/port/index.ts";
import type { Commitment } from "../../core/commitment.ts";
import type { Address, EvmAddress, Hex32 } from "../../core/hex.ts";
import { reserveForClaims } from "../lane-memory.ts";
import type { Secret } from "../../core/secret.ts";
import type { Guard } from "../guard.ts";
import type { CheckPayout } from "../payout-policy.ts";
import type { LaneSigner, VaultSigner } from "../port.ts";
import { SignerRefusal } from "../refusal.ts";
import { type CheckRefund, createSolanaLaneSigner } from "./lane-signer.ts";
import { createOrderPolicy, type LockPair } from "./policy.ts";
import { createSeed, type Seed } from "./seed.ts";
import { createSolanaVaultSigner } from "./vault-signer.ts";

/** A token that the signer may move. */
export interface CustodyToken {
  /** Mint, or zero for SOL. */
  readonly token: Address;
  /** Null for SOL. */
  readonly mint: MintFacts | null;
  /** The most that deliveries may pay of the token in any 24 hours, in base units. */
  readonly dailyCap: bigint;
}

export interface CustodyOptions {
  readonly seed: Secret;
  /** The setting that names the seed, for messages. */
  readonly setting: string;
  /** Bridge chain id. */
  readonly chainId: number;
  /** Receives claimed locks and fees. */
  readonly treasury: Address;
  readonly attestors: readonly EvmAddress[];
  /** The number of attestors that must sign. */
  readonly threshold: number;
  /** Hash of the cluster's first block. */
  readonly cluster: Hex32;
  readonly tokens: readonly CustodyToken[];
  /** Pairs whose deposits may be locked for a delivery on another chain. */
  readonly pairs: readonly LockPair[];
  /** Most lamports that each fee payer may commit to fees and rent in 24 hours; undefined for no limit. */
  readonly dailyBudget?: bigint | undefined;
  /** Rent in lamports per byte, including 128 bytes of overhead per account. Too high a value is harmless. */
  readonly lamportsPerByte?: bigint;
  /** Checks a delivery against its lock on the source chain. */
  readonly checkPayout: CheckPayout;
  /** Checks the reason of a refund on its chain. */
  readonly checkRefund: CheckRefund;
  /** Seconds after its lock in which a delivery may be paid. */
  readonly payoutWindowS: bigint;
  /** The EVM factory. Prices name the address that it would give a commitment's wallet. */
  readonly factory: EvmAddress;
  /** Hashes and ids that are the same on every chain. */
  readonly hashing: {
    hashCommitment(commitment: Commitment): Hex32;
    predictWallet(factory: EvmAddress, commitment: Commitment): EvmAddress;
    deliveryIdOf(lock: LockFacts & { readonly srcChain: number; readonly escrow: Address }): Hex32;
  };
}

/** Solana's limit of compute units per transaction. */
const UNIT_LIMIT_MAX = 1_400_000n;
/** Micro-lamports per compute unit; bounds the priority fee of a transaction to 0.014 SOL. */
const UNIT_PRICE_MAX = 10_000_000n;
/** Solana's original rent per byte, an upper bound for today's. */
const LAMPORTS_PER_BYTE = 6_960n;

/** Opens the lanes, guarded by the policy, and the vault signer. Throws CONFIG_MISSING for a malformed seed. */
export function openCustody(
  options: CustodyOptions,
  guard: Guard,
): {
  readonly lanes: readonly LaneSigner[];
  readonly vaults: VaultSigner;
  /** The seed's accounts, for comparison with the configured ones. */
  readonly accounts: Seed["accounts"];
} {
  const { chainId, treasury, factory, pairs, dailyBudget, checkPayout, checkRefund } = options;
  const { hashCommitment, predictWallet, deliveryIdOf } = options.hashing;
  const { lamportsPerByte = LAMPORTS_PER_BYTE } = options;
  const seed = createSeed(options.seed, options.setting);
  const { escrow, delivery } = seed.accounts;
  const tokens = new Map(options.tokens.map((listed) => [listed.token, listed]));
  const evmWalletOf = (commitment: Commitment) => predictWallet(factory, commitment);

  const facts = {
    treasury,
    hashCommitment,
    ...createLockIds({ chainId, escrow, delivery }, { hash: hashCommitment, deliveryIdOf }),
    mintFactsOf(mint: Address) {
      const found = tokens.get(mint)?.mint;
      if (!found) throw new SignerRefusal(`token ${mint} is not configured`);
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
      payoutWindowS: options.payoutWindowS,
      ownAccounts: new Set(Object.values(seed.accounts)),
      vaultOf: (commitment) => seed.vaultOf(hashCommitment(commitment)),
      attestors: new Set(options.attestors),
      threshold: options.threshold,
      cluster: options.cluster,
      isListed: (token) => tokens.has(token),
    });
    const parts = { seed, chainId, purpose, facts, checkOrder, checkPayout, checkRefund };
    const signer = createSolanaLaneSigner(parts);
    return guard.guardOrders(signer, {
      gasMax: UNIT_LIMIT_MAX,
      gasPriceMax: UNIT_PRICE_MAX,
      dailyBudget,
      claimReserve: purpose === "settle" ? reserveForClaims(dailyBudget) : 0n,
      dailyCapOf: (token) => tokens.get(token)?.dailyCap ?? 0n,
    });
  });
  const vaults = createSolanaVaultSigner({ seed, chainId, hashCommitment });
  return { lanes, vaults, accounts: seed.accounts };
}
