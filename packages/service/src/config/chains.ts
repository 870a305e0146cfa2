/**
 * The chains of the file: one tagged union over the families. Code outside of `config/`, `chains/`, `signers/` and
 * composition asks the functions at the end instead of the family.
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
import { solana as solanaPreset } from "./presets/index.ts";
import { listProblems } from "./problems.ts";
import {
  CompleteSolanaChain,
  completeSolanaChain,
  resolveSolanaChain,
  SOLANA,
  type SolanaChain,
  WrittenSolanaChain,
} from "./solana-chain.ts";

/** A chain in use. */
export type ChainConfig = EvmChain | SolanaChain;

/** An entry of the file, in the form of its family. */
export const WrittenChain = Type.Union([WrittenEvmChain, WrittenSolanaChain], {
  description: "an object with a chain",
  listProblems: listChainProblems,
});

/** An entry with everything that it needs. */
export type CompleteChain = Static<typeof CompleteEvmChain> | Static<typeof CompleteSolanaChain>;

/** Whether an entry of the file is about Solana, whatever else is wrong with it. */
function isSolanaEntry(entry: unknown): entry is Static<typeof WrittenSolanaChain> {
  if (typeof entry !== "object" || entry === null) return false;
  const { chainId, preset }: { chainId?: unknown; preset?: unknown } = entry;
  return chainId === SOLANA || preset === solanaPreset.name;
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

/** Completes an entry by its preset and by the settings of the whole file; undefined where something is still missing. */
export function completeChain(
  written: Static<typeof WrittenChain>,
  given: {
    readonly setting: string;
    /** Of the whole file. */
    readonly contracts: Static<typeof WrittenContracts> | undefined;
    readonly deployment: DeploymentConfig | undefined;
    /** Whether HTTP APIs of presets are used. */
    readonly httpPrices: boolean;
    /** Whether accounts of Solana may be missing, as the seed that they follow from is still to be made. */
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

/** Reads a complete entry; mistakes are added to the problems. */
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

/** The chains that have contracts, feeds and lanes with keys of their own. */
export function listEvmChains({ chains }: Chains): readonly EvmChain[] {
  return chains.filter((chain) => chain.kind === "evm");
}

/** Solana, where it is configured. */
export function listSolanaChains({ chains }: Chains): readonly SolanaChain[] {
  return chains.filter((chain) => chain.kind === "svm");
}

/** The chain of a bridge id where it is of the EVM family, else undefined. */
export function findEvmChain({ chains }: Chains, chainId: number): EvmChain | undefined {
  const chain = chains.find((known) => known.chainId === chainId);
  return chain?.kind === "evm" ? chain : undefined;
}

/** Where locks of a chain are: its contract, or an account of the signer. */
export function escrowOf(chain: ChainConfig): Address {
  return chain.kind === "evm" ? chain.contracts.escrow : chain.accounts.escrow;
}

/** Where the inventory of a chain is: its contract, or an account of the signer. */
export function deliveryOf(chain: ChainConfig): Address {
  return chain.kind === "evm" ? chain.contracts.delivery : chain.accounts.delivery;
}

/** EVM ids of chains that hold no real money: anvil's own, and those of the sandbox. */
const LOCAL_EVM_CHAIN_IDS: readonly number[] = [31_337, 900_002, 900_030];

/** The genesis hash of the sandbox's Solana chain. */
const LOCAL_GENESIS = "EqpYPogXhVqSneC7zRFCZkpcnEYBXvuuZ6vX2Rsxw1Kz";

/** Whether a chain is a local test chain: what protects real money is not demanded there. */
export function isLocal(
  chain: Pick<EvmChain, "kind" | "evmChainId"> | Pick<SolanaChain, "kind" | "genesisHash">,
): boolean {
  return chain.kind === "evm"
    ? LOCAL_EVM_CHAIN_IDS.includes(chain.evmChainId)
    : toBase58(chain.genesisHash) === LOCAL_GENESIS;
}

/** The keys of all lanes. Those of Solana are the signer's, which derives them from the seed. */
export function listLaneKeys(config: Chains): readonly KeyConfig[] {
  return listEvmChains(config).flatMap(({ lanes }) => LANE_PURPOSES.flatMap((name) => lanes[name]));
}

/** The first block that the scanner reads, or the first slot. */
export function startOf(chain: ChainConfig): bigint {
  return BigInt(chain.kind === "evm" ? chain.startBlock : chain.startSlot);
}

/** The blocks, its own included, under which a delivery counts as completed. On Solana only final blocks are read. */
export function deliveryConfirmationsOf(chain: ChainConfig): number {
  return chain.kind === "evm" ? chain.deliveryConfirmations : 1;
}

/** The contracts of the service on a chain, or its accounts. */
export function listOwnAccounts(chain: ChainConfig): readonly Address[] {
  return Object.values(chain.kind === "evm" ? chain.contracts : chain.accounts);
}

/** Wei that each transaction costs besides its gas, where gas is charged: nothing on Solana. */
export function transactionSurchargeOf(chain: ChainConfig): bigint {
  return chain.kind === "evm" ? chain.transactionSurcharge : 0n;
}
