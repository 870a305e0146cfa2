/** Client addresses for rate limits: an IPv4 address, or the /64 network of an IPv6 address. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Returns the client address of a request, behind proxies. */
export type AddressReader = (request: IncomingMessage) => string;

/** Returns a reader that follows `X-Forwarded-For` back through trusted proxies, given by address or range. */
export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  const isTrusted = createTrustList(trustedProxies);
  return ({ socket, headers }) => {
    const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
    let caller = stripPort(socket.remoteAddress ?? "");
    for (const earlier of forwarded.map((entry) => stripPort(entry.trim())).toReversed()) {
      if (!isTrusted(caller) || earlier === "") break;
      caller = earlier;
    }
    return networkOf(caller);
  };
}

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
  const [plain = ""] = address.split("%");
  if (isIP(plain) !== 6) return plain;
  const groups = expand(plain);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** Returns the eight groups of an IPv6 address in any spelling. */
function expand(address: string): readonly number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
