/**
 * The policy for Token-2022 mints. An extension can let a third party move, freeze or hide a vault's tokens, so every
 * extension that is not known to be harmless is refused. docs/solana.md shows this table.
 */
import { AccountState, type Extension, getMintDecoder } from "@solana-program/token-2022";
import { unwrapOption } from "@solana/kit";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { AccountAnswer } from "./account-answers.ts";
import { toBase58 } from "./base58.ts";
import { TOKEN_PROGRAMS } from "./derived-accounts.ts";
import type { MintFacts } from "./order-facts.ts";

/** `net`: the recipient receives less than was sent. */
type Verdict = "allowed" | "refused" | "net";

/** The verdict on each extension of mints and accounts. */
export const EXTENSION_POLICY: Readonly<Record<Extension["__kind"], Verdict>> = {
  // Withholds a part of every transfer: amounts are counted as received.
  TransferFeeConfig: "net",
  ConfidentialTransferFee: "allowed",
  // Every account owner must opt in, which vaults never do, so deposits cannot be hidden.
  ConfidentialTransferMint: "allowed",
  // A mint can be closed only at zero supply, and decimals are checked before each settlement.
  MintCloseAuthority: "allowed",
  // Refused below if accounts start frozen.
  DefaultAccountState: "allowed",
  MetadataPointer: "allowed",
  TokenMetadata: "allowed",
  GroupPointer: "allowed",
  TokenGroup: "allowed",
  GroupMemberPointer: "allowed",
  TokenGroupMember: "allowed",
  // A third party can move everybody's tokens.
  PermanentDelegate: "refused",
  // Every transfer runs a third party's program.
  TransferHook: "refused",
  // A third party can stop all transfers.
  PausableConfig: "refused",
  NonTransferable: "refused",
  // Displayed amounts differ from transferred amounts.
  InterestBearingConfig: "refused",
  ScaledUiAmountConfig: "refused",
  ConfidentialMintBurn: "refused",
  PermissionedBurn: "refused",
  // Extensions of accounts, never of mints.
  Uninitialized: "refused",
  TransferFeeAmount: "refused",
  ConfidentialTransferAccount: "refused",
  ImmutableOwner: "refused",
  MemoTransfer: "refused",
  NonTransferableAccount: "refused",
  CpiGuard: "refused",
  TransferHookAccount: "refused",
  ConfidentialTransferFeeAmount: "refused",
  PausableAccount: "refused",
};

/**
 * Throws UNSUPPORTED_ROUTE unless the account is a mint that matches the configuration and has only allowed extensions.
 */
export function assertMint(
  account: AccountAnswer | null,
  mint: Address,
  { program, decimals, hasTransferFee }: MintFacts,
): void {
  if (account?.owner !== TOKEN_PROGRAMS[program]) throw refusal(mint, "token program differs");
  const found = decodeMint(account.data);
  if (!found?.isInitialized) throw refusal(mint, "no mint");
  if (found.decimals !== decimals) throw refusal(mint, "decimals differ");
  let keepsFee = false;
  for (const one of unwrapOption(found.extensions) ?? []) {
    const { __kind: kind } = one;
    const verdict: Verdict | undefined = EXTENSION_POLICY[kind];
    const isFrozen = "state" in one && one.state !== AccountState.Initialized;
    if (verdict === undefined || verdict === "refused" || isFrozen) {
      throw refusal(mint, `extension ${kind}`);
    }
    if (verdict === "net") keepsFee = true;
  }
  if (keepsFee !== hasTransferFee) throw refusal(mint, "transfer fee differs");
}

/** Decodes a mint; null for other bytes and for unknown extensions. */
function decodeMint(data: Uint8Array) {
  try {
    return getMintDecoder().decode(data);
  } catch {
    // Not a mint, or an unknown extension.
    return null;
  }
}

function refusal(mint: Address, reason: string): OperatingError {
  return new OperatingError("UNSUPPORTED_ROUTE", "The token cannot be settled.", {
    details: { mint: toBase58(mint), reason },
  });
}
