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
    provider: "Erigon",
    text: /query returns too many logs/i,
    source: "https://github.com/trezor/blockbook/pull/1692",
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
    provider: "Alchemy",
    text: /up to a [\d,]+ block range.*block range should work: \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/is,
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
    provider: "Infura",
    text: /range \d+ exceeds limit of (\d+)/i,
    states: "blocks",
    source: "https://github.com/INFURA/infura/issues/237",
  },
  {
    kind: "range_too_wide",
    provider: "Tenderly",
    text: /range \d+ is bigger than range limit (\d+)/i,
    states: "blocks",
    source: "https://github.com/bobanetwork/boba_legacy/issues/827",
  },
  {
    kind: "range_too_wide",
    provider: "Polygon, CDK Erigon",
    text: /block range too large, (?:range: \d+, )?max(?: range)?: (\d+)/i,
    states: "blocks",
    source: "https://github.com/0xPolygon/cdk-erigon/pull/1706",
  },
  {
    kind: "range_too_wide",
    provider: "Morph",
    text: /larger than max block range, .*max block range = (\d+)/i,
    states: "blocks",
    source: "https://github.com/enviodev/hyperindex/issues/605",
  },
  {
    kind: "range_too_wide",
    provider: "Erigon",
    text: /query block range exceeds server limit, narrow your filter: (\d+)/i,
    states: "blocks",
    source: "https://github.com/erigontech/erigon/pull/19721",
  },
  {
    kind: "range_too_wide",
    provider: "Scroll",
    text: /block range is bigger than maxBlockRange/i,
    source: "https://github.com/scroll-tech/go-ethereum/pull/529",
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
    provider: "Alchemy",
    text: /response size is larger than \d+MB limit/i,
    source: "https://github.com/ponder-sh/ponder/issues/407",
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

/** Limits on logs, in the order in which they are tried. */
export const LOG_LIMITS: readonly KnownLimit[] = [
  ...TOO_MANY_RESULTS,
  ...RANGE_TOO_WIDE,
  ...ANSWER_TOO_LARGE,
];
