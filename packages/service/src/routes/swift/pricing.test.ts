/** Prices between settler and attestor: asked for once, used while they last, renewed when they run out. */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
  unseenMetrics,
} from "../../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Hex, NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { PriceOrder } from "../../chains/port.ts";
import { lookAtRequests } from "./attest.ts";
import { createPricing } from "./pricing.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC = address("a0");
const ROUTE = address("cc");
const WALLET = address("3a");
const SIGNATURE: Hex = "0x51";
const RATE = 333_333_333_333_333n;

const commitment: Commitment = {
  integrator: toHex32(hashOf("integrator")),
  userId: padAddress(address("01")),
  destChain: 30,
  destWallet: padAddress(address("1e")),
  destToken: padAddress(NATIVE_TOKEN),
  refundAuthority: padAddress(address("02")),
  maxFeeBps: 50,
  maxSlippageBps: 100,
};
// CAST: only the commitment is read.
const deposit = { commitment, commitmentHash: toHex32(hashOf("c")) } as DepositAddress;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

function openDesk() {
  const clock = createStillClock();
  const state = { rate: RATE as bigint | null };
  const signed: PriceOrder[] = [];
  const source = createStrictChain({
    chainId: 2,
    predictWallet: () => WALLET,
    encodePriceData: (price, signature) =>
      `${signature}${Buffer.from(`${price.rate}/${price.maxAmount}/${price.deadline}`).toString("hex")}`,
  });
  const readRate = async () => {
    if (state.rate !== null) return state.rate;
    throw new OperatingError("PRICE_UNAVAILABLE", "No price.");
  };
  const pricing = createPricing({
    db: database.db,
    clock,
    source,
    token: USDC,
    contract: ROUTE,
    readRate,
    wakeAttestor: () => undefined,
  });
  const pair = {
    srcChain: 2,
    srcToken: USDC,
    destChain: 30,
    destToken: NATIVE_TOKEN,
    decimalsIn: 6,
    decimalsOut: 18,
    contract: ROUTE,
    readRate,
  };
  const refuse = async () => {
    throw new Error("not asked for");
  };
  const attest = (pairs = [pair]) =>
    lookAtRequests({
      db: database.db,
      chains: new Map([[2, source]]),
      signer: {
        address: address("ad"),
        signDelivery: refuse,
        signClaim: refuse,
        signReturn: refuse,
        signPrice: async (_chainId, order) => {
          signed.push(order);
          return SIGNATURE;
        },
      },
      clock,
      crashPoint: () => undefined,
      log: silentLog,
      metrics: unseenMetrics,
      payoutWindowS: 60n,
      pairs,
      wakeSettler: () => undefined,
    });
  const nowS = () => BigInt(clock.now() / 1000);
  return { pricing, attest, pair, signed, state, clock, nowS };
}

const read = (data: Hex | null) => data && Buffer.from(data.slice(4), "hex").toString();

test("a price is asked for once, signed at the attestor's own rate, and then used", async () => {
  const { pricing, attest, signed, nowS } = openDesk();
  expect(await pricing.attestPrice(deposit, 1_000_000n)).toBeNull();
  expect(await pricing.attestPrice(deposit, 1_000_000n)).toBeNull();
  await attest();
  expect(signed).toEqual([
    {
      wallet: WALLET,
      token: USDC,
      route: ROUTE,
      rate: RATE,
      maxAmount: 1_100_001n,
      deadline: nowS() + 100n,
    },
  ]);
  expect(read(await pricing.attestPrice(deposit, 1_000_000n))).toBe(
    `${RATE}/1100001/${nowS() + 100n}`,
  );
});

test("one more unit does not void it, a larger balance asks anew", async () => {
  const { pricing, attest, signed } = openDesk();
  await pricing.attestPrice(deposit, 1_000_000n);
  await attest();
  expect(await pricing.attestPrice(deposit, 1_000_001n)).not.toBeNull();
  expect(await pricing.attestPrice(deposit, 5_000_000n)).toBeNull();
  await attest();
  expect(signed.map((order) => order.maxAmount)).toEqual([1_100_001n, 5_500_001n]);
  expect(await pricing.attestPrice(deposit, 5_000_000n)).not.toBeNull();
});

test("one that is about to run out is renewed", async () => {
  const { pricing, attest, clock, signed } = openDesk();
  await pricing.attestPrice(deposit, 1n);
  await attest();
  clock.advance(69_000);
  expect(await pricing.attestPrice(deposit, 1n)).not.toBeNull();
  clock.advance(1_000);
  expect(await pricing.attestPrice(deposit, 1n)).toBeNull();
  await attest();
  expect(signed).toHaveLength(2);
  expect(await pricing.attestPrice(deposit, 1n)).not.toBeNull();
});

test("T56 an attestor without a price refuses, and is asked again later", async () => {
  const { pricing, attest, state, clock, signed } = openDesk();
  state.rate = null;
  await pricing.attestPrice(deposit, 1n);
  await attest();
  await expect(pricing.attestPrice(deposit, 1n)).rejects.toMatchObject({
    code: "PRICE_UNAVAILABLE",
  });
  expect(signed).toEqual([]);
  state.rate = RATE;
  clock.advance(75_000);
  expect(await pricing.attestPrice(deposit, 1n)).toBeNull();
  await attest();
  expect(await pricing.attestPrice(deposit, 1n)).not.toBeNull();
});

test("T110 a route that the attestor does not know, or one of the same asset, gets no price", async () => {
  const { pricing, attest, pair, signed } = openDesk();
  await pricing.attestPrice(deposit, 1n);
  await attest([{ ...pair, contract: address("dd") }]);
  await expect(pricing.attestPrice(deposit, 1n)).rejects.toMatchObject({
    details: { reason: "unknown_pair" },
  });
  expect(signed).toEqual([]);
});
