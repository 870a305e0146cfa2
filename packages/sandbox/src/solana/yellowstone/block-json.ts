/** A block as a node sends it for `getBlock` with whole transactions, and the reads of a node that the stand-in needs. */

/** The answer to `getBlock`. */
export interface BlockJson {
  readonly blockHeight: number | null;
  readonly blockTime: number | null;
  readonly blockhash: string;
  readonly parentSlot: number;
  readonly previousBlockhash: string;
  readonly transactions: readonly TransactionJson[];
}

/** A transaction of a block, with the encoding `json`. */
export interface TransactionJson {
  readonly transaction: {
    readonly signatures: readonly string[];
    readonly message: {
      readonly header: {
        readonly numRequiredSignatures: number;
        readonly numReadonlySignedAccounts: number;
        readonly numReadonlyUnsignedAccounts: number;
      };
      readonly accountKeys: readonly string[];
      readonly recentBlockhash: string;
      readonly instructions: readonly InstructionJson[];
      readonly addressTableLookups?: readonly {
        readonly accountKey: string;
        readonly writableIndexes: readonly number[];
        readonly readonlyIndexes: readonly number[];
      }[];
    };
  };
  readonly meta: {
    readonly err: unknown;
    readonly fee: number;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
    readonly preTokenBalances: readonly TokenBalanceJson[];
    readonly postTokenBalances: readonly TokenBalanceJson[];
    readonly innerInstructions?:
      | readonly { readonly index: number; readonly instructions: readonly InstructionJson[] }[]
      | null;
    readonly logMessages?: readonly string[] | null;
    readonly loadedAddresses?: {
      readonly writable: readonly string[];
      readonly readonly: readonly string[];
    };
    readonly computeUnitsConsumed?: number;
  };
  readonly version?: "legacy" | number;
}

interface InstructionJson {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: string;
  readonly stackHeight?: number | null;
}

export interface TokenBalanceJson {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner?: string;
  readonly programId?: string;
  readonly uiTokenAmount: {
    readonly uiAmount: number | null;
    readonly decimals: number;
    readonly amount: string;
    readonly uiAmountString: string;
  };
}

/** The levels of the protocol, in the order of its numbers. */
export const LEVELS = ["processed", "confirmed", "finalized"] as const;
export type Level = (typeof LEVELS)[number];

/** A node behind the stand-in. */
export interface Upstream {
  getSlot(level: Level): Promise<bigint>;
  /** Lists the slots with a block, both ends included. */
  listSlots(from: bigint, to: bigint, level: Level): Promise<readonly bigint[]>;
  /** Returns the block of a slot; null without one. */
  getBlock(slot: bigint, level: Level): Promise<BlockJson | null>;
}

/** Reads a node. `getBlock` has no level below `confirmed`. */
export function openUpstream(rpcUrl: string): Upstream {
  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result = null } = asAnswer(await response.json());
    return result;
  }
  const commitmentOf = (level: Level) => ({
    commitment: level === "processed" ? "confirmed" : level,
  });

  return {
    getSlot: async (level) => BigInt(Number(await ask("getSlot", [commitmentOf(level)]))),
    async listSlots(from, to, level) {
      if (from > to) return [];
      // CAST: an answer of the sandbox's own node, as in `getBlock`.
      const params = [Number(from), Number(to), commitmentOf(level)];
      const slots = (await ask("getBlocks", params)) as number[] | null;
      return (slots ?? []).map(BigInt);
    },
    async getBlock(slot, level) {
      const options = {
        ...commitmentOf(level),
        transactionDetails: "full",
        encoding: "json",
        rewards: false,
        maxSupportedTransactionVersion: 1,
      };
      // CAST: as above.
      return (await ask("getBlock", [Number(slot), options])) as BlockJson | null;
    },
  };
}

function asAnswer(value: unknown): { readonly result?: unknown } {
  return typeof value === "object" && value !== null ? value : {};
}
