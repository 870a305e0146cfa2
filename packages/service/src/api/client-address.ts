/** Client addresses: exact ones for the allowed networks of keys, and networks for rate limits. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { memoize } from "../core/memo.ts";
import { formatNetwork, parseAddress } from "../core/networks.ts";

/** Clients whose canonical form is remembered: the same ones send most of the requests. */
const REMEMBERED_MAX = 1_000;

/** The client of a request, behind proxies. */
export interface Caller {
  /** Its address in canonical form. Text that is no address is returned as it was forwarded. */
  readonly exact: string;
  /** The address that limits count: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly counted: string;
}

/** Returns a reader that follows `X-Forwarded-For` back through trusted proxies, given by address or range. */
export function createCallerReader(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => Caller {
  const isTrusted = createTrustList(trustedProxies);
  return ({ socket, headers }) => {
    const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
    let caller = stripPort(socket.remoteAddress ?? "");
    for (const earlier of forwarded.map((entry) => stripPort(entry.trim())).toReversed()) {
      if (!isTrusted(caller) || earlier === "") break;
      caller = earlier;
    }
    return describeCaller(caller);
  };
}

const describeCaller = memoize(
  (address: string): Caller => {
    const parsed = parseAddress(address);
    return { exact: parsed ? formatNetwork(parsed) : address, counted: networkOf(address) };
  },
  (address) => address,
  REMEMBERED_MAX,
);

/** Returns whether an address is one of the proxies, given by address or range. */
export function createTrustList(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const proxy of trustedProxies) {
    const [address = "", bits] = proxy.split("/");
    const family = familyOf(address);
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && trusted.check(address, familyOf(address));
}

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");

/** Removes the port that some proxies append. */
function stripPort(text: string): string {
  const [, address = text] =
    /^\[(.*)\](?::\d+)?$/.exec(text) ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text) ?? [];
  return address;
}

/** Returns the /64 network of an address without its zone: one client can choose the remaining bits (RFC 6177). */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  if (!parsed) return address.split("%")[0] ?? "";
  if (parsed.family === 4) return formatNetwork(parsed);
  const groups = [112n, 96n, 80n, 64n].map((shift) => (parsed.value >> shift) & 0xffffn);
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`;
}
