/**
 * Behaviour that every route must have. The test of a route calls `behavesLikeRoute` with a bench: the route over a real
 * database, chains whose answers the suite sets, and the few facts that only the route knows.
 */
import fc from "fast-check";
import {
  type AbiParameter,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { isRouteProven, rootOfRoutes } from "@sluice/sdk/address";
import { type DepositAddress, issueAddress } from "../../src/addresses/index.ts";
import type { Call, Effect, Receipt } from "../../src/chains/port/index.ts";
import type { Caps } from "../../src/core/amounts.ts";
import { OperatingError } from "../../src/core/errors.ts";
import {
  type Address,
  type EvmAddress,
  toEvmAddress,
  toHex32,
  type TxHash,
} from "../../src/core/hex.ts";
import type { Db } from "../../src/db/schema.ts";
import { feeCapOf, type FeeTerms, planTerms } from "../../src/fees/index.ts";
import type { DeliveryProgress, Route, Sweep } from "../../src/routes/index.ts";
import { systemRandom } from "../../src/roles/system-ports.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { hashOf } from "./doubles.ts";
import { CONTRACTS, createEncodingChain } from "./encoding-chain.ts";
import { createTenant, insertSettlement } from "./tenants.ts";

/** A payment on the destination, as our own reader finds it. */
export interface Arrival {
  readonly to: Address;
  readonly token: Address;
  readonly amount: bigint;
  readonly txHash: TxHash;
  /** Whether it has the configured confirmations. */
  readonly isConfirmed: boolean;
}

/** The parameters of a mined sweep; everything else follows the route's contract. */
export interface MinedSweep {
  readonly address: DepositAddress;
  readonly amount: bigint;
  readonly fee: FeeTerms;
  readonly wallet?: Address;
  readonly token?: Address;
  readonly contract?: Address;
}

/** Returns the receipt of a sweep: the effects of the route's contract, then the factory's `settled`. */
export function receiptOfSweep(
  { address, amount, wallet = address.wallet, token, contract }: MinedSweep,
  route: { readonly token: EvmAddress; readonly contract: EvmAddress; readonly block: bigint },
  effects: readonly Effect[],
): Receipt {
  const settled: Effect = {
    kind: "settled",
    wallet,
    token: token ?? route.token,
    route: contract ?? route.contract,
    amount,
    logIndex: 4,
  };
  return {
    txHash: hashOf("sweep"),
    blockHash: toHex32(hashOf("block")),
    blockNumber: route.block,
    succeeded: true,
    gasCost: 0n,
    effects: [...effects, settled],
  };
}

/** A route and the environment that the suite controls. */
export interface RouteBench {
  /** Returns the route as a newly started process has it. */
  open(): Route;
  receiptOf(sweep: MinedSweep): Receipt;
  /** Sets the arrival on the destination; null for none. Where the sweep itself delivers, it is part of the receipt. */
  show(arrival: Arrival | null): void;
  /** Makes every service that the route calls unreachable, or reachable again. */
  setAway(isAway: boolean): void;
  /** Runs the route's worker once, and the attestor where the route needs a price. */
  work(): Promise<void>;
  /** Returns the source receipt that `checkDelivery` gets, or null. */
  findSource(receipt: Receipt): Receipt | null;
}

/** The declared properties of a route, and a factory for its bench. */
export interface RouteUnderTest {
  readonly kind: Route["kind"];
  readonly waitsForFinality: boolean;
  readonly isPriced: boolean;
  /** Whether the route reserves inventory. */
  readonly hasInventory: boolean;
  /** The fields of `routeData` that the contract reads: amounts, deadlines and signatures, never an account. */
  readonly routeData: readonly AbiParameter[];
  /** Returns the contract's minimum delivery, computed as the contract computes it. */
  leastByContract(amount: bigint, caps: Caps): bigint;
  /** Returns the same for a sweep whose receipt determines it more closely than its amount. */
  leastOfSweep?(sweep: MinedSweep): bigint;
  /** Returns the bridge's fee for its slowest way; absent without a bridge. */
  slowestFeeOf?(amount: bigint): bigint;
  openBench(db: Db, pair: SuitePair): RouteBench;
}

/** The token and contract that the route under test must use. */
export interface SuitePair {
  readonly token: EvmAddress;
  readonly contract: EvmAddress;
}

const TOKEN = toEvmAddress(`0x${"a0".repeat(20)}`);
const CONTRACT = toEvmAddress(`0x${"cc".repeat(20)}`);
const ANOTHER = toEvmAddress(`0x${"bd".repeat(20)}`);
const RECIPIENT = toEvmAddress(`0x${"1e".repeat(20)}`);
const USER = `0x${"51".repeat(20)}`;
const BPS = 10_000n;
/** Error codes with which a route can refuse to quote an amount. */
const REFUSALS = ["AMOUNT_TOO_SMALL", "FEE_NOT_COVERED", "NO_ROUTE"];

/** Caps that an address can commit to, mostly in the range used in practice. */
const caps = fc.record({
  maxFeeBps: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 10_000 })),
  maxSlippageBps: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 10_000 })),
});
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 1_000n }),
  fc.bigInt({ min: 1n, max: 10n ** 12n }),
  fc.bigInt({ min: 1n, max: 10n ** 26n }),
);
interface Plan {
  readonly amount: bigint;
  readonly caps: Caps;
  readonly serviceBps: number;
  /** Gas as a percentage of the fee cap. */
  readonly gasPercent: bigint;
  /** The smaller amount to compare with, as a percentage of the amount. */
  readonly lessPercent: bigint;
}
const plan: fc.Arbitrary<Plan> = fc.record({
  amount,
  caps,
  serviceBps: fc.integer({ min: 0, max: 100 }),
  gasPercent: fc.bigInt({ min: 0n, max: 100n }),
  lessPercent: fc.bigInt({ min: 0n, max: 100n }),
});

/** Returns terms as `createFees` plans them, with gas as a share of the cap. */
async function planFee(
  route: Route,
  { amount: whole, caps: given, serviceBps, gasPercent }: Plan,
): Promise<FeeTerms> {
  const { maxFeeBps } = given;
  const cap = feeCapOf(whole, maxFeeBps);
  const gas = (cap * gasPercent) / 100n;
  const bridge = await route.readBridgeFee(whole, cap - gas);
  return planTerms({ amount: whole, maxFeeBps, serviceBps, gas, bridge });
}

const NOTHING = { fair: 0n, amountOut: 0n, minOut: 0n };

/** Returns the answer, or null when the route refuses the amount. */
async function unlessRefused<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OperatingError && REFUSALS.includes(error.code)) return null;
    throw error;
  }
}

/** Tests the behaviour that every route must have. */
export function behavesLikeRoute(name: string, tested: RouteUnderTest): void {
  describe(`${name} as every route`, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createTestDatabase();
    });
    afterAll(async () => {
      await database.drop();
    });

    /** Opens a bench, with an address whose settlement is being swept. */
    async function open() {
      const { db } = database;
      const bench = tested.openBench(db, { token: TOKEN, contract: CONTRACT });
      const route = bench.open();
      const tenant = await createTenant(db);
      const issue = (destWallet: EvmAddress): Promise<DepositAddress> =>
        issueAddress(
          { db, random: systemRandom },
          {
            chain: createEncodingChain(route.pair.srcChain),
            integratorId: tenant.id,
            destination: {
              userId: USER,
              destChain: route.pair.destChain,
              destWallet,
              destToken: route.pair.destToken,
            },
          },
        );
      const address = await issue(RECIPIENT);
      const settlementId = await insertSettlement(db, tenant, address, { status: "swapping" });
      const swept = 10n ** BigInt(route.decimalsIn) * 10n;
      await db
        .updateTable("settlements")
        .set({ token: TOKEN, swept_amount: swept, swept_block: 7n, step: "deliver" })
        .where("id", "=", settlementId)
        .execute();
      const { maxFeeBps } = address.commitment;
      const bridge = await route.readBridgeFee(swept, feeCapOf(swept, maxFeeBps));
      const fee = planTerms({ amount: swept, maxFeeBps, serviceBps: 10, gas: 0n, bridge });
      const receipt = bench.receiptOf({ address, amount: swept, fee });

      function read(of: Receipt): Promise<Sweep | null> {
        return route.readSweep(of, address);
      }
      async function readOwn(): Promise<Sweep> {
        const sweep = await read(receipt);
        if (!sweep) throw new Error("the receipt shows the sweep");
        return sweep;
      }
      const record = async (by = route): Promise<void> => {
        const sweep = await readOwn();
        await db
          .transaction()
          .execute((tx) => by.recordSweep(tx, { settlementId, address, sweep, fee, receipt }));
      };
      /** Polls the delivery. Reports an operating error as `failing`, as a settlement does. */
      async function poll(by = route): Promise<DeliveryProgress> {
        const sweep = await readOwn();
        const source = bench.findSource(receipt);
        try {
          return await by.checkDelivery({ settlementId, address, sweep }, source);
        } catch (error) {
          if (error instanceof OperatingError) return { kind: "failing", error };
          throw error;
        }
      }
      async function prepare(of: DepositAddress): Promise<Call> {
        const call = await route.prepareSweep(of, swept, fee);
        if (call) return call;
        await bench.work();
        const now = await route.prepareSweep(of, swept, fee);
        if (!now) throw new Error("a sweep whose price is signed can be prepared");
        return now;
      }
      const arrival = async (change: Partial<Arrival> = {}): Promise<Arrival> => ({
        to: RECIPIENT,
        token: route.pair.destToken,
        amount: (await readOwn()).minOut,
        txHash: route.pair.srcChain === route.pair.destChain ? receipt.txHash : hashOf("arrival"),
        isConfirmed: true,
        ...change,
      });
      /** Sets the arrival and runs the worker until it has seen it. */
      async function show(change: Partial<Arrival> | null): Promise<void> {
        bench.show(change && (await arrival(change)));
        for (let rounds = 0; rounds < 3; rounds++) await bench.work();
      }
      /** Returns the ledger balances and reservations of this settlement and wallet. */
      async function books() {
        const lines = await db
          .selectFrom("ledger_lines")
          .select(["chain_id", "account", (eb) => eb.fn.sum<string>("amount").as("sum")])
          .where("owner", "in", [settlementId, address.wallet])
          .groupBy(["chain_id", "account"])
          .orderBy("chain_id")
          .orderBy("account")
          .execute();
        const reserved = await db
          .selectFrom("inventory_reservations")
          .select("amount")
          .where("settlement_id", "=", settlementId)
          .execute();
        return { lines, reserved };
      }
      async function reserve() {
        const inventory = await route.readInventory();
        const { addressId, integratorId } = await db
          .selectFrom("settlements")
          .select(["address_id as addressId", "integrator_id as integratorId"])
          .where("id", "=", settlementId)
          .executeTakeFirstOrThrow();
        const args = { settlementId, integratorId, addressId, amount: swept, inventory };
        return db.transaction().execute((tx) => route.reserve(tx, args));
      }
      return {
        db,
        bench,
        route,
        issue,
        address,
        settlementId,
        swept,
        fee,
        receipt,
        read,
        readOwn,
        record,
        poll,
        prepare,
        show,
        arrival,
        books,
        reserve,
      };
    }

    test("has its declared properties", async () => {
      const { route } = await open();
      expect(route).toMatchObject({
        kind: tested.kind,
        contract: CONTRACT,
        waitsForFinality: tested.waitsForFinality,
        isPriced: tested.isPriced,
        pair: { srcToken: TOKEN },
      });
      expect(route.etaSeconds).toBeGreaterThan(0);
    });

    describe("quotes", () => {
      test("between the contract's minimum and the fair value, with all fees under the cap", async () => {
        const { route } = await open();
        let answered = 0;
        await fc.assert(
          fc.asyncProperty(plan, async (planned) => {
            const { amount: whole, caps: given } = planned;
            const quoted = await unlessRefused(async () =>
              route.quote(whole, given, await planFee(route, planned)),
            );
            if (!quoted) return;
            const { fair, amountOut, minOut } = quoted;
            expect(minOut).toBe(tested.leastByContract(whole, given));
            expect(amountOut).toBeGreaterThanOrEqual(minOut);
            expect(amountOut).toBeLessThanOrEqual(fair);
            // Without a promised minimum nothing is swept.
            if (minOut === 0n) return;
            answered += 1;
            // One unit for the rounding of the fair value, and one for that of the fee.
            const capped = ((fair + 1n) * BigInt(given.maxFeeBps)) / BPS + 1n;
            expect(fair - amountOut).toBeLessThanOrEqual(capped);
          }),
          { numRuns: 1_000 },
        );
        expect(answered).toBeGreaterThan(200);
      });

      test("at least as much for a larger amount on the same terms", async () => {
        const { route } = await open();
        let compared = 0;
        await fc.assert(
          fc.asyncProperty(plan, async (planned) => {
            const less = (planned.amount * planned.lessPercent) / 100n;
            if (less === 0n) return;
            const both = await unlessRefused(async () => {
              const fee = await planFee(route, planned);
              return {
                whole: await route.quote(planned.amount, planned.caps, fee),
                part: await route.quote(less, planned.caps, fee),
              };
            });
            if (!both) return;
            compared += 1;
            const { whole, part } = both;
            expect(part.minOut).toBeLessThanOrEqual(whole.minOut);
            // A priced pair takes the service's share in destination units and gas in source units.
            const rounding = tested.isPriced ? whole.fair / planned.amount + 1n : 0n;
            expect(part.amountOut).toBeLessThanOrEqual(whole.amountOut + rounding);
            // The swept amount can be less than planned; the promised minimum still holds.
            expect(part.amountOut).toBeGreaterThanOrEqual(part.minOut);
          }),
          { numRuns: 1_000 },
        );
        expect(compared).toBeGreaterThan(200);
      });

      test("zero for dust whose fair value is zero", async () => {
        const { route } = await open();
        const dust = fc.bigInt({ min: 1n, max: 10_000n });
        await fc.assert(
          fc.asyncProperty(dust, caps, async (whole, given) => {
            const fee = { bps: 0, flat: 0n, bridge: 0n };
            const quoted = await unlessRefused(() => route.quote(whole, given, fee));
            const { fair, amountOut, minOut } = quoted ?? NOTHING;
            expect(fair === 0n ? [amountOut, minOut] : [0n, 0n]).toEqual([0n, 0n]);
          }),
        );
      });
    });

    test("requests a bridge fee within the room under the cap, or the fee of the slowest way", async () => {
      const { route } = await open();
      const room = fc.bigInt({ min: 0n, max: 10n ** 12n });
      await fc.assert(
        fc.asyncProperty(amount, room, async (whole, left) => {
          const fee = await route.readBridgeFee(whole, left);
          const slowest = tested.slowestFeeOf?.(whole) ?? 0n;
          expect(fee > left || !tested.slowestFeeOf ? fee : slowest).toBe(slowest);
        }),
        { numRuns: 500 },
      );
    });

    describe("builds", () => {
      test("a factory call with only the address's commitment, the token and the route's contract", async () => {
        const { route, address, prepare } = await open();
        const call = await prepare(address);
        expect(call).toMatchObject({ to: CONTRACTS.factory, value: 0n });
        const { functionName, args } = decodeFunctionData({
          abi: depositFactoryAbi,
          data: call.data,
        });
        if (functionName !== "settle") throw new Error(`the call is ${functionName}`);
        const [job] = args;
        expect(job.c).toEqual(address.commitment);
        expect(job.proof).toEqual([]);
        expect(toEvmAddress(job.token)).toBe(route.pair.srcToken);
        expect(toEvmAddress(job.route)).toBe(route.contract);
        // Decoding and encoding gives the same bytes: the data has no room for another account.
        const types = JSON.stringify(tested.routeData, (key, value: unknown) =>
          key === "name" ? undefined : value,
        );
        expect(types).not.toMatch(/address|bytes(20|32)/);
        const values = decodeAbiParameters(tested.routeData, job.data);
        expect(encodeAbiParameters(tested.routeData, values)).toBe(job.data);
      });

      test("the proof of its route where the address commits to routes", async () => {
        const { route, address, prepare } = await open();
        const { srcChain } = route.pair;
        const leaf = { evmChainId: 1, route: route.contract };
        const routeSet = [
          { ...leaf, chainId: srcChain },
          { ...leaf, chainId: srcChain + 1, evmChainId: 8453 },
        ];
        const commitment = { ...address.commitment, routes: toHex32(rootOfRoutes(routeSet)) };
        const call = await prepare({ ...address, commitment, routeSet });
        const { functionName, args } = decodeFunctionData({
          abi: depositFactoryAbi,
          data: call.data,
        });
        if (functionName !== "settle") throw new Error(`the call is ${functionName}`);
        expect(isRouteProven(args[0].c.routes, leaf, args[0].proof)).toBe(true);
        expect(args[0].proof).toHaveLength(1);
      });

      test("a call for another recipient that differs only in the commitment", async () => {
        const { route, address, swept, fee, issue, prepare } = await open();
        const other = await issue(ANOTHER);
        // Both request a price, where they need one, at the same time.
        for (const asked of [address, other]) await route.prepareSweep(asked, swept, fee);
        const calls = [await prepare(address), await prepare(other)];
        const jobs = calls.map(({ data }) => {
          const { functionName, args } = decodeFunctionData({ abi: depositFactoryAbi, data });
          if (functionName !== "settle") throw new Error(`the call is ${functionName}`);
          return args[0];
        });
        expect(new Set(calls.map(({ data }) => data)).size).toBe(2);
        expect(jobs.map(({ c }) => c)).toEqual([address.commitment, other.commitment]);
        const [one, two] = jobs.map(({ token, route, data }) => ({ token, route, data }));
        expect(one).toEqual(two);
      });
    });

    describe("reads", () => {
      test("the swept amount and the contract's minimum for it", async () => {
        const { readOwn, swept, address, fee } = await open();
        const sweep = await readOwn();
        expect(sweep.amount).toBe(swept);
        const least =
          tested.leastOfSweep?.({ address, amount: swept, fee }) ??
          tested.leastByContract(swept, address.commitment);
        expect(sweep.minOut).toBe(least);
      });

      test.each([
        ["wallet", { wallet: ANOTHER }],
        ["token", { token: ANOTHER }],
        ["route", { contract: ANOTHER }],
      ])("no sweep from a receipt with another %s", async (_, change) => {
        const { bench, read, address, swept, fee } = await open();
        const mined = { address, amount: swept, fee };
        expect(await read(bench.receiptOf(mined))).not.toBeNull();
        expect(await read(bench.receiptOf({ ...mined, ...change }))).toBeNull();
      });
    });

    describe("follows", () => {
      test("a sweep until the promised minimum is confirmed in the committed wallet by our own reader", async () => {
        const { record, poll, show, arrival } = await open();
        await record();
        expect(await poll()).toEqual({ kind: "waiting" });
        await show(null);
        expect(await poll()).toEqual({ kind: "waiting" });
        await show({ isConfirmed: false });
        expect(await poll()).toEqual({ kind: "waiting" });
        await show({});
        const { txHash, amount: arrived } = await arrival();
        expect(await poll()).toEqual({ kind: "delivered", txHash, amount: arrived });
      });

      test.each<[string, (of: Arrival) => Partial<Arrival>]>([
        ["to another wallet", () => ({ to: ANOTHER })],
        ["in another token", () => ({ token: ANOTHER })],
        ["below the promised minimum", ({ amount: least }) => ({ amount: least - 1n })],
      ])(
        "a sweep without ever reporting delivery when the payment arrived %s",
        async (_, change) => {
          const { record, poll, show, arrival } = await open();
          await record();
          await show(change(await arrival()));
          expect((await poll()).kind).not.toBe("delivered");
        },
      );

      test("a delivery through a temporary outage, which is reported as failing", async () => {
        const { bench, record, poll, show } = await open();
        await record();
        bench.setAway(true);
        await show({});
        expect(await poll()).toMatchObject({
          kind: "failing",
          error: { code: "RPC_UNAVAILABLE" },
        });
        bench.setAway(false);
        await show({});
        expect((await poll()).kind).toBe("delivered");
      });
    });

    describe("recovers", () => {
      test("without further postings when a sweep is recorded twice, and it stays delivered", async () => {
        const { record, poll, show, books, reserve } = await open();
        expect(await reserve()).toBe("reserved");
        await record();
        const once = await books();
        expect(once.lines).not.toEqual([]);
        await record();
        expect(await books()).toEqual(once);
        await show({});
        const delivered = await books();
        const seen = await poll();
        expect(seen.kind).toBe("delivered");
        await record();
        expect(await books()).toEqual(delivered);
        expect(await poll()).toEqual(seen);
      });

      test("the inventory reserved for a failed sweep", async () => {
        const { db, route, reserve, settlementId } = await open();
        const before = await route.readInventory();
        expect(await reserve()).toBe("reserved");
        const during = await route.readInventory();
        expect(during.reserved > before.reserved).toBe(tested.hasInventory);
        await db.transaction().execute((tx) => route.release(tx, settlementId));
        expect(await route.readInventory()).toEqual(before);
      });

      test("from the rows after the process restarts", async () => {
        const { bench, route, address, swept, fee, prepare, record, poll, show } = await open();
        const call = await prepare(address);
        const restarted = bench.open();
        expect(restarted).not.toBe(route);
        expect(await restarted.prepareSweep(address, swept, fee)).toEqual(call);
        await record();
        expect(await poll(restarted)).toEqual({ kind: "waiting" });
        await show({});
        expect(await poll(bench.open())).toEqual(await poll());
        expect((await poll(bench.open())).kind).toBe("delivered");
      });
    });
  });
}
