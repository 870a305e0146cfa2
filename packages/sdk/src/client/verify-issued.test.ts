import { ed25519 } from "@noble/curves/ed25519.js";
import { base58 } from "@scure/base";
import { describe, expect, test } from "vitest";
import { type CommitmentFields, hashCommitment } from "../address/commitment.ts";
import { implementationOf, predictWallet } from "../address/create2.ts";
import { toHex } from "../address/encoding.ts";
import type { AddressesResponse, AddressRequest } from "../wire/index.ts";
import { verifyIssuedAddresses } from "./verify-issued.ts";

const FACTORY = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const SIGNER = new Uint8Array(32).fill(7);
const BINDING = base58.encode(ed25519.getPublicKey(SIGNER));
const VAULT = base58.encode(new Uint8Array(32).fill(9));
const WORD = (digit: string) => `0x${digit.repeat(64)}`;
const walletOf = (digit: string) => `0x${digit.repeat(40)}`;

const OWN = {
  integrator: WORD("1"),
  destChain: 30,
  destToken: WORD("2"),
  refundAuthority: WORD("3"),
  maxFeeBps: 50,
  maxSlippageBps: 100,
};

const ask = (more: Partial<AddressRequest> = {}): AddressRequest => ({
  fromChain: "ethereum",
  toChain: "base",
  toToken: "USDC",
  destinationAddress: walletOf("4"),
  payUserId: "0x17",
  ...more,
});

type Issued = AddressesResponse["addresses"][number];

/** Answers as the service does. */
function issue(asked: AddressRequest, change: Partial<CommitmentFields> = {}): Issued {
  const user = `${(asked.payUserId ?? "0x").slice(2)}`.padStart(64, "0");
  const fields = {
    ...OWN,
    userId: `0x${user}`,
    destWallet: `0x${asked.destinationAddress.slice(2).padStart(64, "0")}`,
    ...change,
  };
  const commitment = hashCommitment(fields);
  const isVault = asked.fromChain === "solana";
  const message = Buffer.concat([
    Buffer.from("sluice/solana/binding/v1"),
    Buffer.from(commitment.slice(2), "hex"),
    base58.decode(VAULT),
  ]);
  return {
    id: "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11",
    walletAddress: isVault ? VAULT : predictWallet({ factory: FACTORY, commitment: fields }),
    userId: `0x${user.slice(24)}`,
    destChain: "30",
    destWallet: asked.destinationAddress,
    destToken: walletOf("2"),
    chainType: isVault ? "svm" : "evm",
    createdAt: "2026-01-31T12:00:00.000Z",
    label: null,
    metadata: {},
    payDepositCommitment: {
      ...fields,
      version: 1,
      walletKind: 1,
      commitment,
      ...(isVault
        ? { factory: BINDING, binding: toHex(ed25519.sign(Uint8Array.from(message), SIGNER)) }
        : { factory: FACTORY, implementation: implementationOf(FACTORY) }),
    },
  };
}

const trusted = { factory: FACTORY, bindingAccount: BINDING };
const verify = (asked: readonly AddressRequest[], issued: readonly Issued[]) =>
  verifyIssuedAddresses({
    request: { addresses: [...asked] },
    response: { addresses: [...issued] },
    trusted,
    expected: () => OWN,
  });

describe("verifyIssuedAddresses", () => {
  const asked = [ask(), ask({ payUserId: "0x18" }), ask({ fromChain: "solana" })];

  test("returns the addresses of both families in the order of the request", () => {
    const issued = asked.map((one) => issue(one));
    expect(verify(asked, issued)).toEqual({
      kind: "ok",
      addresses: issued.map(({ walletAddress }) => walletAddress),
    });
  });

  test.each<[string, Partial<CommitmentFields>, string]>([
    ["wallet", { destWallet: WORD("9") }, "destWallet"],
    ["user", { userId: WORD("0") }, "userId"],
    ["refund authority", { refundAuthority: WORD("8") }, "refundAuthority"],
    ["fee cap", { maxFeeBps: 51 }, "maxFeeBps"],
  ])("refuses an address of another %s, with its index [T276]", (_, change, field) => {
    const issued = asked.map((one, index) => issue(one, index === 1 ? change : {}));
    expect(verify(asked, issued)).toMatchObject({ kind: "mismatch", index: 1, field });
  });

  test("refuses addresses in another order, and fewer than were asked for [T276]", () => {
    const [first, second, third] = asked.map((one) => issue(one));
    if (!first || !second || !third) throw new Error("three were issued");
    expect(verify(asked, [second, first, third])).toMatchObject({ kind: "mismatch", index: 0 });
    expect(verify(asked, [first, second])).toEqual({ kind: "incomplete", expected: 3, actual: 2 });
  });

  test("refuses a wallet that is not that of its commitment [T276]", () => {
    const [first, second, third] = asked.map((one) => issue(one));
    if (!first || !second || !third) throw new Error("three were issued");
    const forged = { ...second, walletAddress: first.walletAddress };
    expect(verify(asked, [first, forged, third])).toMatchObject({ index: 1, field: "address" });
  });

  test("needs the trusted account of each family", () => {
    const request = { addresses: [ask()] };
    const response = { addresses: [issue(ask())] };
    const verifyWithout = () =>
      verifyIssuedAddresses({ request, response, trusted: {}, expected: () => OWN });
    expect(verifyWithout).toThrow("trusted.factory");
  });
});
