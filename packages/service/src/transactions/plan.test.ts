/** The choice of a lane for a call. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStrictChain } from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { planCall } from "./plan.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const accountOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const [CLAIM, SETTLE] = [accountOf("c1"), accountOf("5e")];

/** Plans a claim where the given lanes cannot send it, for the given reason; adds the lanes that were tried. */
async function plan(failing: Readonly<Record<EvmAddress, "gas" | "NotRelayer" | "IsPaused">>) {
  const tried: EvmAddress[] = [];
  const chain = createStrictChain({
    chainId: 2,
    async simulate(from) {
      const lane = toEvmAddress(from);
      tried.push(lane);
      const reason = failing[lane];
      if (reason === undefined) return { ok: true, gas: 7n };
      if (reason !== "gas") return { ok: false, reason };
      throw new OperatingError("INSUFFICIENT_BALANCE", "no gas");
    },
    coin: { token: NATIVE_TOKEN, decimals: 18 },
    getBalance: async () => 3n,
  });
  const call = { to: accountOf("e5"), data: "0x", value: 0n } as const;
  const lanes = { lanes: [CLAIM], spare: [SETTLE] };
  const result = await planCall(
    { db: database.db, chain },
    { ...lanes, call, what: "The claim" },
  ).then(
    ({ lane }) => lane,
    (error: unknown) => error,
  );
  return { tried, result };
}

test("a call goes to a lane of its purpose, and asks no other [T265]", async () => {
  expect(await plan({})).toEqual({ tried: [CLAIM], result: CLAIM });
});

test.each(["gas", "NotRelayer"] as const)(
  "a spare lane sends the call if none of its purpose can: %s [T265]",
  async (reason) => {
    expect(await plan({ [CLAIM]: reason })).toEqual({ tried: [CLAIM, SETTLE], result: SETTLE });
  },
);

test("a revert that concerns every sender tries no other lane", async () => {
  const { tried, result } = await plan({ [CLAIM]: "IsPaused" });
  expect(tried).toEqual([CLAIM]);
  expect(result).toMatchObject({ code: "NO_ROUTE", details: { reason: "IsPaused" } });
});

test("a lane that the contracts do not list is named if no other can pay", async () => {
  const { result } = await plan({ [CLAIM]: "NotRelayer", [SETTLE]: "gas" });
  expect(result).toMatchObject({ code: "NO_ROUTE", details: { reason: "NotRelayer" } });
});
