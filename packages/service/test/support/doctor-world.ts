/** Chains, contracts and a database for the doctor to examine, with a configuration that a test can change. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import {
  type ChainName,
  deployContracts,
  loadKeys,
  startChains,
  writeServiceConfig,
} from "@sluice/sandbox";
import { createWalletClient, http, parseEther, type PrivateKeyAccount } from "viem";
import { expect } from "vitest";
import { startEmbedded } from "../../src/db/embedded.ts";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { type OpenDatabase, openDatabase } from "../../src/db/pool.ts";

/** Node's compile cache, if one is set: it halves the program's start time. */
const COMPILED = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" };
const PROGRAM = join(import.meta.dirname, "../../bin/sluice.js");

export interface Finding {
  readonly id: string;
  readonly subject: string;
  readonly item?: string;
  readonly status: "ok" | "warning" | "problem" | "skipped";
  readonly found: string;
  readonly expected: string;
  readonly advice: string | null;
}

interface Diagnosis {
  readonly code: number;
  readonly ok: boolean;
  readonly checks: readonly Finding[];
  readonly problems: readonly Finding[];
}

export type ConfigFile = ReturnType<typeof readConfigFile>;
export type DoctorWorld = Awaited<ReturnType<typeof openDoctorWorld>>;

function readConfigFile(path: string) {
  // CAST: the sandbox wrote this form.
  return JSON.parse(readFileSync(path, "utf8")) as {
    readonly attestor: { readonly rpcUrls: Readonly<Record<string, string>> };
    readonly chains: readonly {
      readonly chainId: number;
      readonly contracts: Readonly<Record<string, string>>;
      readonly tokens: readonly { readonly address: string }[];
    }[];
  };
}

/** Chains, contracts, configuration, and an embedded database without the schema. */
export async function openDoctorWorld() {
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-doctor-"));
  // The embedded PostgreSQL runs as the user `nobody` if the tests run as root.
  chmodSync(stateDir, 0o755);
  const chains = await startChains({
    stateDir,
    ports: { ethereum: 0, base: 0 },
    mining: { intervalMs: 250, idleIntervalMs: 5_000 },
  });
  const keys = loadKeys(join(stateDir, "keys"));
  const deployment = await deployContracts(chains, keys).catch(async (error: unknown) => {
    await chains.stop();
    throw error;
  });
  const configPath = writeServiceConfig({ chains, deployment, keys, ports: { api: 0, quote: 0 } });
  await Promise.all([chains.mine(4, "ethereum"), chains.mine(4, "base")]);
  let count = 0;

  function run(config: string, args: readonly string[]) {
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        [PROGRAM, "doctor", "--config", config, ...args],
        { env: COMPILED, timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
  }

  /** Starts the server again if its last user stopped it. */
  async function withDatabase(use: (database: OpenDatabase) => Promise<unknown>): Promise<void> {
    const server = await startEmbedded({ stateDir: join(stateDir, "service") });
    const database = await openDatabase(server.address, { max: 2 });
    await use(database);
    await database.close();
    await server.stop();
  }

  return {
    stateDir,
    chains,
    keys,
    deployment,
    configPath,
    run,
    secretKeys: [keys.attestor, ...Object.values(keys.lanes.ethereum)],

    /** Runs the doctor on a changed copy of the configuration. */
    async diagnose(change: (file: ConfigFile) => void = () => {}): Promise<Diagnosis> {
      const file = readConfigFile(configPath);
      change(file);
      const path = join(stateDir, `changed-${(count += 1)}.json`);
      writeFileSync(path, JSON.stringify(file));
      const { code, stdout, stderr } = await run(path, ["--json"]);
      expect(stderr).toBe("");
      const { ok, checks } = JSON.parse(stdout);
      const problems = checks.filter(({ status }: Finding) => status === "problem");
      return { code, ok, checks, problems };
    },

    migrate: () => withDatabase(({ db }) => migrateToLatest(db)),

    insertIntegrator: (refundEvm: string) =>
      withDatabase(({ pool }) =>
        pool.query(
          `insert into integrators (id, name, refund_evm, max_fee_bps, max_slippage_bps)
           values (gen_random_uuid(), 'shop', $1, 50, 100)`,
          [refundEvm],
        ),
      ),

    /** Calls the factory of a chain and waits for the block. */
    async send(
      name: ChainName,
      account: PrivateKeyAccount,
      call:
        | { readonly functionName: "pause" | "unpause" }
        | { readonly functionName: "setRelayer"; readonly args: readonly [`0x${string}`, boolean] },
    ): Promise<void> {
      const { client, rpcUrl } = chains[name];
      await client.setBalance({ address: account.address, value: parseEther("1000") });
      const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) });
      const hash = await wallet.writeContract({
        address: deployment.factory,
        abi: depositFactoryAbi,
        ...call,
      } as Parameters<typeof wallet.writeContract>[0]);
      const { status } = await client.waitForTransactionReceipt({ hash });
      expect(status).toBe("success");
    },

    async close(): Promise<void> {
      await chains.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
