/** One URL with several servers behind it, of which some lack the newest blocks. */
import { type Provider, startProvider, startSyntheticChain } from "@sluice/sandbox/provider";
import { afterEach, describe, expect, test } from "vitest";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import { systemClock, systemRandom } from "../../roles/system-ports.ts";
import { createNodeTraffic } from "../rpc/node-traffic.ts";
import { createRpc } from "./rpc.ts";
import { createTokenBalanceReader } from "./token-balances.ts";

const TOKEN = toEvmAddress(`0x${"11".repeat(20)}`);
const WALLET = toEvmAddress(`0x${"22".repeat(20)}`);
const HEAD = 500;

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

async function open() {
  const chain = await startSyntheticChain({
    head: HEAD,
    tokens: [TOKEN],
    transactionsPerBlock: 2,
    transfersPerBlock: 2,
    deposits: [{ block: HEAD, to: WALLET, token: TOKEN, amount: 7n }],
  });
  opened.push(chain);
  const provider: Provider = await startProvider({
    upstream: chain.url,
    replicas: 2,
    lagBlocks: 3,
  });
  opened.push(provider);
  const traffic = createNodeTraffic({
    clock: systemClock,
    random: systemRandom,
    observe: () => undefined,
  });
  const rpc = createRpc({ chainId: 2, rpcUrl: provider.url, timeoutMs: 5_000, traffic });
  return { rpc, newest: toHex32(chain.hashAt(HEAD)), provider };
}

describe("behind one URL, reads of the newest block", () => {
  test("find a server that has it [T145]", async () => {
    const { rpc, newest, provider } = await open();
    const read = createTokenBalanceReader(rpc);
    const holdings = [{ token: TOKEN, wallet: WALLET }];
    for (let round = 0; round < 12; round++) expect(await read(newest, holdings)).toEqual([7n]);
    // Some met a server without it.
    expect(provider.stats().requests).toBeGreaterThan(12);
  });

  test("in a batch ask only for the missing answers again [T145]", async () => {
    const { rpc, newest } = await open();
    const params = [{ blockHash: newest, address: [TOKEN] }];
    const requests = Array.from({ length: 5 }, () => ({ method: "eth_getLogs", params }));
    for (let round = 0; round < 8; round++) {
      const answers = await rpc.batch(requests);
      expect(answers.map(({ ok }) => ok)).toEqual(requests.map(() => true));
    }
  });
});
