/**
 * The registry of bridge chains: Wormhole chain ids, names, EIP-155 ids and explorers. The configuration decides which of
 * them the service uses.
 */

/** Chain family: EVM chains or Solana. */
export type ChainKind = "evm" | "svm";

export interface KnownChain {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly name: string;
  readonly kind: ChainKind;
  /** EIP-155 id of the public network; absent where the chain is not EVM. */
  readonly evmChainId?: number;
  readonly explorerTxUrl: string;
}

export const KNOWN_CHAINS: readonly KnownChain[] = [
  { chainId: 1, name: "solana", kind: "svm", explorerTxUrl: "https://solscan.io/tx/" },
  evm(2, "ethereum", 1, "https://etherscan.io/tx/"),
  evm(4, "bsc", 56, "https://bscscan.com/tx/"),
  evm(5, "polygon", 137, "https://polygonscan.com/tx/"),
  evm(6, "avalanche", 43114, "https://snowtrace.io/tx/"),
  evm(23, "arbitrum", 42161, "https://arbiscan.io/tx/"),
  evm(24, "optimism", 10, "https://optimistic.etherscan.io/tx/"),
  evm(30, "base", 8453, "https://basescan.org/tx/"),
  evm(38, "linea", 59144, "https://lineascan.build/tx/"),
  evm(44, "unichain", 130, "https://uniscan.xyz/tx/"),
  evm(47, "hyperevm", 999, "https://hyperevmscan.io/tx/"),
  evm(48, "monad", 143, "https://monadscan.com/tx/"),
  evm(52, "sonic", 146, "https://sonicscan.org/tx/"),
];

/** A public test network. It takes the place of a chain: it has its name and its bridge chain id. */
export interface TestNetwork {
  readonly name: string;
  /** Name of the chain whose place it takes. */
  readonly of: string;
  /** EIP-155 id. */
  readonly evmChainId: number;
  readonly explorerTxUrl: string;
}

export const TEST_NETWORKS: readonly TestNetwork[] = [
  {
    name: "ethereum-sepolia",
    of: "ethereum",
    evmChainId: 11155111,
    explorerTxUrl: "https://sepolia.etherscan.io/tx/",
  },
  {
    name: "arbitrum-sepolia",
    of: "arbitrum",
    evmChainId: 421614,
    explorerTxUrl: "https://sepolia.arbiscan.io/tx/",
  },
  {
    name: "base-sepolia",
    of: "base",
    evmChainId: 84532,
    explorerTxUrl: "https://sepolia.basescan.org/tx/",
  },
];

/** Returns the explorer of an EVM network in the place of a chain; "" for a network that is not public. */
export function findExplorer(chainId: number, evmChainId: number): string {
  const chain = findChainById(chainId);
  if (chain?.evmChainId === evmChainId) return chain.explorerTxUrl;
  const test = TEST_NETWORKS.find((one) => one.of === chain?.name && one.evmChainId === evmChainId);
  return test?.explorerTxUrl ?? "";
}

/** Bridge chain ids of the chains of the OP stack, whose transactions pay for layer 1 besides their gas. */
const OP_STACK: ReadonlySet<number> = new Set([24, 30, 44]);

/** Reports whether a chain is one of the OP stack. */
export function isOpStack(chainId: number): boolean {
  return OP_STACK.has(chainId);
}

/** Returns the chain with a bridge chain id, or undefined. */
export function findChainById(chainId: number): KnownChain | undefined {
  return KNOWN_CHAINS.find((chain) => chain.chainId === chainId);
}

/** Returns the family of a bridge chain id; EVM for unknown ids. */
export function kindOfChain(chainId: number): ChainKind {
  return findChainById(chainId)?.kind ?? "evm";
}

/** Returns the chain with a lower-case name, or undefined. */
export function findChainByName(name: string): KnownChain | undefined {
  return KNOWN_CHAINS.find((chain) => chain.name === name);
}

function evm(chainId: number, name: string, evmChainId: number, explorerTxUrl: string): KnownChain {
  return { chainId, name, kind: "evm", evmChainId, explorerTxUrl };
}
