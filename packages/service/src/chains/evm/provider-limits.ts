/**
 * The errors with which nodes and providers state their limits. There is no standard: codes are shared by several meanings,
 * so that the text decides, and a code only where it has one meaning. The first matching entry counts.
 */

/** Meanings of an error. */
export type LimitKind =
  /** The blocks of the request are too many, whatever they hold. */
  | "range_too_wide"
  /** The blocks hold too many results. */
  | "too_many_results"
  | "answer_too_large"
  | "unsupported_method"
  /** The node lacks the block: it may be behind. */
  | "unknown_block"
  /** The node has removed old state or history. Retrying the same node never succeeds. */
  | "pruned_state";

/** An error as one provider words it. */
export interface KnownLimit {
  readonly kind: LimitKind;
  readonly provider: string;
  /** Undefined: any code. */
  readonly code?: number;
  readonly text: RegExp;
  /** The groups of `text`: the first and the last block, or a number of blocks. */
  readonly states?: "range" | "blocks";
  readonly source: string;
}

const PONDER =
  "https://github.com/ponder-sh/ponder/blob/main/packages/utils/src/getLogsRetryHelper.ts";
const PROXYD = "https://github.com/ethereum-optimism/infra/blob/main/proxyd/backend.go";
const GETH = "https://github.com/ethereum/go-ethereum/blob/master/eth/filters/api.go";
const RETH =
  "https://github.com/paradigmxyz/reth/blob/main/crates/rpc/rpc-eth-types/src/logs_utils.rs";
const BESU =
  "https://github.com/hyperledger/besu/blob/main/ethereum/api/src/main/java/org/hyperledger/besu/ethereum/api/jsonrpc/internal/response/RpcErrorType.java";
const ERPC = "https://github.com/erpc/erpc/blob/main/architecture/evm/error_normalizer.go";

const TOO_MANY_RESULTS: readonly KnownLimit[] = [
  {
    kind: "too_many_results",
    provider: "Alchemy",
    text: /response size.*block range should work: \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/is,
    states: "range",
    source: "https://www.alchemy.com/docs/chains/ethereum/ethereum-api-endpoints/eth-get-logs",
  },
  {
    kind: "too_many_results",
    provider: "Infura, zkSync, thirdweb",
    text: /try with this block range \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i,
    states: "range",
    source: "https://docs.metamask.io/services/reference/ethereum/json-rpc-methods/eth_getlogs",
  },
  {
    kind: "too_many_results",
    provider: "Reth",
    text: /query exceeds max results \d+, retry with the range (\d+)-(\d+)/i,
    states: "range",
    source: RETH,
  },
  {
    kind: "too_many_results",
    provider: "Reth, without a suggestion",
    text: /query exceeds max results/i,
    source: RETH,
  },
  {
    kind: "too_many_results",
    provider: "Arbitrum",
    text: /logs matched by query exceeds limit of \d+/i,
    source: "https://github.com/OffchainLabs/nitro",
  },
  {
    kind: "too_many_results",
    provider: "many",
    text: /query returned more than \d+ (?:results|logs)|too many results/i,
    source: PONDER,
  },
];

const RANGE_TOO_WIDE: readonly KnownLimit[] = [
  {
    kind: "range_too_wide",
    provider: "Alchemy, free tier",
    text: /free tier plan.*block range should work: \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/is,
    states: "range",
    source: "https://www.alchemy.com/docs/reference/node-supported-chains",
  },
  {
    kind: "range_too_wide",
    provider: "QuickNode, 1RPC, BlockPI",
    text: /limited to (?:a )?(?:\d+ - )?([\d,]+) (?:blocks? )?range/i,
    states: "blocks",
    source: "https://www.quicknode.com/docs/ethereum/eth_getLogs",
  },
  {
    kind: "range_too_wide",
    provider: "dRPC",
    text: /ranges over ([\d,]+) blocks are not supported/i,
    states: "blocks",
    source: "https://drpc.org/docs/howitworks/method-limits",
  },
  {
    kind: "range_too_wide",
    provider: "Cloudflare",
    text: /range too large\. Max range: ([\d,]+)/i,
    states: "blocks",
    source: "https://developers.cloudflare.com/web3/ethereum-gateway/reference/limits/",
  },
  {
    kind: "range_too_wide",
    provider: "Avalanche",
    text: /requested too many blocks from \d+ to \d+, maximum is set to ([\d,]+)/i,
    states: "blocks",
    source: "https://github.com/ava-labs/coreth/blob/master/eth/filters/filter.go",
  },
  {
    kind: "range_too_wide",
    provider: "thirdweb",
    text: /maximum allowed number of requested blocks is ([\d,]+)/i,
    states: "blocks",
    source: PONDER,
  },
  {
    kind: "range_too_wide",
    provider: "PublicNode, BSC",
    text: /exceed maximum block range: ([\d,]+)/i,
    states: "blocks",
    source: "https://github.com/bnb-chain/bsc/blob/master/eth/filters/api.go",
  },
  {
    kind: "range_too_wide",
    provider: "Reth",
    text: /query exceeds max block range ([\d,]+)/i,
    states: "blocks",
    source: RETH,
  },
  {
    kind: "range_too_wide",
    provider: "Coinbase",
    text: /please limit the query to at most ([\d,]+) blocks/i,
    states: "blocks",
    source: PONDER,
  },
  {
    kind: "range_too_wide",
    provider: "Blast",
    text: /exceeds the range allowed for your plan \(\d+ > (\d+)\)/i,
    states: "blocks",
    source: PONDER,
  },
  {
    kind: "range_too_wide",
    provider: "proxyd (OP Stack)",
    text: /block range greater than ([\d,]+) max/i,
    states: "blocks",
    source: "https://github.com/ethereum-optimism/infra/blob/main/proxyd/rewriter.go",
  },
  {
    kind: "range_too_wide",
    provider: "Moonbeam",
    text: /block range is too wide \(maximum ([\d,]+)\)/i,
    states: "blocks",
    source: "https://github.com/moonbeam-foundation/moonbeam",
  },
  {
    kind: "range_too_wide",
    provider: "Cronos, Kava",
    text: /maximum \[from, to\] blocks distance: ([\d,]+)/i,
    states: "blocks",
    source: "https://github.com/evmos/ethermint",
  },
  {
    kind: "range_too_wide",
    provider: "Aurora",
    text: /up to a ([\d,]+) block range/i,
    states: "blocks",
    source: PONDER,
  },
  {
    kind: "range_too_wide",
    provider: "Geth, with a limit of ranges",
    text: /exceed maximum block range|block range exceeds(?: limit)?/i,
    source: GETH,
  },
  {
    kind: "range_too_wide",
    provider: "Besu",
    text: /requested range exceeds maximum RPC range limit/i,
    source: BESU,
  },
  {
    kind: "range_too_wide",
    provider: "Chainstack",
    text: /block range limit exceeded/i,
    source: "https://docs.chainstack.com/docs/limits",
  },
  {
    kind: "range_too_wide",
    provider: "Ankr, Base, OP Mainnet, Merkle",
    text: /range (?:is )?too (?:wide|large)/i,
    source: PONDER,
  },
];

const ANSWER_TOO_LARGE: readonly KnownLimit[] = [
  {
    kind: "answer_too_large",
    provider: "proxyd (OP Stack)",
    code: -32020,
    text: /response too large/i,
    source: PROXYD,
  },
  {
    kind: "answer_too_large",
    provider: "1RPC",
    text: /response size should not greater than \d+ bytes/i,
    source: PONDER,
  },
  {
    kind: "answer_too_large",
    provider: "jsonrpsee (Reth)",
    text: /response is too big|exceeded max limit of \d+|response size exceeded/i,
    source: "https://github.com/paritytech/jsonrpsee/blob/master/types/src/error.rs",
  },
  {
    kind: "answer_too_large",
    provider: "Geth",
    text: /response too large/i,
    source: "https://github.com/ethereum/go-ethereum/blob/master/rpc/errors.go",
  },
];

const PRUNED: readonly KnownLimit[] = [
  {
    kind: "pruned_state",
    provider: "EIP-4444",
    code: 4444,
    text: /(?:)/,
    source: "https://github.com/ethereum/execution-apis/pull/625",
  },
  {
    kind: "pruned_state",
    provider: "Geth and its forks",
    text: /missing trie node|pruned history unavailable/i,
    source: "https://github.com/ethereum/go-ethereum/blob/master/trie/errors.go",
  },
  {
    kind: "pruned_state",
    provider: "Geth, Reth",
    text: /historical state .*(?:un|not )available/i,
    source: "https://github.com/ethereum/go-ethereum/blob/master/core/state/reader.go",
  },
  {
    kind: "pruned_state",
    provider: "Reth",
    text: /state .*is pruned|distance to target block exceeds maximum proof window/i,
    source: "https://github.com/paradigmxyz/reth",
  },
  {
    kind: "pruned_state",
    provider: "Erigon",
    text: /old data not available due to pruning/i,
    source: "https://github.com/erigontech/erigon",
  },
  {
    kind: "pruned_state",
    provider: "Nethermind",
    text: /no state available for block/i,
    source: "https://github.com/NethermindEth/nethermind",
  },
  {
    kind: "pruned_state",
    provider: "Besu",
    text: /world state .*unavailable/i,
    source: BESU,
  },
  {
    kind: "pruned_state",
    provider: "PublicNode",
    text: /archive requests? require/i,
    source: "https://publicnode.com",
  },
];

const UNSUPPORTED: readonly KnownLimit[] = [
  {
    kind: "unsupported_method",
    provider: "JSON-RPC",
    code: -32601,
    text: /(?:)/,
    source: "https://www.jsonrpc.org/specification#error_object",
  },
  {
    kind: "unsupported_method",
    provider: "EIP-1474",
    code: -32004,
    text: /method|not supported/i,
    source: "https://eips.ethereum.org/EIPS/eip-1474",
  },
  {
    kind: "unsupported_method",
    provider: "Besu",
    code: -32604,
    text: /method not enabled/i,
    source: BESU,
  },
  {
    kind: "unsupported_method",
    provider: "providers, outside the plan",
    text: /method is not whitelisted|unsupported method|not (?:included in|available (?:on|in)) (?:your|the) (?:current plan|free tier)/i,
    source: ERPC,
  },
  {
    kind: "unsupported_method",
    provider: "Geth",
    text: /method \S+ (?:does not exist|is not available|not found)/i,
    source: "https://github.com/ethereum/go-ethereum/blob/master/rpc/errors.go",
  },
];

const UNKNOWN_BLOCK: readonly KnownLimit[] = [
  {
    kind: "unknown_block",
    provider: "Geth and its forks",
    text: /header (?:for hash )?not found|unknown block|(?:finalized|safe) block not found/i,
    source: "https://github.com/ethereum/go-ethereum/blob/master/eth/api_backend.go",
  },
  {
    kind: "unknown_block",
    provider: "Geth, ranges",
    text: /block range extends beyond current head block/i,
    source: GETH,
  },
  {
    kind: "unknown_block",
    provider: "Nethermind",
    text: /blocks? specified in filter .*cannot be found/i,
    source: "https://github.com/NethermindEth/nethermind",
  },
  {
    kind: "unknown_block",
    provider: "proxyd (OP Stack)",
    code: -32019,
    text: /block is out of range/i,
    source: PROXYD,
  },
  {
    kind: "unknown_block",
    provider: "Besu, Reth, Anvil",
    text: /block ?(?:could )?not ?(?:be )?found|block not yet imported/i,
    source: BESU,
  },
  {
    kind: "unknown_block",
    provider: "EIP-1474",
    code: -32001,
    text: /resource not found/i,
    source: "https://eips.ethereum.org/EIPS/eip-1474",
  },
];

/** Every known error, in the order in which they are tried. */
export const KNOWN_LIMITS: readonly KnownLimit[] = [
  ...TOO_MANY_RESULTS,
  ...RANGE_TOO_WIDE,
  ...ANSWER_TOO_LARGE,
  ...PRUNED,
  ...UNSUPPORTED,
  ...UNKNOWN_BLOCK,
];
