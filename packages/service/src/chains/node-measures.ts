/** Measurements of one node, which `sluice doctor` compares with the pace of its chain. */
import type { Address } from "../core/hex.ts";

/** A section of blocks, read as the scanner reads it. */
export interface MeasuredBlocks {
  readonly blocks: number;
  readonly durationMs: number;
  /** Requests that were answered; those of a batch count one by one. */
  readonly requests: number;
  /** Bytes of the answers, after decompression. */
  readonly bytes: number;
  /** The largest batch that was answered; 1 without any. */
  readonly batch: number;
  /** Whether the node refused a batch. */
  readonly isBatchRefused: boolean;
  /** Requests that were refused for their rate. */
  readonly rateRefusals: number;
}

/** The blocks that the node accepts in one search for logs. */
export interface MeasuredRange {
  readonly blocks: bigint;
  /** False where the search was as wide as the service ever asks, or the chain is no longer. */
  readonly isLimited: boolean;
}

/** The blocks and tokens of a measurement. */
export interface MeasuredSection {
  /** First height. */
  readonly first: bigint;
  /** Number of heights, from 1. */
  readonly count: number;
  readonly tokens: readonly Address[];
  /** Whether the blocks are final and far enough below the newest final one to be read by ranges of logs. */
  readonly isFinal: boolean;
}

/** The measurements of an EVM node. Each throws RPC_UNAVAILABLE without a usable answer. */
export interface EvmMeasures {
  /** Returns the median duration of small requests, in milliseconds. */
  measureLatency(): Promise<number>;
  /** Reads blocks as the scanner does. */
  measureBlocks(section: MeasuredSection): Promise<MeasuredBlocks>;
  /** Searches for logs of a rare kind in ever fewer blocks until the node accepts. */
  measureLogRange(blocks: {
    readonly first: bigint;
    readonly last: bigint;
  }): Promise<MeasuredRange>;
  /** Reads a balance at a block by its hash (EIP-1898). */
  readStateAt(height: bigint): Promise<void>;
  /** Reads the receipt of the first transaction at or after a height, in some blocks; false if there is no transaction. */
  readReceiptAfter(height: bigint): Promise<boolean>;
  /** Reads the traces of a block. */
  traceBlock(height: bigint): Promise<void>;
}
