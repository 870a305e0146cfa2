/** The reads of a witness: hashes of blocks, and receipts of the transactions that paid our wallets. */
import { isDeepStrictEqual } from "node:util";
import { isNative, toEvmAddress, type TxHash } from "../../core/hex.ts";
import type { BlockId, Transfer } from "../port/index.ts";
import type { WitnessReader } from "../witnessed.ts";
import { parsePayment, parseProof, type ProofAnswer } from "./answers.ts";
import { batchInParts, readAnswer, type Rpc } from "./rpc.ts";
import { readHeaders } from "./sections.ts";
import { toTransfers, TRANSFER } from "./transfers.ts";

/** Returns the reads of a witness over a node. */
export function createWitnessReader(rpc: Rpc): WitnessReader {
  return {
    async listBlocks(numbers) {
      const headers = await readHeaders(rpc, numbers, false);
      return headers.map(
        (header) =>
          header && { number: header.number, hash: header.hash, parentHash: header.parentHash },
      );
    },

    async listConfirmed(block, transfers) {
      const coin = transfers.filter(({ token }) => isNative(token));
      const [proofs, payments] = await Promise.all([
        readEach(rpc, "eth_getTransactionReceipt", { block, transfers, parse: parseProof }),
        readEach(rpc, "eth_getTransactionByHash", { block, transfers: coin, parse: parsePayment }),
      ]);
      const inLogs = new Map([...proofs].map(([hash, proof]) => [hash, readLogs(block, proof)]));
      return transfers.filter((transfer) => {
        const { token, txHash, from, to, amount } = transfer;
        // A failed transaction moves nothing, although it shows a value.
        if (!proofs.get(txHash)?.succeeded) return false;
        if (!isNative(token)) {
          return inLogs.get(txHash)?.some((shown) => isDeepStrictEqual(shown, transfer)) ?? false;
        }
        const paid = payments.get(txHash);
        return paid?.value === amount && paid.to === toEvmAddress(to) && paid.from === from;
      });
    },
  };
}

/** Reads one answer for each transaction. Throws RPC_UNAVAILABLE if the node does not have it in the block. */
async function readEach<T extends { readonly txHash: TxHash; readonly blockHash: string | null }>(
  rpc: Rpc,
  method: string,
  {
    block,
    transfers,
    parse,
  }: {
    readonly block: BlockId;
    readonly transfers: readonly Transfer[];
    readonly parse: (result: unknown) => T | null;
  },
): Promise<Map<TxHash, T>> {
  const hashes = [...new Set(transfers.map(({ txHash }) => txHash))];
  if (hashes.length === 0) return new Map();
  const answers = await batchInParts(
    rpc,
    hashes.map((hash) => ({ method, params: [hash] })),
  );
  return new Map(
    answers.map((answer, index) => {
      const found = readAnswer(rpc, method, answer, parse);
      if (found === null) throw rpc.unavailable("transaction not found");
      if (found.txHash !== hashes[index] || found.blockHash !== block.hash) {
        throw rpc.unavailable("a transaction of another block");
      }
      return [found.txHash, found];
    }),
  );
}

/** Reads the token transfers of a receipt as they are read from the logs of a block. */
function readLogs(block: BlockId, { txHash, logs }: ProofAnswer): Transfer[] {
  const place = { blockHash: block.hash, blockNumber: block.number, txIndex: 0, removed: false };
  return toTransfers(
    logs
      .filter(({ topics: [topic] }) => topic === TRANSFER)
      .map((log) => ({ ...log, ...place, txHash })),
  );
}
