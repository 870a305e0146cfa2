/** The count of attestors' signatures, over real keys: the same rule as in the contracts. */
import { expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { type Hex, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import {
  type AttestedChain,
  createAttestationDigest,
  createEvmAttestorSigner,
} from "../../signers/evm/attestor-signer.ts";
import { createRawKey } from "../../signers/evm/key.ts";
import type { AttestedMessage, AttestorSet } from "../../signers/port.ts";
import { recoverSigner } from "../../signers/solana/attestation.ts";
import { countAnswers } from "./count-answers.ts";

const contract = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const chains = new Map<number, AttestedChain>([
  [
    2,
    {
      kind: "evm",
      evmChainId: 1,
      factory: contract("fa"),
      escrow: contract("e5"),
      delivery: contract("de"),
    },
  ],
]);
const digestOf = createAttestationDigest(chains);
const signers = ["0a", "0b", "0c"]
  .map((byte) => createRawKey(new Secret(`0x${byte.repeat(32)}`), "a test"))
  .toSorted((a, b) => (a.address < b.address ? -1 : 1))
  .map((key) => createEvmAttestorSigner({ key, chains }));
const stranger = createEvmAttestorSigner({
  key: createRawKey(new Secret(`0x${"0d".repeat(32)}`), "a test"),
  chains,
});
const set: AttestorSet = {
  threshold: 2,
  accounts: signers.map(({ address }) => toEvmAddress(address)),
  recover: (message, signature) =>
    recoverSigner(Buffer.from(digestOf(message).slice(2), "hex"), signature),
};
const order = { deliveryId: toHex32(hashOf("id")), deadline: 9n };
const message: AttestedMessage = { kind: "return", chainId: 2, order };

const sign = (index: number) => {
  const signer = signers[index];
  if (!signer) throw new RangeError("three sign");
  return signer.signReturn(2, order);
};
const signed = (signature: string, by = signature) => ({
  written_by: by,
  signature,
  refusal: null,
});
const refused = (by: string) => ({ written_by: by, signature: null, refusal: "not_mine" });
const join = (...parts: readonly Hex[]): Hex => `0x${parts.map((one) => one.slice(2)).join("")}`;

test("returns the signatures of the threshold, sorted by signer, for any order of arrival", async () => {
  const [first, second, third] = await Promise.all([sign(0), sign(1), sign(2)]);
  const none = { signatures: null, refusal: null };
  expect(countAnswers(set, message, [])).toEqual(none);
  expect(countAnswers(set, message, [signed(third)])).toEqual(none);
  const both = { signatures: join(first, third), refusal: null };
  expect(countAnswers(set, message, [signed(third), signed(first)])).toEqual(both);
  const all = { signatures: join(first, second), refusal: null };
  expect(
    countAnswers(
      set,
      message,
      [third, second, first].map((one) => signed(one)),
    ),
  ).toEqual(all);
});

test("counts an attestor once, and nobody for a signature that is another's, another message's or none", async () => {
  const [first, second] = await Promise.all([sign(0), sign(1)]);
  const foreign = await stranger.signReturn(2, order);
  const other = await signers[1]?.signReturn(2, { ...order, deadline: 8n });
  const useless = [foreign, other ?? "", "0x", "rubbish", `${second}00`].map((one) => signed(one));
  const none = { signatures: null, refusal: null };
  expect(countAnswers(set, message, [signed(first, "a"), signed(first, "b")])).toEqual(none);
  expect(countAnswers(set, message, [signed(first), ...useless])).toEqual(none);
  // Rubbish of one attestor does not spoil the signatures of the others.
  expect(countAnswers(set, message, [...useless, signed(first), signed(second)])).toEqual({
    signatures: join(first, second),
    refusal: null,
  });
});

test("is refused when too few attestors are left, and one user refuses once", async () => {
  const first = await sign(0);
  const waits = { signatures: null, refusal: null };
  expect(countAnswers(set, message, [refused("a")])).toEqual(waits);
  expect(countAnswers(set, message, [refused("a"), refused("a"), refused("a")])).toEqual(waits);
  expect(countAnswers(set, message, [refused("a"), signed(first), refused("b")])).toEqual({
    signatures: null,
    refusal: "not_mine",
  });
  const one = { ...set, threshold: 1, accounts: [] };
  expect(countAnswers(one, message, [refused("a")])).toEqual({
    signatures: null,
    refusal: "not_mine",
  });
  expect(countAnswers(one, message, [refused("a"), signed(first)]).signatures).toBe(first);
});
