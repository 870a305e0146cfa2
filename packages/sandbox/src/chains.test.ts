import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { type Hex, isAddress } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { locateAnvil } from "./anvil.ts";
import { type SandboxChains, startChains } from "./chains.ts";
import { removeSandbox } from "./clear-state.ts";
import { deployContracts } from "./contracts.ts";
import { assertDeployed } from "./deployment.ts";
import { SandboxError } from "./errors.ts";
import { loadKeys } from "./keys.ts";
import { findFreePort } from "./ports.ts";
import { identifyProcess, isRunning, waitForEnd } from "./processes.ts";
import { balanceOf, sendToken } from "./tokens.ts";

const ANY_PORTS = { ethereum: 0, base: 0 };

let stateDir: string;
let running: SandboxChains | undefined;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "sluice-chains-"));
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  await removeSandbox(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
});

async function start(options: Partial<Parameters<typeof startChains>[0]> = {}) {
  running = await startChains({ stateDir, ports: ANY_PORTS, mining: false, ...options });
  return running;
}

async function stop(options?: { keepNodes: boolean }) {
  await running?.stop(options);
  running = undefined;
}

const loadTestKeys = () => loadKeys(join(stateDir, "keys"));

describe("contracts", () => {
  test("the factory has the same address on both chains and all other contracts different ones", async () => {
    const chains = await start();
    const { factory, chains: deployed } = await deployContracts(chains, loadTestKeys());
    await assertDeployed(chains, { factory, chains: deployed });
    const { startBlock: _ours, ...ethereum } = deployed.ethereum;
    const { startBlock: _theirs, ...base } = deployed.base;
    const addresses = [...Object.values(ethereum), ...Object.values(base)];
    expect(addresses.filter((address) => !isAddress(address))).toEqual([]);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  test("the factory is sealed with the routes, the relayer and the attestor of its chain", async () => {
    const chains = await start();
    const keys = loadTestKeys();
    const { factory, chains: deployed } = await deployContracts(chains, keys);
    for (const { name, client } of chains.all) {
      const contract = { address: factory, abi: depositFactoryAbi } as const;
      const { transferRoute, escrowRoute } = deployed[name];
      const attestor = keys.attestor.account.address;
      const relayer = keys.lanes[name].settle.account.address;
      const results = await Promise.all([
        client.readContract({ ...contract, functionName: "isSealed" }),
        client.readContract({ ...contract, functionName: "isRoute", args: [transferRoute] }),
        client.readContract({ ...contract, functionName: "isRoute", args: [escrowRoute] }),
        client.readContract({ ...contract, functionName: "isRelayer", args: [relayer] }),
        client.readContract({ ...contract, functionName: "isAttestor", args: [attestor] }),
      ]);
      expect(results).toEqual([true, true, true, true, true]);
    }
  });

  test("payers and inventory are funded with test tokens", async () => {
    const chains = await start();
    const keys = loadTestKeys();
    const { chains: deployed } = await deployContracts(chains, keys);
    for (const { name, client } of chains.all) {
      const { token, delivery } = deployed[name];
      const owners = [delivery, ...keys.payers[name].map((payer) => payer.account.address)];
      const balances = await Promise.all(
        owners.map((owner) => balanceOf(client, { owner, token })),
      );
      expect(balances).toEqual([
        1_000_000_000_000n,
        100_000_000_000n,
        100_000_000_000n,
        100_000_000_000n,
      ]);
    }
  });

  test("are not deployed twice", async () => {
    const chains = await start();
    await deployContracts(chains, loadTestKeys());
    await expect(deployContracts(chains, loadTestKeys())).rejects.toThrow(
      "are incomplete (an earlier start was interrupted): start again with --fresh",
    );
  });
});

describe("payments", () => {
  test("of one account have consecutive nonces when sent concurrently", async () => {
    const chains = await start();
    const keys = loadTestKeys();
    const { chains: deployed } = await deployContracts(chains, keys);
    const { client } = chains.ethereum;
    const [payer, other] = keys.payers.ethereum;
    if (!payer || !other) throw new Error("expected two payers");
    const { token } = deployed.ethereum;
    const to = other.account.address;
    const payment = { from: payer.account, to, token, amount: 1n };
    await Promise.all(Array.from({ length: 5 }, () => sendToken(client, payment)));
    await chains.mine(1, "ethereum");
    expect(await balanceOf(client, { owner: to, token })).toBe(100_000_000_005n);
  });
});

describe("blocks", () => {
  test("take as much gas as the open transactions of a lane, and a small one behind them", async () => {
    const chains = await start();
    const { account } = loadTestKeys().faucet;
    const { client } = chains.ethereum;
    // Uses all of its gas in a loop.
    const to = "0x000000000000000000000000000000000000b125";
    await client.setCode({ address: to, bytecode: "0x5b600056" });
    await client.setBalance({ address: account.address, value: 10n ** 18n });
    const chainId = await client.getChainId();
    const fees = { chainId, type: "eip1559", maxFeePerGas: 10n ** 9n } as const;
    const hashes: Hex[] = [];
    for (const [nonce, gas] of [...Array<bigint>(16).fill(8_000_000n), 30_000n].entries()) {
      const call = { ...fees, to, nonce, gas } as const;
      const serializedTransaction = await account.signTransaction(call);
      hashes.push(await client.sendRawTransaction({ serializedTransaction }));
    }
    await chains.mine(1, "ethereum");
    const { transactions } = await client.getBlock();
    expect(transactions).toEqual(hashes);
  });
});

describe("restart", () => {
  test("adopts nodes that are still running", async () => {
    const first = await start();
    await first.mine(4);
    await stop({ keepNodes: true });
    const restarted = await start();
    expect(restarted.all.map(({ pid, origin }) => [pid, origin])).toEqual(
      first.all.map(({ pid }) => [pid, "adopted"]),
    );
    expect(await restarted.base.client.getBlockNumber()).toBe(4n);
  });

  test("restarts a running node on the requested port", async () => {
    const first = await start();
    await first.mine(4);
    await stop({ keepNodes: true });
    const port = await findFreePort();
    const restarted = await start({ ports: { ethereum: port, base: 0 } });
    expect(restarted.ethereum.rpcUrl).toBe(`http://127.0.0.1:${port}`);
    expect(restarted.all.map((chain) => chain.origin)).toEqual(["loaded", "adopted"]);
    expect(isRunning(identifyProcess(first.ethereum.pid))).toBe(false);
  });

  test("resumes the saved chain, whose final block stays readable", async () => {
    const first = await start();
    const deployment = await deployContracts(first, loadTestKeys());
    await first.mine(4);
    const { hash } = await first.base.client.getBlock({ blockNumber: 1n });
    await stop();
    const restarted = await start();
    await assertDeployed(restarted, deployment);
    const { client } = restarted.base;
    expect((await client.getBlock({ blockNumber: 1n })).hash).toBe(hash);
    const { factory: address } = deployment;
    expect(await client.getCode({ address, blockTag: "finalized" })).toMatch(/^0x60/);
  });

  test("rejects a chain whose node was killed before it saved its last blocks", async () => {
    const { base } = await start();
    await running?.mine(4);
    process.kill(base.pid, "SIGKILL");
    await waitForEnd(identifyProcess(base.pid), 5_000);
    await stop();
    await expect(start()).rejects.toThrow(
      "the node of base was killed and lost its last 4 blocks, so this state cannot be resumed: start again with --fresh",
    );
  });

  test("with fresh starts at block 0", async () => {
    const first = await start();
    await first.mine(4);
    await stop({ keepNodes: true });
    const restarted = await start({ fresh: true });
    expect(await restarted.base.client.getBlockNumber()).toBe(0n);
    expect(isRunning(identifyProcess(first.base.pid))).toBe(false);
  });
});

describe("start fails", () => {
  test("on a state directory in use, and names the process that holds it", async () => {
    await start();
    await expect(startChains({ stateDir, ports: ANY_PORTS })).rejects.toThrow(
      new SandboxError(
        `a sandbox is already running on ${stateDir} (process ${process.pid}): stop it, or choose another directory with --state-dir`,
      ),
    );
  });

  test("on a port in use, names its option, and leaves no node running", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("the server has no port");
    await expect(start({ ports: { ethereum: 0, base: address.port } })).rejects.toThrow(
      new SandboxError(
        `port ${address.port} (the node of base) is in use: stop the process that uses it, or choose another port with --base-port`,
      ),
    );
    server.close();
    const restarted = await start();
    expect(restarted.all.map((chain) => chain.origin)).toEqual(["new", "new"]);
  });

  test("on a directory with other files, which it does not touch", async () => {
    writeFileSync(join(stateDir, "thesis.txt"), "years of work");
    await expect(start()).rejects.toThrow("contains files that are not a sandbox's");
    rmSync(join(stateDir, "thesis.txt"));
  });

  test("without the platform package, and names it", () => {
    const resolve = (name: string): string => {
      throw Object.assign(new Error(`Cannot find ${name}`), { code: "MODULE_NOT_FOUND" });
    };
    expect(() => locateAnvil(resolve)).toThrow(
      "the package @foundry-rs/anvil-linux-amd64 is missing",
    );
  });
});
