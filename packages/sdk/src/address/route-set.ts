/**
 * The set of routes that an address can commit to: OpenZeppelin's standard Merkle tree over pairs of EVM chain id and
 * route contract. The commitment holds its root; each settlement shows the proof of its route.
 */
import { formatAddress, parseAddress } from "./eip55.ts";
import {
  AddressInputError,
  encodeUint,
  type Hex,
  keccak,
  padWord,
  parseBytes,
  toHex,
} from "./encoding.ts";

/** One route of a set. */
export interface RouteLeaf {
  /** EIP-155 id of the source chain. */
  readonly evmChainId: number;
  /** The route's contract. */
  readonly route: string;
}

/** Most routes of a set. */
export const ROUTE_SET_MAX = 1024;

/** Returns the root of a set of routes, in any order. Throws `AddressInputError` for an empty set or a double. */
export function rootOfRoutes(leaves: readonly RouteLeaf[]): Hex {
  return toHex(nodeAt(sortedHashes(leaves), 0));
}

/** Returns the proof of one route of a set. Throws `AddressInputError` if the set does not hold it. */
export function proofOfRoute(leaves: readonly RouteLeaf[], leaf: RouteLeaf): readonly Hex[] {
  const hashes = sortedHashes(leaves);
  const wanted = toHex(leafHash(leaf));
  const position = hashes.findIndex((hash) => toHex(hash) === wanted);
  if (position < 0) {
    throw new AddressInputError("route", "a route of the set", formatAddress(parseRoute(leaf)));
  }
  const proof: Hex[] = [];
  // Leaves are the last entries of the tree's array, the smallest hash last.
  for (let index = 2 * hashes.length - 2 - position; index > 0; index = (index - 1) >> 1) {
    proof.push(toHex(nodeAt(hashes, index % 2 === 1 ? index + 1 : index - 1)));
  }
  return proof;
}

/** Reports whether a proof shows a route to be in the set of a root. */
export function isRouteProven(root: string, leaf: RouteLeaf, proof: readonly string[]): boolean {
  const end = proof.reduce<Uint8Array>(
    (node, sibling) => pairHash(node, parseBytes("proof", sibling, 32)),
    leafHash(leaf),
  );
  return toHex(end) === toHex(parseBytes("routes", root, 32));
}

function sortedHashes(leaves: readonly RouteLeaf[]): readonly Uint8Array[] {
  if (leaves.length === 0 || leaves.length > ROUTE_SET_MAX) {
    throw new AddressInputError("routeSet", `1 to ${ROUTE_SET_MAX} routes`, leaves.length);
  }
  const hashes = leaves.map(leafHash).toSorted(compareBytes);
  if (new Set(hashes.map(toHex)).size < hashes.length) {
    throw new AddressInputError("routeSet", "each route once", leaves.length);
  }
  return hashes;
}

/** Returns an entry of the tree's array: entry `i` hashes the entries `2i + 1` and `2i + 2`. */
function nodeAt(hashes: readonly Uint8Array[], index: number): Uint8Array {
  return (
    hashes[2 * hashes.length - 2 - index] ??
    pairHash(nodeAt(hashes, 2 * index + 1), nodeAt(hashes, 2 * index + 2))
  );
}

/** Hashes a leaf twice, so that an inner node can never pass for a leaf. */
function leafHash(leaf: RouteLeaf): Uint8Array {
  return keccak(keccak(encodeUint("evmChainId", leaf.evmChainId, 256), padWord(parseRoute(leaf))));
}

function parseRoute({ route }: RouteLeaf): Uint8Array {
  return parseAddress("route", route);
}

function pairHash(one: Uint8Array, other: Uint8Array): Uint8Array {
  return compareBytes(one, other) < 0 ? keccak(one, other) : keccak(other, one);
}

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const [a, b] = [toHex(one), toHex(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}
