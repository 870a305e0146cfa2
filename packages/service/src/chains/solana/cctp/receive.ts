/**
 * Handing an attested message in on Solana: the transmitter checks the attestation and marks the nonce as used, and the
 * messenger, whose accounts follow those of the transmitter, pays the token account that the message names.
 */
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import {
  addEncoderSizePrefix,
  getAddressDecoder,
  getBytesEncoder,
  getStructDecoder,
  getStructEncoder,
  getU32Decoder,
  getU32Encoder,
  getU8Decoder,
  type Instruction,
} from "@solana/kit";
import { type Address, type Hex, type Hex32, toHex32 } from "../../../core/hex.ts";
import { bytesOf, fromBase58, hexOf, toBase58 } from "../base58.ts";
import {
  custodyOf,
  eventAuthorityOf,
  feeAccountOf,
  localTokenOf,
  MESSENGER,
  messengerState,
  minterState,
  remoteMessengerOf,
  SOLANA_DOMAIN,
  tokenPairOf,
  TRANSMITTER,
  transmitterAuthority,
  transmitterState,
  usedNonceOf,
} from "./accounts.ts";
import { discriminatorOf, readBody, reads, signs, signsAndWrites, writes } from "./anchor.ts";

/** A message, and what it takes to hand it in. */
export interface Receipt {
  /** Hands it in, and pays the rent of the nonce's account; signs. */
  readonly payer: Address;
  /** What is minted. */
  readonly token: Address;
  /** As the messenger's state says. */
  readonly feeRecipient: Address;
  /** As attested. */
  readonly message: Hex;
  readonly attestation: Hex;
}

const RECEIVE_MESSAGE = discriminatorOf("global", "receive_message");

const bytesEncoder = addEncoderSizePrefix(getBytesEncoder(), getU32Encoder());
const argsEncoder = getStructEncoder([
  ["message", bytesEncoder],
  ["attestation", bytesEncoder],
]);

/**
 * `receive_message` of the transmitter, for a burn.
 * @throws TypeError when the message is not for the messenger of Solana, or not for this caller, or has no attestation.
 */
export async function buildReceiveMessage(receipt: Receipt): Promise<Instruction> {
  const { payer, token, feeRecipient } = receipt;
  const { sourceDomain, nonce, burnToken, mintRecipient } = readMessage(receipt.message, payer);
  const attestation = bytesOf(receipt.attestation);
  if (attestation.length === 0 || attestation.length % SIGNATURE_BYTES !== 0) {
    throw new TypeError(`expected signatures of ${SIGNATURE_BYTES} bytes each`);
  }
  const args = argsEncoder.encode({ message: bytesOf(receipt.message), attestation });
  return {
    programAddress: TRANSMITTER,
    accounts: [
      signsAndWrites(toBase58(payer)),
      signs(toBase58(payer)),
      reads(await transmitterAuthority()),
      reads(await transmitterState()),
      writes(await usedNonceOf(nonce)),
      reads(MESSENGER),
      reads(SYSTEM_PROGRAM_ADDRESS),
      reads(await eventAuthorityOf(TRANSMITTER)),
      reads(TRANSMITTER),
      // Those of the messenger, without the first, which the transmitter puts before them.
      reads(await messengerState()),
      reads(await remoteMessengerOf(sourceDomain)),
      reads(await minterState()),
      writes(await localTokenOf(token)),
      reads(await tokenPairOf(sourceDomain, burnToken)),
      writes(await feeAccountOf(feeRecipient, token)),
      writes(toBase58(mintRecipient)),
      writes(await custodyOf(token)),
      reads(TOKEN_PROGRAM_ADDRESS),
      reads(await eventAuthorityOf(MESSENGER)),
      reads(MESSENGER),
    ],
    data: Buffer.concat([RECEIVE_MESSAGE, Uint8Array.from(args)]),
  };
}

const SIGNATURE_BYTES = 65;

/** Where the fields of a burn's message begin that its accounts follow from; `routes/fast-mctp` has them all. */
const AT = {
  version: 0,
  sourceDomain: 4,
  destinationDomain: 8,
  nonce: 12,
  recipient: 76,
  destinationCaller: 108,
  burnToken: 152,
  mintRecipient: 184,
} as const;
const MESSAGE_VERSION = 1;
const MESSAGE_LENGTH_MIN = 376;
const ZERO = `0x${"0".repeat(64)}`;

function readMessage(message: Hex, caller: Address) {
  const bytes = Buffer.from(bytesOf(message));
  if (bytes.length < MESSAGE_LENGTH_MIN) throw new TypeError("the message is cut short");
  const word = (at: number): Hex32 => toHex32(hexOf(bytes.subarray(at, at + 32)));
  if (bytes.readUInt32BE(AT.version) !== MESSAGE_VERSION) {
    throw new TypeError(`expected a message of version ${MESSAGE_VERSION}`);
  }
  if (bytes.readUInt32BE(AT.destinationDomain) !== SOLANA_DOMAIN) {
    throw new TypeError("expected a message for Solana");
  }
  if (toBase58(word(AT.recipient)) !== MESSENGER) {
    throw new TypeError("expected a message for the token messenger");
  }
  const allowed = word(AT.destinationCaller);
  if (allowed !== ZERO && allowed !== toHex32(caller)) {
    throw new TypeError("the message names another caller");
  }
  return {
    sourceDomain: bytes.readUInt32BE(AT.sourceDomain),
    nonce: word(AT.nonce),
    burnToken: word(AT.burnToken),
    mintRecipient: word(AT.mintRecipient),
  };
}

const MESSENGER_STATE = discriminatorOf("account", "TokenMessenger");

const stateDecoder = getStructDecoder([
  ["denylister", getAddressDecoder()],
  ["owner", getAddressDecoder()],
  ["pendingOwner", getAddressDecoder()],
  ["messageBodyVersion", getU32Decoder()],
  ["authorityBump", getU8Decoder()],
  ["feeRecipient", getAddressDecoder()],
  ["minFeeController", getAddressDecoder()],
  ["minFee", getU32Decoder()],
]);

/**
 * Who gets the bridge's fees, from the messenger's state. Who owns the account is for the caller to look at: it must be the
 * messenger.
 * @throws TypeError when the data is not that of such an account.
 */
export function readFeeRecipient(data: Uint8Array): Address {
  const body = readBody(data, MESSENGER_STATE, "the state of the token messenger");
  if (body.length < stateDecoder.fixedSize) throw new TypeError("the state is cut short");
  return fromBase58(stateDecoder.decode(body).feeRecipient);
}
