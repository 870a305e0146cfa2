/** Handing a message in on Solana, held against the published IDLs. */
import {
  type AccountMeta,
  appendTransactionMessageInstructions,
  blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createNoopSigner,
  createTransactionMessage,
  getTransactionMessageSize,
  type Instruction,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageComputeUnitPrice,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { getCreateAssociatedTokenIdempotentInstructionAsync } from "@solana-program/token";
import { describe, expect, test } from "vitest";
import {
  type Address,
  type Hex,
  padAddress,
  toAddress,
  toEvmAddress,
  toHex32,
} from "../../../core/hex.ts";
import {
  type BurnMessage,
  encodeBurnMessage,
  MESSAGE_VERSION,
  ZERO_WORD,
} from "../../../routes/fast-mctp/message.ts";
import { fromBase58, hexOf, toBase58 } from "../base58.ts";
import { compileMessage } from "../transaction.ts";
import {
  custodyOf,
  MESSENGER,
  SOLANA_DOMAIN,
  tokenPairOf,
  TRANSMITTER,
  transmitterAuthority,
  usedNonceOf,
} from "./accounts.ts";
import { discriminatorOf } from "./anchor.ts";
import { mintRecipientOf } from "./mint-recipient.ts";
import { buildReceiveMessage, readFeeRecipient, type Receipt } from "./receive.ts";
import { readBorsh, writeBorsh } from "./testing/borsh.ts";
import { deriveAddress, expectAccounts } from "./testing/idl-accounts.ts";
import { ACCOUNTS, INSTRUCTIONS, TYPES } from "./testing/idl.ts";

const word = (byte: string) => toHex32(`0x${byte.repeat(32)}`);
const PAYER = toAddress(word("fe"));
const FEE_RECIPIENT = toAddress(word("fc"));
const WALLET = word("3a");
const NONCE = word("c1");
const ETHEREUM_DOMAIN = 0;
const USDC_DEVNET = fromBase58("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU");
const USDC_SEPOLIA = padAddress(toEvmAddress("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"));
const MESSENGER_SEPOLIA = padAddress(toEvmAddress("0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA"));
const BURNER = padAddress(toEvmAddress("0x6fb09783940b0e9a313531bd5c7e81810a70f919"));

/** Of the messenger and the transmitter on devnet, as a transaction that landed has them (see `burn.test.ts`). */
const LANDED = {
  transmitterState: "W1k5ijkaSTo5iA5zChNpfzcy796fLhkBxfmJuR8W8HU",
  messengerState: "AawthJCGRmggpfv9MMWV6Jmo9cue4gL9wUZgRBShg58W",
  remoteMessenger: "3EzN2mcmdfSNGXRCAixSpTteK6ywdmFDZZWvkMnznFt9",
  minterState: "E1bQJ8eMMn3zmeSewW3HQ8zmJr7KR75JonbwAtWx2bux",
  localToken: "7MwmWTK2R9Na6rnoSAEt5gytFmSZj9WLVdazvxvru9AU",
} as const;

async function messageOf(fields: Partial<BurnMessage> = {}): Promise<Hex> {
  return encodeBurnMessage({
    version: MESSAGE_VERSION,
    sourceDomain: ETHEREUM_DOMAIN,
    destinationDomain: SOLANA_DOMAIN,
    nonce: NONCE,
    sender: MESSENGER_SEPOLIA,
    recipient: toHex32(fromBase58(MESSENGER)),
    destinationCaller: ZERO_WORD,
    minFinalityThreshold: 1_000,
    finalityThresholdExecuted: 1_000,
    bodyVersion: MESSAGE_VERSION,
    burnToken: USDC_SEPOLIA,
    mintRecipient: await mintRecipientOf({
      destChain: 1,
      destWallet: WALLET,
      destToken: toHex32(USDC_DEVNET),
    }),
    amount: 1_000_000n,
    messageSender: BURNER,
    maxFee: 500n,
    feeExecuted: 100n,
    expirationBlock: 400_000_000n,
    hookData: "0x",
    ...fields,
  });
}

/** Two signatures, as Circle's attesters give. */
const ATTESTATION: Hex = `0x${"a7".repeat(130)}`;

async function receiptOf(fields: Partial<Receipt> = {}): Promise<Receipt> {
  return {
    payer: PAYER,
    token: USDC_DEVNET,
    feeRecipient: FEE_RECIPIENT,
    message: await messageOf(),
    attestation: ATTESTATION,
    ...fields,
  };
}

const dataOf = ({ data = new Uint8Array() }: Instruction) => Uint8Array.from(data);

describe("receive_message", () => {
  const idl = INSTRUCTIONS.receive_message;

  test("has the accounts of the IDL, and behind them those of the messenger's handler", async () => {
    const receipt = await receiptOf();
    const built = await buildReceiveMessage(receipt);
    const mintRecipient = await mintRecipientOf({
      destChain: 1,
      destWallet: WALLET,
      destToken: toHex32(USDC_DEVNET),
    });
    const own = await expectAccounts(idl.accounts, idl.program, {
      payer: toBase58(PAYER),
      caller: toBase58(PAYER),
      message_transmitter: LANDED.transmitterState,
      used_nonce: await usedNonceOf(NONCE),
      receiver: MESSENGER,
    });
    // A fast message goes to the one handler, a final one to the other; their accounts are the same.
    const { handle_receive_finalized_message: final, handle_receive_unfinalized_message: fast } =
      INSTRUCTIONS;
    expect(fast.accounts).toEqual(final.accounts);
    const [authority, ...others] = await expectAccounts(final.accounts, final.program, {
      token_messenger: LANDED.messengerState,
      remote_token_messenger: LANDED.remoteMessenger,
      token_minter: LANDED.minterState,
      token_pair: await tokenPairOf(ETHEREUM_DOMAIN, USDC_SEPOLIA),
      recipient_token_account: toBase58(mintRecipient),
      "local_token.mint": toBase58(USDC_DEVNET),
      "token_messenger.fee_recipient": toBase58(FEE_RECIPIENT),
    });
    // The transmitter itself puts its authority before what it is given.
    expect(authority?.address).toBe(await transmitterAuthority());
    expect(own.find(({ name }) => name === "authority_pda")?.address).toBe(authority?.address);
    const expected = [...own, ...others].map(({ role, address }): AccountMeta => ({
      address: toBase58(fromBase58(address)),
      role,
    }));
    expect(built.programAddress).toBe(idl.program);
    expect(built.accounts).toEqual(expected);
    expect(own).toHaveLength(9);
    expect(others).toHaveLength(11);
    expect(others.find(({ name }) => name === "local_token")?.address).toBe(LANDED.localToken);
  });

  test("has the discriminator and the arguments of the IDL", async () => {
    const receipt = await receiptOf();
    const data = dataOf(await buildReceiveMessage(receipt));
    expect(hexOf(discriminatorOf("global", "receive_message"))).toBe(`0x${idl.discriminator}`);
    expect(hexOf(data.subarray(0, 8))).toBe(`0x${idl.discriminator}`);
    expect(readBorsh(TYPES[idl.args], data.subarray(8))).toEqual({
      message: receipt.message.slice(2),
      attestation: ATTESTATION.slice(2),
    });
  });

  test("takes its accounts from the message, whatever it says", async () => {
    const fields = {
      sourceDomain: 26,
      nonce: word("99"),
      burnToken: word("b7"),
      mintRecipient: word("77"),
    };
    const built = await buildReceiveMessage(await receiptOf({ message: await messageOf(fields) }));
    const before = await buildReceiveMessage(await receiptOf());
    const changed = (built.accounts ?? []).flatMap((account, index) =>
      account.address === before.accounts?.[index]?.address ? [] : [[index, account.address]],
    );
    expect(changed).toEqual([
      [4, await usedNonceOf(fields.nonce)],
      [10, await deriveAddress(MESSENGER, [{ text: "remote_token_messenger" }, { text: "26" }])],
      [
        13,
        await deriveAddress(MESSENGER, [
          { text: "token_pair" },
          { text: "26" },
          { key: toBase58(fields.burnToken) },
        ]),
      ],
      [15, toBase58(fields.mintRecipient)],
    ]);
  });

  test("a message that names its caller is for that caller", async () => {
    const message = await messageOf({ destinationCaller: toHex32(PAYER) });
    await expect(buildReceiveMessage(await receiptOf({ message }))).resolves.toBeDefined();
    const other = await receiptOf({ message, payer: toAddress(word("0b")) });
    await expect(buildReceiveMessage(other)).rejects.toThrow("names another caller");
  });

  test.each<[string, Partial<BurnMessage>]>([
    ["expected a message for Solana", { destinationDomain: 6 }],
    ["expected a message of version 1", { version: 0 }],
    ["expected a message for the token messenger", { recipient: MESSENGER_SEPOLIA }],
  ])("is not built otherwise: %s", async (reason, fields) => {
    const receipt = await receiptOf({ message: await messageOf(fields) });
    await expect(buildReceiveMessage(receipt)).rejects.toThrow(reason);
  });

  test("is not built for a message cut short, nor without whole signatures", async () => {
    const message: Hex = `0x${(await messageOf()).slice(2, -2)}`;
    await expect(buildReceiveMessage(await receiptOf({ message }))).rejects.toThrow("cut short");
    for (const attestation of ["0x", `0x${"a7".repeat(129)}`] as const) {
      await expect(buildReceiveMessage(await receiptOf({ attestation }))).rejects.toThrow(
        "signatures of 65 bytes",
      );
    }
  });

  test("fits a packet alone; with a price and the recipient's account only by a lookup table", async () => {
    const built = await buildReceiveMessage(await receiptOf());
    const open = await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer: createNoopSigner(toBase58(PAYER)),
      owner: toBase58(WALLET),
      mint: toBase58(USDC_DEVNET),
    });
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayer(toBase58(PAYER), empty),
      (paid) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: blockhash(toBase58(word("bb"))), lastValidBlockHeight: 1n },
          paid,
        ),
    );
    const alone = appendTransactionMessageInstructions([built], message);
    const full = pipe(
      appendTransactionMessageInstructions([open, built], message),
      (opened) => setTransactionMessageComputeUnitLimit(300_000, opened),
      (limited) => setTransactionMessageComputeUnitPrice(1n, limited),
    );
    // What differs from one message to the next cannot be in a table: who signs, the wallet, the nonce, the recipient.
    const varying = new Set<string | undefined>([toBase58(PAYER), toBase58(WALLET)]);
    for (const index of [4, 15]) varying.add(built.accounts?.[index]?.address);
    const table = [open, built]
      .flatMap(({ accounts = [] }) => accounts.map(({ address }) => address))
      .filter((address) => !varying.has(address));
    const byTable = compressTransactionMessageUsingAddressLookupTables(full, {
      [toBase58(word("1a"))]: table,
    });
    expect(getTransactionMessageSize(alone)).toBe(1_226);
    expect(getTransactionMessageSize(full)).toBe(1_384);
    expect(getTransactionMessageSize(byTable)).toBe(953);
    expect(() =>
      compileMessage({
        instructions: [built],
        feePayer: PAYER,
        lifetime: { blockhash: word("bb"), lastValidHeight: 1n },
        unitLimit: 300_000n,
        unitPrice: 1n,
      }),
    ).toThrow("fits one packet");
  });
});

/** What the tests of another client, found in published code, say of devnet. */
describe("accounts that no IDL derives", () => {
  test("are those that another client derives", async () => {
    const remoteToken = toHex32(fromBase58("1111111111113EsMD5n1VA94D2fALdb1SAKLam8j"));
    const nonce = toHex32(`0x${"1".padStart(64, "0")}`);
    expect(await transmitterAuthority()).toBe("DsAdX23SVpTPYhKP2ua1mx8gTPqLyzx7a43cyxYjS2up");
    expect(await usedNonceOf(nonce)).toBe("2jw21GLFV5bC2iXdDsnqxz8cWzSKKr6ewNYgrqABE5VP");
    expect(await tokenPairOf(0, remoteToken)).toBe("E4ZYkwNfR73MqQB6Kfmf515aQVBk2Wxjp57LbkaGWQ5q");
    expect(await custodyOf(USDC_DEVNET)).toBe("CFUgYpbas5UdJkwwSobYgzhFqFuj6C8MfXwBetE3o4SY");
  });
});

describe("the state of the messenger", () => {
  const state = Buffer.concat([
    Buffer.from(ACCOUNTS.TokenMessenger, "hex"),
    writeBorsh(TYPES.TokenMessenger, {
      denylister: toBase58(word("01")),
      owner: toBase58(word("02")),
      pending_owner: toBase58(word("03")),
      message_body_version: 1n,
      authority_bump: 254n,
      fee_recipient: toBase58(FEE_RECIPIENT),
      min_fee_controller: toBase58(word("04")),
      min_fee: 1_000n,
    }),
  ]);

  test("says who gets the fees", () => {
    const found: Address = readFeeRecipient(state);
    expect(found).toBe(FEE_RECIPIENT);
    expect(readFeeRecipient(Buffer.concat([state, Buffer.alloc(8)]))).toBe(FEE_RECIPIENT);
  });

  test("is refused when it is another, or cut short", () => {
    const other = Buffer.from(state);
    other[7] = 0;
    expect(() => readFeeRecipient(other)).toThrow("expected the state of the token messenger");
    expect(() => readFeeRecipient(state.subarray(0, -1))).toThrow("cut short");
    expect(() => readFeeRecipient(new Uint8Array())).toThrow("expected the state");
  });
});

test("the two programs are the published ones", () => {
  expect(TRANSMITTER).toBe(INSTRUCTIONS.receive_message.program);
  expect(MESSENGER).toBe(INSTRUCTIONS.deposit_for_burn.program);
  // As the messenger on Base knows it: `remoteTokenMessengers(5)`.
  expect(fromBase58(MESSENGER)).toBe(
    "0xa65fc81d0fefa8860cb3b83f089b0224be8a6687b7ae49f594c0b9b4d7e93893",
  );
});
