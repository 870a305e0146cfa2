/** Addresses and URLs that webhooks may reach. */
import { describe, expect, test } from "vitest";
import { createAddressRules } from "./address-rules.ts";
import { parseEndpointUrl } from "./url.ts";

const rules = createAddressRules([]);
const local = createAddressRules(["127.0.0.0/8", "::1/128"]);

describe("addresses", () => {
  test.each([
    ["this network", "0.0.0.0"],
    ["private", "10.1.2.3"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.0.9"],
    ["cloud metadata", "169.254.169.254"],
    ["protocol assignments", "192.0.0.192"],
    ["benchmarks", "198.18.0.1"],
    ["documentation", "203.0.113.7"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["mapped private", "::ffff:10.0.0.1"],
    ["mapped loopback", "::ffff:7f00:1"],
    ["mapped public", "::ffff:8.8.8.8"],
    ["compatible", "::127.0.0.1"],
    ["NAT64 of loopback", "64:ff9b::7f00:1"],
    ["NAT64 of a public address", "64:ff9b::808:808"],
    ["local NAT64", "64:ff9b:1::a00:1"],
    ["unique local", "fc00::1"],
    ["unique local, AWS metadata", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["6to4 of a private address", "2002:a00:1::"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["no address", "localhost"],
    ["no address", ""],
  ])("%s: %s is refused [T215]", (_kind, address) => {
    expect(rules.allows(address, { forPlain: false })).toBe(false);
  });

  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
  ])("public: %s is allowed with TLS only", (address) => {
    expect(rules.allows(address, { forPlain: false })).toBe(true);
    expect(rules.allows(address, { forPlain: true })).toBe(false);
  });

  test("in ranges that the operator allows are reached, also without TLS", () => {
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
      expect(local.allows(address, { forPlain: true })).toBe(true);
    }
    expect(local.allows("10.0.0.1", { forPlain: false })).toBe(false);
  });
});

describe("URLs", () => {
  const kindOf = (text: string, of = rules) => parseEndpointUrl(text, of).kind;

  test.each([
    "ftp://shop.example/hooks",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://user:secret@shop.example/",
    "https://shop.example/#part",
    "http://8.8.8.8/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://017700000001/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://①②⑦.⓪.⓪.①/",
    "https://127.0.0.1./",
    "shop.example",
    `https://shop.example/${"a".repeat(2_048)}`,
  ])("%s is refused [T215]", (text) => {
    expect(kindOf(text)).toBe("refused");
  });

  test("with names are accepted, and checked when a connection is opened", () => {
    expect(kindOf("https://shop.example:8443/hooks?shop=1")).toBe("url");
    expect(kindOf("https://localhost/")).toBe("url");
    expect(kindOf("http://127.0.0.1:3000/hooks", local)).toBe("url");
  });
});
