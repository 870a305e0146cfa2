import { expect, test } from "vitest";
import { formatNetwork, isInNetwork, parseAddress, parseNetwork } from "./networks.ts";

test.each([
  ["10.0.0.0/8", "10.0.0.0/8"],
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7/32", "203.0.113.7"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["2001:DB8:0:0::/32", "2001:db8::/32"],
  ["2001:db8::1", "2001:db8::1"],
  ["::/0", "::/0"],
  ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
  ["::ffff:cb00:7107", "203.0.113.7"],
])("%s is the network %s", (text, canonical) => {
  const network = parseNetwork(text);
  expect(network && formatNetwork(network)).toBe(canonical);
});

test.each([
  ["", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0"],
  ["2001:db8::1/64", "::/129", "::ffff:10.0.0.0/8", "fe80::1%eth0", "localhost", "1.2.3.4 "],
])("refuses texts that are no network (%#)", (...texts) => {
  expect(texts.filter((text) => parseNetwork(text) !== undefined)).toEqual([]);
});

test.each([
  ["10.0.0.0/8", "10.255.0.1", true],
  ["10.0.0.0/8", "::ffff:10.255.0.1", true],
  ["10.0.0.0/8", "::ffff:aff:1", true],
  ["10.0.0.0/8", "11.0.0.0", false],
  ["10.0.0.0/8", "::10.255.0.1", false],
  ["10.0.0.0/8", "64:ff9b::10.255.0.1", false],
  ["0.0.0.0/0", "2001:db8::1", false],
  ["::/0", "::ffff:10.0.0.1", false],
  ["2001:db8::/32", "2001:db8:ffff::1%eth0", true],
  ["2001:db8::/32", "2001:db9::1", false],
  ["203.0.113.7", "203.0.113.8", false],
])("of %s, %s: %s", (network, address, isIn) => {
  const [known, caller] = [parseNetwork(network), parseAddress(address)];
  expect(known && caller && isInNetwork(caller, known)).toBe(isIn);
});
