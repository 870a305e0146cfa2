/** T87 Whoever asks is counted under one name, however the name was written, and nobody chooses it for himself. */
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createAddressReader } from "./client-address.ts";

const read = (remoteAddress: string, forwarded?: string, trusted: readonly string[] = []) =>
  createAddressReader(trusted)(
    // CAST: what is read of a request.
    {
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    } as unknown as IncomingMessage,
  );

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
  expect(read(address)).toBe(name);
});

const PROXIES = ["10.0.0.0/8", "2001:db8:ff::/48", "192.0.2.1"];

test.each([
  ["nobody is trusted", "10.0.0.1", "203.0.113.1", [], "10.0.0.1"],
  ["a proxy says it", "10.0.0.1", "203.0.113.1", PROXIES, "203.0.113.1"],
  ["a proxy says it over IPv6", "2001:db8:ff::9", "203.0.113.1", PROXIES, "203.0.113.1"],
  ["a proxy is seen as mapped", "::ffff:192.0.2.1", "203.0.113.1", PROXIES, "203.0.113.1"],
  ["proxies stand in a row", "10.0.0.1", "203.0.113.1, 10.0.0.2", PROXIES, "203.0.113.1"],
  ["the caller made up what is before", "10.0.0.1", "1.1.1.1, 203.0.113.1", PROXIES, "203.0.113.1"],
  ["the caller is no proxy", "203.0.113.9", "10.0.0.1", PROXIES, "203.0.113.9"],
  ["a proxy says nothing", "10.0.0.1", undefined, PROXIES, "10.0.0.1"],
  ["a proxy says it with the port", "10.0.0.1", "203.0.113.1:4711", PROXIES, "203.0.113.1"],
  ["and of IPv6", "10.0.0.1", "[2001:db8:1:2::3]:4711", PROXIES, "2001:db8:1:2::/64"],
  ["a proxy says nonsense", "10.0.0.1", "1.1.1.1, unknown", PROXIES, "unknown"],
])("when %s", (_, remote, forwarded, trusted, name) => {
  expect(read(remote, forwarded, trusted)).toBe(name);
});
