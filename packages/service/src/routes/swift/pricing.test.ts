/** Prices between settler and attestor: requested once, reused while valid, renewed before they expire. */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  BELIEVED_ATTESTOR,
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
  unseenMetrics,
} from "../../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import { type Commitment, GOVERNED } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import {
  type EvmAddress,
  type Hex,
  NATIVE_TOKEN,
  padAddress,
  toEvmAddress,
  toHex32,
} from "../../core/hex.ts";
import type { PriceRequest } from "../../chains/port/index.ts";
import { pollAttestationRequests } from "./attest.ts";
import { boundsAround, createPricing, type RefusedRate } from "./pricing.ts";

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
  ...GOVERNED,
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
  // The attestor's rate, and the service's own where it differs.
  const state = { rate: RATE as bigint | null, own: null as bigint | null, blockTimeS: 0n };
  const signed: PriceRequest[] = [];
  const refused: RefusedRate[] = [];
  const source = createStrictChain({
    chainId: 2,
    predictWallet: () => WALLET,
    getTime: async () => state.blockTimeS,
  });
  const readRate = async () => {
    if (state.rate !== null) return state.rate;
    throw new OperatingError("PRICE_UNAVAILABLE", "No price.");
  };
  const readOwnRate = async () => state.own ?? (await readRate());
  const pricingFor = (contract: EvmAddress, token: EvmAddress = USDC) =>
    createPricing({
      db: database.db,
      clock,
      attestors: BELIEVED_ATTESTOR,
      source,
      token,
      contract,
      readRate: readOwnRate,
      rateToleranceBps: 200,
      onRefusedRate: (rate) => refused.push(rate),
      wakeAttestor: () => undefined,
    });
  const pricing = pricingFor(ROUTE);
  const pair = {
    srcChain: 2,
    srcToken: USDC,
    destChain: 30,
    destToken: NATIVE_TOKEN,
    decimalsIn: 6,
    decimalsOut: 18,
    contract: ROUTE,
    fromInventory: true,
    readRate,
  };
  const refuse = async () => {
    throw new Error("not asked for");
  };
  const attest = (pairs = [pair]) =>
    pollAttestationRequests({
      db: database.db,
      chains: new Map([[2, source]]),
      signer: {
        address: address("ad"),
        signDelivery: refuse,
        signClaim: refuse,
        signReturn: refuse,
        signRefund: refuse,
        signPrice: async (_chainId, order) => {
          signed.push(order);
          return SIGNATURE;
        },
      },
      clock,
      crashPoint: () => undefined,
      log: silentLog,
      metrics: unseenMetrics,
      threshold: 1,
      rateToleranceBps: 200,
      pairs,
      wakeSettler: () => undefined,
    });
  const nowS = () => BigInt(clock.now() / 1000);
  return { pricing, pricingFor, attest, pair, signed, refused, state, clock, nowS };
}

test("requests a price once, at its own rate, and reuses it when signed", async () => {
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
      deadline: nowS() + 80n,
    },
  ]);
  expect(await pricing.attestPrice(deposit, 1_000_000n)).toEqual({
    price: { rate: RATE, maxAmount: 1_100_001n, deadline: nowS() + 80n },
    signature: SIGNATURE,
    bounds: boundsAround(RATE, 200),
  });
});

test("keeps a price when the balance grows by one unit, and requests another for a larger balance", async () => {
  const { pricing, attest, signed } = openDesk();
  await pricing.attestPrice(deposit, 1_000_000n);
  await attest();
  expect(await pricing.attestPrice(deposit, 1_000_001n)).not.toBeNull();
  expect(await pricing.attestPrice(deposit, 5_000_000n)).toBeNull();
  await attest();
  expect(signed.map((order) => order.maxAmount)).toEqual([1_100_001n, 5_500_001n]);
  expect(await pricing.attestPrice(deposit, 5_000_000n)).not.toBeNull();
});

test("renews a price that is about to expire", async () => {
  const { pricing, attest, clock, signed } = openDesk();
  await pricing.attestPrice(deposit, 1n);
  await attest();
  clock.advance(49_000);
  expect(await pricing.attestPrice(deposit, 1n)).not.toBeNull();
  clock.advance(1_000);
  expect(await pricing.attestPrice(deposit, 1n)).toBeNull();
  await attest();
  expect(signed).toHaveLength(2);
  expect(await pricing.attestPrice(deposit, 1n)).not.toBeNull();
});

test("repeats the request later when the attestor has no price and refuses [T56]", async () => {
  const { pricing, attest, state, clock, signed } = openDesk();
  state.own = RATE;
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

test("gets no price for a route unknown to the attestor or of the same asset [T110]", async () => {
  const { pricing, attest, pair, signed } = openDesk();
  await pricing.attestPrice(deposit, 1n);
  await attest([{ ...pair, contract: address("dd") }]);
  await expect(pricing.attestPrice(deposit, 1n)).rejects.toMatchObject({
    details: { reason: "unknown_pair" },
  });
  expect(signed).toEqual([]);
});

test("keeps separate prices for two routes of one wallet, requested at the same time", async () => {
  const { pricing, pricingFor, attest, pair, signed } = openDesk();
  const other = pricingFor(address("dd"));
  const ask = () => Promise.all([pricing.attestPrice(deposit, 1n), other.attestPrice(deposit, 1n)]);
  // Both requests want the same number at first; the one that loses requests again.
  expect(await ask()).toEqual([null, null]);
  expect(await ask()).toEqual([null, null]);
  await attest([pair, { ...pair, contract: address("dd") }]);
  expect(signed.map(({ route }) => route).toSorted()).toEqual([ROUTE, address("dd")]);
  const prices = await ask();
  expect(prices.map((one) => one?.price.rate)).toEqual([RATE, RATE]);
});

test("keeps separate prices for two tokens of one wallet and route", async () => {
  const { pricing, pricingFor, attest, pair, signed, state, nowS } = openDesk();
  const native = pricingFor(ROUTE, NATIVE_TOKEN);
  const block = { number: 7n, hash: toHex32(hashOf("block")) };
  state.blockTimeS = nowS();
  const pairs = [pair, { ...pair, srcToken: NATIVE_TOKEN }];
  await pricing.attestPrice(deposit, 1n);
  await attest(pairs);
  expect(await native.findRateAt(deposit, { route: ROUTE, block })).toBeNull();
  state.rate = RATE - 9n;
  expect(await native.attestPrice(deposit, 1n)).toBeNull();
  await attest(pairs);
  expect(signed.map(({ token }) => token)).toEqual([USDC, NATIVE_TOKEN]);
  expect((await pricing.attestPrice(deposit, 1n))?.price.rate).toBe(RATE);
  expect((await native.attestPrice(deposit, 1n))?.price.rate).toBe(RATE - 9n);
  expect(await pricing.findRateAt(deposit, { route: ROUTE, block })).toBe(RATE);
});

test("sends the bounds of its own rate of now with the price", async () => {
  const { pricing, attest, state } = openDesk();
  state.own = 1_020_000n;
  state.rate = 1_000_000n;
  await pricing.attestPrice(deposit, 1n);
  await attest();
  state.own = 1_000_000n;
  expect(await pricing.attestPrice(deposit, 1n)).toMatchObject({
    price: { rate: 1_020_000n },
    bounds: { min: 980_000n, max: 1_020_000n },
  });
});

test("does not use a signed rate from which its own has moved too far", async () => {
  const { pricing, attest, state, refused } = openDesk();
  state.own = 1_000_000n;
  state.rate = 1_000_000n;
  await pricing.attestPrice(deposit, 1n);
  await attest();
  state.own = 2_000_000n;
  await expect(pricing.attestPrice(deposit, 1n)).rejects.toMatchObject({
    details: { reason: "rates_differ" },
  });
  expect(refused).toEqual([{ chainId: 2, token: USDC, requested: 1_000_000n, own: 2_000_000n }]);
});

test.each([
  ["far above", 1_000_000_000n],
  ["just above", 1_020_001n],
  ["just below", 979_999n],
  ["far below", 1n],
])("is not signed by an attestor when it is %s the attestor's own [T110]", async (_, own) => {
  const { pricing, attest, signed, refused, state, clock } = openDesk();
  state.own = own;
  state.rate = 1_000_000n;
  await pricing.attestPrice(deposit, 1n);
  await attest();
  await expect(pricing.attestPrice(deposit, 1n)).rejects.toMatchObject({
    code: "PRICE_UNAVAILABLE",
    details: { reason: "rates_differ" },
  });
  expect(signed).toEqual([]);
  expect(refused).toEqual([{ chainId: 2, token: USDC, requested: own, own }]);
  clock.advance(75_000);
  state.own = 1_000_000n;
  expect(await pricing.attestPrice(deposit, 1n)).toBeNull();
  await attest();
  expect(await pricing.attestPrice(deposit, 1n)).not.toBeNull();
});

test("requests and uses no price without a rate of its own", async () => {
  const { pricing, attest, state } = openDesk();
  await pricing.attestPrice(deposit, 1n);
  await attest();
  state.rate = null;
  await expect(pricing.attestPrice(deposit, 1n)).rejects.toMatchObject({
    code: "PRICE_UNAVAILABLE",
  });
});

test("uses the lowest rate signed for the block of a sweep", async () => {
  const { pricing, attest, state, clock, nowS } = openDesk();
  const block = { number: 7n, hash: toHex32(hashOf("block")) };
  const rateIn = (timeS: bigint, route = ROUTE) => {
    state.blockTimeS = timeS;
    return pricing.findRateAt(deposit, { route, block });
  };
  const begin = nowS();
  await pricing.attestPrice(deposit, 1n);
  expect(await rateIn(begin)).toBeNull();
  await attest();
  clock.advance(75_000);
  state.rate = RATE - 9n;
  await pricing.attestPrice(deposit, 1n);
  await attest();
  // The first price is valid until 80 s after the start, the second until 155 s; each for at most 120 s.
  expect(await rateIn(begin)).toBe(RATE);
  expect(await rateIn(begin + 34n)).toBe(RATE);
  expect(await rateIn(begin + 35n)).toBe(RATE - 9n);
  expect(await rateIn(begin + 155n)).toBe(RATE - 9n);
  expect(await rateIn(begin + 156n)).toBeNull();
  expect(await rateIn(begin, address("dd"))).toBeNull();
});
