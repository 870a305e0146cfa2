/**
 * The stolen-lane game: a thief controls the service, its lanes and its database, and requests any signature in any
 * order, besides the honest ones. The thief also has every honest signature of the attestor. Each signed transaction is
 * executed any number of times. No value of a vault, the escrow or the inventory may go anywhere but to the account in
 * its commitment or to the treasury.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  SOL,
  startCustody,
  type TestCustody,
  towardsBase,
  towardsSolana,
  walletOf,
} from "../../../test/support/solana-custody.ts";
import { fromBase58 } from "../../chains/solana/base58.ts";
import { lockAddressOf } from "../../chains/solana/derived-accounts.ts";
import type { LockOrder, Order } from "../../chains/solana/orders.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Address, type Hex, NATIVE_SOL, toHex32 } from "../../core/hex.ts";

const ATTACKER = walletOf(666);
const USERS = [1, 2, 3];
/** Far below any deposit of SOL, far above the cost of all transactions. */
const FEES_AND_RENT = SOL / 4n;

/** The orders that the thief starts with, signed by the honest attestor where needed. */
interface Spoils {
  readonly orders: readonly Order[];
  readonly locks: readonly LockOrder[];
}

async function gather(custody: TestCustody): Promise<Spoils> {
  const locks = [
    ...USERS.map((user) => custody.lock(user)),
    ...USERS.map((user) => custody.lock(user, 400_000n, 1n)),
    ...(await Promise.all(USERS.map((user) => custody.lockSol(user)))),
  ];
  const orders: Order[] = [...locks];
  for (const lock of locks) {
    // The attestor signs one ending per lock.
    const isPaid = lock.commitment.userId.endsWith("1") || lock.seq === 1n;
    orders.push(isPaid ? await custody.claim(lock) : await custody.giveBack(lock));
  }
  for (const user of USERS) {
    for (const asset of [custody.token, NATIVE_SOL]) {
      orders.push(await custody.deliver(user, asset));
      orders.push(custody.transfer(user, asset), custody.refund(user, asset));
      orders.push(...(await greedy(custody, user, asset)));
    }
  }
  return { orders, locks };
}

/** Returns a user's orders with recipient or amount changed in the attacker's favour, under the honest signatures. */
async function greedy(custody: TestCustody, user: number, asset: Address): Promise<Order[]> {
  const theirs = { destWallet: toHex32(ATTACKER), refundAuthority: toHex32(ATTACKER) };
  const deliver = await custody.deliver(user, asset);
  const { order } = deliver;
  const transfer = custody.transfer(user, asset);
  const refund = custody.refund(user, asset);
  return [
    { ...deliver, order: { ...order, commitment: { ...order.commitment, ...theirs } } },
    { ...deliver, order: { ...order, amount: order.amount * 2n } },
    { ...transfer, commitment: { ...transfer.commitment, ...theirs } },
    { ...refund, commitment: { ...refund.commitment, ...theirs } },
  ];
}

/** Replaces one value anywhere in an order with one that favours the attacker. */
function tamper(order: Order, at: number, drawn: bigint): Order {
  const paths = listPaths(order);
  const path = paths[at % paths.length] ?? [];
  return replaceAt(order, path, (before) => {
    if (typeof before === "bigint") return [0n, 1n, before + 1n, before * 2n, drawn][at % 5];
    if (typeof before === "number") return [1, 30, 0, 10_000, Number(drawn % 10_001n)][at % 5];
    if (before === null || typeof before !== "string") return before;
    if (before.length === 66) return [ATTACKER, walletOf(1), NATIVE_SOL][at % 3];
    return before.startsWith("0x") ? `${before.slice(0, -4)}0000` : before;
    // CAST: still an order in form, whatever it says.
  }) as Order;
}

type Path = readonly (string | number)[];

function listPaths(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value)
    .filter(([name]) => name !== "kind")
    .flatMap(([name, inner]) => listPaths(inner, [...path, name]));
}

function replaceAt(
  value: unknown,
  [name, ...rest]: Path,
  change: (old: unknown) => unknown,
): unknown {
  if (name === undefined) return change(value);
  // CAST: a path leads through objects.
  const holder = value as Record<string, unknown>;
  return { ...holder, [name]: replaceAt(holder[name], rest, change) };
}

const sometimes = <Drawn>(drawn: fc.Arbitrary<Drawn>) =>
  fc
    .option(drawn, { nil: undefined, freq: 1 })
    .chain((value) => fc.constantFrom(undefined, undefined, value));

test(
  "a thief of all lanes can move value only to where the commitments say [X8]",
  { timeout: 120_000 },
  async () => {
    let executed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            pick: fc.nat(),
            second: sometimes(fc.nat()),
            tampered: sometimes(fc.tuple(fc.nat(), fc.bigInt({ min: 0n, max: 10n ** 13n }))),
            isOfOtherLane: fc.constantFrom(false, false, false, false, false, true),
            // Mostly a false height, high enough for another signature.
            height: fc.constantFrom(0n, 200n, 200n, 200n, 200n, 10_000n),
            runs: fc.constantFrom(0, 1, 1, 1, 2),
            passes: fc.constantFrom(0, 0, 61_000, 700_000),
            restarts: fc.boolean(),
          }),
          { minLength: 40, maxLength: 80, size: "max" },
        ),
        async (steps) => {
          const custody = await startCustody();
          try {
            executed += await play(custody, steps);
          } finally {
            custody.close();
          }
        },
      ),
      { numRuns: 15, endOnFailure: true },
    );
    // A game without any executed transaction proves nothing.
    expect(executed).toBeGreaterThan(40);
  },
);

interface Step {
  readonly pick: number;
  readonly second: number | undefined;
  readonly tampered: readonly [number, bigint] | undefined;
  readonly isOfOtherLane: boolean;
  readonly height: bigint;
  readonly runs: number;
  readonly passes: number;
  readonly restarts: boolean;
}

/** Plays a game and returns the number of executed transactions. */
async function play(custody: TestCustody, steps: readonly Step[]): Promise<number> {
  let executed = 0;
  const { world, token, clock, accounts } = custody;
  const { orders, locks } = await gather(custody);
  const commitments = USERS.flatMap((user) => [
    towardsBase(user),
    towardsSolana(user, token),
    towardsSolana(user, NATIVE_SOL),
  ]);
  const all = [...commitments, ...locks.map(({ commitment }) => commitment)];
  for (const commitment of uniqueBy(all, custody.vaultOf)) {
    await custody.fund(commitment, token, 1_000_000n);
    await custody.fund(commitment, NATIVE_SOL, SOL);
  }
  const before = await weigh(custody, all, locks);

  let lastValidHeight = 1_000n;
  for (const step of steps) {
    lastValidHeight += step.height;
    clock.advance(step.passes);
    if (step.restarts) custody.restart();
    const chosen = [step.pick, step.second]
      .filter((index) => index !== undefined)
      .map((index) => orders[index % orders.length])
      .filter((order) => order !== undefined)
      .map((order) => (step.tampered ? tamper(order, ...step.tampered) : order));
    const { isOfOtherLane } = step;
    const raw = await ask(custody, chosen, { isOfOtherLane, lastValidHeight });
    if (!raw) continue;
    for (let run = 0; run < step.runs; run += 1) {
      if (world.send(raw).error === null) executed += 1;
    }
    custody.grow(1n);
  }

  const after = await weigh(custody, all, locks);
  // The attacker gets nothing, and value moves only between allowed accounts.
  expect(after.attacker).toEqual({ token: 0n, sol: 0n });
  expect(after.tokens).toBe(before.tokens);
  expect(before.sol - after.sol).toBeLessThan(FEES_AND_RENT);
  expect(before.payers - after.payers).toBeLessThan(FEES_AND_RENT);
  // The inventory pays each signed payout at most once.
  expect(after.delivered).toBeLessThanOrEqual(BigInt(USERS.length) * 1_000_000n);
  expect(before.inventorySol - after.inventorySol).toBeLessThanOrEqual(BigInt(USERS.length) * SOL);
  expect(world.exists(accounts.binding)).toBe(false);
  return executed;
}

/** Returns the signed transaction of orders; null when the signer signs nothing. */
async function ask(
  custody: TestCustody,
  orders: readonly Order[],
  { isOfOtherLane, lastValidHeight }: { isOfOtherLane: boolean; lastValidHeight: bigint },
): Promise<Hex | null> {
  const isDelivery = orders.some(({ kind }) => kind === "deliver");
  const purpose = isDelivery === isOfOtherLane ? "settle" : "deliver";
  const intent = custody.intentOf(orders, {
    lifetime: {
      blockhash: toHex32(fromBase58(custody.world.svm.latestBlockhash())),
      lastValidHeight,
    },
  });
  try {
    return (await custody.laneOf(purpose).sign(intent)).raw;
  } catch (error) {
    // Refused, delayed, or too large for one transaction: nothing was signed.
    if (error instanceof OperatingError || isUnfit(error)) return null;
    throw error;
  }
}

function isUnfit(error: unknown): boolean {
  return (
    error instanceof Error &&
    /fits one packet|different balances|encodes? to|out of range|Invalid|safe/i.test(error.message)
  );
}

/** Returns the balances of all accounts of the game. */
async function weigh(
  custody: TestCustody,
  commitments: readonly Commitment[],
  locks: readonly LockOrder[],
) {
  const { world, token, treasury, accounts } = custody;
  const tokensOf = async (owner: Address) => (await world.tokensOf(owner, token)) ?? 0n;
  const sum = async (
    owners: readonly Address[],
    of: (owner: Address) => Promise<bigint> | bigint,
  ) => {
    let total = 0n;
    for (const owner of new Set(owners)) total += await of(owner);
    return total;
  };
  const vaults = commitments.map(custody.vaultOf);
  const destinations = USERS.flatMap((user) => [walletOf(1_000 + user)]);
  const authorities = USERS.map((user) => walletOf(2_000 + user));
  const lockAccounts = locks
    .map(custody.idOfLock)
    .map((id) => lockAddressOf(accounts.escrow, id, "token"));
  const ours = [treasury, accounts.delivery, accounts.settle, accounts.deliver, accounts.escrow];
  const ofToken = locks.filter((lock) => lock.token === token).map(custody.idOfLock);
  const locked = await sum(
    ofToken.map((id) => lockAddressOf(accounts.escrow, id, "token")),
    (account) => world.heldIn(account) ?? 0n,
  );
  const inventory = await tokensOf(accounts.delivery);
  return {
    attacker: { token: await tokensOf(ATTACKER), sol: world.solOf(ATTACKER) },
    /** All tokens in allowed accounts. */
    tokens:
      (await sum([...vaults, ...destinations, ...authorities, treasury], tokensOf)) +
      locked +
      inventory,
    delivered: 10n ** 12n - inventory,
    inventorySol: world.solOf(accounts.delivery),
    payers: world.solOf(accounts.settle) + world.solOf(accounts.deliver),
    /** All SOL in allowed accounts and in those that pay fees and rent. */
    sol: await sum(
      [...vaults, ...destinations, ...authorities, ...lockAccounts, ...ours],
      world.solOf.bind(world),
    ),
  };
}

function uniqueBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): readonly Item[] {
  return [...new Map(items.map((item) => [nameOf(item), item])).values()];
}
