/**
 * The programs of Circle's CCTP v2 on Solana, and the accounts that they keep. All follow from the programs' addresses, the
 * token and the other chain's domain, which is a seed in decimal digits.
 *
 * Addresses, the same on mainnet and devnet: developers.circle.com/cctp/references/solana-programs. Seeds:
 * circlefin/solana-cctp-contracts at 76018c2, `programs/v2`.
 */
import { address, getProgramDerivedAddress } from "@solana/kit";
import type { Address, Hex32 } from "../../../core/hex.ts";
import { type Base58, bytesOf, fromBase58, toBase58 } from "../base58.ts";
import { associatedAccountOf } from "../derived-accounts.ts";

/** The bridge's number of Solana. */
export const SOLANA_DOMAIN = 5;

/** MessageTransmitterV2. */
export const TRANSMITTER = address("CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC");

/** TokenMessengerMinterV2: both the token messenger and the minter of EVM chains. */
export const MESSENGER = address("CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe");

/** The transmitter's state: its attesters, and whether it is paused. */
export const transmitterState = () => derive(TRANSMITTER, "message_transmitter");

/** Signs for the transmitter when it hands a message to the messenger. */
export const transmitterAuthority = () =>
  derive(TRANSMITTER, "message_transmitter_authority", bytesOf(fromBase58(MESSENGER)));

/** Opened when a message is received, and never again: the chain refuses the same message twice. */
export const usedNonceOf = (nonce: Hex32) => derive(TRANSMITTER, "used_nonce", bytesOf(nonce));

/** Signs what a program logs of itself. */
export const eventAuthorityOf = (program: Base58) => derive(program, "__event_authority");

/** The messenger's state: who gets the fees, and the least fee. */
export const messengerState = () => derive(MESSENGER, "token_messenger");

/** The minter's state; it owns what lies in custody. */
export const minterState = () => derive(MESSENGER, "token_minter");

/** Signs for the messenger when it sends a message. */
export const senderAuthority = () => derive(MESSENGER, "sender_authority");

/** The messenger of another chain. */
export const remoteMessengerOf = (domain: number) =>
  derive(MESSENGER, "remote_token_messenger", String(domain));

/** What the minter knows of a token of Solana. */
export const localTokenOf = (token: Address) => derive(MESSENGER, "local_token", bytesOf(token));

/** The token account that minted tokens are paid from. */
export const custodyOf = (token: Address) => derive(MESSENGER, "custody", bytesOf(token));

/** Says which token of Solana a token of another chain is. */
export const tokenPairOf = (domain: number, remoteToken: Hex32) =>
  derive(MESSENGER, "token_pair", String(domain), bytesOf(remoteToken));

/** Exists where Circle refuses the burns of an owner. */
export const denialOf = (owner: Address) => derive(MESSENGER, "denylist_account", bytesOf(owner));

/** An owner's token account; the bridge knows no tokens of Token-2022. */
export const tokenAccountOf = (owner: Address, token: Address) =>
  associatedAccountOf(owner, token, "token");

/** The token account that gets the bridge's fees. */
export async function feeAccountOf(feeRecipient: Address, token: Address): Promise<Base58> {
  return toBase58(await tokenAccountOf(feeRecipient, token));
}

async function derive(
  program: Base58,
  ...seeds: readonly (string | Uint8Array)[]
): Promise<Base58> {
  const [account] = await getProgramDerivedAddress({ programAddress: program, seeds: [...seeds] });
  return account;
}
