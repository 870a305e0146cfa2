/** Computes the root of a block's receipts, by which a header proves every log of the block. */
import { concat, type Hex, hexToBytes, keccak256, toHex, toRlp } from "viem";

/** The part of a receipt that the root proves. */
export interface ProvedReceipt {
  readonly type: bigint;
  /** Status since Byzantium, the root of the state before. */
  readonly outcome: Hex;
  readonly cumulativeGasUsed: bigint;
  readonly logs: readonly {
    readonly address: Hex;
    readonly topics: readonly Hex[];
    readonly data: Hex;
  }[];
}

/** Returns the root of the Merkle Patricia trie of all receipts of a block. */
export function rootOf(receipts: readonly ProvedReceipt[]): Hex {
  const entries = receipts.map((receipt, index) => ({
    path: digitsOf(toRlp(quantity(BigInt(index)))),
    value: encode(receipt),
  }));
  return keccak256(toRlp(buildNode(entries, 0)));
}

function encode({ type, outcome, cumulativeGasUsed, logs }: ProvedReceipt): Hex {
  const fields: Item[] = [
    outcome,
    quantity(cumulativeGasUsed),
    bloomOf(logs),
    logs.map(({ address, topics, data }) => [address, [...topics], data]),
  ];
  return type === 0n ? toRlp(fields) : concat([toHex(type, { size: 1 }), toRlp(fields)]);
}

type Item = Hex | Item[];

interface Entry {
  /** Hexadecimal digits of the key. */
  readonly path: string;
  readonly value: Hex;
}

/** Builds the node of the entries, which have the first `depth` digits in common. */
function buildNode(entries: readonly Entry[], depth: number): Item {
  const [first] = entries;
  if (!first) return "0x";
  if (entries.length === 1) return [packPath(first.path.slice(depth), true), first.value];
  let end = depth;
  while (entries.every(({ path }) => end < path.length && path[end] === first.path[end])) end += 1;
  if (end > depth) {
    return [packPath(first.path.slice(depth, end), false), refer(buildNode(entries, end))];
  }
  const children = [..."0123456789abcdef"].map((digit) => {
    const below = entries.filter(({ path }) => path[depth] === digit);
    return refer(buildNode(below, depth + 1));
  });
  const here = entries.find(({ path }) => path.length === depth);
  return [...children, here?.value ?? "0x"];
}

/** Nodes of 32 bytes and more are referred to by their hash. */
function refer(node: Item): Item {
  if (node === "0x") return node;
  const encoded = toRlp(node);
  return hexToBytes(encoded).length < 32 ? node : keccak256(encoded);
}

/** Packs digits into bytes, after a flag that says whether they end a key and are odd in number. */
function packPath(digits: string, isEnd: boolean): Hex {
  const isOdd = digits.length % 2 === 1;
  const flag = (isEnd ? 2 : 0) + (isOdd ? 1 : 0);
  return `0x${flag}${isOdd ? "" : "0"}${digits}`;
}

/** Sets three bits of 2048 for each address and topic. */
function bloomOf(logs: ProvedReceipt["logs"]): Hex {
  const bloom = new Uint8Array(256);
  for (const { address, topics } of logs) {
    for (const word of [address, ...topics]) {
      const hash = hexToBytes(keccak256(word));
      for (const at of [0, 2, 4]) {
        const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047;
        const byte = 255 - (bit >> 3);
        bloom[byte] = (bloom[byte] ?? 0) | (1 << (bit & 7));
      }
    }
  }
  return toHex(bloom);
}

function digitsOf(bytes: Hex): string {
  return bytes.slice(2);
}

/** Encodes a number without leading zeros; zero is empty. */
export function quantity(value: bigint): Hex {
  return value === 0n ? "0x" : toHex(value);
}
