import type { QuoteRequest } from "@sluice/sdk/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createCountingRandom,
  createSponsoredFees,
  createStillClock,
  createStrictChain,
} from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { type Fees, itemise, planTerms } from "../fees/index.ts";
import { setDraining } from "../addresses/index.ts";
import { createRouteBook, type Route, type RouteKind } from "../routes/index.ts";
import { addressFormat } from "../roles/address-format.ts";
import { quote } from "./index.ts";

const USDC = toEvmAddress(`0x${"5".repeat(40)}`);
const TWIN_ONE = toEvmAddress(`0x${"1".repeat(40)}`);
const TWIN_TWO = toEvmAddress(`0x${"2".repeat(40)}`);
const PRINCIPAL = {
  integratorId: "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11",
  integratorName: "alice",
  keyId: "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c12",
  depositAddresses: true,
};
const REQUEST: QuoteRequest = {
  amountIn64: "1000000",
  fromChain: "ethereum",
  fromToken: USDC,
  toChain: "base",
  toToken: USDC,
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Creates a route with a fee in base units and a duration in seconds. */
function createRoute(given: {
  readonly kind?: RouteKind;
  readonly fee?: bigint;
  readonly etaSeconds?: number;
  readonly token?: typeof USDC;
}): Route {
  const { kind = "SWIFT", fee = 0n, etaSeconds = 30, token = USDC } = given;
  const members: Partial<Route> = {
    kind,
    pair: { srcChain: 2, srcToken: token, destChain: 30, destToken: token },
    decimalsIn: 6,
    decimalsOut: 6,
    etaSeconds,
    quote: async (amount) => ({ fair: amount, amountOut: amount - fee, minOut: amount - fee }),
  };
  // CAST: a quote uses no other member of a route.
  return members as Route;
}

async function ask(
  request: Partial<QuoteRequest>,
  routes: readonly Route[] = [createRoute({})],
  fees: Fees = createSponsoredFees(0),
  minDeposit: bigint | undefined = undefined,
) {
  const token = { decimals: 6, minDeposit };
  const chain = createStrictChain({});
  const { quotes } = await quote(
    {
      db: database.db,
      clock: createStillClock(),
      random: createCountingRandom(),
      chains: new Map([
        [2, chain],
        [30, chain],
      ]),
      routes: createRouteBook(routes),
      fees,
      tokens: [
        { ...token, chainId: 2, evmChainId: 1, address: USDC, symbol: "USDC" },
        { ...token, chainId: 30, evmChainId: 8453, address: USDC, symbol: "USDC" },
        { ...token, chainId: 2, evmChainId: 1, address: NATIVE_TOKEN, symbol: "ETHEREUM" },
        { ...token, chainId: 2, evmChainId: 1, address: TWIN_ONE, symbol: "Twin" },
        { ...token, chainId: 2, evmChainId: 1, address: TWIN_TWO, symbol: "TWIN" },
        { ...token, chainId: 30, evmChainId: 8453, address: NATIVE_TOKEN, symbol: "BASE" },
      ],
      evmChainIds: new Map([
        [2, 1],
        [30, 8453],
      ]),
      format: addressFormat,
      reserved: new Set(),
      caps: { maxFeeBps: 50, maxSlippageBps: 100 },
    },
    { ...REQUEST, ...request },
    PRINCIPAL,
  );
  return quotes;
}

const refusalOf = async (...args: Parameters<typeof ask>): Promise<OperatingError> => {
  try {
    await ask(...args);
  } catch (error) {
    if (error instanceof OperatingError) return error;
    throw error;
  }
  throw new Error("it was not refused");
};

describe("amounts", () => {
  const { amountIn64: _, ...rest } = REQUEST;
  const askWhole = async (amountIn: string | number) => {
    const [offer] = await ask({ ...rest, amountIn64: undefined as never, amountIn });
    return offer?.effectiveAmountIn64;
  };

  test.each([
    [1.5, "1500000"],
    ["1.5", "1500000"],
    [0.1 + 0.2, "300000"],
    [1.1 * 3, "3300000"],
    ["0.2999999999999999888977697537", "300000"],
    [1e-6, "1"],
    ["1e-6", "1"],
    [1e21, `1${"0".repeat(27)}`],
    ["1.5E+3", "1500000000"],
  ])("are read from amountIn: %s is %s base units", async (amountIn, units) => {
    expect(await askWhole(amountIn)).toBe(units);
  });

  test.each([0, "0.0", 1e-7, "4e-7", "1e-999", 1e300, "1e999", "1e72"])(
    "are refused as amountIn %s, with the accepted range",
    async (amountIn) => {
      const refusal = await refusalOf({ ...rest, amountIn64: undefined as never, amountIn });
      expect(refusal).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "amountIn" } });
      expect(refusal.message).toBe(
        "amountIn: expected at least 0.000001 (one base unit of USDC), below 2^256.",
      );
    },
  );

  test.each(["0", (2n ** 256n).toString(), "9".repeat(5_000), "1e18"])(
    "are refused as amountIn64 %s",
    async (amountIn64) => {
      expect(await refusalOf({ amountIn64 })).toMatchObject({ details: { field: "amountIn64" } });
    },
  );

  test("are required, and the error for a missing one names both fields", async () => {
    const refusal = await refusalOf({ ...rest, amountIn64: undefined as never });
    expect(refusal.message).toMatch(/amountIn64.*amountIn,/);
  });
});

describe("the native coin", () => {
  test.each(["native", NATIVE_TOKEN])("is accepted as %s", async (name) => {
    const routes = [createRoute({ token: NATIVE_TOKEN })];
    const [offer] = await ask({ fromToken: name, toToken: name }, routes);
    expect(offer).toMatchObject({
      fromToken: { symbol: "ETHEREUM", standard: "native" },
      toToken: { symbol: "BASE", standard: "native" },
    });
  });

  test("has no other name, and the error names the field", async () => {
    const refusal = await refusalOf({ fromToken: "NATIVE" });
    expect(refusal).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "fromToken" } });
  });
});

describe("tokens", () => {
  const native = createRoute({ token: NATIVE_TOKEN });

  test.each(["USDC", "usdc", USDC])(
    "are named by symbol in any case or by address: %s",
    async (name) => {
      const [offer] = await ask({ fromToken: name, toToken: name });
      expect([offer?.fromToken.contract, offer?.toToken.contract]).toEqual([USDC, USDC]);
    },
  );

  test("include the native coin under its symbol", async () => {
    const [offer] = await ask({ fromToken: "ethereum", toToken: "base" }, [native]);
    expect(offer?.fromToken.standard).toBe("native");
  });

  test("that share a symbol are refused with their addresses", async () => {
    const refusal = await refusalOf({ fromToken: "twin" });
    expect(refusal).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "fromToken" } });
    expect(refusal.message).toContain(`${TWIN_ONE} or ${TWIN_TWO}`);
  });

  test("with an unknown symbol are refused with the listed ones", async () => {
    const refusal = await refusalOf({ toToken: "DAI" });
    expect(refusal).toMatchObject({ code: "VALIDATION_ERROR", retryable: false });
    expect(refusal.message).toBe(
      "toToken: expected 0x and 40 hex digits, or a listed symbol of base: USDC, BASE.",
    );
  });

  test("that are not listed are said to be unlisted, whatever the amount", async () => {
    const refusal = await refusalOf({ fromToken: `0x${"3".repeat(40)}`, amountIn64: "1" });
    expect(refusal).toMatchObject({
      code: "UNSUPPORTED_ROUTE",
      retryable: false,
      details: { field: "fromToken", reason: "unlisted" },
    });
    expect(refusal.message).toContain("not a listed token of ethereum");
  });
});

describe("the minimum deposit", () => {
  const minimumOf = async (amountIn64: string, minDeposit: bigint | undefined) => {
    const [offer] = await ask({ amountIn64 }, undefined, undefined, minDeposit);
    return [offer?.minDeposit, offer?.belowMinimum];
  };

  test("is in every quote, with whether the amount is below it", async () => {
    expect(await minimumOf("1499999", 1_500_000n)).toEqual(["1.5", true]);
    expect(await minimumOf("1500000", 1_500_000n)).toEqual(["1.5", false]);
    expect(await minimumOf("1", undefined)).toEqual([undefined, false]);
  });
});

describe("route switches", () => {
  const swift = createRoute({ kind: "SWIFT" });
  const monoChain = createRoute({ kind: "MONO_CHAIN" });
  const kindsOf = async (request: Partial<QuoteRequest>) =>
    (await ask({ fullList: true, ...request }, [swift, monoChain])).map(({ type }) => type);

  test("leave out only their own kind of route when false", async () => {
    expect(await kindsOf({})).toEqual(["SWIFT", "MONO_CHAIN"]);
    expect(await kindsOf({ swift: true, monoChain: true })).toEqual(["SWIFT", "MONO_CHAIN"]);
    expect(await kindsOf({ swift: false })).toEqual(["MONO_CHAIN"]);
    expect(await kindsOf({ monoChain: "false" })).toEqual(["SWIFT"]);
    const others = { mctp: false, fastMctp: false, wormhole: false, shuttle: false } as const;
    expect(await kindsOf({ ...others, gasless: true, onlyDirect: true })).toHaveLength(2);
  });

  test("are named in the error when no route is left", async () => {
    const refusal = await refusalOf({ swift: false, monoChain: false }, [swift]);
    expect(refusal).toMatchObject({
      code: "UNSUPPORTED_ROUTE",
      retryable: false,
      details: { switchedOff: "swift" },
    });
    expect(refusal.message).toContain("switches off every route of this pair: swift");
  });
});

describe("the list of quotes", () => {
  const slow = createRoute({ etaSeconds: 90, fee: 2n });
  const best = createRoute({ etaSeconds: 60, fee: 1n });
  const fast = createRoute({ etaSeconds: 10, fee: 9n });
  const etasOf = async (routes: readonly Route[], request: Partial<QuoteRequest> = {}) =>
    (await ask(request, routes)).map(({ etaSeconds }) => etaSeconds);

  test("has the fastest and the best quote, or one if they are the same", async () => {
    expect(await etasOf([slow, best, fast])).toEqual([10, 60]);
    expect(await etasOf([slow, best])).toEqual([60]);
    expect(await etasOf([slow])).toEqual([90]);
  });

  test("has all quotes in order of preference with fullList", async () => {
    expect(await etasOf([slow, best, fast], { fullList: true })).toEqual([90, 60, 10]);
    expect(await etasOf([slow, best, fast], { fullList: "true" })).toEqual([90, 60, 10]);
  });

  test("prefers the first of equal quotes", async () => {
    const equal = [createRoute({ kind: "MONO_CHAIN" }), createRoute({ kind: "SWIFT" })];
    expect((await ask({}, equal)).map(({ type }) => type)).toEqual(["MONO_CHAIN"]);
  });
});

test.each(["1", "2", "ffff"])("refuses the reserved destination 0x…%s", async (end) => {
  const destinationAddress = `0x${end.padStart(40, "0")}`;
  expect(await refusalOf({ destinationAddress })).toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field: "destinationAddress" },
  });
});

describe("a failing route", () => {
  const failing = (code: "RPC_UNAVAILABLE" | "AMOUNT_TOO_SMALL"): Route => ({
    ...createRoute({ kind: "MONO_CHAIN" }),
    quote: async () => {
      throw new OperatingError(code, "Not now.");
    },
  });

  test("is left out when another route succeeds", async () => {
    const quotes = await ask({}, [failing("RPC_UNAVAILABLE"), createRoute({})]);
    expect(quotes.map(({ type }) => type)).toEqual(["SWIFT"]);
  });

  test("gives the error of the preferred route when all fail", async () => {
    const refusal = await refusalOf({}, [failing("AMOUNT_TOO_SMALL"), failing("RPC_UNAVAILABLE")]);
    expect(refusal.code).toBe("AMOUNT_TOO_SMALL");
  });

  test("is rethrown when its error is a bug", async () => {
    const broken: Route = {
      ...createRoute({}),
      quote: async () => {
        throw new TypeError("no such thing");
      },
    };
    await expect(ask({}, [broken, createRoute({})])).rejects.toThrow(TypeError);
  });
});

describe("fees", () => {
  /** Creates a route that pays the amount minus all fees. */
  function createCharging(given: Parameters<typeof createRoute>[0] = {}): Route {
    const route = createRoute(given);
    return {
      ...route,
      async quote(amount, { maxFeeBps }, terms) {
        const { service, gas, bridge } = itemise(amount, terms, maxFeeBps);
        return { fair: amount, amountOut: amount - service - gas - bridge, minOut: amount / 2n };
      },
    };
  }

  /** Creates fees with the given gas, plus 500 for a deployment. */
  function createFeesOf(gas: bigint): Fees {
    const sponsored = createSponsoredFees(10);
    return {
      ...sponsored,
      plan: async ({ amount, maxFeeBps, deploys }) =>
        planTerms({
          amount,
          maxFeeBps,
          serviceBps: 10,
          gas: gas + ((await deploys()) ? 500n : 0n),
          bridge: 300n,
        }),
    };
  }

  test("are itemised in base units of the source token, with deployment gas", async () => {
    // A new address has no wallet yet, so gas includes its deployment.
    const [offer] = await ask({}, [createCharging()], createFeesOf(2_500n));
    expect(offer).toMatchObject({
      fees: { service: "1000", gas: "3000", bridge: "300" },
      protocolBps: 10,
      bridgeFee: 0.0043,
      expectedAmountOutBaseUnits: "995700",
      minReceivedBaseUnits: "500000",
    });
  });

  test("contain only the service fee when gas is sponsored", async () => {
    const [offer] = await ask({}, [createCharging()], createSponsoredFees(10));
    expect(offer).toMatchObject({
      fees: { service: "1000", gas: "0", bridge: "0" },
      protocolBps: 10,
      expectedAmountOutBaseUnits: "999000",
    });
  });

  test("reduce the service fee to stay under the cap", async () => {
    const [offer] = await ask({}, [createCharging()], createFeesOf(4_000n));
    expect(offer).toMatchObject({ fees: { service: "200" }, protocolBps: 2 });
  });

  test("are refused above the cap, with the needed amount and the cap", async () => {
    const refusal = await refusalOf({}, [createCharging()], createFeesOf(4_500n));
    expect(refusal).toMatchObject({
      code: "FEE_NOT_COVERED",
      details: { needed: "5300", cap: "5000" },
    });
    const small = await refusalOf({ amountIn64: "500" }, [createCharging()], createFeesOf(0n));
    expect(small.code).toBe("AMOUNT_TOO_SMALL");
  });

  test("above the cap of one route hide neither other routes nor a bug", async () => {
    const charging = createCharging();
    const mono = createCharging({ kind: "MONO_CHAIN" });
    const fees = createFeesOf(0n);
    const only: Fees = {
      ...fees,
      plan: (request) =>
        request.route === charging
          ? Promise.reject(new OperatingError("FEE_NOT_COVERED", "It is too expensive."))
          : fees.plan(request),
    };
    const both = [charging, mono];
    expect((await ask({ fullList: true }, both, only)).map(({ type }) => type)).toEqual([
      "MONO_CHAIN",
    ]);
    const broken = { ...mono, quote: () => Promise.reject(new TypeError("a bug")) };
    await expect(ask({}, [charging, broken], only)).rejects.toThrow("a bug");
  });
});

describe("a draining chain", () => {
  test.each([
    [2, "UNSUPPORTED_ROUTE", "fromChain"],
    [30, "UNSUPPORTED_DEST", "toChain"],
  ])(
    "%s gets no quotes and no addresses, until it is open again [T177]",
    async (chainId, code, field) => {
      const record = { chainId, operator: "ann@host", reason: "no longer used" };
      await setDraining(database.db, true, record);
      expect(await refusalOf({})).toMatchObject({ code, details: { field, reason: "draining" } });
      await setDraining(database.db, false, record);
      expect(await ask({})).not.toEqual([]);
    },
  );
});
