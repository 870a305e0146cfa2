/**
 * The chains of the file: one tagged union over the families. Code outside `config/`, `chains/`, `signers/` and
 * composition calls the functions at the end of this file and does not test the family.
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { toBase58 } from "../core/base58.ts";
import type { Address } from "../core/hex.ts";
import { completeEvmChain } from "./complete-chain.ts";
import type { DeploymentConfig } from "./deployment.ts";
import {
  CompleteEvmChain,
  type EvmChain,
  LANE_PURPOSES,
  resolveEvmChain,
  type WrittenContracts,
  WrittenEvmChain,
} from "./evm-chain.ts";
import type { GivenToChain } from "./every-chain.ts";
import type { KeyConfig } from "./keys.ts";
import { SOLANA_PRESETS } from "./presets/index.ts";
import { listProblems } from "./problems.ts";
import {
  CompleteSolanaChain,
  completeSolanaChain,
  resolveSolanaChain,
  SOLANA,
  type SolanaChain,
  WrittenSolanaChain,
} from "./solana-chain.ts";

/** A configured chain. */
export type ChainConfig = EvmChain | SolanaChain;

/** The schema of an entry of the file, of either family. */
export const WrittenChain = Type.Union([WrittenEvmChain, WrittenSolanaChain], {
  description: "an object with a chain",
  listProblems: listChainProblems,
});

/** An entry whose required settings are all present. */
export type CompleteChain = Static<typeof CompleteEvmChain> | Static<typeof CompleteSolanaChain>;

/** Returns whether an entry of the file is for Solana, even if the entry is invalid. */
function isSolanaEntry(entry: unknown): entry is Static<typeof WrittenSolanaChain> {
  if (typeof entry !== "object" || entry === null) return false;
  const { chainId, preset }: { chainId?: unknown; preset?: unknown } = entry;
  return chainId === SOLANA || SOLANA_PRESETS.some(({ name }) => name === preset);
}

/** Lists the problems of an entry, by the schema of its family. */
function listChainProblems(entry: unknown, setting: string): string[] {
  if (!isSolanaEntry(entry)) return listProblems(WrittenEvmChain, entry, setting);
  // The EIP-155 id of Ethereum is easily taken for its bridge id.
  if ("evmChainId" in entry) {
    return [
      `${setting}.chainId: expected the bridge chain id of an EVM chain, as evmChainId is given: Ethereum is 2, and 1 is Solana`,
    ];
  }
  return listProblems(WrittenSolanaChain, entry, setting);
}

/** Completes an entry from its preset and the file-wide settings; undefined if a setting is still missing. */
export function completeChain(
  written: Static<typeof WrittenChain>,
  given: {
    readonly setting: string;
    /** The file-wide contracts. */
    readonly contracts: Static<typeof WrittenContracts> | undefined;
    readonly deployment: DeploymentConfig | undefined;
    /** Whether tokens of presets get HTTP price sources. */
    readonly httpPrices: boolean;
    /** Whether accounts of Solana may be missing, because the seed that derives them does not exist yet. */
    readonly accountsLater: boolean;
    readonly problems: string[];
  },
): CompleteChain | undefined {
  const { setting, problems } = given;
  if (isSolanaEntry(written)) {
    const chain = completeSolanaChain(written, given);
    if (Value.Check(CompleteSolanaChain, chain)) return chain;
    problems.push(...listProblems(CompleteSolanaChain, chain, setting));
    return undefined;
  }
  const chain = completeEvmChain(written, given);
  if (Value.Check(CompleteEvmChain, chain)) return chain;
  problems.push(...listProblems(CompleteEvmChain, chain, setting));
  return undefined;
}

/** Resolves a complete entry. Adds mistakes to `problems`. */
export function resolveChain(
  chain: CompleteChain,
  setting: string,
  given: GivenToChain,
): ChainConfig {
  return "seed" in chain
    ? resolveSolanaChain(chain, setting, given)
    : resolveEvmChain(chain, setting, given);
}

interface Chains {
  readonly chains: readonly ChainConfig[];
}

/** Returns the chains that have contracts, price feeds and lanes with their own keys. */
export function listEvmChains({ chains }: Chains): readonly EvmChain[] {
  return chains.filter((chain) => chain.kind === "evm");
}

/** Returns the Solana chain, or an empty list if it is not configured. */
export function listSolanaChains({ chains }: Chains): readonly SolanaChain[] {
  return chains.filter((chain) => chain.kind === "svm");
}

/** Returns the EVM chain with a bridge chain id, or undefined. */
export function findEvmChain({ chains }: Chains, chainId: number): EvmChain | undefined {
  const chain = chains.find((known) => known.chainId === chainId);
  return chain?.kind === "evm" ? chain : undefined;
}

/** Returns the escrow that holds the locks of a chain: a contract, or an account of the signer. */
export function escrowOf(chain: ChainConfig): Address {
  return chain.kind === "evm" ? chain.contracts.escrow : chain.accounts.escrow;
}

/** Returns the holder of the inventory of a chain: a contract, or an account of the signer. */
export function deliveryOf(chain: ChainConfig): Address {
  return chain.kind === "evm" ? chain.contracts.delivery : chain.accounts.delivery;
}

/** EVM chain ids without real money: anvil's, and those of the sandbox. */
const LOCAL_EVM_CHAIN_IDS: readonly number[] = [31_337, 900_002, 900_030];

/** The genesis hash of the sandbox's Solana chain. */
const LOCAL_GENESIS = "EqpYPogXhVqSneC7zRFCZkpcnEYBXvuuZ6vX2Rsxw1Kz";

/** Returns whether a chain is a local test chain, which is exempt from the checks that protect real money. */
export function isLocal(
  chain: Pick<EvmChain, "kind" | "evmChainId"> | Pick<SolanaChain, "kind" | "genesisHash">,
): boolean {
  return chain.kind === "evm"
    ? LOCAL_EVM_CHAIN_IDS.includes(chain.evmChainId)
    : toBase58(chain.genesisHash) === LOCAL_GENESIS;
}

/** Returns the keys of all EVM lanes. The signer derives those of Solana from the seed. */
export function listLaneKeys(config: Chains): readonly KeyConfig[] {
  return listEvmChains(config).flatMap(({ lanes }) => LANE_PURPOSES.flatMap((name) => lanes[name]));
}

/** Returns the first block or slot that the scanner reads. */
export function startOf(chain: ChainConfig): bigint {
  return BigInt(chain.kind === "evm" ? chain.startBlock : chain.startSlot);
}

/** Returns the blocks, its own included, after which a delivery is completed. On Solana only final blocks are read. */
export function deliveryConfirmationsOf(chain: ChainConfig): number {
  return chain.kind === "evm" ? chain.deliveryConfirmations : 1;
}

/** Returns the service's contracts or accounts on a chain. */
export function listOwnAccounts(chain: ChainConfig): readonly Address[] {
  const named = Object.values(chain.kind === "evm" ? chain.contracts : chain.accounts);
  return named.filter((address) => address !== undefined);
}

/** Returns the wei charged per transaction in addition to its gas; zero on Solana. */
export function transactionSurchargeOf(chain: ChainConfig): bigint {
  return chain.kind === "evm" ? chain.transactionSurcharge : 0n;
}
