import { describe, expect, test } from "vitest";
import { COMMITMENT_FIELDS, type CommitmentFields, hashCommitment } from "./commitment.ts";
import { AddressInputError } from "./encoding.ts";

const SHORT: CommitmentFields = {
  integrator: "B0322F15-c420-3951-004c-75433451d43b",
  userId: "0x27B92607747a447b4608f3ed35243be2d586a811",
  destChain: 30,
  destWallet: "0x54054ba0e1871cc23332871c4e0a055412928eba",
  destToken: "0x0000000000000000000000000000000000000000",
  refundAuthority: "0x5473435b3b406db32a941007420362664adb6227",
  maxFeeBps: 50,
  maxSlippageBps: 100,
};

const WORDS: CommitmentFields = {
  ...SHORT,
  integrator: "0x00000000000000000000000000000000b0322f15c4203951004c75433451d43b",
  userId: "0x00000000000000000000000027b92607747a447b4608f3ed35243be2d586a811",
  destWallet: "0x00000000000000000000000054054ba0e1871cc23332871c4e0a055412928eba",
  destToken: `0x${"0".repeat(64)}`,
  refundAuthority: "0x0000000000000000000000005473435b3b406db32a941007420362664adb6227",
};

describe("hashCommitment", () => {
  test("returns the same hash for short and padded values", () => {
    expect(hashCommitment(SHORT)).toBe(hashCommitment(WORDS));
  });

  test("returns another hash when any field changes", () => {
    const changed: CommitmentFields = {
      integrator: "b0322f15-c420-3951-004c-75433451d43c",
      userId: "0x27b92607747a447b4608f3ed35243be2d586a812",
      destChain: 31,
      destWallet: "0x54054ba0e1871cc23332871c4e0a055412928ebb",
      destToken: "0x0000000000000000000000000000000000000001",
      refundAuthority: "0x5473435b3b406db32a941007420362664adb6228",
      maxFeeBps: 51,
      maxSlippageBps: 101,
      routes: `0x${"0".repeat(63)}1`,
      flags: 1,
    };
    const hashes = COMMITMENT_FIELDS.map((field) =>
      hashCommitment({ ...SHORT, [field]: changed[field] }),
    );
    expect(new Set([...hashes, hashCommitment(SHORT)]).size).toBe(COMMITMENT_FIELDS.length + 1);
  });

  test("reads absent routes and flags as zero", () => {
    const zeros = { routes: `0x${"0".repeat(64)}`, flags: 0 };
    expect(hashCommitment({ ...SHORT, ...zeros })).toBe(hashCommitment(SHORT));
  });

  test.each([
    ["integrator", "b0322f15", "a UUID, or 0x and 64 hex digits"],
    ["userId", "0x01", "0x and 40 or 64 hex digits"],
    ["destWallet", "So1111111111111111111111111111111111111111", "0x and 40 or 64 hex digits"],
    ["destToken", "native", "0x and 40 or 64 hex digits"],
    ["refundAuthority", "", "0x and 40 or 64 hex digits"],
    ["destChain", 65_536, "an integer from 0 to 65535"],
    ["destChain", "30", "an integer from 0 to 65535"],
    ["maxFeeBps", -1, "an integer from 0 to 65535"],
    ["maxSlippageBps", 0.5, "an integer from 0 to 65535"],
    ["routes", "0x01", "0x and 64 hex digits"],
    ["flags", 65_536, "an integer from 0 to 65535"],
  ])("rejects %s = %j with the expected form", (field, value, expected) => {
    const hash = () => hashCommitment({ ...SHORT, [field]: value });
    expect(hash).toThrow(AddressInputError);
    expect(hash).toThrow(`${field}: expected ${expected}`);
  });

  test("encodes a base58 Solana address as its 32 bytes", () => {
    const mint = "So11111111111111111111111111111111111111112";
    const bytes = "0x069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001";
    expect(hashCommitment({ ...SHORT, destToken: mint })).toBe(
      hashCommitment({ ...SHORT, destToken: bytes }),
    );
  });
});
