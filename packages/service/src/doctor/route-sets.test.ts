import { expect, test } from "vitest";
import { CHAIN, createDoctorDeps } from "../../test/support/doctor-doubles.ts";
import { toEvmAddress, toHex32 } from "../core/hex.ts";
import type { DoctorDeps } from "./facts.ts";
import { checkRouteSets } from "./route-sets.ts";

const ROUTE = toEvmAddress(`0x${"a1".repeat(20)}`);
const GONE = toEvmAddress(`0x${"a2".repeat(20)}`);
const root = toHex32(`0x${"7".repeat(64)}`);
const THERE = { ...CHAIN, chainId: 30, name: "base", evmChainId: 900_030 };
const here = { chainId: 2, evmChainId: CHAIN.evmChainId, route: ROUTE };
const there = { chainId: 30, evmChainId: THERE.evmChainId, route: ROUTE };

/** Runs the check over sets of routes; `ROUTE` is configured on both chains and listed where named. */
function judge(sets: readonly (readonly (typeof here)[])[], listedOn: readonly number[] = [2, 30]) {
  const deps = createDoctorDeps({ config: { chains: [CHAIN, THERE] } });
  // CAST: the check reads only these fields of a route.
  const routes = [2, 30].map((chainId) => ({ chainId, contract: ROUTE })) as never;
  // CAST: the check asks the first node only whether a route is listed.
  const nodesOf = ((chainId: number) => ({
    service: { isRoute: async () => listedOn.includes(chainId) },
  })) as unknown as DoctorDeps["nodesOf"];
  return checkRouteSets(
    {
      ...deps,
      config: { ...deps.config, routes },
      nodesOf,
      listRouteSets: async () => sets.map((routeSet) => ({ root, routeSet, addresses: 12 })),
    },
    [],
  ).run();
}

test("passes without addresses that commit to routes", async () => {
  expect(await judge([])).toMatchObject({ status: "ok" });
});

test("passes when each set has a listed and configured route on every chain", async () => {
  expect(await judge([[here, there]])).toMatchObject({ status: "ok", found: "1 sets" });
});

test("names the chains that a set does not cover", async () => {
  expect(await judge([[here, there], [here]])).toMatchObject({
    status: "warning",
    found: `1 of 2 sets: ${root} (12 addresses) has no route on chain 30 (base)`,
  });
});

test.each<[string, (typeof here)[], number[]]>([
  ["is listed", [here, there], []],
  ["is configured", [{ ...here, route: GONE }], [2, 30]],
])("is a problem when no route of a set %s: only refunds remain", async (_, set, listedOn) => {
  expect(await judge([set], listedOn)).toMatchObject({
    status: "problem",
    found: `1 of 1 sets: ${root} (12 addresses) has no route on any chain`,
    advice: expect.stringContaining("can only be refunded"),
  });
});
