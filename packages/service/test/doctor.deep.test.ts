/** `sluice doctor` on real nodes, the real contracts and a real database with one thing broken at a time. */
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ConfigFile,
  type DoctorWorld,
  type Finding,
  openDoctorWorld,
} from "./support/doctor-world.ts";

const ETHEREUM = "chain 2 (ethereum)";
const BASE = "chain 30 (base)";

let world: DoctorWorld;

beforeAll(async () => {
  world = await openDoctorWorld();
  await world.migrate();
});
afterAll(async () => {
  await world.close();
});

describe("sluice doctor", () => {
  test("reports wrong decimals, and the route deployed with other decimals [T118]", async () => {
    const { code, problems } = await world.diagnose((file) =>
      Object.assign(tokenOf(file, 2), { decimals: 8 }),
    );
    expect(code).toBe(1);
    expect(new Set(problems.map(({ id }) => id))).toEqual(
      new Set(["token.decimals", "route.terms"]),
    );
    expect(problems.filter(({ id }) => id === "token.decimals")).toMatchObject([
      { subject: ETHEREUM, item: "USDC", found: "decimals 6", expected: "decimals 8" },
    ]);
    expect(problems).toContainEqual(
      expect.objectContaining({
        subject: ETHEREUM,
        item: "SWIFT USDC of chain 2 to USDC of chain 30",
        found: "sourceDecimals 6",
        expected: "sourceDecimals 8",
      }),
    );
    expect(problems).toContainEqual(
      expect.objectContaining({
        subject: BASE,
        item: "SWIFT USDC of chain 30 to USDC of chain 2",
        found: "destDecimals 6",
        expected: "destDecimals 8",
      }),
    );
  });

  test("warns of a token with another symbol", async () => {
    const { code, checks } = await world.diagnose((file) =>
      Object.assign(tokenOf(file, 2), { symbol: "USDT" }),
    );
    expect(code).toBe(0);
    expect(checks.filter(({ id }) => id === "token.symbol")).toMatchObject([
      { status: "warning", item: "USDT", found: '"USDC"', expected: '"USDT"' },
      { status: "ok", item: "USDC" },
    ]);
  });

  test("reports a token without code", async () => {
    const nowhere = `0x${"12".repeat(20)}`;
    const { code, problems, checks } = await world.diagnose((file) => {
      const known = tokenOf(file, 30).address;
      const replaced = JSON.parse(JSON.stringify(file).replaceAll(known, nowhere));
      Object.assign(file, replaced);
    });
    expect(code).toBe(1);
    expect(new Set(problems.map(({ id }) => id))).toEqual(
      new Set(["route.terms", "delivery.cap", "token.code"]),
    );
    expect(problems.filter(({ id }) => id !== "route.terms")).toMatchObject([
      { id: "delivery.cap", item: "USDC", found: "0 base units in 24 hours" },
      { id: "token.code", item: "USDC", subject: BASE, found: `no code at ${nowhere}` },
    ]);
    expect(statusOf(checks, { id: "token.decimals", subject: BASE, item: "USDC" })).toBe("skipped");
  });

  test("reports another EVM chain id once per node, and skips the chain's other checks", async () => {
    const { code, problems, checks } = await world.diagnose((file) =>
      Object.assign(chainOf(file, 2), { evmChainId: 900_003 }),
    );
    expect(code).toBe(1);
    const wrong = {
      id: "node.chain-id",
      found: "evmChainId 900002",
      expected: "evmChainId 900003",
    };
    expect(problems).toMatchObject([
      { ...wrong, subject: ETHEREUM },
      { ...wrong, subject: "attestor's node of chain 2" },
    ]);
    expectOnlySkipped(checks, ["node.answers", "node.chain-id"]);
  });

  test("reports a dead node, and still checks the other chain", async () => {
    const gone = await startLiar(world.chains.ethereum.rpcUrl);
    gone.close();
    const { code, problems, checks } = await world.diagnose((file) =>
      Object.assign(chainOf(file, 2), { rpcUrl: `${gone.rpcUrl}/canary-of-a-key` }),
    );
    expect(code).toBe(1);
    expect(problems).toMatchObject([
      {
        id: "node.answers",
        subject: ETHEREUM,
        found: "The chain's node did not give a usable answer. (unreachable (ECONNREFUSED))",
        advice: "Start the node, or configure the URL of one that answers.",
      },
    ]);
    expectOnlySkipped(checks, ["node.answers"]);
    expect(JSON.stringify(checks)).not.toContain("canary");
  });

  test("reports an attestor's node with another final block", async () => {
    const liar = await startLiar(world.chains.ethereum.rpcUrl);
    try {
      const { code, problems, checks } = await world.diagnose((file) =>
        Object.assign(file.attestor.rpcUrls, { 2: liar.rpcUrl }),
      );
      expect(code).toBe(1);
      expect(problems).toMatchObject([
        // The real node behind it does not know the hash.
        { id: "node.state", subject: "attestor's node of chain 2" },
        {
          id: "node.agreement",
          subject: "attestor's node of chain 2",
          found: expect.stringMatching(/^block \d+ 0x(66){32}$/),
        },
      ]);
      const view = { id: "node.second-view", subject: "attestor's node of chain 2" };
      expect(statusOf(checks, view)).toBe("ok");
    } finally {
      liar.close();
    }
  });

  test("reports an escrow with other code", async () => {
    const { problems, checks } = await world.diagnose((file) =>
      Object.assign(chainOf(file, 2).contracts, { escrow: tokenOf(file, 2).address }),
    );
    const [code, ...routes] = problems;
    expect(code).toMatchObject({ id: "contract.code", subject: ETHEREUM, item: "escrow" });
    expect(code?.found).toMatch(/^other code at 0x/);
    expect(new Set(routes.map(({ id }) => id))).toEqual(new Set(["route.terms"]));
    expect(statusOf(checks, { id: "contract.terms", subject: ETHEREUM })).toBe("skipped");
  });

  test("warns of a paused factory", async () => {
    await world.send("base", world.keys.guardian.account, { functionName: "pause" });
    try {
      const { code, checks } = await world.diagnose();
      expect(code).toBe(0);
      const paused = checks.filter(({ id }) => id === "contract.paused");
      expect(paused.filter(({ status }) => status !== "ok")).toMatchObject([
        { status: "warning", subject: BASE, item: "factory", found: "paused" },
      ]);
    } finally {
      await world.send("base", world.keys.owner.account, { functionName: "unpause" });
    }
  });

  test("reports a relayer that the factory does not list", async () => {
    const relayer = world.keys.lanes.ethereum.settle.account.address;
    const list = (on: boolean) =>
      world.send("ethereum", world.keys.owner.account, {
        functionName: "setRelayer",
        args: [relayer, on],
      });
    await list(false);
    try {
      const { code, problems } = await world.diagnose();
      expect(code).toBe(1);
      expect(problems).toMatchObject([
        {
          id: "key.listed",
          subject: ETHEREUM,
          item: "settle",
          found: "not listed",
          expected: `${relayer} is a relayer of the factory`,
        },
      ]);
    } finally {
      await list(true);
    }
  });

  test("reports a database that does not know what a lane has done [T269]", async () => {
    const { client } = world.chains.ethereum;
    const { address } = world.keys.lanes.ethereum.deliver.account;
    const used = await client.getTransactionCount({ address });
    await client.setNonce({ address, nonce: used + 3 });
    try {
      const { code, problems } = await world.diagnose();
      expect(code).toBe(1);
      expect(problems).toMatchObject([
        {
          id: "lane.known",
          subject: ETHEREUM,
          item: "deliver",
          found: `${used + 3} transactions on the chain, none in the database`,
        },
      ]);
    } finally {
      await client.setNonce({ address, nonce: used });
    }
  });

  test("reports a lane without native coin, and warns of one with little", async () => {
    const { client } = world.chains.ethereum;
    const { deliver, settle } = world.keys.lanes.ethereum;
    const fee = (await client.getBlock()).baseFeePerGas ?? 0n;
    const tip = await client.estimateMaxPriorityFeePerGas();
    const enoughForTen = (fee * 2n + tip) * 250_000n * 10n;
    await client.setBalance({ address: deliver.account.address, value: 0n });
    await client.setBalance({ address: settle.account.address, value: enoughForTen });
    try {
      const { code, problems, checks } = await world.diagnose();
      expect(code).toBe(1);
      expect(problems).toMatchObject([
        {
          id: "lane.balance",
          subject: ETHEREUM,
          item: "deliver",
          found: "0 coins, enough for 0 transactions",
          advice: `Send native coin to ${deliver.account.address}.`,
        },
      ]);
      const little = { id: "lane.balance", subject: ETHEREUM, item: "settle" };
      expect(statusOf(checks, little)).toBe("warning");
    } finally {
      for (const { account } of [deliver, settle]) {
        await client.setBalance({ address: account.address, value: parseEther("1000") });
      }
    }
  });

  test("reports a secret file that others can read", async () => {
    const { path } = world.keys.lanes.base.deploy;
    chmodSync(path, 0o644);
    try {
      const { code, problems } = await world.diagnose();
      expect(code).toBe(1);
      expect(problems).toMatchObject([
        {
          id: "config.secret-files",
          found: "other users can access the files of chains[1].lanes.deploy",
          advice: `Run chmod 600 ${path}`,
        },
      ]);
    } finally {
      chmodSync(path, 0o600);
    }
  });

  test("reports a refund authority that is a contract on one chain only", async () => {
    const contract = world.deployment.chains.ethereum.escrow.toLowerCase();
    await world.insertIntegrator(contract);
    const { code, problems } = await world.diagnose();
    expect(code).toBe(1);
    expect(problems).toMatchObject([
      {
        id: "authority.code",
        item: "refund authorities",
        found: `${world.deployment.chains.ethereum.escrow} has no code on ${BASE}`,
      },
    ]);
  });
});

function statusOf(
  checks: readonly Finding[],
  name: Pick<Finding, "id" | "subject" | "item">,
): Finding["status"] | undefined {
  return checks.find(
    ({ id, subject, item }) =>
      id === name.id && subject === name.subject && (name.item ?? item) === item,
  )?.status;
}

/** Expects that on chain 2 only the named checks and those of the configuration were made, and all of chain 30 passed. */
function expectOnlySkipped(checks: readonly Finding[], looked: readonly string[]): void {
  const here = checks.filter(({ subject }) => subject === ETHEREUM);
  expect(here.length).toBeGreaterThan(30);
  const rest = here.filter(({ id }) => id !== "lanes.claim" && !looked.includes(id));
  expect(new Set(rest.map(({ status }) => status))).toEqual(new Set(["skipped"]));
  const there = checks.filter(({ subject }) => subject === BASE);
  expect(there).toHaveLength(here.length);
  const lookedAt = there.filter(({ found }) => found !== "the native coin has no contract");
  expect(new Set(lookedAt.map(({ status }) => status))).toEqual(new Set(["ok"]));
}

function chainOf(file: ConfigFile, chainId: number) {
  const chain = file.chains.find((known) => known.chainId === chainId);
  if (!chain) throw new Error(`chain ${chainId} is configured`);
  return chain;
}

function tokenOf(file: ConfigFile, chainId: number) {
  const [token] = chainOf(file, chainId).tokens;
  if (!token) throw new Error(`chain ${chainId} has a token`);
  return token;
}

/** Starts a node that answers truthfully, except that each block requested by height has another hash. */
async function startLiar(rpcUrl: string) {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await request.toArray();
      const text = Buffer.concat(body).toString("utf8");
      const { method, params } = JSON.parse(text);
      const truth = await fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: text,
      });
      const answer = JSON.parse(await truth.text());
      if (method === "eth_getBlockByNumber" && params[0].startsWith("0x")) {
        answer.result.hash = `0x${"66".repeat(32)}`;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return {
    rpcUrl: `http://127.0.0.1:${address.port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
