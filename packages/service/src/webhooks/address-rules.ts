/**
 * The addresses to which webhooks may connect. An integrator chooses the URL, so without these rules it could send requests
 * into the operator's network (server-side request forgery).
 *
 * IPv6 is refused unless it is global unicast, and where it embeds an IPv4 address by translation or tunnel, since a gateway
 * might follow it.
 */
import { BlockList, isIP } from "node:net";

const REFUSED_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  // Multicast, reserved and broadcast.
  "224.0.0.0/3",
];
/** Global unicast. */
const POSSIBLE_V6 = ["2000::/3"];
const REFUSED_V6 = [
  // Teredo, ORCHID, benchmarks and other assignments for protocols.
  "2001::/23",
  "2001:db8::/32",
  // 6to4, which embeds an IPv4 address.
  "2002::/16",
  "3fff::/20",
];

/** Reports whether webhooks may connect to an address. */
export interface AddressRules {
  /** `forPlain` asks for a connection without TLS, which only the allowed ranges take. */
  allows(address: string, args: { readonly forPlain: boolean }): boolean;
}

/** Creates the rules. `allowedRanges` are the operator's exceptions, such as `127.0.0.0/8`. */
export function createAddressRules(allowedRanges: readonly string[]): AddressRules {
  const allowed = listOf(allowedRanges);
  const refused = listOf([...REFUSED_V4, ...REFUSED_V6]);
  const possible = listOf(POSSIBLE_V6);
  return {
    allows(address, { forPlain }) {
      const version = isIP(address);
      if (version === 0 || address.includes("%")) return false;
      const family = version === 4 ? "ipv4" : "ipv6";
      if (allowed.check(address, family)) return true;
      if (forPlain) return false;
      if (family === "ipv6" && !possible.check(address, family)) return false;
      return !refused.check(address, family);
    },
  };
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits = ""] = range.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
