/** The settler's signer at its two sockets, and the requests that a quoter in a process of its own may send. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GOVERNED } from "../core/commitment.ts";
import { problemsOf } from "../../test/support/config.ts";
import { silentLog } from "../../test/support/doubles.ts";
import { toBase58 } from "../chains/solana/base58.ts";
import { loadConfig } from "../roles/config.ts";
import { padAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { Secret } from "../core/secret.ts";
import { connectSigner } from "../signers/client.ts";
import { createSeed, drawSeed } from "../signers/solana/seed.ts";
import { runDoctor } from "./doctor.ts";
import { getVaultSigner } from "../roles/keys.ts";
import { startSigner } from "./signer.ts";
import { systemClock } from "../roles/system-ports.ts";

const keyOf = (digit: string) => `0x${digit.repeat(64)}`;
const SEED = keyOf("e");
const ENV = {
  PEPPER: "canary-pepper-of-some-length",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
  ATTESTOR: keyOf("a"),
  DEPLOY: keyOf("b"),
  SETTLE: keyOf("c"),
  DELIVER: keyOf("d"),
  SEED,
};
const WORD = toHex32(keyOf("1"));
const COMMITMENT = {
  integrator: WORD,
  userId: WORD,
  destChain: 30,
  destWallet: WORD,
  destToken: padAddress(toEvmAddress(`0x${"2b".repeat(20)}`)),
  refundAuthority: WORD,
  maxFeeBps: 50,
  maxSlippageBps: 100,
  ...GOVERNED,
};
const nobody = () => Promise.reject(new Error("nobody is asked"));
const deps = { clock: systemClock, log: silentLog };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-vaults-"));
  path = join(folder, "sluice.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a configuration with the accounts of a seed, or with others. */
function configure(signers: object, seed = SEED, accountsInstead: object = {}): void {
  const { accounts } = createSeed(new Secret(seed), "seed");
  const { accounts: others } = createSeed(drawSeed(), "treasury");
  const address = `0x${"1".repeat(40)}`;
  const shown = Object.entries(accounts).map(([role, account]) => [role, toBase58(account)]);
  const file = {
    stateDir: "state",
    logLevel: "silent",
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    signers,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: { 1: "http://127.0.0.1:1", 30: "http://127.0.0.1:1" },
    },
    chains: [
      {
        chainId: 30,
        evmChainId: 900030,
        rpcUrl: "http://127.0.0.1:1",
        startBlock: 0,
        contracts: { factory: address, escrow: address, delivery: address },
        tokens: [],
        lanes: {
          deploy: { env: "DEPLOY" },
          settle: { env: "SETTLE" },
          deliver: { env: "DELIVER" },
        },
      },
      {
        chainId: 1,
        rpcUrl: "http://127.0.0.1:1",
        genesisHash: toBase58(others.escrow),
        startSlot: 0,
        contracts: {
          ...Object.fromEntries(shown),
          ...accountsInstead,
          treasury: toBase58(others.delivery),
        },
        tokens: [],
        seed: { env: "SEED" },
        attestors: [address],
      },
    ],
    routes: [],
  };
  writeFileSync(path, JSON.stringify(file));
}

const forSettler = () => loadConfig({ path, env: ENV, keysOf: "settler" });
const forQuoter = () => loadConfig({ path, env: ENV, roles: ["quoter"] });

test("a quoter gets vaults from the signer, and no signature", async () => {
  configure({ settler: "settler.sock", vaults: "vaults.sock" });
  const signer = await startSigner(forSettler(), { name: "settler", askPassphrase: nobody });
  try {
    const config = forQuoter();
    const vaults = await getVaultSigner(config, deps);
    const there = (await connectSigner(join(folder, "settler.sock"))).vaults;
    const derived = await vaults?.deriveVault(COMMITMENT);
    expect(derived?.wallet).toMatch(/^0x[0-9a-f]{64}$/);
    expect(derived).toEqual(await there?.deriveVault(COMMITMENT));

    const { lanes } = await connectSigner(join(folder, "settler.sock"));
    expect(lanes.map(({ chainId, purpose }) => `${chainId} ${purpose}`)).toEqual([
      "30 deploy",
      "30 settle",
      "30 deliver",
      "1 settle",
      "1 deliver",
    ]);
    expect(await connectSigner(join(folder, "vaults.sock"))).toMatchObject({
      lanes: [],
      attestor: null,
    });
  } finally {
    await signer.stop();
  }
});

test("a quoter refuses a signer whose seed differs from its configuration", async () => {
  configure({ settler: "settler.sock", vaults: "vaults.sock" });
  const signer = await startSigner(forSettler(), { name: "settler", askPassphrase: nobody });
  try {
    configure({ settler: "settler.sock", vaults: "vaults.sock" }, keyOf("f"));
    await expect(getVaultSigner(forQuoter(), deps)).rejects.toThrow(
      "signers.vaults: expected the signer of the configured contracts",
    );
  } finally {
    await signer.stop();
  }
});

test.each(["binding", "escrow", "delivery", "settle", "deliver"] as const)(
  "a signer does not start when the configured account %s is of another seed",
  async (role) => {
    const { accounts } = createSeed(drawSeed(), "another");
    configure({ settler: "settler.sock" }, SEED, { [role]: toBase58(accounts[role]) });
    await expect(
      startSigner(forSettler(), { name: "settler", askPassphrase: nobody }),
    ).rejects.toThrow("chains[1].seed: expected the seed of the configured contracts");
  },
);

test("the doctor queries both sockets", async () => {
  configure({ settler: "settler.sock", vaults: "vaults.sock", attestor: "attestor.sock" });
  const signers = [
    await startSigner(forSettler(), { name: "settler", askPassphrase: nobody }),
    await startSigner(loadConfig({ path, env: ENV, keysOf: "attestor" }), {
      name: "attestor",
      askPassphrase: nobody,
    }),
  ];
  const ask = async () => {
    const { checks } = await runDoctor({
      configPath: () => path,
      readConfig: () => loadConfig({ path, env: ENV }),
      live: null,
    });
    return checks
      .filter(({ id }) => id.startsWith("seed."))
      .map(({ id, item, status }) => [id, item, status]);
  };
  try {
    expect(await ask()).toEqual([
      ["seed.accounts", undefined, "ok"],
      ["seed.vaults", "signers.settler", "ok"],
      ["seed.vaults", "signers.vaults", "ok"],
    ]);
    const { accounts } = createSeed(drawSeed(), "another");
    configure({ settler: "settler.sock", vaults: "gone.sock", attestor: "attestor.sock" }, SEED, {
      binding: toBase58(accounts.binding),
    });
    expect(await ask()).toEqual([
      ["seed.accounts", undefined, "problem"],
      ["seed.vaults", "signers.settler", "problem"],
      ["seed.vaults", "signers.vaults", "problem"],
    ]);
  } finally {
    for (const signer of signers) await signer.stop();
  }
});

test("a configuration without the socket gives no source of vaults", async () => {
  configure({});
  expect(await getVaultSigner(forQuoter(), deps)).toBe(null);
});

test.each([
  [{ vaults: "v.sock" }, "signers.vaults: expected signers.settler too"],
  [{ settler: "v.sock", vaults: "v.sock" }, "signers.vaults: expected a socket of its own"],
  [
    { settler: "s.sock", attestor: "v.sock", vaults: "v.sock" },
    "signers.vaults: expected a socket of its own",
  ],
])("refuses the sockets %j", (signers, problem) => {
  configure(signers);
  expect(problemsOf(forQuoter)).toEqual([expect.stringContaining(problem)]);
});
