/** Every order, executed by the SVM with the real token programs. */
import { getTransferSolInstruction } from "@solana-program/system";
import {
  AccountState,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getFreezeAccountInstruction,
  getThawAccountInstruction,
  getTransferInstruction,
} from "@solana-program/token";
import fc from "fast-check";
import {
  type ExtensionArgs,
  extension,
  getBurnInstruction,
  getPauseInstruction,
  getResumeInstruction,
  getTokenEncoder,
} from "@solana-program/token-2022";
import { createNoopSigner, lamports } from "@solana/kit";
import { beforeEach, describe, expect, test } from "vitest";
import { commitmentOf, rentOf, Svm } from "../../../test/support/solana-svm.ts";
import type { Commitment } from "../../core/commitment.ts";
import { type Address, NATIVE_SOL, toAddress, toHex32, unpadAddress } from "../../core/hex.ts";
import { toBase58 } from "./base58.ts";
import {
  associatedAccountOf,
  lockAddressOf,
  markerAddressOf,
  TOKEN_PROGRAMS,
  WRAPPED_SOL,
} from "./derived-accounts.ts";
import type { MintFacts } from "./order-facts.ts";
import { ORDERS_MAX, SOURCES_MAX } from "./orders.ts";
import type {
  ClaimOrder,
  DeliverOrder,
  LockOrder,
  Order,
  TransferOrder,
  ReturnOrder,
} from "./orders.ts";
import { TRANSACTION_BYTES_MAX } from "./transaction.ts";

const PLAIN: MintFacts = { program: "token", decimals: 6, hasTransferFee: false };
const PLAIN_2022: MintFacts = { program: "token-2022", decimals: 6, hasTransferFee: false };
const WITH_FEE: MintFacts = { program: "token-2022", decimals: 6, hasTransferFee: true };
const SIGNATURE = `0x${"ab".repeat(65)}` as const;
const DEADLINE = 2_000_000_000n;
const SOL = 1_000_000_000n;
/** The largest amounts, for the longest memos. */
const LARGE = 12_345_678_901_234n;

let world: Svm;
let lamportsOf: (account: Address) => bigint;

beforeEach(async () => {
  world = await Svm.start();
  lamportsOf = (account) => world.solOf(account);
});

/** Creates a mint with a transfer fee in basis points, at most 5000 base units. */
function createFeeMint(transferFeeBasisPoints = 100): Address {
  const { feePayer } = world.deployment.facts;
  const fee = { epoch: 0n, maximumFee: 5_000n, transferFeeBasisPoints };
  return world.createMint(WITH_FEE, [
    extension("TransferFeeConfig", {
      transferFeeConfigAuthority: toBase58(feePayer),
      withdrawWithheldAuthority: toBase58(feePayer),
      withheldAmount: 0n,
      olderTransferFee: fee,
      newerTransferFee: fee,
    }),
  ]);
}

async function give(token: Address, commitment: Commitment, amount: bigint): Promise<Address> {
  const vault = await world.deployment.vaultOf(commitment);
  if (token === NATIVE_SOL) world.giveSol(vault, amount);
  else await world.giveTokens(vault, token, amount);
  return vault;
}

const lockOf = (token: Address, amount: bigint, number = 1): LockOrder => ({
  kind: "lock",
  commitment: commitmentOf(number, { destChain: 30 }),
  token,
  amount,
  minOut: amount,
  price: null,
  seq: 4_000_000_000n,
  lockedAt: 1_750_000_000n,
  delivery: toHex32(`0x${"de".repeat(32)}`),
  asOf: 400_000_000n,
});

const claimOf = (lock: LockOrder, amount = lock.amount, held?: bigint): ClaimOrder => ({
  kind: "claim",
  deliveryId: world.deployment.facts.deliveryIdOfLock(lock),
  token: lock.token,
  amount,
  paidAmount: lock.minOut,
  deadline: DEADLINE,
  signature: SIGNATURE,
  ...(held !== undefined && { held }),
});

const returnOf = (lock: LockOrder, amount = lock.amount): ReturnOrder => ({
  kind: "return",
  commitment: lock.commitment,
  token: lock.token,
  amount,
  minOut: lock.minOut,
  seq: lock.seq,
  delivery: lock.delivery,
  deadline: DEADLINE,
  signature: SIGNATURE,
});

const deliverOf = (token: Address, amount: bigint, number = 1): DeliverOrder => ({
  kind: "deliver",
  order: {
    commitment: commitmentOf(number, { destToken: toHex32(token) }),
    srcChain: 30,
    escrow: toAddress(`0x${"e5".repeat(20)}`),
    srcToken: toAddress(`0x${"70".repeat(20)}`),
    lockedAmount: amount,
    minOut: 1n,
    seq: 4_000_000_000n,
    windowStart: 1_750_000_000n,
    amount,
  },
  signature: SIGNATURE,
});

const transferOf = (token: Address, amount: bigint, fee: bigint, number = 1): TransferOrder => ({
  kind: "transfer",
  commitment: commitmentOf(number),
  token,
  amount,
  fee,
  asOf: 400_000_000n,
});

const refundOf = (token: Address, amount: bigint, number = 1): Order => ({
  kind: "refund",
  commitment: commitmentOf(number),
  token,
  amount,
  reason: null,
});

const walletOf = ({ destWallet }: Commitment) => unpadAddress(destWallet, "svm");
const lockAccountOf = (lock: LockOrder, program: MintFacts["program"] = "token") =>
  lockAddressOf(
    world.deployment.facts.escrow,
    world.deployment.facts.deliveryIdOfLock(lock),
    program,
  );

async function succeed(...orders: Order[]) {
  const outcome = await world.execute(orders);
  expect(outcome.error).toBeNull();
  return outcome;
}

/** Returns the error of an order. */
async function failureOf(order: Order): Promise<string> {
  const { error } = await world.execute([order]);
  return error ?? "it did not fail";
}

describe.each([
  ["of the older program", PLAIN],
  ["of Token-2022", PLAIN_2022],
])("a token %s", (_, facts) => {
  let token: Address;
  beforeEach(() => {
    token = world.createMint(facts);
  });

  test("is locked and claimed, and the fee payer gets the rent of the lock back", async () => {
    const { feePayer, treasury } = world.deployment.facts;
    const lock = lockOf(token, 700n);
    const vault = await give(token, lock.commitment, 1_000n);
    await world.giveTokens(treasury, token, 1n);
    const before = lamportsOf(feePayer);
    await succeed(lock);
    expect(await world.tokensOf(vault, token)).toBe(300n);
    expect(world.heldIn(lockAccountOf(lock, facts.program))).toBe(700n);
    expect(lamportsOf(lockAccountOf(lock, facts.program))).toBe(rentOf(165));
    await succeed(claimOf(lock));
    expect(world.exists(lockAccountOf(lock, facts.program))).toBe(false);
    expect(await world.tokensOf(treasury, token)).toBe(701n);
    // Only the fees are spent: two transactions of three and two signers, and of 400,000 units each.
    expect(before - lamportsOf(feePayer)).toBe(25_000n + 2n * 400n);
  });

  test("is locked and returned to its vault", async () => {
    const lock = lockOf(token, 700n);
    const vault = await give(token, lock.commitment, 1_000n);
    await succeed(lock);
    await succeed(returnOf(lock));
    expect(await world.tokensOf(vault, token)).toBe(1_000n);
    expect(world.exists(lockAccountOf(lock, facts.program))).toBe(false);
  });

  test("leaves a lock with its account, including later additions", async () => {
    const { treasury } = world.deployment.facts;
    const ways = [
      { end: (lock: LockOrder) => claimOf(lock), ownerOf: () => treasury },
      { end: (lock: LockOrder) => returnOf(lock), ownerOf: (vault: Address) => vault },
    ];
    for (const [number, { end, ownerOf }] of ways.entries()) {
      const lock = lockOf(token, 700n, 30 + number);
      const vault = await give(token, lock.commitment, 700n);
      await succeed(lock);
      const account = lockAccountOf(lock, facts.program);
      await world.giveTokens(treasury, token, 5n, account);
      await succeed({ ...end(lock), whole: true });
      expect(world.heldIn(account)).toBe(705n);
      expect(world.ownerOf(account)).toBe(ownerOf(vault));
      expect(lamportsOf(account)).toBe(rentOf(165));
      expect(await failureOf({ ...end(lock), whole: true })).not.toBeNull();
    }
  });

  test("is locked only once per id", async () => {
    const lock = lockOf(token, 400n);
    await give(token, lock.commitment, 1_000n);
    await succeed(lock);
    // The slot is no part of the id.
    expect(await failureOf({ ...lock, asOf: lock.asOf + 1n })).toMatch(/already in use/);
    expect(world.heldIn(lockAccountOf(lock, facts.program))).toBe(400n);
  });

  test("leaves a lock only once", async () => {
    const lock = lockOf(token, 400n);
    const vault = await give(token, lock.commitment, 400n);
    await succeed(lock);
    await succeed(claimOf(lock));
    expect(await failureOf(returnOf(lock))).toMatch(
      /invalid account|InvalidAccountData|IncorrectProgramId/i,
    );
    expect(await world.tokensOf(vault, token)).toBe(0n);
  });

  test("sent to a lock by a third party does not prevent its claim", async () => {
    const { feePayer, treasury } = world.deployment.facts;
    const lock = lockOf(token, 400n);
    await give(token, lock.commitment, 400n);
    await succeed(lock);
    await world.giveTokens(feePayer, token, 1n, lockAccountOf(lock, facts.program));
    expect(await failureOf(claimOf(lock))).toMatch(/balance/i);
    await succeed(claimOf(lock, 400n, 401n));
    expect(await world.tokensOf(treasury, token)).toBe(401n);
  });

  test("is delivered only once, into an account that the delivery opens", async () => {
    const { delivery } = world.deployment.facts;
    const deliver = deliverOf(token, 700n);
    await world.giveTokens(delivery, token, 5_000n);
    await succeed(deliver);
    expect(await world.tokensOf(walletOf(deliver.order.commitment), token)).toBe(700n);
    expect(await world.tokensOf(delivery, token)).toBe(4_300n);
    expect(await failureOf(deliver)).toMatch(/already in use/);
    expect(await world.tokensOf(delivery, token)).toBe(4_300n);
  });

  test("is transferred less the route fee, and refunded in full", async () => {
    const { treasury } = world.deployment.facts;
    const transfer = transferOf(token, 700n, 7n);
    const vault = await give(token, transfer.commitment, 1_000n);
    await succeed(transfer);
    expect(await world.tokensOf(walletOf(transfer.commitment), token)).toBe(693n);
    expect(await world.tokensOf(treasury, token)).toBe(7n);
    await succeed(refundOf(token, 300n));
    const authority = unpadAddress(transfer.commitment.refundAuthority, "svm");
    expect(await world.tokensOf(authority, token)).toBe(300n);
    expect(await world.tokensOf(vault, token)).toBe(0n);
  });
});

describe("a token with a transfer fee", () => {
  test.each([
    ["nothing", 0, 100_000n, 100_000n],
    ["1 %", 100, 99_000n, 98_010n],
    ["its maximum", 10_000, 95_000n, 90_000n],
  ] as const)(
    "arrives less a fee of %s, and its lock is still closed [T28]",
    async (_, basisPoints, locked, claimed) => {
      const { treasury } = world.deployment.facts;
      const token = createFeeMint(basisPoints);
      const lock = lockOf(token, 100_000n);
      const vault = await give(token, lock.commitment, 100_000n);
      await succeed(lock);
      expect(world.heldIn(lockAccountOf(lock, "token-2022"))).toBe(locked);
      expect(await world.tokensOf(vault, token)).toBe(0n);
      await succeed(claimOf(lock, locked));
      expect(world.exists(lockAccountOf(lock, "token-2022"))).toBe(false);
      expect(await world.tokensOf(treasury, token)).toBe(claimed);
    },
  );

  test("is transferred and refunded [T28]", async () => {
    const token = createFeeMint();
    const transfer = transferOf(token, 10_000n, 100n);
    await give(token, transfer.commitment, 20_000n);
    await succeed(transfer);
    expect(await world.tokensOf(walletOf(transfer.commitment), token)).toBe(9_801n);
    await succeed(refundOf(token, 10_000n));
  });
});

describe("SOL", () => {
  test("is locked as wrapped SOL and claimed as lamports to the treasury", async () => {
    const { feePayer, treasury } = world.deployment.facts;
    const lock = lockOf(NATIVE_SOL, 3n * SOL);
    const vault = await give(NATIVE_SOL, lock.commitment, 3n * SOL);
    const before = lamportsOf(feePayer);
    const treasuryBefore = lamportsOf(treasury);
    await succeed(lock);
    expect(lamportsOf(vault)).toBe(0n);
    expect(world.heldIn(lockAccountOf(lock))).toBe(3n * SOL);
    await succeed(claimOf(lock));
    expect(lamportsOf(treasury) - treasuryBefore).toBe(3n * SOL);
    expect(before - lamportsOf(feePayer)).toBe(25_000n + 2n * 400n);
    expect(world.exists(lockAccountOf(lock))).toBe(false);
  });

  test("returns to its vault, also after a third party added to the lock", async () => {
    const { feePayer } = world.deployment.facts;
    const lock = lockOf(NATIVE_SOL, 3n * SOL);
    const vault = await give(NATIVE_SOL, lock.commitment, 4n * SOL);
    const before = lamportsOf(feePayer);
    // A third party adds SOL before and after the lock is opened.
    world.giveSol(lockAccountOf(lock), SOL);
    await succeed(lock);
    world.giveSol(lockAccountOf(lock), SOL);
    await succeed(returnOf(lock));
    expect(lamportsOf(vault)).toBe(4n * SOL);
    expect(lamportsOf(feePayer) - before).toBe(2n * SOL - 25_000n - 2n * 400n);
  });

  test("is delivered only once; lamports at the marker neither prevent nor fake a delivery", async () => {
    const { delivery, deliveryIdOfPayout } = world.deployment.facts;
    const deliver = deliverOf(NATIVE_SOL, SOL);
    const marker = markerAddressOf(delivery, deliveryIdOfPayout(deliver.order));
    world.giveSol(marker, rentOf(0));
    const before = lamportsOf(delivery);
    await succeed(deliver);
    expect(lamportsOf(walletOf(deliver.order.commitment))).toBe(SOL);
    expect(before - lamportsOf(delivery)).toBe(SOL);
    const account = world.svm.getAccount(toBase58(marker));
    expect(account.exists && account.data).toEqual(new Uint8Array(1));
    expect(await failureOf(deliver)).toMatch(/already in use/);
    expect(before - lamportsOf(delivery)).toBe(SOL);
  });

  test("is transferred less the route fee, and refunded", async () => {
    const { treasury } = world.deployment.facts;
    const transfer = transferOf(NATIVE_SOL, SOL, SOL / 100n);
    const vault = await give(NATIVE_SOL, transfer.commitment, 3n * SOL);
    const before = lamportsOf(treasury);
    await succeed(transfer);
    expect(lamportsOf(walletOf(transfer.commitment))).toBe((SOL / 100n) * 99n);
    expect(lamportsOf(treasury) - before).toBe(SOL / 100n);
    await succeed(refundOf(NATIVE_SOL, 2n * SOL));
    expect(lamportsOf(unpadAddress(transfer.commitment.refundAuthority, "svm"))).toBe(2n * SOL);
    expect(lamportsOf(vault)).toBe(0n);
  });

  test("fails when less than the rent-exempt minimum, but not zero, would stay in a vault [T37]", async () => {
    const least = rentOf(0);
    const amount = SOL;
    await give(NATIVE_SOL, commitmentOf(1), amount);
    expect(await failureOf(refundOf(NATIVE_SOL, amount - 1n))).toMatch(/InsufficientFundsForRent/);
    expect(await failureOf(refundOf(NATIVE_SOL, amount - least + 1n))).toMatch(
      /InsufficientFundsForRent/,
    );
    await succeed(refundOf(NATIVE_SOL, amount - least));
    expect(await failureOf(refundOf(NATIVE_SOL, least + 1n))).toMatch(/insufficient lamports/);
  });

  test("leaves zero or at least the rent-exempt minimum at both ends, for any amounts [T37]", async () => {
    const least = rentOf(0);
    const lamportsDrawn = fc.oneof(
      fc.bigInt({ min: 1n, max: 3n * least }),
      fc.constantFrom(1n, least - 1n, least, least + 1n, 2n * least),
    );
    let number = 0;
    let succeeded = 0;
    await fc.assert(
      fc.asyncProperty(lamportsDrawn, lamportsDrawn, fc.boolean(), async (more, some, takesAll) => {
        number += 1;
        const held = least + more - 1n;
        const amount = takesAll ? held : some;
        fc.pre(amount <= held);
        const commitment = commitmentOf(number);
        const vault = await give(NATIVE_SOL, commitment, held);
        const { error } = await world.execute([refundOf(NATIVE_SOL, amount, number)]);
        const isAllowed = (left: bigint) => left === 0n || left >= least;
        expect(error === null).toBe(isAllowed(held - amount) && isAllowed(amount));
        const arrived = lamportsOf(unpadAddress(commitment.refundAuthority, "svm"));
        expect([lamportsOf(vault), arrived]).toEqual(
          error === null ? [held - amount, amount] : [held, 0n],
        );
        if (error === null) succeeded += 1;
      }),
    );
    expect(succeeded).toBeGreaterThan(10);
  });

  test("and wrapped SOL are two tokens with two balances [T36]", async () => {
    const { feePayer } = world.deployment.facts;
    const vault = await give(NATIVE_SOL, commitmentOf(1), SOL);
    const wrapped = await associatedAccountOf(vault, WRAPPED_SOL, "token");
    const payer = createNoopSigner(toBase58(feePayer));
    const opened = await world.run([
      getTransferSolInstruction({
        source: payer,
        destination: toBase58(wrapped),
        amount: lamports(rentOf(165) + 5n),
      }),
      await getCreateAssociatedTokenIdempotentInstructionAsync({
        payer,
        owner: toBase58(vault),
        mint: toBase58(WRAPPED_SOL),
      }),
    ]);
    expect(opened.error).toBeNull();
    expect(world.heldIn(wrapped)).toBe(5n);
    await succeed(refundOf(NATIVE_SOL, SOL));
    expect(world.heldIn(wrapped)).toBe(5n);
    await succeed(refundOf(WRAPPED_SOL, 5n));
    expect(lamportsOf(vault)).toBe(0n);
    expect(world.heldIn(wrapped)).toBe(0n);
  });
});

describe("a vault with several token accounts", () => {
  test("pays from the accounts that the order names [T27]", async () => {
    const token = world.createMint(PLAIN);
    const { treasury } = world.deployment.facts;
    const transfer = transferOf(token, 1_000n, 100n);
    const vault = await give(token, transfer.commitment, 950n);
    // Makes the account of a lock another token account of the vault.
    const lock = lockOf(token, 50n, 2);
    const other = lockAccountOf(lock);
    await give(token, lock.commitment, 50n);
    await succeed(lock);
    const account = await associatedAccountOf(vault, token, "token");
    await world.svm.setAccount({
      ...accountOf(other),
      data: withOwner(accountOf(other).data, vault),
    });
    await succeed({
      ...transfer,
      sources: [
        { account, amount: 950n },
        { account: other, amount: 50n },
      ],
    });
    expect(await world.tokensOf(walletOf(transfer.commitment), token)).toBe(900n);
    expect(await world.tokensOf(treasury, token)).toBe(100n);
    expect(world.heldIn(other)).toBe(0n);
    await expect(
      world.execute([{ ...transfer, sources: [{ account, amount: 999n }] }]),
    ).rejects.toThrow("make up its amount");
  });

  function accountOf(address: Address) {
    const found = world.svm.getAccount(toBase58(address));
    if (!found.exists) throw new Error("no account");
    return found;
  }

  function withOwner(data: Uint8Array, owner: Address): Uint8Array {
    const changed = Uint8Array.from(data);
    changed.set(Buffer.from(owner.slice(2), "hex"), 32);
    return changed;
  }
});

describe("an account or mint under another authority", () => {
  test("keeps its whole balance while it is frozen [T31]", async () => {
    const { feePayer } = world.deployment.facts;
    const token = world.createMint(PLAIN);
    const vault = await give(token, commitmentOf(1), 1_000n);
    const account = toBase58(await associatedAccountOf(vault, token, "token"));
    const mint = toBase58(token);
    const freezer = createNoopSigner(toBase58(feePayer));
    await run(getFreezeAccountInstruction({ account, mint, owner: freezer }));
    for (const order of [refundOf(token, 1_000n), transferOf(token, 1_000n, 1n)]) {
      expect(await failureOf(order)).toMatch(/frozen|0x11/i);
    }
    expect(await world.tokensOf(vault, token)).toBe(1_000n);
    await run(getThawAccountInstruction({ account, mint, owner: freezer }));
    await succeed(refundOf(token, 1_000n));
    expect(await world.tokensOf(vault, token)).toBe(0n);
  });

  test("keeps a vault's balance through a pause of the mint [T31]", async () => {
    const { feePayer } = world.deployment.facts;
    const authority = toBase58(feePayer);
    const pausable = extension("PausableConfig", { authority, paused: false });
    const token = world.createMint(PLAIN_2022, [pausable]);
    const vault = await give(token, commitmentOf(1), 700n);
    const pauser = { mint: toBase58(token), authority: createNoopSigner(authority) };
    await run(getPauseInstruction(pauser));
    expect(await failureOf(refundOf(token, 700n))).toMatch(/paused|0x43/i);
    expect(await world.tokensOf(vault, token)).toBe(700n);
    await run(getResumeInstruction(pauser));
    await succeed(refundOf(token, 700n));
    expect(await world.tokensOf(vault, token)).toBe(0n);
  });

  test("cannot make others pay for tokens that its permanent delegate burns before the sweep [T30]", async () => {
    const { feePayer, delivery } = world.deployment.facts;
    const delegate = toBase58(feePayer);
    const token = world.createMint(PLAIN_2022, [extension("PermanentDelegate", { delegate })]);
    const lock = lockOf(token, 1_000n);
    const vault = await give(token, lock.commitment, 1_000n);
    await world.giveTokens(delivery, token, 5_000n);
    await run(
      getBurnInstruction({
        account: toBase58(await associatedAccountOf(vault, token, "token-2022")),
        mint: toBase58(token),
        authority: createNoopSigner(delegate),
        amount: 400n,
      }),
    );
    expect(await failureOf(lock)).toMatch(/insufficient funds|0x1\b/i);
    expect(world.exists(lockAccountOf(lock, "token-2022"))).toBe(false);
    expect(await world.tokensOf(vault, token)).toBe(600n);
    expect(await world.tokensOf(delivery, token)).toBe(5_000n);
    const rest = { ...lock, amount: 600n };
    await succeed(rest);
    expect(world.heldIn(lockAccountOf(rest, "token-2022"))).toBe(600n);
  });

  test("fails the delivery without a marker when the recipient requires a memo [T32]", async () => {
    const { delivery, deliveryIdOfPayout } = world.deployment.facts;
    const token = world.createMint(PLAIN_2022);
    await world.giveTokens(delivery, token, 5_000n);
    const deliver = deliverOf(token, 700n);
    const to = walletOf(deliver.order.commitment);
    const wanting = (requireIncomingTransferMemos: boolean) =>
      writeAccount(to, token, [extension("MemoTransfer", { requireIncomingTransferMemos })]);
    await wanting(true);
    expect(await failureOf(deliver)).toMatch(/0x24\b/);
    const marker = markerAddressOf(delivery, deliveryIdOfPayout(deliver.order));
    expect(world.exists(marker)).toBe(false);
    expect(await world.tokensOf(delivery, token)).toBe(5_000n);
    await wanting(false);
    await succeed(deliver);
    expect(await world.tokensOf(to, token)).toBe(700n);
  });

  test("is paid when the recipient has a CPI guard [T32]", async () => {
    const { delivery } = world.deployment.facts;
    const token = world.createMint(PLAIN_2022);
    await world.giveTokens(delivery, token, 5_000n);
    const deliver = deliverOf(token, 700n);
    const to = walletOf(deliver.order.commitment);
    await writeAccount(to, token, [extension("CpiGuard", { lockCpi: true })]);
    await succeed(deliver);
    expect(await world.tokensOf(to, token)).toBe(700n);
  });

  test("costs at most the charged rent per delivery when the recipient closes it each time [T38]", async () => {
    const { feePayer, delivery } = world.deployment.facts;
    const token = world.createMint(PLAIN);
    await world.giveTokens(delivery, token, 1_000n);
    const recipient = await world.deployment.vaultOf(commitmentOf(999));
    const account = toBase58(await associatedAccountOf(recipient, token, "token"));
    const owner = createNoopSigner(toBase58(recipient));
    const { order } = deliverOf(token, 7n);
    const commitment = { ...order.commitment, destWallet: toHex32(recipient) };
    for (let round = 1n; round <= 50n; round += 1n) {
      const before = lamportsOf(feePayer);
      await succeed({
        ...deliverOf(token, 7n),
        order: { ...order, commitment, amount: 7n, seq: round },
      });
      // Two signatures, 400,000 units, and the rent that SOLANA_RENT of fees/gas.ts charges.
      expect(before - lamportsOf(feePayer)).toBe(10_400n + rentOf(165) + rentOf(1));
      const back = toBase58(await associatedAccountOf(delivery, token, "token"));
      await run(
        getTransferInstruction({
          source: account,
          destination: back,
          authority: owner,
          amount: 7n,
        }),
        getCloseAccountInstruction({ account, destination: owner.address, owner }),
      );
      expect(await world.tokensOf(recipient, token)).toBeNull();
    }
    expect(lamportsOf(recipient)).toBe(50n * rentOf(165));
    expect(await world.tokensOf(delivery, token)).toBe(1_000n);
  });

  async function run(...instructions: Parameters<Svm["run"]>[0]): Promise<void> {
    expect((await world.run(instructions)).error).toBeNull();
  }

  /** Writes an empty associated account of Token-2022 with extensions. */
  async function writeAccount(
    owner: Address,
    token: Address,
    extensions: ExtensionArgs[],
  ): Promise<void> {
    const data = getTokenEncoder().encode({
      mint: toBase58(token),
      owner: toBase58(owner),
      amount: 0n,
      delegate: null,
      state: AccountState.Initialized,
      isNative: null,
      delegatedAmount: 0n,
      closeAuthority: null,
      extensions,
    });
    world.svm.setAccount({
      address: toBase58(await associatedAccountOf(owner, token, "token-2022")),
      lamports: lamports(rentOf(data.length)),
      data: Uint8Array.from(data),
      programAddress: TOKEN_PROGRAMS["token-2022"],
      executable: false,
      space: BigInt(data.length),
    });
  }
});

describe("a vault", () => {
  test.each([
    ["the older program", PLAIN],
    ["Token-2022", PLAIN_2022],
  ])("does not pay with a fake token of %s [T26]", async (_, facts) => {
    const token = world.createMint(PLAIN_2022, nameOf("USDC"));
    const fake = world.createMint(facts, facts.program === "token" ? [] : nameOf("USDC"));
    const vault = await give(fake, commitmentOf(1), 1_000n);
    const account = await associatedAccountOf(vault, fake, facts.program);
    expect(account).not.toBe(await associatedAccountOf(vault, token, "token-2022"));
    expect(await failureOf(refundOf(token, 1_000n))).toMatch(/incorrect program id/i);
    // Also when the order names the account with the fake token.
    const named = { ...refundOf(token, 1_000n), sources: [{ account, amount: 1_000n }] };
    // CAST: a refund has sources.
    expect(await failureOf(named as Order)).toMatch(/0x3\b|incorrect program id/i);
    expect(world.heldIn(account)).toBe(1_000n);
  });

  const nameOf = (symbol: string) => [
    extension("TokenMetadata", {
      updateAuthority: null,
      mint: toBase58(WRAPPED_SOL),
      name: symbol,
      symbol,
      uri: "",
      additionalMetadata: new Map(),
    }),
  ];

  test("fails on the chain when the mint's decimals differ from the configured ones [T33]", async () => {
    const token = world.createMint(PLAIN);
    await give(token, commitmentOf(1), 1_000n);
    world.deployment.mints.set(token, { ...PLAIN, decimals: 9 });
    expect(await failureOf(refundOf(token, 1_000n))).toMatch(/0x12|MintDecimalsMismatch/i);
  });

  test("fails on the chain with a source account of another vault [T27]", async () => {
    const token = world.createMint(PLAIN);
    await give(token, commitmentOf(1), 1_000n);
    const other = await give(token, commitmentOf(2), 1_000n);
    const account = await associatedAccountOf(other, token, "token");
    expect(
      await failureOf({
        ...refundOf(token, 1_000n),
        sources: [{ account, amount: 1_000n }],
      } as Order),
    ).toMatch(/owner does not match|0x4/i);
    expect(world.heldIn(account)).toBe(1_000n);
  });

  test("does not combine orders that change the same balance", async () => {
    const token = world.createMint(PLAIN);
    await expect(world.sign([refundOf(token, 1n), transferOf(token, 2n, 1n)])).rejects.toThrow(
      "different balances",
    );
  });
});

describe("one packet", () => {
  test.each(["lock", "claim", "return", "deliver", "transfer", "refund"] as const)(
    "carries the planned number of orders: %s",
    async (kind) => {
      const tokens = [world.createMint(WITH_FEE), NATIVE_SOL];
      for (const token of tokens) {
        const ordersOf = (count: number): Order[] =>
          Array.from({ length: count }, (_, index) => build(kind, token, index + 1));
        const sizeOf = async (count: number) => {
          const raw = await world.sign(ordersOf(count));
          return raw.length / 2 - 1;
        };
        await Promise.all(ordersOf(6).map(knowVault));
        expect(await sizeOf(ORDERS_MAX[kind])).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX);
      }
      // One order more does not fit with the larger of the two tokens.
      await expect(
        world.sign(
          Array.from({ length: ORDERS_MAX[kind] + 1 }, (_, index) =>
            build(kind, tokens[0] ?? NATIVE_SOL, index + 1),
          ),
        ),
      ).rejects.toThrow("fits one packet");
    },
  );

  test.each(["lock", "transfer", "refund"] as const)(
    "carries the largest amounts from the most accounts that an order may name: %s",
    async (kind) => {
      const token = world.createMint(WITH_FEE);
      const order = build(kind, token, 1);
      await knowVault(order);
      const all = 2n ** 64n - 1n;
      const sources = Array.from({ length: SOURCES_MAX }, (_, index) => ({
        account: toAddress(`0x${"ac".repeat(31)}0${index}`),
        amount: index === 0 ? all - BigInt(SOURCES_MAX - 1) : 1n,
      }));
      // In base units of 18 decimals.
      const more = kind === "lock" ? { minOut: all * 10n ** 12n, seq: all } : {};
      // CAST: these three kinds have sources.
      const raw = await world.sign([{ ...order, ...more, amount: all, sources } as Order]);
      expect(raw.length / 2 - 1).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX);
    },
  );

  function build(kind: Order["kind"], token: Address, number: number): Order {
    const lock = lockOf(token, LARGE, number);
    switch (kind) {
      case "lock":
        return lock;
      case "claim":
        return claimOf(lock);
      case "return":
        return returnOf(lock);
      case "deliver":
        return deliverOf(token, LARGE, number);
      case "transfer":
        return transferOf(token, LARGE, 123_456_789_012n, number);
      case "refund":
        return refundOf(token, LARGE, number);
    }
  }

  async function knowVault(order: Order): Promise<void> {
    if ("commitment" in order) await world.deployment.vaultOf(order.commitment);
  }
});
