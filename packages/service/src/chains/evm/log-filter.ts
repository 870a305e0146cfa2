/** The logs of blocks that the scanner wants: transfers of listed tokens, and outflows of wallets. */
import {
  type Address,
  type EvmAddress,
  type Hex,
  NATIVE_TOKEN,
  toEvmAddress,
} from "../../core/hex.ts";
import type { Outflow, Transfer } from "../port/index.ts";
import type { LogAnswer, LogMark } from "./answers.ts";
import { type BloomBits, bloomBitsOf, mayContain } from "./bloom.ts";
import type { EvmContracts } from "./contracts.ts";
import { OUTFLOW_TOPICS, toOutflow } from "./outflows.ts";
import { toTransfers, TRANSFER } from "./transfers.ts";

/** Chains whose headers leave logs out of the bloom filter: on Polygon those of state syncs, which mint bridged tokens. */
const PARTIAL_BLOOMS: ReadonlySet<number> = new Set([137]);

export interface LogFilterOptions {
  readonly contracts: EvmContracts;
  /** EIP-155 chain id. */
  readonly evmChainId: number;
}

/** The contents of a block's logs, before it is known which accounts matter. */
export interface LogFindings {
  readonly transfers: readonly Transfer[];
  readonly outflows: readonly Outflow[];
}

/** Logs in which transfers of the tokens and outflows of wallets are found. */
export interface LogFilter {
  readonly params: {
    readonly address: readonly EvmAddress[];
    readonly topics: readonly [readonly Hex[]];
  };
  /** Repeats the filter, because the node is not trusted to apply it. */
  isWanted(log: LogMark): boolean;
  /** Reports whether a block with this bloom filter may have a wanted log. */
  mayHold(bloom: Hex | null): boolean;
  /** Reads the logs of one block, in order. */
  read(logs: readonly LogAnswer[]): LogFindings;
}

/** Returns the filter for tokens and our contracts on a chain. */
export function createLogFilter(
  tokens: readonly Address[],
  { contracts, evmChainId }: LogFilterOptions,
): LogFilter {
  const listed = new Set(tokens.map(toEvmAddress).filter((token) => token !== NATIVE_TOKEN));
  const ours = new Set<EvmAddress>([contracts.factory, contracts.escrow]);
  const addresses = new Set([...listed, ...ours]);
  const topics: readonly Hex[] = listed.size > 0 ? [TRANSFER, ...OUTFLOW_TOPICS] : OUTFLOW_TOPICS;
  const isTransfer = ({ address, topics: [topic] }: LogAnswer) =>
    listed.has(address) && topic === TRANSFER;
  return {
    params: { address: [...addresses], topics: [topics] },
    isWanted: ({ address, topics: [topic] }) =>
      addresses.has(address) && topic !== undefined && topics.includes(topic),
    mayHold(bloom) {
      if (bloom === null) return false;
      if (PARTIAL_BLOOMS.has(evmChainId)) return true;
      const has = (item: Hex) => mayContain(bloom, bitsOf(item));
      const hasAny = (some: Iterable<Hex>, of: readonly Hex[]) =>
        [...some].some(has) && of.some(has);
      return hasAny(listed, [TRANSFER]) || hasAny(ours, OUTFLOW_TOPICS);
    },
    read: (logs) => ({
      transfers: toTransfers(logs.filter(isTransfer)),
      outflows: logs.flatMap((log) =>
        ours.has(log.address) ? (toOutflow(log, contracts) ?? []) : [],
      ),
    }),
  };
}

/** Bits of addresses and topics; there are as many as listed tokens. */
const known = new Map<Hex, BloomBits>();

function bitsOf(item: Hex): BloomBits {
  const bits = known.get(item) ?? bloomBitsOf(item);
  known.set(item, bits);
  return bits;
}
