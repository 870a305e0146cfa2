/** The seed of Solana on the command line: created, shown, backed up and restored. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  EVM_CHAIN,
  NO_NODE,
  PROGRAM,
  SECRETS,
  SOME_ADDRESS,
} from "../../../test/support/command-line.ts";

const TERMINAL = pathToFileURL(join(import.meta.dirname, "../../../test/support/terminal.ts")).href;
const TREASURY = "DY7TsvkE1kT8g4zVa4haEmw7UsAqFVPW1w7qmFa6u4SL";
const ENV = { ...SECRETS, PASSPHRASE: "of the keystores" };
const OF_BACKUP = "of the backup alone";
/** The keystores have the encryption cost of production. */
const TIMEOUT_MS = 120_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-seed-cli-"));
  configure(undefined);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function configure(
  contracts: Readonly<Record<string, string>> | undefined,
  lanes: object = EVM_CHAIN.lanes,
): void {
  const solana = {
    chainId: 1,
    rpcUrl: NO_NODE,
    genesisHash: TREASURY,
    startSlot: 0,
    ...(contracts && { contracts }),
    tokens: [],
    seed: { keystore: "keys/seed.json" },
    attestors: [SOME_ADDRESS],
  };
  const file = {
    stateDir: "state",
    apiKeyPepper: { env: "PEPPER" },
    keystorePassphrase: { env: "PASSPHRASE" },
    feeBps: 10,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: { 1: NO_NODE, 30: NO_NODE },
    },
    chains: [{ ...EVM_CHAIN, lanes }, solana],
    routes: [],
  };
  writeFileSync(join(folder, "sluice.json"), JSON.stringify(file));
}

/** Runs a command of `sluice keys`, and answers its prompts in order. */
async function run(
  args: readonly string[],
  answers: readonly string[] = [],
  onOutput = (_text: string): void => undefined,
) {
  const child = spawn(process.execPath, ["--import", TERMINAL, PROGRAM, ...args], {
    cwd: folder,
    env: ENV,
  });
  const left = [...answers];
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    onOutput(chunk.toString());
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    // A prompt ends without a line feed.
    if (chunk.toString().endsWith(": ")) child.stdin.write(`${left.shift() ?? ""}\n`);
  });
  const [code] = await once(child, "close");
  return { code: Number(code), stdout, stderr, unanswered: left.length };
}

interface Shown {
  readonly setting: string;
  readonly kind: string;
  readonly address: string;
}

test(
  "a seed is created with its accounts, shown, backed up and restored",
  async () => {
    const ofAttestor = await run(["keys", "init", "--for", "attestor"]);
    expect(ofAttestor.stdout).toBe("Nothing to create: every keystore exists.\n");
    const init = await run(["keys", "init", "--json"]);
    expect(init).toMatchObject({ code: 0, stderr: "" });
    // CAST: the form that the command prints.
    const made = (JSON.parse(init.stdout) as { made: Shown[] }).made;
    expect(made.map(({ setting, kind }) => [setting, kind])).toEqual([
      ["chains[1].seed", "keystore"],
      ...["binding", "escrow", "delivery", "settle", "deliver"].map((role) => [
        `chains[1].contracts.${role}`,
        "seed",
      ]),
    ]);
    expect(statSync(join(folder, "keys/seed.json")).mode & 0o777).toBe(0o600);
    const [seed, ...accounts] = made;
    expect(seed?.address).toBe(accounts[0]?.address);
    const contracts = accounts.map(({ setting, address }) => [setting.split(".").at(-1), address]);
    configure({ ...Object.fromEntries(contracts), treasury: TREASURY });
    expect(await run(["keys", "verify"])).toMatchObject({ code: 0, stderr: "" });

    const backup = ["keys", "backup-seed", "keys/seed.json", "vault/seed.json"];
    const kept = await run(backup, [OF_BACKUP, OF_BACKUP]);
    expect(kept).toMatchObject({ code: 0, unanswered: 0 });
    expect(kept.stdout).toContain(`the binding key ${seed?.address} is in vault/seed.json`);

    rmSync(join(folder, "keys/seed.json"));
    const restore = ["keys", "restore-seed", "vault/seed.json", "keys/seed.json", "--binding"];
    const restored = await run([...restore, seed?.address ?? ""], [OF_BACKUP]);
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.stdout).toContain("is back in keys/seed.json");
    const show = await run(["keys", "show"]);
    expect(show).toMatchObject({ code: 0, stderr: "" });
    const attestor = await run(["keys", "show", "--for", "attestor"]);
    expect(attestor).toMatchObject({ code: 0, stderr: "" });
    expect(attestor.stdout).toMatch(/^attestor\.key +\S+ +0x\w{40}\n$/);
    for (const { setting, address } of accounts) {
      expect(show.stdout).toContain(`${setting} `);
      expect(show.stdout).toContain(address);
    }
    for (const { stdout, stderr } of [init, show, kept, restored]) {
      expect(stdout + stderr).not.toContain(OF_BACKUP);
    }
  },
  TIMEOUT_MS,
);

test(
  "init prints each key as it is made",
  async () => {
    const names = ["deploy", "settle", "deliver"];
    const pathOf = (name: string) => `made/${name}.json`;
    configure(
      undefined,
      Object.fromEntries(names.map((name) => [name, { keystore: pathOf(name) }])),
    );
    /** Keystores that existed when the first line came. */
    let existing: readonly string[] | undefined;
    const init = await run(["keys", "init"], [], () => {
      existing ??= names.filter((name) => existsSync(join(folder, pathOf(name))));
    });
    expect(init).toMatchObject({ code: 0, stderr: "" });
    expect(existing?.length).toBeLessThan(names.length);
    for (const name of names) {
      expect(init.stdout).toMatch(
        new RegExp(`^chains\\[0\\]\\.lanes\\.${name} +keystore +0x[0-9a-fA-F]{40}$`, "m"),
      );
    }
    expect((await run(["keys", "init"])).stdout).toBe(
      "Nothing to create: every keystore exists.\n",
    );
  },
  TIMEOUT_MS,
);
