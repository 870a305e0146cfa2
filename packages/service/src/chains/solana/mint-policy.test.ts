/** Each row of the extension table, on mints in the token program's layout. */
import { extension, type ExtensionArgs, getMintEncoder } from "@solana-program/token-2022";
import { none, some } from "@solana/kit";
import { describe, expect, test } from "vitest";
import { toAddress } from "../../core/hex.ts";
import { toBase58 } from "./base58.ts";
import { TOKEN_PROGRAMS } from "./derived-accounts.ts";
import type { MintFacts } from "./order-facts.ts";
import { assertMint, EXTENSION_POLICY } from "./mint-policy.ts";

const MINT = toAddress(`0x${"5a".repeat(32)}`);
const SOMEBODY = toBase58(toAddress(`0x${"5b".repeat(32)}`));
const FACTS: MintFacts = { program: "token-2022", decimals: 6, hasTransferFee: false };

function accountOf(extensions: ExtensionArgs[], decimals = 6) {
  const data = getMintEncoder().encode({
    mintAuthority: SOMEBODY,
    supply: 5n,
    decimals,
    isInitialized: true,
    freezeAuthority: null,
    extensions: extensions.length > 0 ? extensions : null,
  });
  const owner = TOKEN_PROGRAMS["token-2022"];
  return { owner, lamports: 1n, data: Uint8Array.from(data) };
}

const fee = { epoch: 0n, maximumFee: 5n, transferFeeBasisPoints: 0 };
const transferFee = extension("TransferFeeConfig", {
  transferFeeConfigAuthority: SOMEBODY,
  withdrawWithheldAuthority: SOMEBODY,
  withheldAmount: 0n,
  olderTransferFee: fee,
  newerTransferFee: fee,
});
const elGamal = SOMEBODY;

/** Every extension of mints, with its verdict. */
const ROWS: readonly (readonly [string, ExtensionArgs, "allowed" | "refused" | "net"])[] = [
  ["TransferFeeConfig", transferFee, "net"],
  ["MintCloseAuthority", extension("MintCloseAuthority", { closeAuthority: SOMEBODY }), "allowed"],
  [
    "ConfidentialTransferMint",
    extension("ConfidentialTransferMint", {
      authority: some(SOMEBODY),
      autoApproveNewAccounts: true,
      auditorElgamalPubkey: none(),
    }),
    "allowed",
  ],
  [
    "ConfidentialTransferFee",
    extension("ConfidentialTransferFee", {
      authority: some(SOMEBODY),
      elgamalPubkey: elGamal,
      harvestToMintEnabled: true,
      withheldAmount: new Uint8Array(64),
    }),
    "allowed",
  ],
  ["DefaultAccountState, initialized", extension("DefaultAccountState", { state: 1 }), "allowed"],
  ["DefaultAccountState, frozen", extension("DefaultAccountState", { state: 2 }), "refused"],
  [
    "MetadataPointer",
    extension("MetadataPointer", { authority: some(SOMEBODY), metadataAddress: some(SOMEBODY) }),
    "allowed",
  ],
  [
    "TokenMetadata",
    extension("TokenMetadata", {
      updateAuthority: some(SOMEBODY),
      mint: SOMEBODY,
      name: "A token",
      symbol: "TOK",
      uri: "",
      additionalMetadata: new Map([["a", "b"]]),
    }),
    "allowed",
  ],
  [
    "GroupPointer",
    extension("GroupPointer", { authority: some(SOMEBODY), groupAddress: some(SOMEBODY) }),
    "allowed",
  ],
  [
    "TokenGroup",
    extension("TokenGroup", {
      updateAuthority: some(SOMEBODY),
      mint: SOMEBODY,
      size: 1n,
      maxSize: 2n,
    }),
    "allowed",
  ],
  [
    "GroupMemberPointer",
    extension("GroupMemberPointer", { authority: some(SOMEBODY), memberAddress: some(SOMEBODY) }),
    "allowed",
  ],
  [
    "TokenGroupMember",
    extension("TokenGroupMember", { mint: SOMEBODY, group: SOMEBODY, memberNumber: 1n }),
    "allowed",
  ],
  ["PermanentDelegate", extension("PermanentDelegate", { delegate: SOMEBODY }), "refused"],
  [
    "TransferHook",
    extension("TransferHook", { authority: SOMEBODY, programId: SOMEBODY }),
    "refused",
  ],
  [
    "PausableConfig",
    extension("PausableConfig", { authority: some(SOMEBODY), paused: false }),
    "refused",
  ],
  ["NonTransferable", extension("NonTransferable", {}), "refused"],
  [
    "InterestBearingConfig",
    extension("InterestBearingConfig", {
      rateAuthority: SOMEBODY,
      initializationTimestamp: 0n,
      preUpdateAverageRate: 0,
      lastUpdateTimestamp: 0n,
      currentRate: 5,
    }),
    "refused",
  ],
  [
    "ScaledUiAmountConfig",
    extension("ScaledUiAmountConfig", {
      authority: SOMEBODY,
      multiplier: 2,
      newMultiplierEffectiveTimestamp: 0n,
      newMultiplier: 2,
    }),
    "refused",
  ],
  ["PermissionedBurn", extension("PermissionedBurn", { authority: some(SOMEBODY) }), "refused"],
  [
    "ConfidentialMintBurn",
    extension("ConfidentialMintBurn", {
      confidentialSupply: new Uint8Array(64),
      decryptableSupply: new Uint8Array(36),
      supplyElgamalPubkey: elGamal,
      pendingBurn: new Uint8Array(64),
    }),
    "refused",
  ],
  // Extensions of accounts, which do not belong in a mint.
  ["ImmutableOwner", extension("ImmutableOwner", {}), "refused"],
  ["MemoTransfer", extension("MemoTransfer", { requireIncomingTransferMemos: true }), "refused"],
  ["CpiGuard", extension("CpiGuard", { lockCpi: true }), "refused"],
  ["NonTransferableAccount", extension("NonTransferableAccount", {}), "refused"],
  ["TransferHookAccount", extension("TransferHookAccount", { transferring: false }), "refused"],
  ["PausableAccount", extension("PausableAccount", {}), "refused"],
  ["TransferFeeAmount", extension("TransferFeeAmount", { withheldAmount: 0n }), "refused"],
];

/** Returns the verdict on a mint: `net` if it is accepted only when its transfer fee is configured. */
function judge(extensions: ExtensionArgs[]): "allowed" | "refused" | "net" {
  const isSettled = (hasTransferFee: boolean) => {
    try {
      assertMint(accountOf(extensions), MINT, { ...FACTS, hasTransferFee });
      return true;
    } catch {
      return false;
    }
  };
  if (isSettled(false)) return isSettled(true) ? "refused" : "allowed";
  return isSettled(true) ? "net" : "refused";
}

describe("a mint with", () => {
  test.each(ROWS)("%s is judged as its row says [T28, T29, T30, T31, T32]", (_, one, verdict) => {
    expect(judge([one])).toBe(verdict);
  });

  test("an allowed and a refused extension is refused", () => {
    const refused = extension("PermanentDelegate", { delegate: SOMEBODY });
    expect(judge([transferFee, refused])).toBe("refused");
  });

  test("an unknown extension is refused", () => {
    const account = accountOf([extension("NonTransferable", {})]);
    // The extension's type and length follow the base, padded to an account's length, and one byte of kind.
    const data = Uint8Array.from(account.data);
    data.set([0xee, 0x00], 166);
    expect(() => assertMint({ ...account, data }, MINT, FACTS)).toThrow("cannot be settled");
  });
});

test("every extension has a row, except those whose layout a mint cannot have [T32]", () => {
  const rows = new Set(ROWS.map(([name]) => name.split(",")[0]));
  const without = Object.keys(EXTENSION_POLICY).filter((kind) => !rows.has(kind));
  expect(without).toEqual([
    "Uninitialized",
    "ConfidentialTransferAccount",
    "ConfidentialTransferFeeAmount",
  ]);
});

describe("a mint that differs from its configuration", () => {
  const differing = { code: "UNSUPPORTED_ROUTE" };
  const thrownBy = (run: () => void): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test("is refused for its decimals, its program, absence or malformed data [T26, T33]", () => {
    const { owner, data } = accountOf([]);
    const accounts = [
      null,
      accountOf([], 9),
      { owner: TOKEN_PROGRAMS.token, data, lamports: 1n },
      { owner, data: data.subarray(0, 40), lamports: 1n },
      { owner, data: new Uint8Array(82), lamports: 1n },
    ];
    for (const account of accounts) {
      expect(thrownBy(() => assertMint(account, MINT, FACTS))).toMatchObject(differing);
    }
    expect(thrownBy(() => assertMint(accountOf([]), MINT, FACTS))).toBeUndefined();
  });

  test("is refused when its configured transfer fee is missing [T28]", () => {
    const facts = { ...FACTS, hasTransferFee: true };
    expect(thrownBy(() => assertMint(accountOf([]), MINT, facts))).toMatchObject({
      details: { reason: "transfer fee differs" },
    });
  });
});
