/** Whom the bridge mints to. */
import { kindOfChain } from "../../../core/chain-registry.ts";
import type { Commitment } from "../../../core/commitment.ts";
import { type Hex32, isNative, padAddress, toHex32, unpadAddress } from "../../../core/hex.ts";
import { tokenAccountOf } from "./accounts.ts";

/** What a commitment says of its destination. */
export type Recipient = Pick<Commitment, "destChain" | "destWallet" | "destToken">;

/**
 * The `mintRecipient` of a burn for a commitment: the committed wallet on EVM chains. On Solana it is the wallet's token
 * account and never the wallet itself, for which nothing could ever be received: the messenger pays the account of exactly
 * this address, and it must be a token account.
 * @throws TypeError on a wallet that is none on its chain, and on native SOL.
 */
export async function mintRecipientOf(recipient: Recipient): Promise<Hex32> {
  const kind = kindOfChain(recipient.destChain);
  const wallet = unpadAddress(recipient.destWallet, kind);
  if (isNative(wallet)) throw new TypeError("expected a wallet, got zero");
  if (kind === "evm") return padAddress(wallet);
  const token = unpadAddress(recipient.destToken, kind);
  if (isNative(token)) throw new TypeError("expected a token, the bridge mints no SOL");
  return toHex32(await tokenAccountOf(wallet, token));
}
