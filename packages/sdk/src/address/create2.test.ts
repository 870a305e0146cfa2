import { hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";
import { create2Address, implementationOf, walletInitCode } from "./create2.ts";
import { keccak, toHex } from "./encoding.ts";

/** The examples of EIP-1014. */
const PUBLISHED = [
  {
    deployer: "0x0000000000000000000000000000000000000000",
    salt: "0".repeat(64),
    initCode: "00",
    address: "0x4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38",
  },
  {
    deployer: "0xdeadbeef00000000000000000000000000000000",
    salt: "0".repeat(64),
    initCode: "00",
    address: "0xB928f69Bb1D91Cd65274e3c79d8986362984fDA3",
  },
  {
    deployer: "0xdeadbeef00000000000000000000000000000000",
    salt: "000000000000000000000000feed000000000000000000000000000000000000",
    initCode: "00",
    address: "0xD04116cDd17beBE565EB2422F2497E06cC1C9833",
  },
  {
    deployer: "0x0000000000000000000000000000000000000000",
    salt: "0".repeat(64),
    initCode: "deadbeef",
    address: "0x70f2b2914A2a4b783FaEFb75f459A580616Fcb5e",
  },
  {
    deployer: "0x00000000000000000000000000000000deadbeef",
    salt: "00000000000000000000000000000000000000000000000000000000cafebabe",
    initCode: "deadbeef",
    address: "0x60f3f640a8508fC6a86d45DF051962668E1e8AC7",
  },
  {
    deployer: "0x00000000000000000000000000000000deadbeef",
    salt: "00000000000000000000000000000000000000000000000000000000cafebabe",
    initCode: "deadbeef".repeat(11),
    address: "0x1d8bfDC5D46DC4f61D6b6115972536eBE6A8854C",
  },
  {
    deployer: "0x0000000000000000000000000000000000000000",
    salt: "0".repeat(64),
    initCode: "",
    address: "0xE33C0C7F7df4809055C3ebA6c09CFe4BaF1BD9e0",
  },
];

describe("create2Address", () => {
  test.each(PUBLISHED)("computes $address of EIP-1014", ({ deployer, salt, initCode, address }) => {
    const initCodeHash = toHex(keccak(hexToBytes(initCode)));
    expect(create2Address({ deployer, salt: `0x${salt}`, initCodeHash })).toBe(address);
  });

  test("rejects a salt of another length and names the field", () => {
    const deployer = "0x0000000000000000000000000000000000000000";
    const initCodeHash = `0x${"0".repeat(64)}`;
    expect(() => create2Address({ deployer, salt: "0x00", initCodeHash })).toThrow(
      'salt: expected 0x and 64 hex digits, got "0x00"',
    );
  });
});

describe("walletInitCode", () => {
  test("returns the 61 published bytes around the implementation", () => {
    expect(walletInitCode("0x1111111111111111111111111111111111111111")).toBe(
      "0x3d603380600a3d3981f336600557005b363d3d373d3d3d363d7311111111111111111111111111111111111111115af43d82803e903d91603157fd5bf3",
    );
  });
});

describe("implementationOf", () => {
  test("returns the contract that the account creates with nonce 1", () => {
    // A well-known pair: the first two contracts of this account have nonces 0 and 1.
    expect(implementationOf("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0")).toBe(
      "0x343c43A37D37dfF08AE8C4A11544c718AbB4fCF8",
    );
  });
});
