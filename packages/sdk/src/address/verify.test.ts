import { describe, expect, test } from "vitest";
import { type CommitmentFields, hashCommitment, NO_ROUTE_SET } from "./commitment.ts";
import { implementationOf, predictWallet } from "./create2.ts";
import { rootOfRoutes } from "./route-set.ts";
import { type ClaimedCommitment, verifyDepositAddress } from "./verify.ts";

const FACTORY = "0x5dddfce53ee040d9eb21afbc0ae1bb4dbb0ba643";
const OTHER = "0x153b84f377c6c7a7d93bd9a717e48097ca6cfd11";
const FIELDS: CommitmentFields = {
  integrator: "0x00000000000000000000000000000000b0322f15c4203951004c75433451d43b",
  userId: "0x00000000000000000000000027b92607747a447b4608f3ed35243be2d586a811",
  destChain: 30,
  destWallet: "0x00000000000000000000000054054ba0e1871cc23332871c4e0a055412928eba",
  destToken: "0x00000000000000000000000063953ed3fc66455f3a3354630a753777f253892e",
  refundAuthority: "0x0000000000000000000000005473435b3b406db32a941007420362664adb6227",
  maxFeeBps: 50,
  maxSlippageBps: 100,
};
const CLAIMED: ClaimedCommitment = {
  ...FIELDS,
  domain: "sluice.deposit.v1",
  version: 1,
  walletKind: 1,
  factory: FACTORY,
  implementation: implementationOf(FACTORY),
  commitment: hashCommitment(FIELDS),
};
const ADDRESS = predictWallet({ factory: FACTORY, commitment: FIELDS });
const REQUEST = { address: ADDRESS, commitment: CLAIMED, factory: FACTORY };

describe("verifyDepositAddress", () => {
  test("accepts the address of the commitment", () => {
    expect(verifyDepositAddress(REQUEST)).toEqual({
      kind: "ok",
      address: ADDRESS,
      commitment: hashCommitment(FIELDS),
    });
  });

  test("accepts the address in any case, and a commitment of fields alone", () => {
    const outcome = verifyDepositAddress({
      address: ADDRESS.toLowerCase(),
      commitment: FIELDS,
      factory: FACTORY,
    });
    expect(outcome.kind).toBe("ok");
  });

  test("accepts expected values in another encoding, and caps below the expected ones", () => {
    const outcome = verifyDepositAddress({
      ...REQUEST,
      expected: {
        integrator: "b0322f15-c420-3951-004c-75433451d43b",
        destWallet: "0x54054ba0e1871cc23332871c4e0a055412928eba",
        destChain: 30,
        maxFeeBps: 50,
        maxSlippageBps: 256,
      },
    });
    expect(outcome.kind).toBe("ok");
  });

  test.each([
    ["integrator", "b0322f15-c420-3951-004c-75433451d43c"],
    ["userId", "0x0000000000000000000000000000000000000000"],
    ["destChain", 2],
    ["destWallet", "0x5473435b3b406db32a941007420362664adb6227"],
    ["destToken", "0x0000000000000000000000000000000000000000"],
    ["refundAuthority", "0x54054ba0e1871cc23332871c4e0a055412928eba"],
    ["maxFeeBps", 49],
    ["maxSlippageBps", 99],
    ["routes", `0x${"1".repeat(64)}`],
    ["flags", 1],
  ])("reports a mismatch when %s differs from the expected value", (field, value) => {
    const outcome = verifyDepositAddress({ ...REQUEST, expected: { [field]: value } });
    expect(outcome).toMatchObject({ kind: "mismatch", field });
  });

  test.each([
    ["domain", "sluice.deposit.v2"],
    ["version", 2],
    ["walletKind", 2],
    ["factory", OTHER],
    ["implementation", OTHER],
    ["commitment", `0x${"1".repeat(64)}`],
  ])("reports a mismatch when the claimed %s is wrong", (field, value) => {
    const outcome = verifyDepositAddress({
      ...REQUEST,
      commitment: { ...CLAIMED, [field]: value },
    });
    expect(outcome).toMatchObject({ kind: "mismatch", field });
  });

  test("accepts a set of routes whose root the address commits to", () => {
    const routeSet = [{ evmChainId: 1, route: OTHER }];
    const fields = { ...FIELDS, routes: rootOfRoutes(routeSet), flags: 1 };
    const address = predictWallet({ factory: FACTORY, commitment: fields });
    const request = { address, commitment: { ...fields, routeSet }, factory: FACTORY };
    expect(verifyDepositAddress(request).kind).toBe("ok");
    expect(verifyDepositAddress({ ...request, expected: { routes: NO_ROUTE_SET } })).toMatchObject({
      kind: "mismatch",
      field: "routes",
    });
  });

  test("reports a mismatch when the set of routes is not the committed one", () => {
    const routeSet = [{ evmChainId: 1, route: OTHER }];
    expect(
      verifyDepositAddress({ ...REQUEST, commitment: { ...CLAIMED, routeSet } }),
    ).toMatchObject({ kind: "mismatch", field: "routes", expected: rootOfRoutes(routeSet) });
  });

  test("reports a mismatch for a flag that no contract knows", () => {
    const fields = { ...FIELDS, flags: 2 };
    const address = predictWallet({ factory: FACTORY, commitment: fields });
    expect(verifyDepositAddress({ address, commitment: fields, factory: FACTORY })).toMatchObject({
      kind: "mismatch",
      field: "flags",
    });
  });

  test("reports a mismatch for another address, with the address of the fields", () => {
    expect(verifyDepositAddress({ ...REQUEST, address: OTHER })).toMatchObject({
      kind: "mismatch",
      field: "address",
      expected: ADDRESS,
    });
  });

  test("reports an address mismatch for a changed field when no hash is claimed", () => {
    const outcome = verifyDepositAddress({
      ...REQUEST,
      commitment: { ...FIELDS, refundAuthority: FIELDS.destWallet },
    });
    expect(outcome).toMatchObject({ kind: "mismatch", field: "address" });
  });

  test("reports an address mismatch for an address of another factory", () => {
    const address = predictWallet({ factory: OTHER, commitment: FIELDS });
    expect(verifyDepositAddress({ address, commitment: FIELDS, factory: FACTORY })).toMatchObject({
      kind: "mismatch",
      field: "address",
    });
  });

  test("rejects a malformed address and names the field", () => {
    expect(() => verifyDepositAddress({ ...REQUEST, address: "0x12" })).toThrow(
      'address: expected 0x and 40 hex digits, got "0x12"',
    );
  });
});
