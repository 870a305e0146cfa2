/**
 * Which mints of Token-2022 are settled. An extension may let somebody else move, stop or hide what is in a vault; what
 * is not known to be harmless is refused. docs/solana.md shows this table.
 */
import { AccountState, type Extension, getMintDecoder } from "@solana-program/token-2022";
import { unwrapOption } from "@solana/kit";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { AccountAnswer } from "./answers.ts";
import { toBase58 } from "./base58.ts";
import { TOKEN_PROGRAMS } from "./derived-accounts.ts";
import type { MintFacts } from "./instructions.ts";

/** `net`: what arrives is less than what was sent. */
type Verdict = "allowed" | "refused" | "net";

/** What is done about each extension, of mints and of accounts. */
export const EXTENSION_POLICY: Readonly<Record<Extension["__kind"], Verdict>> = {
  // Keeps a part of every transfer: what arrived is what counts.
  TransferFeeConfig: "net",
  ConfidentialTransferFee: "allowed",
  // Needs the owner's consent on every account, and vaults give none: nobody can hide a deposit.
  ConfidentialTransferMint: "allowed",
  // A mint can only be closed while nobody has any of it, and decimals are looked at before each settlement.
  MintCloseAuthority: "allowed",
  // Refused where accounts begin frozen, see below.
  DefaultAccountState: "allowed",
  MetadataPointer: "allowed",
  TokenMetadata: "allowed",
  GroupPointer: "allowed",
  TokenGroup: "allowed",
  GroupMemberPointer: "allowed",
  TokenGroupMember: "allowed",
  // Somebody else moves everybody's tokens.
  PermanentDelegate: "refused",
  // Runs somebody else's program in every transfer.
  TransferHook: "refused",
  // Somebody else stops all transfers.
  PausableConfig: "refused",
  NonTransferable: "refused",
  // What people are shown is not what moves.
  InterestBearingConfig: "refused",
  ScaledUiAmountConfig: "refused",
  ConfidentialMintBurn: "refused",
  PermissionedBurn: "refused",
  // Of accounts, which no mint has.
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
 * Throws UNSUPPORTED_ROUTE unless a mint is what the configuration says, and nothing that is refused. An account that is
 * not there is no mint.
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

/** Null where the bytes are no mint, or one with an extension that is not known. */
function decodeMint(data: Uint8Array) {
  try {
    return getMintDecoder().decode(data);
  } catch {
    // Somebody else's bytes.
    return null;
  }
}

function refusal(mint: Address, reason: string): OperatingError {
  return new OperatingError("UNSUPPORTED_ROUTE", "The token cannot be settled.", {
    details: { mint: toBase58(mint), reason },
  });
}
