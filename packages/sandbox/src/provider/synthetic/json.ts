/** JSON of blocks, transactions, logs and receipts, with the members and the size of a real node's. */
import { toQuantity } from "../json-rpc.ts";
import type { BloomMaker } from "./bloom.ts";
import type { BlockContents, SyntheticTransaction, SyntheticTransfer } from "./contents.ts";
import type { BlockId } from "./history.ts";
import type { Noise } from "./noise.ts";

export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** A block with everything that its JSON names. */
export interface SyntheticBlock {
  readonly id: BlockId;
  readonly hash: string;
  readonly parentHash: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly contents: BlockContents;
}

const EMPTY_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
const GAS_LIMIT = 36_000_000;
const GAS_OF_TRANSACTION = 110_000;
const BASE_FEE = "0x5f5e100";
const GAS_PRICE = "0x68e7780";

export interface JsonWriter {
  header(block: SyntheticBlock): string;
  /** Returns a block with its transactions, or with their hashes only. */
  block(block: SyntheticBlock, hydrated: boolean): string;
  log(block: SyntheticBlock, transfer: SyntheticTransfer): string;
  transaction(block: SyntheticBlock, index: number): string;
  receipt(block: SyntheticBlock, index: number): string;
}

export function createJsonWriter(chainId: number, noise: Noise, bloom: BloomMaker): JsonWriter {
  const chain = toQuantity(chainId);

  function header({ id, hash, parentHash, timestamp, contents }: SyntheticBlock): string {
    const word = (offset: number) => `0x${noise.cut(id.number * 7 + id.fork + offset, 64)}`;
    const gasUsed = toQuantity(contents.transactions.length * GAS_OF_TRANSACTION);
    return `"baseFeePerGas":"${BASE_FEE}","blobGasUsed":"0x20000","difficulty":"0x0","excessBlobGas":"0x2c0000","extraData":"0x${noise.cut(id.number, 42)}","gasLimit":"${toQuantity(GAS_LIMIT)}","gasUsed":"${gasUsed}","hash":"${hash}","logsBloom":"${bloom.make(valuesOf(contents.transfers))}","miner":"0x${noise.cut(id.number * 3, 40)}","mixHash":"${word(1)}","nonce":"0x0000000000000000","number":"${toQuantity(id.number)}","parentBeaconBlockRoot":"${word(2)}","parentHash":"${parentHash}","receiptsRoot":"${word(3)}","sha3Uncles":"${EMPTY_UNCLES}","stateRoot":"${word(4)}","timestamp":"${toQuantity(timestamp)}","transactionsRoot":"${word(5)}","withdrawalsRoot":"${word(6)}"`;
  }

  function transaction(block: SyntheticBlock, index: number): string {
    const found = transactionAt(block, index);
    const { hash, from, to, value, input, cut } = found;
    return `{"blockHash":"${block.hash}","blockNumber":"${toQuantity(block.id.number)}","from":"${from}","gas":"0x3d090","gasPrice":"${GAS_PRICE}","maxFeePerGas":"0x77359400","maxPriorityFeePerGas":"0x989680","hash":"${hash}","input":"${input}","nonce":"${toQuantity(cut)}","to":"${to}","transactionIndex":"${toQuantity(index)}","value":"${value}","type":"0x2","accessList":[],"chainId":"${chain}","v":"0x1","r":"0x${noise.cut(cut + 1, 64)}","s":"0x${noise.cut(cut + 2, 64)}","yParity":"0x1"}`;
  }

  function log(block: SyntheticBlock, transfer: SyntheticTransfer): string {
    const { token, from, to, data, txIndex, logIndex } = transfer;
    const { hash } = transactionAt(block, txIndex);
    return `{"address":"${token}","topics":["${TRANSFER_TOPIC}","${from}","${to}"],"data":"${data}","blockNumber":"${toQuantity(block.id.number)}","transactionHash":"${hash}","transactionIndex":"${toQuantity(txIndex)}","blockHash":"${block.hash}","blockTimestamp":"${toQuantity(block.timestamp)}","logIndex":"${toQuantity(logIndex)}","removed":false}`;
  }

  return {
    header: (block) => `{${header(block)}}`,
    block: (block, hydrated) => {
      const { transactions } = block.contents;
      const list = transactions.map((found, index) =>
        hydrated ? transaction(block, index) : `"${found.hash}"`,
      );
      const size = toQuantity(600 + transactions.length * 420);
      return `{${header(block)},"size":"${size}","transactions":[${list.join(",")}],"uncles":[],"withdrawals":[]}`;
    },
    log,
    transaction,
    receipt: (block, index) => {
      const { hash, from, to } = transactionAt(block, index);
      const transfers = block.contents.transfers.filter(({ txIndex }) => txIndex === index);
      const logs = transfers.map((transfer) => log(block, transfer)).join(",");
      const used = toQuantity((index + 1) * GAS_OF_TRANSACTION);
      return `{"blockHash":"${block.hash}","blockNumber":"${toQuantity(block.id.number)}","contractAddress":null,"cumulativeGasUsed":"${used}","effectiveGasPrice":"${GAS_PRICE}","from":"${from}","gasUsed":"${toQuantity(GAS_OF_TRANSACTION)}","logs":[${logs}],"logsBloom":"${bloom.make(valuesOf(transfers))}","status":"0x1","to":"${to}","transactionHash":"${hash}","transactionIndex":"${toQuantity(index)}","type":"0x2"}`;
    },
  };
}

function transactionAt(block: SyntheticBlock, index: number): SyntheticTransaction {
  const found = block.contents.transactions[index];
  if (found === undefined) throw new Error(`block ${block.id.number} has no transaction ${index}`);
  return found;
}

function* valuesOf(transfers: readonly SyntheticTransfer[]): Generator<string> {
  if (transfers.length > 0) yield TRANSFER_TOPIC;
  for (const { token, from, to } of transfers) {
    yield token;
    yield from;
    yield to;
  }
}
