/** Many simultaneous deposits: they share batches, a stuck lane does not stop the other, and a kill loses none. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

interface ConfigFile {
  chains: { lanes: Record<string, unknown> }[];
}

let world: World;
/** Accounts of the settling lanes on the source chain; the first test that needs the second lane adds it. */
const settlers: Address[] = [];

beforeAll(async () => {
  // Longer than the service takes to plan all deposits of a test, so that a batch is certain.
  world = await openWorld({ blockMs: 1_000 });
  settlers.push(await accountOf("settle"));
});
afterAll(async () => {
  await world.close();
});

async function accountOf(purpose: string): Promise<Address> {
  const { keys } = await world.command("keys", "show", "--json");
  // CAST: the form that the command prints.
  const shown = keys as { setting: string; address: Address }[];
  const found = shown.find(({ setting }) => setting === `chains[0].lanes.${purpose}`);
  if (!found) throw new Error(`there is no lane to ${purpose}`);
  return found.address;
}

const countSent = (lane: Address) =>
  world.chains.ethereum.client.getTransactionCount({ address: lane });

/** Pays many addresses at once while the service is stopped, so that it starts with a queue. */
async function payMany(count: number, amount: bigint, crashAt?: string): Promise<Deposit[]> {
  const deposits = await Promise.all(
    Array.from({ length: count }, async () => {
      const recipient = world.newRecipient();
      const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
      return { recipient, address, amount };
    }),
  );
  await world.stopService();
  await Promise.all(deposits.map(({ address }) => world.pay("ethereum", address, amount)));
  await world.restartService(crashAt === undefined ? {} : { crashAt });
  return deposits;
}

async function expectAllDelivered(deposits: readonly Deposit[]): Promise<void> {
  for (const made of deposits) {
    await expectDelivered(world, made);
    expect(await world.balance("ethereum", made.address)).toBe(0n);
  }
  await expectEmptyEscrow(world);
}

test("delivers thirty simultaneous deposits, with some of their deployments in batches", async () => {
  const deployer = await accountOf("deploy");
  const deposits = await payMany(30, 3n * USDC);
  await expectAllDelivered(deposits);
  const sent = await countSent(deployer);
  expect(sent).toBeLessThan(30);
});

test.each(["batch.signed", "batch.sent", "batch.mined"])(
  "delivers each deposit exactly once after kill -9 at %s and a restart [T59]",
  async (point) => {
    const deposits = await payMany(12, 4n * USDC, point);
    expect(await world.serviceDeath()).toBe("SIGKILL");
    await world.restartService({});
    await expectAllDelivered(deposits);
  },
);

test("a stuck lane does not stop the other lane, and continues once it can pay", async () => {
  const [stuck] = settlers;
  if (!stuck) throw new Error("there is a lane");
  await addLane();
  const { client } = world.chains.ethereum;
  const before = await client.getBalance({ address: stuck });
  // Without gas money the node refuses the transaction, and its nonce blocks all later ones of the lane.
  await setBalance(stuck, 0n);
  const first = await payMany(4, 5n * USDC);
  await world.until("the other lane has settled", async () => {
    const done = await Promise.all(first.map(({ address }) => world.swapsOf(address)));
    return done.flat().some(({ status }) => status === "completed");
  });
  const later = await payMany(4, 5n * USDC);
  await expectAllDelivered(later);
  await setBalance(stuck, before);
  await expectAllDelivered(first);
});

async function setBalance(address: Address, balance: bigint): Promise<void> {
  await world.chains.ethereum.client.request({
    method: "anvil_setBalance",
    params: [address, `0x${balance.toString(16)}`],
    // CAST: a method of the node that the client's types do not include.
  } as never);
}

/** Adds a second relayer with the steps of an operator. */
async function addLane(): Promise<void> {
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  await world.addRelayer("ethereum", address);
  const file = join(dirname(world.configPath), "second-settler.key");
  writeFileSync(file, privateKey, { mode: 0o600 });
  const config: ConfigFile = JSON.parse(readFileSync(world.configPath, "utf8"));
  const [chain] = config.chains;
  if (!chain) throw new Error("the configuration has a chain");
  chain.lanes["settle"] = [chain.lanes["settle"], { file }];
  writeFileSync(world.configPath, JSON.stringify(config));
  await world.restartService({});
  settlers.push(address);
}
