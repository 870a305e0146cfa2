/** Methods that read blocks and the state of the chain. */
import type { Chain } from "../chain.ts";
import { BLOCKHASH_AGE_MAX, type Block, type CommitmentLevel } from "../ledger.ts";
import { SLOTS_PER_EPOCH } from "../svm/bank.ts";
import { GENESIS_HASH } from "../genesis.ts";
import { type Methods, API_VERSION, inContext, viewOf } from "./method.ts";
import { type Params, toLedgerCommitment, toOneOf } from "./params.ts";
import { invalidParams, RPC_CODES, RpcError } from "./rpc-error.ts";
import { toTransactionForm, writeAccounts, writeTransaction } from "./transaction-json.ts";

const SLOT_RANGE_MAX = 500_000n;

/** Returns the methods. */
export function blockMethods(chain: Chain): Methods {
  const { ledger } = chain;
  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": API_VERSION, "feature-set": 0 }),
    getGenesisHash: () => GENESIS_HASH,
    getSlot: (params) => viewOf(chain, params.optionsAt(0)).block.slot,
    getBlockHeight: (params) => viewOf(chain, params.optionsAt(0)).block.height,
    getTransactionCount: (params) => {
      viewOf(chain, params.optionsAt(0));
      return ledger.transactionCount();
    },
    getFirstAvailableBlock: () => ledger.first().slot,
    minimumLedgerSlot: () => ledger.first().slot,
    getEpochInfo: (params) => {
      const { block } = viewOf(chain, params.optionsAt(0));
      return {
        absoluteSlot: block.slot,
        blockHeight: block.height,
        epoch: block.slot / SLOTS_PER_EPOCH,
        slotIndex: block.slot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: ledger.transactionCount(),
      };
    },
    getLatestBlockhash: (params) => {
      const view = viewOf(chain, params.optionsAt(0));
      const { blockhash, height } = view.block;
      return inContext(view, { blockhash, lastValidBlockHeight: height + BLOCKHASH_AGE_MAX });
    },
    isBlockhashValid: (params) => {
      const view = viewOf(chain, params.optionsAt(1));
      return inContext(view, ledger.isAlive(params.text(0, "a blockhash"), view.block));
    },
    getBlocks: (params) => {
      const hasEnd = typeof params.at(1) === "number";
      const tip = ledger.tip(readLedgerCommitment(params, hasEnd || params.at(1) === null ? 2 : 1));
      const from = params.integer(0, "a slot");
      const to = hasEnd ? smaller(params.integer(1, "a slot"), tip.slot) : tip.slot;
      if (to - from > SLOT_RANGE_MAX) {
        throw invalidParams(`Slot range too large; max ${SLOT_RANGE_MAX}`);
      }
      return ledger.slotsBetween(from, to);
    },
    getBlocksWithLimit: (params) => {
      const tip = ledger.tip(readLedgerCommitment(params, 2));
      const limit = params.integer(1, "a limit");
      if (limit > SLOT_RANGE_MAX) throw invalidParams(`Limit too large; max ${SLOT_RANGE_MAX}`);
      return ledger.slotsBetween(params.integer(0, "a slot"), tip.slot, Number(limit));
    },
    getBlockTime: (params) => findBlock(chain, params.integer(0, "a slot"), "finalized").time,
    getBlock: (params) => {
      const options = toBlockOptions(params);
      const commitment = toLedgerCommitment(options["commitment"]);
      return writeBlock(findBlock(chain, params.integer(0, "a slot"), commitment), options);
    },
  };
}

/** Parses the options of `getBlock`. Older clients pass an encoding in their place. */
function toBlockOptions(params: Params): Readonly<Record<string, unknown>> {
  const encoding = params.at(1);
  return typeof encoding === "string" ? { encoding } : params.optionsAt(1);
}

function readLedgerCommitment(params: Params, index: number): CommitmentLevel {
  return toLedgerCommitment(params.optionsAt(index)["commitment"]);
}

/**
 * Returns the block of a slot, or throws the error of a node. A slot without a block counts as skipped only once it is
 * below the newest final block.
 */
function findBlock({ ledger }: Chain, slot: bigint, commitment: CommitmentLevel): Block {
  const first = ledger.first().slot;
  if (slot < first) {
    throw new RpcError(
      RPC_CODES.blockCleanedUp,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`,
    );
  }
  const block = slot <= ledger.tip(commitment).slot ? ledger.blockAt(slot) : undefined;
  if (block) return block;
  if (slot < ledger.tip("finalized").slot) {
    throw new RpcError(
      RPC_CODES.slotSkipped,
      `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
    );
  }
  throw new RpcError(RPC_CODES.blockNotAvailable, `Block not available for slot ${slot}`);
}

function writeBlock(block: Block, options: Readonly<Record<string, unknown>>) {
  const details = toOneOf(
    options["transactionDetails"],
    ["full", "accounts", "signatures", "none"],
    "transactionDetails",
  );
  const form = toTransactionForm(options);
  const { transactions } = block;
  return {
    blockHeight: block.height,
    blockTime: block.time,
    blockhash: block.blockhash,
    parentSlot: block.parentSlot,
    previousBlockhash: block.previousBlockhash,
    ...(details === "full" && {
      transactions: transactions.map((landed) => writeTransaction(landed, form)),
    }),
    ...(details === "accounts" && {
      transactions: transactions.map((landed) => writeAccounts(landed, form)),
    }),
    ...(details === "signatures" && {
      signatures: transactions.map(({ decoded }) => decoded.signature),
    }),
    ...(options["rewards"] !== false && { rewards: [] }),
  };
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
