/** The treasury contract on a real node: moves, what may move now, and its owner's changes. */
import { treasuryAbi } from "@sluice/contracts/abi";
import { treasuryBytecode } from "@sluice/contracts/bytecode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVM_CHAIN_ID, HERE, openWorld, USDC, type World } from "../../../test/evm/world.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../../core/hex.ts";
import type { ChainAtBlocks } from "../quorum.ts";
import { createEvmChain } from "./evm-chain.ts";
import { buildWithdrawal } from "./governance.ts";

const OTHER = toEvmAddress(`0x${"0e".repeat(20)}`);

let world: World;
let address: EvmAddress;
let chain: ChainAtBlocks;

beforeAll(async () => {
  world = await openWorld();
  const [owner] = await world.wallet.getAddresses();
  const args = [owner, world.guardian.address, 0n];
  address = await world.create(treasuryAbi, treasuryBytecode, args);
  const listed = { token: world.usdc, to: world.contractsHere.delivery, perDay: 100n * USDC };
  await own("seal", [[world.lane.address], [listed]]);
  await world.mint(world.usdc, address, 1_000n * USDC);
  chain = createEvmChain({
    chainId: HERE,
    evmChainId: EVM_CHAIN_ID,
    rpcUrl: world.rpcUrl,
    contracts: { ...world.contractsHere, treasury: address },
    timeoutMs: 5_000,
  });
});
afterAll(async () => {
  await world.close();
});

/** Calls the treasury as its owner. */
async function own(functionName: string, args: readonly unknown[]) {
  // CAST: the tests name the contract's methods with their arguments.
  const call = { address, abi: treasuryAbi, functionName, args } as never;
  await world.mined(await world.wallet.writeContract(call));
}

describe("a treasury", () => {
  test("says what may move now, and moves it in a listed direction only", async () => {
    const { treasury } = chain;
    if (!treasury) throw new Error("the chain has a treasury");
    const direction = { token: world.usdc, to: world.contractsHere.delivery };
    expect(await treasury.readMovable(direction)).toBe(100n * USDC);
    expect(await treasury.readMovable({ ...direction, to: OTHER })).toBe(0n);
    const amount = 30n * USDC;
    const { succeeded } = await world.execute(chain, treasury.buildMove({ ...direction, amount }));
    expect(succeeded).toBe(true);
    expect(await chain.getBalance(direction.token, direction.to)).toBe(amount);
    expect(await treasury.readMovable(direction)).toBe(70n * USDC);
    const refused = async (move: object) => {
      const call = treasury.buildMove({ ...direction, amount, ...move });
      return chain.simulate(world.lane.address, call);
    };
    expect(await refused({ to: OTHER })).toEqual({ ok: false, reason: "AboveDirectionCap" });
    expect(await refused({ amount: 71n * USDC })).toEqual({
      ok: false,
      reason: "AboveDirectionCap",
    });
    await own("setFloor", [world.usdc, 960n * USDC]);
    expect(await treasury.readMovable(direction)).toBe(10n * USDC);
    expect(await refused({ amount: 11n * USDC })).toEqual({ ok: false, reason: "BelowFloor" });
  });

  test("shows what its owner schedules and changes, with the calls that withdraw it [T311]", async () => {
    const { number: before } = await chain.getHead();
    await own("scheduleDirection", [world.usdc, OTHER, 5n]);
    await own("executeDirection", [world.usdc, OTHER]);
    await own("scheduleWithdrawal", [world.usdc, 7n]);
    await own("executeWithdrawal", [world.usdc]);
    await own("scheduleWithdrawal", [world.usdc, 8n]);
    const { number: to } = await chain.getHead();
    const range = { from: before + 1n, to, routes: [] };
    const changes = (await chain.governance.listChanges(range)).map((change) => ({
      told: `${change.role} ${change.step} ${change.perDay}`,
      change,
    }));
    expect(changes.map(({ told }) => told)).toEqual([
      "direction scheduled 5",
      "direction in_force 5",
      "withdrawal scheduled 7",
      "withdrawal in_force 7",
      "withdrawal scheduled 8",
    ]);
    expect(changes[0]?.change).toMatchObject({ subject: OTHER, token: world.usdc });
    expect(changes[2]?.change).toMatchObject({ subject: world.usdc, token: null });
    for (const at of [1, 4]) {
      const change = changes[at]?.change;
      const withdrawal = change && buildWithdrawal(change);
      if (!withdrawal) throw new Error("the change can be withdrawn");
      const { data } = withdrawal.call;
      await world.mined(await world.wallet.sendTransaction({ to: address, data }));
    }
    expect(
      await chain.governance.listChanges({ ...range, from: to + 1n, to: to + 2n }),
    ).toMatchObject([
      { role: "direction", step: "in_force", perDay: 0n },
      { role: "withdrawal", step: "cancelled" },
    ]);
  });

  test("moves nothing of what its owner announced to withdraw [T314]", async () => {
    const { treasury } = chain;
    if (!treasury) throw new Error("the chain has a treasury");
    const token = world.usdc;
    const direction = { token, to: world.contractsHere.delivery };
    const send = async ({ data }: { readonly data: `0x${string}` }) =>
      world.mined(await world.wallet.sendTransaction({ to: address, data }));
    await own("setFloor", [token, 0n]);
    const { balance } = await treasury.readStock(token);
    expect(await treasury.readMovable(direction)).toBe(70n * USDC);
    const amount = balance - 20n * USDC;
    await send(treasury.buildScheduleWithdrawal({ token, amount }));
    expect(await treasury.readStock(token)).toEqual({
      balance,
      floor: 0n,
      announced: { amount, readyAt: expect.any(BigInt) },
    });
    expect(await treasury.readMovable(direction)).toBe(20n * USDC);
    await own("setFloor", [token, 15n * USDC]);
    expect(await treasury.readMovable(direction)).toBe(5n * USDC);
    await send(treasury.buildExecuteWithdrawal(token));
    expect(await treasury.readStock(token)).toEqual({
      balance: 20n * USDC,
      floor: 15n * USDC,
      announced: null,
    });
  });

  test("says what it has of native coin", async () => {
    await world.mined(await world.wallet.sendTransaction({ to: address, value: 7n }));
    expect(await chain.treasury?.readStock(NATIVE_TOKEN)).toEqual({
      balance: 7n,
      floor: 0n,
      announced: null,
    });
  });
});
