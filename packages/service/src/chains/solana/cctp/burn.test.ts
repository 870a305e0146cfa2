/** A burn on Solana, held against the published IDL, a transaction that landed, and messages of real burns. */
import { getBase58Encoder, type Instruction } from "@solana/kit";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex } from "@noble/hashes/utils";
import { describe, expect, test } from "vitest";
import { padAddress, toAddress, toEvmAddress, toHex, toHex32 } from "../../../core/hex.ts";
import {
  type BurnMessage,
  encodeBurnMessage,
  findUnlike,
  parseBurnMessage,
  ZERO_WORD,
} from "../../../routes/fast-mctp/message.ts";
import { bytesOf, fromBase58, hexOf, toBase58 } from "../base58.ts";
import { compileMessage, encodeUnsigned, TRANSACTION_BYTES_MAX } from "../transaction.ts";
import { MESSENGER, SOLANA_DOMAIN, tokenAccountOf } from "./accounts.ts";
import { discriminatorOf } from "./anchor.ts";
import { buildDepositForBurn, readMessageSent, type SolanaBurn } from "./burn.ts";
import { readBorsh, writeBorsh } from "./testing/borsh.ts";
import { deriveAddress, expectAccounts } from "./testing/idl-accounts.ts";
import { ACCOUNTS, INSTRUCTIONS, TYPES } from "./testing/idl.ts";

const ETHEREUM = 2;
const USDC_DEVNET = fromBase58("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU");
const USDC = fromBase58("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");

/**
 * A burn on devnet that landed (4L4D7Qo7DNFfdGXY4AhYYiFfbdhxwSZruteaxVTUaSkXBpVrNBoyTmU47mZSuo6YUwNUWQNqneks9QWcyzNbLoPY):
 * data and accounts as kept in rome-protocol/rome-solidity, `tests/bridge/cctp_v2_lib.test.ts` at 42d7d8d.
 */
const LANDED = {
  data: "2H9Ja8XuEQY8ycNjJZ4xK1QjEjiR9QzTodq9C2WbB282pgdjxpiiMi7cj1BimHrQfdeUw2ywFgkZhNxFKZV4Xs8WMPu6KFRuUrCVoaFMikqntxjXrPZkNWGsp3Tr9ZbazEE3",
  accounts: [
    "HMHYnCqtHDztNDfSX2EXi4aU1sqX2b4iRdBF3ZBUShmX",
    "HMHYnCqtHDztNDfSX2EXi4aU1sqX2b4iRdBF3ZBUShmX",
    "45hzrGLQ2EGo1Ln7QpXjDwb589GDQ9H2aEXXw6ds6BFE",
    "4KMJDFRjjfn1tdLtAEsYMMM43EAQyTHodvzBk6JaXBtS",
    "8HSsasTtHT3zwjmwU8HcnFhgPm8KoLA4UmF98RLo1wQv",
    "W1k5ijkaSTo5iA5zChNpfzcy796fLhkBxfmJuR8W8HU",
    "AawthJCGRmggpfv9MMWV6Jmo9cue4gL9wUZgRBShg58W",
    "3EzN2mcmdfSNGXRCAixSpTteK6ywdmFDZZWvkMnznFt9",
    "E1bQJ8eMMn3zmeSewW3HQ8zmJr7KR75JonbwAtWx2bux",
    "7MwmWTK2R9Na6rnoSAEt5gytFmSZj9WLVdazvxvru9AU",
    "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
    "Gx45kV7rcvCYXaFqmUwVca2aaxFcZat3TuMn4fGmrbgp",
    "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC",
    "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "11111111111111111111111111111111",
    "6TCCnJ9R1m1RXFzyoH7GYH2J6NJDtZaUvfipPuLWxHNd",
    "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
  ],
} as const;

/** The same burn as we ask for it. */
const burn: SolanaBurn = {
  owner: fromBase58(LANDED.accounts[0]),
  source: fromBase58(LANDED.accounts[3]),
  token: USDC_DEVNET,
  rentPayer: fromBase58(LANDED.accounts[1]),
  messageAccount: fromBase58(LANDED.accounts[11]),
  recipient: {
    destChain: ETHEREUM,
    destWallet: padAddress(toEvmAddress("0x6fb09783940b0e9a313531bd5c7e81810a70f919")),
    destToken: padAddress(toEvmAddress("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238")),
  },
  destinationDomain: 0,
  destinationCaller: ZERO_WORD,
  amount: 9_002_533n,
  maxFee: 0n,
  minFinalityThreshold: 2_000,
};

const addressesOf = ({ accounts = [] }: Instruction) => accounts.map((account) => account.address);
const dataOf = ({ data = new Uint8Array() }: Instruction) => Uint8Array.from(data);

describe("deposit_for_burn", () => {
  const idl = INSTRUCTIONS.deposit_for_burn;

  test("is the data and the accounts of a transaction that landed", async () => {
    const built = await buildDepositForBurn(burn);
    expect(built.programAddress).toBe(MESSENGER);
    expect(hexOf(dataOf(built))).toBe(hexOf(getBase58Encoder().encode(LANDED.data)));
    expect(addressesOf(built)).toEqual(LANDED.accounts);
    expect(fromBase58(LANDED.accounts[3])).toBe(await tokenAccountOf(burn.owner, burn.token));
  });

  test("has the accounts of the IDL in their order, with their roles", async () => {
    const word = (byte: string) => toAddress(`0x${byte.repeat(32)}`);
    const other: SolanaBurn = {
      ...burn,
      owner: word("01"),
      source: word("02"),
      token: word("03"),
      rentPayer: word("04"),
      messageAccount: word("05"),
      destinationDomain: 6,
    };
    const built = await buildDepositForBurn(other);
    const given = {
      owner: toBase58(other.owner),
      event_rent_payer: toBase58(other.rentPayer),
      burn_token_account: toBase58(other.source),
      burn_token_mint: toBase58(other.token),
      message_sent_event_data: toBase58(other.messageAccount),
      // The IDL does not say how these follow; the landed transaction shows it, and the sources for another chain.
      message_transmitter: LANDED.accounts[5],
      token_messenger: LANDED.accounts[6],
      token_minter: LANDED.accounts[8],
      remote_token_messenger: await deriveAddress(MESSENGER, [
        { text: "remote_token_messenger" },
        { text: "6" },
      ]),
    };
    const expected = await expectAccounts(idl.accounts, idl.program, given);
    expect(built.programAddress).toBe(idl.program);
    expect(built.accounts).toEqual(expected.map(({ role, address }) => ({ address, role })));
  });

  test("has the discriminator and the arguments of the IDL", async () => {
    const largest = 2n ** 64n - 1n;
    const caller = toHex32(`0x${"ca".repeat(32)}`);
    const built = await buildDepositForBurn({
      ...burn,
      destinationDomain: 0xfffffffe,
      destinationCaller: caller,
      amount: largest,
      maxFee: largest - 1n,
      minFinalityThreshold: 1_000,
    });
    const data = dataOf(built);
    expect(hexOf(discriminatorOf("global", "deposit_for_burn"))).toBe(`0x${idl.discriminator}`);
    expect(hexOf(data.subarray(0, 8))).toBe(`0x${idl.discriminator}`);
    expect(readBorsh(TYPES[idl.args], data.subarray(8))).toEqual({
      amount: largest,
      destination_domain: 0xfffffffen,
      mint_recipient: toBase58(burn.recipient.destWallet),
      destination_caller: toBase58(caller),
      max_fee: largest - 1n,
      min_finality_threshold: 1_000n,
    });
  });

  test.each<[string, Partial<SolanaBurn>]>([
    ["is minted on EVM", { recipient: { ...burn.recipient, destChain: 1 } }],
    ["is for another chain", { destinationDomain: SOLANA_DOMAIN }],
    ["leaves something", { amount: 5n, maxFee: 5n }],
    ["leaves something", { amount: 0n }],
    ["in the range", { amount: 2n ** 64n }],
    ["12 zero bytes", { recipient: { ...burn.recipient, destWallet: toHex32(USDC) } }],
  ])("is not built otherwise: %s", async (reason, fields) => {
    await expect(buildDepositForBurn({ ...burn, ...fields })).rejects.toThrow(reason);
  });

  test("leaves 287 bytes of a packet, with the signatures of owner, fee payer and new account", async () => {
    const feePayer = toAddress(`0x${"fe".repeat(32)}`);
    const message = compileMessage({
      instructions: [await buildDepositForBurn({ ...burn, rentPayer: feePayer })],
      feePayer,
      lifetime: { blockhash: toHex32(`0x${"bb".repeat(32)}`), lastValidHeight: 1n },
      unitLimit: 200_000n,
      unitPrice: 1n,
    });
    expect(encodeUnsigned(message).length / 2 - 1).toBe(TRANSACTION_BYTES_MAX - 287);
  });
});

/**
 * A message as Ethereum took it in 0x8897ffb613c4d7823ab42c85df2410381e7028c40f0a924530db99412065e338, which
 * smartcontractkit/chainlink-ccip keeps (`USDCTokenPoolCCTPV2.releaseOrMint.t.sol` at b33dc0b).
 */
const RECEIVED =
  "0x000000010000000500000000bc7e669b9f452229fdd08bac21b6617068f2fd023ad6e805d03afa88b4bb79aea65fc81d0fefa8860cb3b83f089b0224be8a6687b7ae49f594c0b9b4d7e9389300000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d0000000000000000000000000000000000000000000000000000000000000000000007d0000007d000000001c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61000000000000000000000000e7492c49f71841d0f55f4f22c2ee22f02437084000000000000000000000000000000000000000000000000000000017491105202c747e9f0b8a0bb74202136e08fb8463bb15d1ab1d6d3f916f547004d7c7522f0000000000000000000000000000000000000000000000000000000000989a720000000000000000000000000000000000000000000000000000000000989a7200000000000000000000000000000000000000000000000000000000015d0d4e";

/** Messages of burns on Solana towards Base and Arbitrum, as emitted, and their hashes: found in published code. */
const EMITTED = [
  {
    bytes:
      "0x0000000100000005000000060000000000000000000000000000000000000000000000000000000000000000a65fc81d0fefa8860cb3b83f089b0224be8a6687b7ae49f594c0b9b4d7e9389300000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d000000000000000000000000c1062b7c5dc8e4b1df9f200fe360cdc0ed6e7741000000010000000000000001c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61000000000000000000000000c1062b7c5dc8e4b1df9f200fe360cdc0ed6e7741000000000000000000000000000000000000000000000000000000000137c8e980995a8681db8790ebd50b2b326a18199c27886f55cdefc48b463b4dd34a647400000000000000000000000000000000000000000000000000000000000008c90000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000003000000000000000000000000cdeff8610854119222ebf4724821f369b6a5591b000000000000000000000000000000000000000000000000000000000000000000000000000fda22000000000000000000000000000047e4000000000000149400000000699664ef000000000000000000000000a5aa6e2171b416e1d27ec53ca8c13db3f91a89cd00",
    hash: "e7e0578cb8a6daa1cd65b75ed186b9bf98844305770cc25071a56c7ebe71d550",
    domain: 6,
    amount: 20_433_129n,
    maxFee: 2_249n,
  },
  {
    bytes:
      "0x0000000100000005000000030000000000000000000000000000000000000000000000000000000000000000a65fc81d0fefa8860cb3b83f089b0224be8a6687b7ae49f594c0b9b4d7e9389300000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d000000000000000000000000c1062b7c5dc8e4b1df9f200fe360cdc0ed6e7741000000010000000000000001c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61000000000000000000000000c1062b7c5dc8e4b1df9f200fe360cdc0ed6e774100000000000000000000000000000000000000000000000000000000116aa83cbba6a9f99a1adec7d73a724725bfd09254e6ead780912c106ac86ea1162804670000000000000000000000000000000000000000000000000000000000007d9a0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000e4435e92f49ad60171bbd196dc0474c4649c67130000000000000000000000000000b7be000000000000000000000000a5aa6e2171b416e1d27ec53ca8c13db3f91a89cd000000000000000000000000000000000000000000000000000000000000000000",
    hash: "54808a142e3c0a3651a6b42e5002245042dde81bf17dbc7bfb3051869c9f8f5c",
    domain: 3,
    amount: 292_202_556n,
    maxFee: 32_154n,
  },
] as const;

const RENT_PAYER = fromBase58(LANDED.accounts[1]);

/** An account with a sent message, as the IDL says that it is. */
function accountOf(message: string, createdAt = 1_771_000_000n): Buffer {
  return Buffer.concat([
    Buffer.from(ACCOUNTS.MessageSent, "hex"),
    writeBorsh(TYPES.MessageSent, {
      rent_payer: toBase58(RENT_PAYER),
      created_at: createdAt,
      message: message.slice(2),
    }),
  ]);
}

describe("the account of a sent message", () => {
  test("begins as the IDL says", () => {
    expect(hexOf(discriminatorOf("account", "MessageSent"))).toBe(`0x${ACCOUNTS.MessageSent}`);
  });

  test.each(EMITTED)("gives the message of a burn towards domain $domain", (emitted) => {
    expect(bytesToHex(keccak_256(bytesOf(emitted.bytes)))).toBe(emitted.hash);
    const sent = readMessageSent(accountOf(emitted.bytes));
    expect(sent).toEqual({
      rentPayer: RENT_PAYER,
      createdAt: 1_771_000_000n,
      message: emitted.bytes,
    });
    const message = parseBurnMessage(sent.message);
    expect(message).toMatchObject({
      sourceDomain: SOLANA_DOMAIN,
      destinationDomain: emitted.domain,
      sender: toHex32(fromBase58(MESSENGER)),
      burnToken: USDC,
      amount: emitted.amount,
      maxFee: emitted.maxFee,
      nonce: ZERO_WORD,
      finalityThresholdExecuted: 0,
      feeExecuted: 0n,
      expirationBlock: 0n,
    });
    expect(encodeBurnMessage(message)).toBe(emitted.bytes);
  });

  test("an attested message is of the burn that it was sent by", () => {
    const attested = parseBurnMessage(RECEIVED);
    const sent: BurnMessage = {
      ...attested,
      nonce: ZERO_WORD,
      finalityThresholdExecuted: 0,
      feeExecuted: 0n,
      expirationBlock: 0n,
    };
    const { message } = readMessageSent(accountOf(encodeBurnMessage(sent)));
    expect(parseBurnMessage(message)).toEqual(sent);
    expect(findUnlike(parseBurnMessage(message), attested)).toEqual([]);
    expect(attested.sourceDomain).toBe(SOLANA_DOMAIN);
    expect(attested.sender).toBe(fromBase58(MESSENGER));
    expect(attested.burnToken).toBe(USDC);
  });

  test("of a time before 1970 is read as one", () => {
    expect(readMessageSent(accountOf(RECEIVED, -1n)).createdAt).toBe(-1n);
  });

  test("is refused when it is another, cut short or too long", () => {
    const data = accountOf(RECEIVED);
    const other = Buffer.from(data);
    other[0] = 0;
    expect(() => readMessageSent(other)).toThrow("expected an account with a sent message");
    expect(() => readMessageSent(new Uint8Array())).toThrow("expected an account");
    for (const length of [8, 51, 52, data.length - 1]) {
      expect(() => readMessageSent(data.subarray(0, length))).toThrow(TypeError);
    }
    expect(() => readMessageSent(Buffer.concat([data, Buffer.alloc(1)]))).toThrow(TypeError);
    expect(toHex(readMessageSent(data).message)).toBe(RECEIVED);
  });
});
