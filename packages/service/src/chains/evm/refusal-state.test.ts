/** The states of a real factory that refuse settlements. */
import type { Account } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { openWorld, RECIPIENT, type World } from "../../../test/evm/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

test("a sealed factory refuses accounts and contracts that it does not list [T235]", async () => {
  const { wallets, lane, transferRoute } = { ...world, wallets: world.here.wallets };
  const refused = (refusal: Parameters<typeof wallets.isRefused>[0]) => wallets.isRefused(refusal);
  expect(await refused({ reason: "NotSealed" })).toBe(false);
  expect(await refused({ reason: "TooFewAttestors" })).toBe(false);
  expect(await refused({ reason: "NotRelayer", relayer: lane.address })).toBe(false);
  expect(await refused({ reason: "NotRelayer", relayer: RECIPIENT })).toBe(true);
  expect(await refused({ reason: "NotRoute", route: transferRoute })).toBe(false);
  expect(await refused({ reason: "NotRoute", route: RECIPIENT })).toBe(true);
});

test("a factory refuses settlements while it is paused [T235]", async () => {
  const { wallets } = world.here;
  const address = world.contractsHere.factory;
  const change = async (functionName: "pause" | "unpause", account: Account) => {
    const call = { address, abi: depositFactoryAbi, functionName, account } as const;
    await world.mined(await world.wallet.writeContract(call));
  };
  expect(await wallets.isRefused({ reason: "IsPaused" })).toBe(false);
  await change("pause", world.guardian);
  expect(await wallets.isRefused({ reason: "IsPaused" })).toBe(true);
  await change("unpause", world.wallet.account);
  expect(await wallets.isRefused({ reason: "IsPaused" })).toBe(false);
});
