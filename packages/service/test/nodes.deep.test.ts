/**
 * Three real nodes per chain with a quorum of two, which lag, lie, hang, die and come back: each deposit is delivered
 * exactly once, and without a quorum nothing is decided and nothing is lost.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Deposit,
  deposit,
  expectDelivered,
  expectEmptyEscrow,
  USDC,
} from "./support/deposits.ts";
import { expectUnbroken } from "./support/history.ts";
import { type Mood, NODE_SECRET, startFaultyNode, type FaultyNode } from "./support/faulty-node.ts";
import { beginDrill } from "./support/drill.ts";
import { openWorld, type World } from "./support/world.ts";

const PROGRAM = join(import.meta.dirname, "../bin/sluice.js");

let world: World;
/** The nodes of each chain, in the order of `rpcUrls`. */
const nodes = { ethereum: [] as FaultyNode[], base: [] as FaultyNode[] };

beforeAll(async () => {
  world = await openWorld({
    // The final block is four behind the head, which leaves time between a lock and its delivery.
    slotsInAnEpoch: 2,
    async nodesOf(chain, rpcUrl) {
      for (let at = 0; at < 3; at++) nodes[chain].push(await startFaultyNode(rpcUrl));
      return nodes[chain].map((node) => node.rpcUrl);
    },
  });
});
afterAll(async () => {
  await world.close();
  for (const node of [...nodes.ethereum, ...nodes.base]) node.close();
});

const AMOUNT = 9n * USDC;
/** Long enough for many polls of every loop. */
const STANDSTILL_MS = 4_000;

/** Total delivered by the end. */
const deposits: Deposit[] = [];

async function pay(): Promise<Deposit> {
  const made = await deposit(world, AMOUNT);
  deposits.push(made);
  return made;
}

/** Sets the behaviour of the nodes of both chains, in order. */
function setMoods(...moods: readonly [Mood, Mood, Mood]): void {
  for (const chain of [nodes.ethereum, nodes.base]) {
    for (const [at, node] of chain.entries()) node.mood = moods[at] ?? "honest";
  }
}

async function expectDeliveredOnce(made: Deposit): Promise<void> {
  const swap = await expectDelivered(world, made);
  expect(swap.amount).toBe(String(AMOUNT));
  await expectUnbroken(world, swap.id);
  expect(await world.swapsOf(made.address)).toHaveLength(1);
}

test("delivers once while one node of three lags, lies, hangs or is dead [T47, T48, T49]", async () => {
  for (const mood of ["behind", "inflating", "hiding", "hung", "dead"] as const) {
    // Each node takes each position once, the first included.
    for (const chain of [nodes.ethereum, nodes.base]) chain.push(...chain.splice(0, 1));
    setMoods("honest", "honest", mood);
    const recovered = beginDrill(`a node is ${mood}`);
    await expectDeliveredOnce(await pay());
    recovered();
  }
  setMoods("honest", "honest", "honest");
});

test("delivers while a node dies during a settlement and returns during the next [T49]", async () => {
  const first = await pay();
  await world.deposits(first.address, 1);
  setMoods("dead", "honest", "honest");
  await expectDeliveredOnce(first);
  const second = await pay();
  await world.deposits(second.address, 1);
  setMoods("honest", "honest", "honest");
  await expectDeliveredOnce(second);
});

test("waits while one node lags and another lies, and delivers everything after [T48]", async () => {
  setMoods("honest", "behind", "inflating");
  const one = await pay();
  await delay(STANDSTILL_MS);
  setMoods("honest", "behind", "hiding");
  const two = await pay();
  await delay(STANDSTILL_MS);
  setMoods("honest", "honest", "hiding");
  await expectDeliveredOnce(one);
  await expectDeliveredOnce(two);
});

test("with two nodes of three down nothing moves and nothing is lost [T49, D5]", async () => {
  for (const third of ["honest", "inflating"] as const) {
    setMoods(third, "dead", "hung");
    const waiting = await pay();
    const before = await world.allEvents();
    await delay(STANDSTILL_MS);
    // The third node is queried all the time, and decides nothing alone.
    expect(nodes.ethereum[0]?.takeAnswered()).toBeGreaterThan(0);
    expect(await world.allEvents()).toEqual(before);
    expect(await world.swapsOf(waiting.address)).toEqual([]);
    expect(await world.balance("ethereum", waiting.address)).toBe(AMOUNT);
    setMoods("honest", "honest", "dead");
    await expectDeliveredOnce(waiting);
  }
});

test("with two nodes down between lock and delivery, pays from inventory only after they return [T49]", async () => {
  setMoods("honest", "honest", "honest");
  const waiting = await pay();
  await world.until("it is locked", async () => {
    return (await world.balance("ethereum", waiting.address)) === 0n;
  });
  setMoods("dead", "hung", "inflating");
  const inventory = await world.inventory("base");
  await delay(STANDSTILL_MS);
  expect(await world.inventory("base")).toBe(inventory);
  expect(await world.balance("base", waiting.recipient)).toBe(0n);
  setMoods("honest", "honest", "inflating");
  await expectDeliveredOnce(waiting);
});

test("finally every lock is claimed and every base unit accounted for", async () => {
  setMoods("honest", "honest", "honest");
  await expectEmptyEscrow(world);
  expect(await world.treasuryBalance("ethereum")).toBe(AMOUNT * BigInt(deposits.length));
  for (const { recipient } of deposits) {
    expect(await world.countDeliveries("base", recipient)).toBe(1);
  }
});

test("the log names lying and silent nodes by position, without URLs", () => {
  const log = world.readLog();
  expect(log).not.toContain(NODE_SECRET);
  const lines = log.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  for (const msg of ["a node answers otherwise than the others", "a node gave no answer"]) {
    expect(lines).toContainEqual(
      expect.objectContaining({ msg, chainId: 2, node: expect.any(Number) }),
    );
  }
  const disagreed = lines.filter(({ err }) => err?.details?.reason === "nodes disagree");
  expect(disagreed.length).toBeGreaterThan(0);
});

/** Returns the doctor's findings, also where it exits with 1 because of a problem. */
async function diagnose(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const stdout = await new Promise<string>((resolve) => {
    const args = [PROGRAM, "doctor", "--config", world.configPath, "--json"];
    execFile(process.execPath, args, { timeout: 60_000 }, (_error, printed) => resolve(printed));
  });
  return JSON.parse(stdout).checks;
}

test("the doctor reports each node, and the dead one as a problem", async () => {
  setMoods("honest", "dead", "honest");
  const checks = await diagnose();
  const answers = checks.filter(({ id, subject }) => {
    return id === "node.answers" && subject === "chain 2 (ethereum)";
  });
  expect(new Set(answers.map(({ item }) => item))).toEqual(
    new Set(["rpcUrls[0]", "rpcUrls[1]", "rpcUrls[2]"]),
  );
  expect(answers.filter(({ status }) => status === "problem")).toHaveLength(1);
  expect(JSON.stringify(checks)).not.toContain(NODE_SECRET);
});
