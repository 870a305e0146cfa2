/**
 * The adversarial test of the signer: "The signer decodes what it signs and refuses any destination but the one recorded
 * with the vault." The adversary builds the messages; only the exact message of the orders is accepted.
 */
import { AccountRole, type Instruction } from "@solana/kit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  SOL,
  startCustody,
  type TestCustody,
  towardsBase,
  walletOf,
} from "../../../test/support/solana-custody.ts";
import { deliveryIdOf, hashCommitment } from "../../chains/evm/commitment.ts";
import { toBase58 } from "../../chains/solana/base58.ts";
import { buildInstructions } from "../../chains/solana/instructions.ts";
import { createLockIds, type MintFacts } from "../../chains/solana/order-facts.ts";
import type { Order } from "../../chains/solana/orders.ts";
import { compileMessage } from "../../chains/solana/transaction.ts";
import { type Address, NATIVE_SOL, padAddress, toAddress } from "../../core/hex.ts";
import type { SigningRequest } from "../port.ts";
import { SignerRefusal } from "../refusal.ts";
import { checkMessage, type SignerFacts } from "./check-message.ts";
import { readMessage } from "./message.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";

const ATTACKER = walletOf(666);
const FEE_MINT = toAddress(`0x${"fe".repeat(32)}`);
const PLAIN_2022 = toAddress(`0x${"fd".repeat(32)}`);
const FACTS: Readonly<Record<string, MintFacts>> = {
  [FEE_MINT]: { program: "token-2022", decimals: 9, hasTransferFee: true },
  [PLAIN_2022]: { program: "token-2022", decimals: 8, hasTransferFee: false },
};

let custody: TestCustody;
let facts: SignerFacts;
let intent: SigningRequest;
/** Orders of every kind and every kind of token. */
let honest: ReadonlyMap<string, readonly Order[]>;

beforeAll(async () => {
  custody = await startCustody();
  const { accounts, treasury, options, token, vaultOf } = custody;
  const ids = createLockIds(
    { chainId: options.chainId, escrow: accounts.escrow, delivery: accounts.delivery },
    { hash: hashCommitment, deliveryIdOf },
  );
  facts = {
    feePayer: accounts.settle,
    escrow: accounts.escrow,
    delivery: accounts.delivery,
    treasury,
    vaultOf: remembered(vaultOf),
    hashCommitment: remembered(hashCommitment),
    deliveryIdOfLock: remembered(ids.deliveryIdOfLock),
    deliveryIdOfPayout: remembered(ids.deliveryIdOfPayout),
    mintFactsOf: (mint) => FACTS[mint] ?? { program: "token", decimals: 6, hasTransferFee: false },
    rentOf: (bytes) => (128n + BigInt(bytes)) * 6_960n,
  };
  intent = custody.intentOf([custody.lock(1)]);
  const lists = new Map<string, readonly Order[]>();
  for (const [name, asset] of [
    ["a token", token],
    ["a token with a fee", FEE_MINT],
    ["a token of Token-2022", PLAIN_2022],
    ["SOL", NATIVE_SOL],
  ] as const) {
    const lock = { ...custody.lock(1), token: asset };
    lists.set(`a lock of ${name}`, [lock]);
    lists.set(`a claim of ${name}`, [await custody.claim(lock)]);
    lists.set(`a return of ${name}`, [await custody.giveBack(lock)]);
    lists.set(`a delivery of ${name}`, [await custody.deliver(1, asset)]);
    lists.set(`a transfer of ${name}`, [custody.transfer(1, asset)]);
    lists.set(`a refund of ${name}`, [custody.refund(1, asset)]);
  }
  const sources = [
    { account: walletOf(41), amount: 999_500n },
    { account: walletOf(42), amount: 500n },
  ];
  lists.set("a transfer of two sources", [{ ...custody.transfer(1), sources }]);
  const lock = custody.lock(1);
  lists.set("a claim of a whole lock", [{ ...(await custody.claim(lock)), whole: true }]);
  lists.set("a return of a whole lock", [{ ...(await custody.giveBack(lock)), whole: true }]);
  lists.set("two claims", [
    await custody.claim(custody.lock(1)),
    await custody.claim(custody.lock(2)),
  ]);
  lists.set("two refunds", [custody.refund(1), custody.refund(2)]);
  honest = lists;
});
afterAll(() => custody.close());

const listOf = (name: string): readonly Order[] => honest.get(name) ?? [];

async function compile(
  orders: readonly Order[],
  change: (instructions: Instruction[]) => readonly Instruction[] = (same) => same,
  fields: Partial<Parameters<typeof compileMessage>[0]> = {},
): Promise<Uint8Array> {
  const { lifetime, gas, fees } = intent;
  if (!lifetime) throw new Error("it has a lifetime");
  return compileMessage({
    instructions: change([...(await buildInstructions(orders, facts))]),
    feePayer: facts.feePayer,
    lifetime,
    unitLimit: gas,
    unitPrice: fees.gasPriceMax,
    ...fields,
  });
}

const check = (message: Uint8Array, orders: readonly Order[]) =>
  checkMessage(message, orders, { intent, facts });

/** Returns whether a message would be signed. One that exceeds a packet would not. */
function passes(message: Uint8Array | null, orders: readonly Order[]): boolean {
  if (!message) return false;
  try {
    check(message, orders);
    return true;
  } catch (error) {
    if (error instanceof SignerRefusal) return false;
    throw error;
  }
}

const NAMES = [
  ...["a token", "a token with a fee", "a token of Token-2022", "SOL"].flatMap((asset) =>
    ["a lock", "a claim", "a return", "a delivery", "a transfer", "a refund"].map(
      (kind) => `${kind} of ${asset}`,
    ),
  ),
  "a transfer of two sources",
  "a claim of a whole lock",
  "a return of a whole lock",
  "two claims",
  "two refunds",
];

describe.each(NAMES)("the check of the message of %s", { timeout: 30_000 }, (name) => {
  test("accepts the message of its orders, which needs no other signature", async () => {
    const { signers, lamports } = check(await compile(listOf(name)), listOf(name));
    expect(signers[0]).toBe(facts.feePayer);
    expect(signers).not.toContain(ATTACKER);
    expect(lamports).toBeGreaterThan(5_000n);
  });

  test("refuses a changed byte", async () => {
    const orders = listOf(name);
    const message = await compile(orders);
    // Changes every byte once, besides those that the generator draws.
    const passed: number[] = [];
    for (let at = 0; at < message.length; at += 1) {
      const changed = Uint8Array.from(message);
      changed[at] = (changed[at] ?? 0) ^ (1 + (at % 255));
      if (passes(changed, orders)) passed.push(at);
    }
    expect(passed).toEqual([]);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(message.length - 1), fc.integer({ min: 1, max: 255 })), {
          minLength: 1,
          maxLength: 4,
        }),
        (changes) => {
          const changed = Uint8Array.from(message);
          for (const [at, by] of changes) changed[at] = (changed[at] ?? 0) ^ by;
          fc.pre(Buffer.compare(changed, message) !== 0);
          expect(passes(changed, orders)).toBe(false);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("refuses a longer or shorter message", async () => {
    const orders = listOf(name);
    const message = await compile(orders);
    for (let length = 0; length < message.length; length += 7) {
      expect(passes(message.subarray(0, length), orders)).toBe(false);
    }
    const longer = Buffer.concat([message, Uint8Array.of(0)]);
    expect(() => check(longer, orders)).toThrow("more bytes than it declares");
  });

  test("refuses a missing or repeated instruction", async () => {
    const orders = listOf(name);
    const count = (await buildInstructions(orders, facts)).length;
    const passed: string[] = [];
    for (let at = 0; at < count; at += 1) {
      const without = await compile(orders, (all) => all.toSpliced(at, 1));
      if (passes(without, orders)) passed.push(`without ${at}`);
      const twice = await compile(orders, (all) => {
        const [one] = all.slice(at);
        return one ? [...all, one] : all;
      }).catch(tooLong);
      if (passes(twice, orders)) passed.push(`twice ${at}`);
    }
    expect(passed).toEqual([]);
  });

  test("refuses an account replaced by another", async () => {
    const orders = listOf(name);
    const built = await buildInstructions(orders, facts);
    const passed: string[] = [];
    for (const [at, instruction] of built.entries()) {
      for (const [place, account] of (instruction.accounts ?? []).entries()) {
        for (const stranger of [ATTACKER, facts.treasury, facts.feePayer, facts.delivery]) {
          if (account.address === toBase58(stranger)) continue;
          // The signer roles stay, since a message with other signers would not be requested.
          const changed = await compile(orders, (all) =>
            all.with(at, {
              ...instruction,
              accounts: (instruction.accounts ?? []).with(place, {
                address: toBase58(stranger),
                role: account.role,
              }),
            }),
          ).catch(tooLong);
          if (passes(changed, orders)) passed.push(`${at}/${place} ${stranger}`);
        }
      }
    }
    expect(passed).toEqual([]);
  });

  test("refuses the message for other orders", async () => {
    const message = await compile(listOf(name));
    const passed = [...honest].filter(([, orders]) => passes(message, orders));
    expect(passed.map(([other]) => other)).toEqual([name]);
  });

  test("refuses an instruction added by an attacker", async () => {
    const orders = listOf(name);
    const { escrow, delivery, feePayer } = facts;
    const vault = custody.vaultOf(towardsBase(1));
    const passed: string[] = [];
    for (const owner of [escrow, delivery, feePayer, vault]) {
      for (const [index, instruction] of additionsOf(owner).entries()) {
        const changed = await compile(orders, (all) =>
          index % 2 === 0 ? [instruction, ...all] : [...all, instruction],
        ).catch(tooLong);
        if (passes(changed, orders)) passed.push(`${index} ${owner}`);
      }
    }
    expect(passed).toEqual([]);
  });
});

describe("a message", () => {
  test("with another lifetime, price or fee payer is refused", async () => {
    const orders = listOf("a refund of a token");
    const other = { blockhash: padAddress(ATTACKER), lastValidHeight: 1n };
    for (const [fields, reason] of [
      [{ lifetime: other }, "another blockhash"],
      [{ unitLimit: 400_001n }, "unit limit"],
      [{ unitPrice: 1_001n }, "unit price"],
      [{ feePayer: custody.accounts.deliver }, "unexpected fee payer"],
      [{ feePayer: ATTACKER }, "unexpected fee payer"],
    ] as const) {
      const changed = await compile(orders, undefined, fields);
      expect(() => check(changed, orders)).toThrow(reason);
    }
  });

  test("with an address lookup table is refused", async () => {
    const orders = listOf("a refund of SOL");
    const message = await compile(orders);
    const table = Buffer.from(ATTACKER.slice(2), "hex");
    const looking = Buffer.concat([
      message.subarray(0, -1),
      Uint8Array.of(1),
      table,
      Uint8Array.of(1, 0, 0),
    ]);
    expect(() => check(looking, orders)).toThrow("a lookup table");
  });

  test("in the legacy format, without a version, is refused", async () => {
    const orders = listOf("a refund of SOL");
    const message = await compile(orders);
    // The legacy format lacks the version byte and the tables.
    expect(() => check(message.subarray(1, -1), orders)).toThrow("a version other than 0");
  });

  test("decodes to the values that the library encoded", async () => {
    const message = await compile(listOf("a lock of a token"));
    const { signers, writable, blockhash, instructions } = readMessage(message);
    expect(blockhash).toBe(intent.lifetime?.blockhash);
    expect(new Set(signers)).toEqual(
      new Set([facts.feePayer, facts.escrow, custody.vaultOf(towardsBase(1))]),
    );
    expect(writable).not.toContain(facts.escrow);
    const built = await buildInstructions(listOf("a lock of a token"), facts);
    // The first two instructions set the limit and the price.
    expect(instructions.slice(2).map(({ data }) => data.toString("hex"))).toEqual(
      built.map(({ data }) => Buffer.from(data ?? []).toString("hex")),
    );
  });
});

/** Returns instructions that take value from an owner, now or later. */
function additionsOf(owner: Address): readonly Instruction[] {
  const signer = { address: toBase58(owner), role: AccountRole.WRITABLE_SIGNER };
  const attacker = { address: toBase58(ATTACKER), role: AccountRole.WRITABLE };
  const account = { address: toBase58(walletOf(40)), role: AccountRole.WRITABLE };
  const programs = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(SOL);
  const of = (program: Address, data: Buffer, ...accounts: Instruction["accounts"] & {}) => ({
    programAddress: toBase58(program),
    accounts,
    data,
  });
  return [
    // Transfer, Assign, CreateAccount and AdvanceNonceAccount of the system program.
    of(SYSTEM_PROGRAM, Buffer.concat([Buffer.from("02000000", "hex"), amount]), signer, attacker),
    of(SYSTEM_PROGRAM, Buffer.concat([Buffer.from("01000000", "hex"), bytesOf(ATTACKER)]), signer),
    of(
      SYSTEM_PROGRAM,
      Buffer.concat([Buffer.from("00000000", "hex"), amount, amount, bytesOf(ATTACKER)]),
      signer,
      attacker,
    ),
    of(SYSTEM_PROGRAM, Buffer.from("04000000", "hex"), attacker, account, signer),
    // Transfer, Approve, SetAuthority, Burn and CloseAccount of the token programs.
    ...programs.flatMap((program) => [
      of(program, Buffer.concat([Buffer.from("03", "hex"), amount]), account, attacker, signer),
      of(program, Buffer.concat([Buffer.from("04", "hex"), amount]), account, attacker, signer),
      of(
        program,
        Buffer.concat([Buffer.from("060201", "hex"), bytesOf(ATTACKER)]),
        account,
        signer,
      ),
      of(program, Buffer.concat([Buffer.from("08", "hex"), amount]), account, attacker, signer),
      of(program, Buffer.from("09", "hex"), account, attacker, signer),
      of(
        program,
        Buffer.concat([Buffer.from("0c", "hex"), amount, Buffer.from("06", "hex")]),
        account,
        attacker,
        attacker,
        signer,
      ),
    ]),
    // A memo signed by the owner, more units, an account paid for the attacker, and an unknown program.
    {
      programAddress: toBase58(
        toAddress("0x054a535a992921064d24e87160da387c7c35b5ddbc92bb81e41fa8404105448d"),
      ),
      accounts: [signer],
      data: Buffer.from('{"sluice":"refund"}'),
    },
    of(COMPUTE_BUDGET_PROGRAM, Buffer.from("0100000100", "hex")),
    of(ASSOCIATED_TOKEN_PROGRAM, Buffer.from("01", "hex"), signer, account, attacker, attacker),
    of(ATTACKER, Buffer.from("00", "hex"), signer),
  ];
}

/** Caches results, since the tests check a message some hundred thousand times. */
function remembered<In extends object, Out>(compute: (input: In) => Out): (input: In) => Out {
  const known = new Map<string, Out>();
  return (input) => {
    const name = JSON.stringify(input, (_key, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    const found = known.get(name) ?? compute(input);
    known.set(name, found);
    return found;
  };
}

function bytesOf(address: Address): Buffer {
  return Buffer.from(address.slice(2), "hex");
}

/** Returns null for a message that exceeds a packet, which would not be signed. Rethrows any other error. */
function tooLong(error: unknown): null {
  if (error instanceof Error && error.message.includes("fits one packet")) return null;
  throw error;
}
