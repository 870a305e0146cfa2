/** Blocks as messages of `geyser.proto`, in the form that its loader takes. */
import { getBase58Encoder } from "@solana/kit";
import type { BlockJson, TokenBalanceJson, TransactionJson } from "./block-json.ts";

/** A `SubscribeUpdate`, with one of its messages. */
export interface UpdateMessage {
  readonly filters: readonly string[];
  readonly transaction?: {
    readonly slot: string;
    readonly transaction: ReturnType<typeof writeTransaction>;
  };
  readonly transaction_status?: ReturnType<typeof writeStatus>;
  readonly block_meta?: ReturnType<typeof writeBlockMeta>;
  readonly ping?: object;
  readonly pong?: { readonly id: number };
}

const VOTE_PROGRAM = "Vote111111111111111111111111111111111111111";

const bytesOf = (base58: string) => Uint8Array.from(getBase58Encoder().encode(base58));

/** Reports whether nodes mark a transaction as a vote: by its program alone, for any instruction. */
export function isVote({ transaction, version = "legacy" }: TransactionJson): boolean {
  const { signatures, message } = transaction;
  const [only, ...others] = message.instructions;
  const isSimple = version === "legacy" && signatures.length < 3 && others.length === 0;
  return (
    isSimple && only !== undefined && message.accountKeys[only.programIdIndex] === VOTE_PROGRAM
  );
}

/** Returns a transaction with its outcome. */
export function writeTransaction(landed: TransactionJson, index: number) {
  const { signatures } = landed.transaction;
  return {
    signature: bytesOf(signatures[0] ?? ""),
    is_vote: isVote(landed),
    transaction: { signatures: signatures.map(bytesOf), message: writeMessage(landed) },
    meta: writeMeta(landed),
    index: String(index),
  };
}

function writeMeta(landed: TransactionJson) {
  const { meta } = landed;
  return {
    err: writeError(landed),
    fee: String(meta.fee),
    pre_balances: meta.preBalances.map(String),
    post_balances: meta.postBalances.map(String),
    inner_instructions: (meta.innerInstructions ?? []).map((inner) => ({
      index: inner.index,
      instructions: inner.instructions.map((instruction) => ({
        program_id_index: instruction.programIdIndex,
        accounts: Uint8Array.from(instruction.accounts),
        data: bytesOf(instruction.data),
        ...(typeof instruction.stackHeight === "number" && {
          stack_height: instruction.stackHeight,
        }),
      })),
    })),
    inner_instructions_none: !meta.innerInstructions,
    log_messages: meta.logMessages ?? [],
    log_messages_none: !meta.logMessages,
    pre_token_balances: meta.preTokenBalances.map(writeTokenBalance),
    post_token_balances: meta.postTokenBalances.map(writeTokenBalance),
    loaded_writable_addresses: (meta.loadedAddresses?.writable ?? []).map(bytesOf),
    loaded_readonly_addresses: (meta.loadedAddresses?.readonly ?? []).map(bytesOf),
    return_data_none: true,
    compute_units_consumed: String(meta.computeUnitsConsumed ?? 0),
  };
}

function writeMessage({ transaction: { message }, version = "legacy" }: TransactionJson) {
  const { header } = message;
  return {
    header: {
      num_required_signatures: header.numRequiredSignatures,
      num_readonly_signed_accounts: header.numReadonlySignedAccounts,
      num_readonly_unsigned_accounts: header.numReadonlyUnsignedAccounts,
    },
    account_keys: message.accountKeys.map(bytesOf),
    recent_blockhash: bytesOf(message.recentBlockhash),
    instructions: message.instructions.map((instruction) => ({
      program_id_index: instruction.programIdIndex,
      accounts: Uint8Array.from(instruction.accounts),
      data: bytesOf(instruction.data),
    })),
    versioned: version !== "legacy",
    address_table_lookups: (message.addressTableLookups ?? []).map((lookup) => ({
      account_key: bytesOf(lookup.accountKey),
      writable_indexes: Uint8Array.from(lookup.writableIndexes),
      readonly_indexes: Uint8Array.from(lookup.readonlyIndexes),
    })),
  };
}

function writeTokenBalance(balance: TokenBalanceJson) {
  const { decimals, amount, uiAmount, uiAmountString } = balance.uiTokenAmount;
  return {
    account_index: balance.accountIndex,
    mint: balance.mint,
    owner: balance.owner ?? "",
    program_id: balance.programId ?? "",
    ui_token_amount: {
      ui_amount: uiAmount ?? 0,
      decimals,
      amount,
      ui_amount_string: uiAmountString,
    },
  };
}

/** Returns the error of a transaction, whose encoding is the validator's own and is left out here; null without one. */
function writeError({ meta }: TransactionJson) {
  return meta.err === null ? null : { err: Uint8Array.of(0) };
}

/** Returns the place and outcome of a transaction. */
export function writeStatus(slot: bigint, landed: TransactionJson, index: number) {
  return {
    slot: String(slot),
    signature: bytesOf(landed.transaction.signatures[0] ?? ""),
    is_vote: isVote(landed),
    index: String(index),
    err: writeError(landed),
  };
}

/** Returns a block without its content. */
export function writeBlockMeta(slot: bigint, block: BlockJson) {
  return {
    slot: String(slot),
    blockhash: block.blockhash,
    rewards: { rewards: [] },
    block_time: block.blockTime === null ? null : { timestamp: String(block.blockTime) },
    block_height: block.blockHeight === null ? null : { block_height: String(block.blockHeight) },
    parent_slot: String(block.parentSlot),
    parent_blockhash: block.previousBlockhash,
    executed_transaction_count: String(block.transactions.length),
    entries_count: "1",
  };
}
