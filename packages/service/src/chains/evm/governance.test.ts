/** Changes of owner and guardian on a real node, read from the events of the real contracts. */
import { deliveryAbi, depositFactoryAbi } from "@sluice/contracts/abi";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWorld, type World } from "../../../test/evm/world.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../../core/hex.ts";
import type { GovernanceChange } from "../port/index.ts";
import { buildWithdrawal } from "./governance.ts";

const NEWCOMER = toEvmAddress(`0x${"e0".repeat(20)}`);
const roleOf = (name: string) => keccak256(toHex(`sluice.role.${name}`));

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

async function readAll(): Promise<readonly GovernanceChange[]> {
  const { governance } = world.there;
  const { number: to } = await world.there.getHead();
  return governance?.listChanges({ from: 0n, to, routes: [] }) ?? [];
}

/** Calls the factory as its owner. */
async function own(
  functionName: "schedule" | "execute" | "cancel" | "remove",
  args: readonly [`0x${string}`, `0x${string}`],
) {
  const address = toEvmAddress(world.there.addresses.walletRoot);
  await world.mined(
    await world.wallet.writeContract({ address, abi: depositFactoryAbi, functionName, args }),
  );
}

/** The changes without their places, newest last. */
const told = (changes: readonly GovernanceChange[]) =>
  changes.map(({ role, subject, step }) => `${role} ${subject} ${step}`);

describe("the changes of the contracts", () => {
  test("of their deployment are marked as such, and no change is", async () => {
    const changes = await readAll();
    expect(changes.length).toBeGreaterThan(5);
    expect(changes.filter(({ atDeployment }) => !atDeployment)).toEqual([]);
    expect(new Set(changes.map(({ role }) => role))).toEqual(
      new Set(["guardian", "treasury", "route", "relayer", "attestor", "settler", "daily_cap"]),
    );
  });

  test("by schedule, cancel, execute and remove are listed in order [T250]", async () => {
    const before = (await readAll()).length;
    await own("schedule", [roleOf("attestor"), NEWCOMER]);
    await own("cancel", [roleOf("attestor"), NEWCOMER]);
    await own("schedule", [roleOf("attestor"), NEWCOMER]);
    await own("execute", [roleOf("attestor"), NEWCOMER]);
    await own("remove", [roleOf("attestor"), NEWCOMER]);
    const changes = (await readAll()).slice(before);
    expect(told(changes)).toEqual(
      ["scheduled", "cancelled", "scheduled", "in_force", "removed"].map(
        (step) => `attestor ${NEWCOMER} ${step}`,
      ),
    );
    expect(changes.filter(({ atDeployment }) => atDeployment)).toEqual([]);
    const [scheduled] = changes;
    if (!scheduled) throw new Error("nothing was listed");
    const { timestamp } = await world.client.getBlock({ blockNumber: scheduled.blockNumber });
    // The delay of the test's contracts is zero.
    expect(scheduled.readyAt).toBe(timestamp);
    expect(await world.there.governance?.getDelay()).toBe(0n);
  });

  test("of relayers, daily caps, the owner and the pause are listed too [T250]", async () => {
    const before = (await readAll()).length;
    const factory = toEvmAddress(world.there.addresses.walletRoot);
    const delivery = toEvmAddress(world.there.addresses.delivery);
    const token = world.usdcThere;
    const { wallet, mined } = world;
    const atFactory = { address: factory, abi: depositFactoryAbi } as const;
    const atDelivery = { address: delivery, abi: deliveryAbi } as const;
    await mined(
      await wallet.writeContract({
        ...atFactory,
        functionName: "setRelayer",
        args: [NEWCOMER, true],
      }),
    );
    await mined(
      await wallet.writeContract({
        ...atFactory,
        functionName: "transferOwnership",
        args: [NEWCOMER],
      }),
    );
    await mined(
      await wallet.writeContract({
        ...atDelivery,
        functionName: "scheduleCapRaise",
        args: [token, 2n * 10n ** 30n],
      }),
    );
    const changes = (await readAll()).slice(before);
    expect(told(changes)).toEqual([
      `relayer ${NEWCOMER} in_force`,
      `owner ${NEWCOMER} scheduled`,
      `daily_cap ${token} scheduled`,
    ]);
    expect(changes.at(-1)).toMatchObject({ contract: delivery, perDay: 2n * 10n ** 30n });
  });
});

describe("a withdrawal", () => {
  test("of each change ends it on the contract [T251]", async () => {
    await own("schedule", [roleOf("treasury"), NEWCOMER]);
    const before = await readAll();
    const open = before.filter(({ role, step, atDeployment }) => {
      if (atDeployment) return false;
      if (step === "scheduled") return ["treasury", "owner", "daily_cap"].includes(role);
      return role === "relayer" && step === "in_force";
    });
    expect(open.length).toBe(4);
    for (const change of open) {
      const withdrawal = buildWithdrawal(change);
      if (!withdrawal) throw new Error(`nothing withdraws ${change.role}`);
      await world.mined(await world.wallet.sendTransaction(withdrawal.call));
    }
    expect(told((await readAll()).slice(before.length)).toSorted()).toEqual([
      `daily_cap ${world.usdcThere} cancelled`,
      `owner ${NATIVE_TOKEN} cancelled`,
      `relayer ${NEWCOMER} removed`,
      `treasury ${NEWCOMER} cancelled`,
    ]);
  });

  test("of a cancelled change or of a single holder does not exist", () => {
    const contract = NEWCOMER;
    const of = { contract, subject: NEWCOMER, token: null };
    expect(buildWithdrawal({ ...of, role: "attestor", step: "cancelled" })).toBeNull();
    expect(buildWithdrawal({ ...of, role: "treasury", step: "in_force" })).toBeNull();
  });
});
