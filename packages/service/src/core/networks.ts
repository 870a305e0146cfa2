/** IP addresses and networks in one canonical form. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) is the IPv4 address. */
import { isIP } from "node:net";

/** A network, or a single address with all of its bits. */
export interface Network {
  readonly family: 4 | 6;
  /** Leading bits that an address of the network shares. */
  readonly bits: number;
  /** The first address, as a number. */
  readonly value: bigint;
}

const WIDTHS = { 4: 32, 6: 128 } as const;
/** IPv4-mapped IPv6 addresses begin with these 96 bits. */
const MAPPED_BITS = 96;
const MAPPED = 0xffffn;

/** Returns the number of an IP address in any spelling, without its zone; undefined for any other text. */
export function parseAddress(text: string): Network | undefined {
  const [plain = ""] = text.split("%");
  const family = isIP(plain);
  if (family === 4) {
    const value = plain.split(".").reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
    return { family, bits: 32, value };
  }
  if (family !== 6) return undefined;
  const value = groupsOf(plain).reduce((sum, group) => sum * 65_536n + BigInt(group), 0n);
  return value >> 32n === MAPPED
    ? { family: 4, bits: 32, value: value & 0xffff_ffffn }
    : { family: 6, bits: 128, value };
}

/**
 * Parses an address or a network in CIDR notation. Returns undefined for any other text, and for a network whose address
 * has bits beyond its prefix, which is usually a typing error.
 */
export function parseNetwork(text: string): Network | undefined {
  const [written = "", prefix, ...rest] = text.split("/");
  const address = written.includes("%") ? undefined : parseAddress(written);
  if (!address || rest.length > 0) return undefined;
  if (prefix === undefined) return address;
  if (!/^\d{1,3}$/.test(prefix)) return undefined;
  const isMapped = address.family === 4 && isIP(written) === 6;
  const bits = Number(prefix) - (isMapped ? MAPPED_BITS : 0);
  const width = WIDTHS[address.family];
  if (bits < 0 || bits > width) return undefined;
  const hostBits = BigInt(width - bits);
  return (address.value >> hostBits) << hostBits === address.value
    ? { ...address, bits }
    : undefined;
}

/** Returns a network as text: the address alone if it is one address, else with its prefix. */
export function formatNetwork({ family, bits, value }: Network): string {
  const address =
    family === 4
      ? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".")
      : new URL(`http://[${formatGroups(value)}]`).hostname.slice(1, -1);
  return bits === WIDTHS[family] ? address : `${address}/${bits}`;
}

/** Returns whether an address is in a network. */
export function isInNetwork(address: Network, network: Network): boolean {
  const hostBits = BigInt(WIDTHS[network.family] - network.bits);
  return (
    address.family === network.family && address.value >> hostBits === network.value >> hostBits
  );
}

function formatGroups(value: bigint): string {
  return Array.from({ length: 8 }, (_, n) =>
    ((value >> BigInt(112 - 16 * n)) & 0xffffn).toString(16),
  ).join(":");
}

/** Returns the eight groups of an IPv6 address in any spelling. */
function groupsOf(address: string): readonly number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
