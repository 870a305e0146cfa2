/**
 * Measures the time from a block at the node to `deposit_detected` on the integrator's socket, in a sandbox of its own: by
 * push, and by polling. The block's time is that of a notice to a socket of the benchmark; a payment's is that of its block.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pay, type Sandbox, startSandbox } from "@sluice/sandbox";
import { connectStream, createSluiceClient } from "@sluice/sdk";
import { type Address, getAddress, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { WebSocket } from "ws";

/** Payments per mode; the first ones, during which code and caches warm up, do not count. */
const PAYMENTS = 40;
const WARM_UP = 5;
const AMOUNT = 25_000_000n;
const DEADLINE_MS = 30_000;

/** Measures and prints. */
export async function benchDetection(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  // The embedded PostgreSQL runs as `nobody` where the benchmark runs as root.
  chmodSync(stateDir, 0o755);
  const ports = { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 };
  const sandbox = await startSandbox({ stateDir, ports });
  try {
    console.log(describe("push", await measure(sandbox)));
    writePolling(sandbox.configPath);
    await sandbox.restartService();
    console.log(describe("polling every 250 ms", await measure(sandbox)));
  } finally {
    await sandbox.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Removes the WebSockets from a configuration. */
function writePolling(path: string): void {
  const config = JSON.parse(readFileSync(path, "utf8"));
  for (const chain of config.chains) for (const node of chain.rpcUrls) delete node.wsUrl;
  writeFileSync(path, JSON.stringify(config));
}

/** Pays to new addresses, one after another, and returns the milliseconds until each was detected. */
async function measure({ chains, keys, deployment, descriptor, service }: Sandbox) {
  const { client, wsUrl } = chains.ethereum;
  const { token } = deployment.chains.ethereum;
  const [payer] = keys.payers.ethereum;
  const [integrator] = descriptor.integrators;
  if (!payer || !integrator) throw new Error("the sandbox has payers and integrators");
  const { apiKey } = integrator;
  const { baseUrl, quoteUrl } = service;
  const blocks = await watchBlocks(wsUrl);
  const events = await watchDeposits(baseUrl, apiKey);
  const api = createSluiceClient({ baseUrl, quoteUrl, apiKey });
  const tookMs: number[] = [];
  for (let count = 0; count < PAYMENTS; count++) {
    const { quotes } = await api.quote({
      amountIn64: AMOUNT.toString(),
      fromChain: "ethereum",
      fromToken: token,
      toChain: "base",
      toToken: deployment.chains.base.token,
      slippageBps: "auto",
      destinationAddress: privateKeyToAccount(generatePrivateKey()).address,
      payDeposit: true,
    });
    const address = quotes.find((quote) => quote.payDepositAddress !== null)?.payDepositAddress;
    if (!address) throw new Error("no quote has an address");
    const to = getAddress(address);
    const hash = await pay(client, { from: payer.account, to, token, amount: AMOUNT });
    const { blockHash } = await client.getTransactionReceipt({ hash });
    const [visibleMs, detectedMs] = await Promise.all([
      blocks.timeOf(blockHash),
      events.timeOf(to),
    ]);
    if (count >= WARM_UP) tookMs.push(detectedMs - visibleMs);
  }
  blocks.close();
  events.close();
  return tookMs;
}

/** Remembers when each key was first seen. */
function createTimes<Key>() {
  const times = new Map<Key, number>();
  const waiting = new Map<Key, (timeMs: number) => void>();
  return {
    see(key: Key): void {
      if (times.has(key)) return;
      const nowMs = performance.now();
      times.set(key, nowMs);
      waiting.get(key)?.(nowMs);
    },
    timeOf(key: Key): Promise<number> {
      const seen = times.get(key);
      if (seen !== undefined) return Promise.resolve(seen);
      return new Promise((resolve, reject) => {
        waiting.set(key, resolve);
        setTimeout(() => reject(new Error(`${String(key)} was not seen`)), DEADLINE_MS).unref();
      });
    },
  };
}

async function watchBlocks(wsUrl: string) {
  const times = createTimes<Hex>();
  const socket = new WebSocket(wsUrl);
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () =>
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'),
    );
    socket.on("message", (data) => {
      const { id, params } = JSON.parse(String(data));
      if (id === 1) resolve();
      else times.see(params.result.hash);
    });
  });
  return { ...times, close: () => socket.terminate() };
}

async function watchDeposits(baseUrl: string, apiKey: string) {
  const times = createTimes<Address>();
  const { promise: connected, resolve, reject } = Promise.withResolvers<void>();
  const stream = connectStream({
    baseUrl,
    apiKey,
    onConnected: () => resolve(),
    onEvent: ({ type, data }) => {
      if (type === "deposit_detected") times.see(getAddress(data.walletAddress));
    },
    onError: reject,
  });
  await connected;
  return { ...times, close: () => stream.close() };
}

function describe(mode: string, tookMs: readonly number[]): string {
  const sorted = tookMs.toSorted((one, other) => one - other);
  const at = (share: number) =>
    `${(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN).toFixed(0)} ms`;
  return `${mode}: p50 ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)}, of ${sorted.length} payments`;
}
