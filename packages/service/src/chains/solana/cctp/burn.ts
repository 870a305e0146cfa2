/**
 * Burning USDC on Solana for Circle to mint it on an EVM chain, and reading what the burn sends.
 *
 * The message stands in an account of its own that the burn opens. After five days whoever paid its rent may close it.
 */
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import {
  getAddressDecoder,
  getAddressEncoder,
  getI64Decoder,
  getStructDecoder,
  getStructEncoder,
  getU32Decoder,
  getU32Encoder,
  getU64Encoder,
  type Instruction,
} from "@solana/kit";
import { assert } from "../../../core/assert.ts";
import { kindOfChain } from "../../../core/chain-registry.ts";
import type { Address, Hex, Hex32 } from "../../../core/hex.ts";
import { fromBase58, hexOf, toBase58 } from "../base58.ts";
import {
  denialOf,
  eventAuthorityOf,
  localTokenOf,
  MESSENGER,
  messengerState,
  minterState,
  remoteMessengerOf,
  senderAuthority,
  SOLANA_DOMAIN,
  TRANSMITTER,
  transmitterState,
} from "./accounts.ts";
import { discriminatorOf, readBody, reads, signs, signsAndWrites, writes } from "./anchor.ts";
import { mintRecipientOf, type Recipient } from "./mint-recipient.ts";

/** What is burned, and for whom. */
export interface SolanaBurn {
  /** Whose tokens they are; signs. */
  readonly owner: Address;
  /** The token account that they are taken from. */
  readonly source: Address;
  readonly token: Address;
  /** Pays the rent of the message's account; signs. */
  readonly rentPayer: Address;
  /** Where the message is to stand: an address of nothing yet, whose key signs. */
  readonly messageAccount: Address;
  /** As committed. */
  readonly recipient: Recipient;
  /** The bridge's number of the destination. */
  readonly destinationDomain: number;
  /** Who alone may hand the message in; zero for anybody. */
  readonly destinationCaller: Hex32;
  /** Base units. */
  readonly amount: bigint;
  /** The most that the bridge may keep of them. */
  readonly maxFee: bigint;
  readonly minFinalityThreshold: number;
}

const DEPOSIT_FOR_BURN = discriminatorOf("global", "deposit_for_burn");

const argsEncoder = getStructEncoder([
  ["amount", getU64Encoder()],
  ["destinationDomain", getU32Encoder()],
  ["mintRecipient", getAddressEncoder()],
  ["destinationCaller", getAddressEncoder()],
  ["maxFee", getU64Encoder()],
  ["minFinalityThreshold", getU32Encoder()],
]);

/** `deposit_for_burn` of the messenger. Whom it is minted to follows from the commitment. */
export async function buildDepositForBurn(burn: SolanaBurn): Promise<Instruction> {
  const { owner, token, recipient, destinationDomain, amount, maxFee } = burn;
  assert(kindOfChain(recipient.destChain) === "evm", "what is burned on Solana is minted on EVM");
  assert(destinationDomain !== SOLANA_DOMAIN, "a burn is for another chain");
  assert(amount > maxFee, "the bridge leaves something of a burn");
  const args = argsEncoder.encode({
    amount,
    destinationDomain,
    mintRecipient: toBase58(await mintRecipientOf(recipient)),
    destinationCaller: toBase58(burn.destinationCaller),
    maxFee,
    minFinalityThreshold: burn.minFinalityThreshold,
  });
  return {
    programAddress: MESSENGER,
    accounts: [
      signs(toBase58(owner)),
      signsAndWrites(toBase58(burn.rentPayer)),
      reads(await senderAuthority()),
      writes(toBase58(burn.source)),
      reads(await denialOf(owner)),
      writes(await transmitterState()),
      reads(await messengerState()),
      reads(await remoteMessengerOf(destinationDomain)),
      reads(await minterState()),
      writes(await localTokenOf(token)),
      writes(toBase58(token)),
      signsAndWrites(toBase58(burn.messageAccount)),
      reads(TRANSMITTER),
      reads(MESSENGER),
      reads(TOKEN_PROGRAM_ADDRESS),
      reads(SYSTEM_PROGRAM_ADDRESS),
      reads(await eventAuthorityOf(MESSENGER)),
      reads(MESSENGER),
    ],
    data: Buffer.concat([DEPOSIT_FOR_BURN, Uint8Array.from(args)]),
  };
}

/** What a burn leaves behind. */
export interface SentMessage {
  /** Gets the rent back when the account is closed. */
  readonly rentPayer: Address;
  /** Unix seconds. */
  readonly createdAt: bigint;
  /** As emitted: what the attestation service fills in is zero. */
  readonly message: Hex;
}

const MESSAGE_SENT = discriminatorOf("account", "MessageSent");

const sentDecoder = getStructDecoder([
  ["rentPayer", getAddressDecoder()],
  ["createdAt", getI64Decoder()],
  ["length", getU32Decoder()],
]);

/**
 * Reads the account that a burn opened. Who owns the account is for the caller to look at: it must be the transmitter.
 * @throws TypeError when the data is not that of such an account.
 */
export function readMessageSent(data: Uint8Array): SentMessage {
  const body = readBody(data, MESSAGE_SENT, "an account with a sent message");
  const start = sentDecoder.fixedSize;
  if (body.length < start) throw new TypeError("the account of a sent message is cut short");
  const { rentPayer, createdAt, length } = sentDecoder.decode(body);
  if (body.length !== start + length) {
    throw new TypeError(`expected a message of ${length} bytes, got ${body.length - start}`);
  }
  return { rentPayer: fromBase58(rentPayer), createdAt, message: hexOf(body.subarray(start)) };
}
