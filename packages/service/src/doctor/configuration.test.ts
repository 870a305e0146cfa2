import { describe, expect, test } from "vitest";
import {
  CHAIN,
  COLD_ATTESTOR,
  createDoctorDeps,
  LANES,
  USDC,
} from "../../test/support/doctor-doubles.ts";
import type { ChainConfig, Config, RouteConfig } from "../config/index.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import { checkConfiguration } from "./configuration.ts";
import { runChecks } from "./run.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const STAY: RouteConfig = configuredRoute({
  kind: "MONO_CHAIN",
  chainId: 2,
  token: USDC,
  contract: toEvmAddress(`0x${"7".repeat(40)}`),
});

async function examine(given: Parameters<typeof createDoctorDeps>[0]) {
  const results = await runChecks([checkConfiguration(createDoctorDeps(given))]);
  return results.filter(({ status }) => status === "problem" || status === "warning");
}

/** Returns the chain with another minimum for its token. */
function withMinimum(minDepositUnits: string | undefined, minDeposit: bigint | undefined) {
  const chain: ChainConfig = {
    ...CHAIN,
    tokens: CHAIN.tokens.map((token) => ({ ...token, minDeposit, minDepositUnits })),
  };
  return { chain, config: { routes: [STAY] } };
}

describe("the configuration", () => {
  test("has no findings when it is correct", async () => {
    expect(await examine({ config: { routes: [STAY] } })).toEqual([]);
  });

  test("is a problem when two lanes, or a lane and the attestor, share a key", async () => {
    const one = { ...LANES, settle: LANES.deploy };
    expect(await examine({ lanes: one })).toMatchObject([
      { id: "keys.distinct", status: "problem", found: "deploy and settle of chain 2" },
    ]);
    const { attestor } = createDoctorDeps({});
    expect(await examine({ lanes: { ...LANES, deliver: attestor } })).toMatchObject([
      { id: "keys.distinct", found: "deliver and attestor of chain 2" },
    ]);
  });

  test("is a warning where deposits are locked and no lane only claims [T265]", async () => {
    const locked = configuredRoute({
      kind: "SWIFT",
      chainId: 2,
      token: USDC,
      destChain: 2,
      destToken: USDC,
      contract: toEvmAddress(`0x${"8".repeat(40)}`),
      priced: false,
    });
    const find = async (given: Parameters<typeof createDoctorDeps>[0]) =>
      (await examine(given)).filter(({ id }) => id === "lanes.claim");
    const { claim: _, ...others } = LANES;
    expect(await find({ config: { routes: [locked] }, lanes: others })).toMatchObject([
      { status: "warning", found: "0 lane(s)" },
    ]);
    expect(await find({ config: { routes: [locked] } })).toEqual([]);
    expect(await find({ config: { routes: [STAY] }, lanes: others })).toEqual([]);
  });

  test("is a problem where inventory pays and no attestor can be lost [T162]", async () => {
    const paid = configuredRoute({
      kind: "SWIFT",
      chainId: 2,
      token: USDC,
      destChain: 2,
      destToken: USDC,
      contract: toEvmAddress(`0x${"8".repeat(40)}`),
      priced: false,
    });
    const none = { threshold: 1, accounts: [], cold: [], databaseUsers: [] };
    const found = async (attestors: Config["attestors"], routes: readonly RouteConfig[] = [paid]) =>
      (await examine({ config: { routes, attestors } })).filter(
        ({ id }) => id === "attestors.spare",
      );
    expect(await found(none)).toMatchObject([
      { status: "problem", found: "1 attestor(s), of which 1 must sign" },
    ]);
    const { attestor } = createDoctorDeps({});
    expect(await found({ ...none, cold: [toEvmAddress(attestor)] })).toHaveLength(1);
    expect(await found({ ...none, cold: [COLD_ATTESTOR] })).toEqual([]);
    const both = { ...none, accounts: [COLD_ATTESTOR], threshold: 2 };
    expect(await found(both)).toMatchObject([{ found: "2 attestor(s), of which 2 must sign" }]);
    expect(await found(none, [STAY])).toEqual([]);
  });

  test("is a warning where an attestor that is not listed would have a part of its own [T270]", async () => {
    const chain: ChainConfig = {
      ...CHAIN,
      earlyPayouts: {
        exposure: 5_000n * 10n ** 18n,
        tiers: [],
        exceptions: [],
        acceptedLosses: [],
      },
    };
    const found = async (threshold: number, accounts: readonly EvmAddress[]) =>
      (
        await examine({
          chain,
          config: {
            routes: [STAY],
            attestors: { threshold, accounts, cold: [], databaseUsers: [] },
          },
        })
      ).filter(({ id }) => id === "early.exposure");
    const others = ["5", "6"].map((digit) => toEvmAddress(`0x${digit.repeat(40)}`));
    const { attestor } = createDoctorDeps({});
    expect(await found(1, [])).toEqual([]);
    expect(await found(1, [...others, toEvmAddress(attestor)])).toEqual([]);
    expect(await found(1, others)).toMatchObject([
      {
        status: "warning",
        found:
          "each attestor signs at most $5000 before finality: thieves of the settler and of all signatures but one could have $15000 paid",
        expected: "at most $10000, the exposure",
      },
    ]);
  });

  test("is a problem when others can read a secret file, with the chmod to run", async () => {
    const secretFiles = [
      { setting: "attestor.key", path: "/keys/attestor", isOpenToOthers: true },
      { setting: "apiKeyPepper", path: "/keys/pepper", isOpenToOthers: false },
    ];
    expect(await examine({ secretFiles })).toMatchObject([
      {
        id: "config.secret-files",
        status: "problem",
        found: "other users can access the files of attestor.key",
        advice: "Run chmod 600 /keys/attestor",
      },
    ]);
  });

  test("is a problem when the fee is above the cap", async () => {
    expect(await examine({ config: { feeBps: 51 } })).toMatchObject([
      { id: "terms.fee", status: "problem", found: "feeBps 51" },
    ]);
  });

  test("is a warning without a minimum", async () => {
    expect(await examine(withMinimum(undefined, undefined))).toMatchObject([
      { id: "terms.minimum", item: "MONO_CHAIN USDC of chain 2", status: "warning" },
    ]);
  });

  test("is a problem when the minimum leaves no payout or no fee", async () => {
    expect(await examine(withMinimum("0.000001", 1n))).toMatchObject([
      { id: "terms.minimum", status: "problem" },
    ]);
    // 10 basis points of 999 base units are less than one.
    expect(await examine(withMinimum("0.000999", 999n))).toMatchObject([
      {
        id: "terms.minimum",
        status: "problem",
        found: "minDeposit 0.000999 pays at least 995 and a fee of 0 base units",
      },
    ]);
    expect(await examine(withMinimum("0.001", 1_000n))).toEqual([]);
  });
});
