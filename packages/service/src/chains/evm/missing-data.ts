/** The errors with which nodes and providers state that they lack a block, its state or a method. */
import type { KnownLimit } from "./provider-limits.ts";

const PROXYD = "https://github.com/ethereum-optimism/infra/blob/main/proxyd/backend.go";
const GETH = "https://github.com/ethereum/go-ethereum/blob/master/eth/filters/api.go";
const BESU =
  "https://github.com/hyperledger/besu/blob/main/ethereum/api/src/main/java/org/hyperledger/besu/ethereum/api/jsonrpc/internal/response/RpcErrorType.java";
const ERPC = "https://github.com/erpc/erpc/blob/main/architecture/evm/error_normalizer.go";

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
  {
    // Also its text for heights above the head, but state is only read at tags and hashes.
    kind: "pruned_state",
    provider: "Anvil",
    code: -32602,
    text: /block height is \d+ but requested was \d+/i,
    source: "https://github.com/foundry-rs/foundry/blob/master/crates/anvil/src/eth/error.rs",
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
    provider: "Erigon",
    text: /is beyond latest executed block/i,
    source: "https://github.com/erigontech/erigon/pull/17651",
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

/** Lacks of a node, in the order in which they are tried. */
export const MISSING: readonly KnownLimit[] = [...PRUNED, ...UNSUPPORTED, ...UNKNOWN_BLOCK];
