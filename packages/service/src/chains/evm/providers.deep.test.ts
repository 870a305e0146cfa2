/** The client behind the limits and the words of each provider that the sandbox imitates. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { toEvmAddress } from "../../core/hex.ts";
import {
  PROFILE_NAMES,
  profileOf,
  type Provider,
  startProvider,
  startSyntheticChain,
  type SyntheticChain,
} from "../../../../sandbox/src/provider/index.ts";
import { systemClock, systemRandom } from "../../roles/system-ports.ts";
import { createNodeTraffic } from "../rpc/node-traffic.ts";
import type { Exchange } from "../rpc/traffic.ts";
import type { LogAnswer } from "./answers.ts";
import { createLogRange, listLogsInRange } from "./log-range.ts";
import { createRpc, type Rpc } from "./rpc.ts";

const TOKEN = toEvmAddress(`0x${"11".repeat(20)}`);
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const HEAD = 100_000n;
/** More blocks than most providers give at once, and more logs. */
const BLOCKS = 6_000n;
const FROM = HEAD - BLOCKS + 1n;

let chain: SyntheticChain;
let provider: Provider;

beforeAll(async () => {
  const shape = { transactionsPerBlock: 2, transfersPerBlock: 4, listedShare: 0.5 };
  chain = await startSyntheticChain({ head: Number(HEAD), tokens: [TOKEN], ...shape });
});
afterEach(() => provider.close());
afterAll(() => chain.close());

const PROFILES = PROFILE_NAMES.filter((name) => profileOf(name).family === "evm");

async function open(profile: (typeof PROFILES)[number], requestsPerSecond?: number) {
  provider = await startProvider({ upstream: chain.url, profile });
  const exchanges: Exchange[] = [];
  const traffic = createNodeTraffic({
    clock: systemClock,
    random: systemRandom,
    requestsPerSecond,
    observe: (exchange) => void exchanges.push(exchange),
  });
  return {
    rpc: createRpc({ chainId: 2, rpcUrl: provider.url, timeoutMs: 5_000, traffic }),
    exchanges,
  };
}

/** Reads every transfer of the token, range after range. */
async function readAll(rpc: Rpc, most = 10_000n): Promise<readonly LogAnswer[]> {
  const range = createLogRange({ first: most, most });
  const found: LogAnswer[] = [];
  for (let from = FROM; from <= HEAD;) {
    const query = { from, to: HEAD, address: [TOKEN], topics: [TRANSFER] } as const;
    const { logs, through } = await listLogsInRange(rpc, query, range);
    found.push(...logs);
    from = through + 1n;
  }
  return found;
}

const blocksOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    method: "eth_getBlockByNumber",
    params: [`0x${(FROM + BigInt(index)).toString(16)}`, false],
  }));

describe.each(PROFILES)("behind %s", (profile) => {
  test("finds every log, and remembers the range that the provider gives", async () => {
    const direct = createRpc({ chainId: 2, rpcUrl: chain.url, timeoutMs: 5_000 });
    const expected = await readAll(direct, 500n);
    expect(expected.length).toBeGreaterThan(10_000);
    const { rpc } = await open(profile);
    expect(await readAll(rpc)).toEqual(expected);
    const { refusals } = provider.stats();
    const { range, results } = profileOf(profile).words;
    expect((refusals[range] ?? 0) + (refusals[results] ?? 0)).toBeLessThanOrEqual(4);
  });

  test("reads blocks in order, within the rate of the plan", async () => {
    const { ratePerSecond } = profileOf(profile).limits;
    const { rpc, exchanges } = await open(profile, ratePerSecond ?? undefined);
    const requests = blocksOf(30);
    const answers = await rpc.batch(requests);
    const numbers = answers.map((answer) =>
      answer.ok ? Reflect.get(Object(answer.result), "number") : null,
    );
    expect(numbers).toEqual(requests.map(({ params: [number] }) => number));
    const outcomes = exchanges.flatMap((exchange) =>
      exchange.requests.map(({ outcome }) => outcome),
    );
    expect(outcomes).not.toContain("rate_limited");
    expect(outcomes).not.toContain("withheld");
  });
});

test("reads everything from a provider whose rate is not configured", async () => {
  const { rpc, exchanges } = await open("infura-like");
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      blocksOf(60).map(({ method, params }) => rpc.call(method, params)),
    );
    expect(answers.every(({ ok }) => ok)).toBe(true);
  }
  const refused = exchanges
    .flatMap(({ requests }) => requests)
    .filter(({ outcome }) => outcome === "rate_limited");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(180);
});
