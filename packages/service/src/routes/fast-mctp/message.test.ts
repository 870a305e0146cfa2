import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak_256 } from "@noble/hashes/sha3";
import { describe, expect, test } from "vitest";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import {
  type BurnMessage,
  encodeBurnMessage,
  FINALITY,
  findUnacceptable,
  listDifferences,
  parseBurnMessage,
  ZERO_WORD,
} from "./message.ts";

const word = (address: string) => padAddress(toEvmAddress(address));
const USDC_SEPOLIA = word("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238");
const MESSENGER_TESTNET = word("0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA");

/**
 * An answer of Circle's attestation service for its test networks, which smartcontractkit/chainlink-ccip keeps as "a real
 * response from the CCTPv2 API" (`execute/tokendata/usdc/cctpv2/http_client_test.go` at 7df2175), with the fields as
 * Circle decoded them.
 */
const FAST = {
  bytes:
    "0x000000010000000000000001ab82c6ffdf792b349fcaa92ef033a59cb216b48dfb01201583fb0d1752f41b800000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000000000000000000000000000000000000000000000000003e8000003e8000000010000000000000000000000001c7d4b196cb0c7b01d743fbc6116a902379c7238000000000000000000000000e6094b4f775f9daa59b4dac2535fc0a48f75fc0c00000000000000000000000000000000000000000000000000000000000f4240000000000000000000000000e6094b4f775f9daa59b4dac2535fc0a48f75fc0c00000000000000000000000000000000000000000000000000000000000001f4000000000000000000000000000000000000000000000000000000000000006400000000000000000000000000000000000000000000000000000000028d3946",
  attestation:
    "0xeb8f70de97040b6af857960ed32d0510f663d760b9faa54fa45249a9bdba7c8213136a7b66f608e3acaddddb1dac0cdcffdabfbe320eef1b7063b0549728a7581b8c4d19d02a2f72f0273d744d00d83493945abdaa811b3a9ae8c69ccb5b69cce40c0a4c8a2dafcb38b4b4c31a6b343cc220d3fca91c45d90a572479eecb4d641c1b",
  decoded: {
    version: 1,
    sourceDomain: 0,
    destinationDomain: 1,
    nonce: toHex32("0xab82c6ffdf792b349fcaa92ef033a59cb216b48dfb01201583fb0d1752f41b80"),
    sender: MESSENGER_TESTNET,
    recipient: MESSENGER_TESTNET,
    destinationCaller: ZERO_WORD,
    minFinalityThreshold: 1000,
    finalityThresholdExecuted: 1000,
    bodyVersion: 1,
    burnToken: USDC_SEPOLIA,
    mintRecipient: word("0xe6094b4f775f9daa59b4dac2535fc0a48f75fc0c"),
    amount: 1_000_000n,
    messageSender: word("0xe6094b4f775f9daa59b4dac2535fc0a48f75fc0c"),
    maxFee: 500n,
    feeExecuted: 100n,
    expirationBlock: 42_809_670n,
    hookData: "0x",
  },
} as const;

/**
 * From Ethereum Sepolia to Base Sepolia, requested as fast with a fee below the minimum, and therefore attested at
 * finality. Found in published code by its nonce; the signatures of the same two Circle attesters prove it genuine.
 */
const FELL_BACK = {
  bytes:
    "0x000000010000000000000006a0c3b3c957b15fc43e00a189d879c8fbd7cbabfde05e252f5ab6f54a31af32530000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000000000000000000000000000000000000000000000000003e8000007d0000000010000000000000000000000001c7d4b196cb0c7b01d743fbc6116a902379c7238000000000000000000000000cab180b62d3cc891802e072af06197f012cce73600000000000000000000000000000000000000000000000000000000000f4240000000000000000000000000cab180b62d3cc891802e072af06197f012cce736000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
  attestation:
    "0xf1e9123c762828e1cfe8663efb225022238a306dd35a53713b9b3c469f7a735d664852b0c7fa41f9c7188c112042ac3bfbe4f2f59a939de73bdb12fb8ff088561b2d4f965cd279c6b5dd6fc8000e5683ec752b8759024602f0e669f57b8da07dbf60fe6c7424fa49d107cbcc016332ca73422ecff2759b36a10a641b3d148786d21c",
  decoded: {
    version: 1,
    sourceDomain: 0,
    destinationDomain: 6,
    nonce: toHex32("0xa0c3b3c957b15fc43e00a189d879c8fbd7cbabfde05e252f5ab6f54a31af3253"),
    sender: MESSENGER_TESTNET,
    recipient: MESSENGER_TESTNET,
    destinationCaller: ZERO_WORD,
    minFinalityThreshold: 1000,
    finalityThresholdExecuted: 2000,
    bodyVersion: 1,
    burnToken: USDC_SEPOLIA,
    mintRecipient: word("0xcab180b62d3cc891802e072af06197f012cce736"),
    amount: 1_000_000n,
    messageSender: word("0xcab180b62d3cc891802e072af06197f012cce736"),
    maxFee: 1n,
    feeExecuted: 0n,
    expirationBlock: 0n,
    hookData: "0x",
  },
} as const;

/** The message as the source chain emitted it, before Circle filled in its fields. */
function emitted(attested: BurnMessage): BurnMessage {
  return {
    ...attested,
    nonce: ZERO_WORD,
    finalityThresholdExecuted: 0,
    feeExecuted: 0n,
    expirationBlock: 0n,
  };
}

/** Returns the signers of a message: an attestation is a concatenation of 65-byte signatures. */
function recover(message: string, attestation: string): string[] {
  const digest = keccak_256(Buffer.from(message.slice(2), "hex"));
  const signatures = Buffer.from(attestation.slice(2), "hex");
  return Array.from({ length: signatures.length / 65 }, (_, index) => {
    const one = signatures.subarray(index * 65, index * 65 + 65);
    const publicKey = secp256k1.Signature.fromCompact(one.subarray(0, 64))
      .addRecoveryBit((one[64] ?? 0) - 27)
      .recoverPublicKey(digest);
    const hash = keccak_256(publicKey.toRawBytes(false).subarray(1));
    return `0x${Buffer.from(hash.subarray(12)).toString("hex")}`;
  });
}

describe("published messages", () => {
  test.each([
    ["attested fast", FAST],
    ["attested as final", FELL_BACK],
  ])("decode field by field and encode back to the same bytes, %s", (_, { bytes, decoded }) => {
    expect(parseBurnMessage(bytes)).toEqual(decoded);
    expect(encodeBurnMessage(decoded)).toBe(bytes);
  });

  test("both carry signatures of the same two Circle attesters, ordered by address", () => {
    const signers = [FAST, FELL_BACK].map(({ bytes, attestation }) => recover(bytes, attestation));
    expect(signers[0]).toHaveLength(2);
    expect(signers[0]).toEqual(signers[0]?.toSorted());
    expect(signers[1]).toEqual(signers[0]);
  });

  test("both match the emitted message except for the fields that Circle fills in", () => {
    expect(findUnacceptable(emitted(FAST.decoded), FAST.decoded)).toEqual([]);
    expect(findUnacceptable(emitted(FELL_BACK.decoded), FELL_BACK.decoded)).toEqual([]);
  });
});

describe("parsing", () => {
  test("reads the bytes after the fixed fields as hook data", () => {
    const bytes = `${FAST.bytes}c0ffee`;
    expect(parseBurnMessage(bytes)).toEqual({ ...FAST.decoded, hookData: "0xc0ffee" });
    expect(encodeBurnMessage(parseBurnMessage(bytes))).toBe(bytes);
  });

  test("ignores the case of hex digits", () => {
    const upper = `0x${FAST.bytes.slice(2).toUpperCase()}`;
    expect(parseBurnMessage(upper)).toEqual(FAST.decoded);
  });

  test.each([
    ["an empty message", "0x"],
    ["no prefix", FAST.bytes.slice(2)],
    ["half a byte", `${FAST.bytes}0`],
    ["a letter that is not a hex digit", `${FAST.bytes.slice(0, -1)}g`],
    ["one byte too few", FAST.bytes.slice(0, -2)],
    ["more bytes than any contract accepts", `${FAST.bytes}${"00".repeat(8_192)}`],
    ["the previous version", `0x00000000${FAST.bytes.slice(10)}`],
    [
      "a body of another version",
      `${FAST.bytes.slice(0, 2 + 148 * 2)}00000002${FAST.bytes.slice(2 + 152 * 2)}`,
    ],
    ["leading white space", ` ${FAST.bytes}`],
    ["a trailing newline", `${FAST.bytes}\n`],
  ])("refuses %s", (_, bytes) => {
    expect(() => parseBurnMessage(bytes)).toThrow(TypeError);
  });

  test("refuses to encode a number that does not fit its field", () => {
    expect(() => encodeBurnMessage({ ...FAST.decoded, sourceDomain: 2 ** 32 })).toThrow(RangeError);
    expect(() => encodeBurnMessage({ ...FAST.decoded, amount: 2n ** 256n })).toThrow(RangeError);
    expect(() => encodeBurnMessage({ ...FAST.decoded, maxFee: -1n })).toThrow(RangeError);
  });
});

describe("comparing", () => {
  const sent = emitted(FAST.decoded);
  const other = toHex32(`0x${"11".repeat(32)}`);

  test.each<[keyof BurnMessage, Partial<BurnMessage>]>([
    ["version", { version: 2 }],
    ["sourceDomain", { sourceDomain: 7 }],
    ["destinationDomain", { destinationDomain: 7 }],
    ["sender", { sender: other }],
    ["recipient", { recipient: other }],
    ["destinationCaller", { destinationCaller: other }],
    ["minFinalityThreshold", { minFinalityThreshold: 500 }],
    ["bodyVersion", { bodyVersion: 2 }],
    ["burnToken", { burnToken: other }],
    ["mintRecipient", { mintRecipient: other }],
    ["amount", { amount: 1_000_001n }],
    ["messageSender", { messageSender: other }],
    ["maxFee", { maxFee: 501n }],
    ["hookData", { hookData: "0x00" }],
    ["nonce", { nonce: ZERO_WORD }],
    ["finalityThresholdExecuted", { finalityThresholdExecuted: 999 }],
    ["feeExecuted", { feeExecuted: 501n }],
  ])("rejects an attested message with another %s than the burn", (field, change) => {
    expect(findUnacceptable(sent, { ...FAST.decoded, ...change })).toEqual([field]);
  });

  test("rejects a fee of the whole amount, even within the burn's maximum fee", () => {
    const generous = { ...sent, maxFee: sent.amount };
    const attested = { ...FAST.decoded, maxFee: sent.amount, feeExecuted: sent.amount };
    expect(findUnacceptable(generous, attested)).toEqual(["feeExecuted"]);
  });

  test("accepts an attestation at a higher finality than requested", () => {
    const attested = { ...FAST.decoded, finalityThresholdExecuted: FINALITY.STANDARD };
    expect(findUnacceptable(sent, attested)).toEqual([]);
  });

  test("compares only the expected fields", () => {
    expect(listDifferences(FAST.decoded, {})).toEqual([]);
    expect(listDifferences(FAST.decoded, { amount: 1n, maxFee: 500n })).toEqual(["amount"]);
  });
});
