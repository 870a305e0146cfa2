/** A client is counted under one address in every spelling, and cannot choose it [T87]. */
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createCallerReader } from "./client-address.ts";

const PROXIES = ["10.0.0.0/8", "2001:db8:ff::/48", "192.0.2.1"];

const read = (remoteAddress: string, forwarded?: string, trusted: readonly string[] = []) =>
  createCallerReader(trusted)(
    // CAST: only the fields of a request that are read.
    {
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    } as unknown as IncomingMessage,
  );

test("an address is exact in every spelling, for the allowed networks of keys", () => {
  expect(read("::ffff:cb00:7107").exact).toBe("203.0.113.7");
  expect(read("2001:DB8:1:2:3:0:0:6").exact).toBe("2001:db8:1:2:3::6");
  expect(read("fe80::1%eth0").exact).toBe("fe80::1");
  expect(read("10.0.0.1", "[2001:db8::3]:4711", PROXIES).exact).toBe("2001:db8::3");
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::ffff:cb00:7107", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:0002::", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("%s is %s", (address, name) => {
  expect(read(address).counted).toBe(name);
});

test.each([
  ["no proxy is trusted", "10.0.0.1", "203.0.113.1", [], "10.0.0.1"],
  ["a proxy forwards it", "10.0.0.1", "203.0.113.1", PROXIES, "203.0.113.1"],
  ["a proxy forwards it over IPv6", "2001:db8:ff::9", "203.0.113.1", PROXIES, "203.0.113.1"],
  ["the proxy's address is IPv4-mapped", "::ffff:192.0.2.1", "203.0.113.1", PROXIES, "203.0.113.1"],
  ["it passes several proxies", "10.0.0.1", "203.0.113.1, 10.0.0.2", PROXIES, "203.0.113.1"],
  ["the caller forged the first entry", "10.0.0.1", "1.1.1.1, 203.0.113.1", PROXIES, "203.0.113.1"],
  ["the caller is not a proxy", "203.0.113.9", "10.0.0.1", PROXIES, "203.0.113.9"],
  ["a proxy sends no header", "10.0.0.1", undefined, PROXIES, "10.0.0.1"],
  ["a proxy forwards it with a port", "10.0.0.1", "203.0.113.1:4711", PROXIES, "203.0.113.1"],
  [
    "a proxy forwards IPv6 with a port",
    "10.0.0.1",
    "[2001:db8:1:2::3]:4711",
    PROXIES,
    "2001:db8:1:2::/64",
  ],
  ["a proxy forwards an invalid value", "10.0.0.1", "1.1.1.1, unknown", PROXIES, "unknown"],
])("when %s", (_, remote, forwarded, trusted, name) => {
  expect(read(remote, forwarded, trusted).counted).toBe(name);
});
