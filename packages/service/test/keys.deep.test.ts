/**
 * Keys in encrypted keystores and two KMS: each signer is a process of its own, and the service holds no key. Sends the signers
 * every request that a compromised service could send, and rotates a key while deposits arrive.
 */
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { encodeFunctionData, erc20Abi, type Hex, isAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LANE_PURPOSES } from "../src/config/index.ts";
import { GOVERNED } from "../src/core/commitment.ts";
import { padAddress, toEvmAddress, toHex32 } from "../src/core/hex.ts";
import { Secret } from "../src/core/secret.ts";
import { encryptEvmKey } from "../src/signers/evm/keystore.ts";
import { deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import {
  type GoogleKmsStandIn,
  startGoogleKmsStandIn,
  VERSION,
} from "./support/google-kms-stand-in.ts";
import { ARN, CREDENTIALS, type KmsStandIn, startKmsStandIn } from "./support/kms-stand-in.ts";
import { createProcesses, type Processes } from "./support/processes.ts";
import { openWorld, type World } from "./support/world.ts";

const PASSPHRASE = "a passphrase of this test";
const CHEAP = { n: 1_024, r: 8, p: 1 };

interface KeyFile {
  readonly file: string;
}
interface ConfigFile {
  keystorePassphrase?: KeyFile;
  signers?: { settler: string; attestor: string };
  attestor: { key: unknown };
  chains: { chainId: number; lanes: Record<string, unknown>; dailyGasBudget?: string }[];
}

let world: World;
let kms: KmsStandIn;
let google: GoogleKmsStandIn;
let folder: string;
let processes: Processes;

beforeAll(async () => {
  world = await openWorld();
  folder = dirname(world.configPath);
  processes = createProcesses(world.configPath);
  await encryptKeys();
  await startSigner("settler");
  await startSigner("attestor");
  // From here on the service has no key, and no passphrase to open one.
  hidePassphrase();
  await world.replaceService({ roles: "api,quoter,scanner,settler,attestor" });
});
afterAll(async () => {
  await world.close();
  await processes.stopAll();
  await Promise.all([kms.close(), google.close()]);
});

const showPassphrase = () =>
  writeFileSync(join(folder, "passphrase"), `${PASSPHRASE}\n`, { mode: 0o600 });
const hidePassphrase = () => rmSync(join(folder, "passphrase"));

const readConfig = (): ConfigFile => JSON.parse(readFileSync(world.configPath, "utf8"));
const changeConfig = (change: (config: ConfigFile) => void) => {
  const config = readConfig();
  change(config);
  writeFileSync(world.configPath, JSON.stringify(config));
};

/**
 * Moves the sandbox's keys, which the contracts know, into keystores (lanes), AWS KMS (attestor) and Google Cloud KMS (payouts on
 * base); deletes the plain files.
 */
async function encryptKeys(): Promise<void> {
  const config = readConfig();
  const encrypt = async ({ file }: KeyFile) => {
    const key = new Secret(readFileSync(file, "utf8").trim());
    const keystore = file.replace(/\.key$/, ".json");
    const encrypted = await encryptEvmKey(key, new Secret(PASSPHRASE), CHEAP);
    writeFileSync(keystore, JSON.stringify(encrypted.keystore), { mode: 0o600 });
    rmSync(file);
    return { keystore };
  };
  // CAST: the form that the sandbox writes.
  const { file } = config.attestor.key as KeyFile;
  kms = await startKmsStandIn(readFileSync(file, "utf8").trim().slice(2));
  rmSync(file);
  config.attestor.key = { kms: ARN, endpoint: kms.endpoint };
  // The variables that AWS's own tools read.
  process.env["AWS_ACCESS_KEY_ID"] = CREDENTIALS.accessKeyId;
  process.env["AWS_SECRET_ACCESS_KEY"] = CREDENTIALS.secretAccessKey;
  const moveKey = async (key: KeyFile, toGoogle: boolean) => {
    if (!toGoogle) return encrypt(key);
    google = await startGoogleKmsStandIn(readFileSync(key.file, "utf8").trim().slice(2));
    process.env["GCE_METADATA_HOST"] = google.metadataHost;
    rmSync(key.file);
    return { googleKms: VERSION, endpoint: google.endpoint };
  };
  for (const chain of config.chains) {
    for (const [purpose, key] of Object.entries(chain.lanes)) {
      // CAST: the form that the sandbox writes.
      chain.lanes[purpose] = await moveKey(
        key as KeyFile,
        chain.chainId === 30 && purpose === "deliver",
      );
    }
    chain.dailyGasBudget = "1";
  }
  config.keystorePassphrase = { file: join(folder, "passphrase") };
  config.signers = { settler: "run/settler.sock", attestor: "run/attestor.sock" };
  writeFileSync(world.configPath, JSON.stringify(config));
}

async function startSigner(name: "settler" | "attestor"): Promise<void> {
  showPassphrase();
  await processes.start(name, "signer", "--for", name);
}

/** Sends a request to a signer, as a compromised service could. */
async function ask(signer: "settler" | "attestor", path: string, body?: object) {
  const outgoing = httpRequest({
    socketPath: join(folder, "run", `${signer}.sock`),
    path,
    method: body ? "POST" : "GET",
  });
  outgoing.end(body && JSON.stringify(body));
  const [response] = await once(outgoing, "response");
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

async function laneOf(purpose: string, chainId = 2): Promise<string> {
  const { body } = await ask("settler", "/accounts");
  const lane = body.lanes.find(
    (one: { chainId: number; purpose: string; retired: boolean }) =>
      one.chainId === chainId && one.purpose === purpose && !one.retired,
  );
  return lane.address;
}

test("delivers a deposit with a service that holds no key", async () => {
  const signed = google.requests.length;
  await expectDelivered(world, await deposit(world, 5n * USDC));
  expect(google.requests.length).toBeGreaterThan(signed);
});

test.each(["settler", "attestor"] as const)(
  "a deposit during kill -9 of the %s's signer is delivered once after its restart",
  async (name) => {
    await processes.stop(name, "SIGKILL");
    const waiting = await deposit(world, 6n * USDC);
    await world.until(
      "the deposit is known",
      async () => (await world.swapsOf(waiting.address)).length === 1,
    );
    await startSigner(name);
    await expectDelivered(world, waiting);
  },
);

test("waits for a signer that starts after the service", async () => {
  await processes.stop("settler", "SIGKILL");
  const started = world.replaceService({ roles: "api,quoter,scanner,settler,attestor" });
  await delay(3_000);
  await startSigner("settler");
  await started;
  await expectDelivered(world, await deposit(world, 4n * USDC));
});

test("pays nothing while the attestor's KMS is unavailable, and everything once it is back", async () => {
  await world.until("no lock is open", async () => (await world.openLocks()) === 0);
  kms.fail({ status: 503, body: "" });
  const waiting = await deposit(world, 4n * USDC);
  await world.until("it is locked", async () => (await world.openLocks()) === 1);
  await delay(3_000);
  expect(await world.balance("base", waiting.recipient)).toBe(0n);
  kms.fail(null);
  await expectDelivered(world, waiting);
});

test("refuses a second signer of the same name with a one-line error", async () => {
  const { code, said } = await processes.run("signer", "--for", "settler");
  expect(code).toBe(1);
  expect(said).toMatch(
    /^Cannot listen on the signer's socket [^\n]*: another signer already listens there; stop it first\.\n$/,
  );
});

test("a compromised service gets no signature that moves money elsewhere", async () => {
  const thief = world.newRecipient();
  const { token, escrow } = world.deployment.chains.ethereum;
  const settle = await laneOf("settle");
  const nonce = await world.chains.ethereum.client.getTransactionCount({
    // CAST: the form in which the signer answers.
    address: settle as Hex,
  });
  const transaction = (to: Hex, data: Hex, change: object = {}) => ({
    chainId: 2,
    lane: settle,
    to: to.toLowerCase(),
    data: data.toLowerCase(),
    value: "0",
    nonce,
    gas: "300000",
    maxFeePerGas: "2000000000",
    maxPriorityFeePerGas: "1",
    ...change,
  });
  const claim = encodeFunctionData({
    abi: escrowAbi,
    functionName: "claim",
    args: [
      {
        commitment: `0x${"11".repeat(32)}`,
        delivery: `0x${"22".repeat(32)}`,
        token,
        amount: 1n,
        minOut: 1n,
        seq: 0n,
      },
      1n,
      1n,
      "0x",
    ],
  });
  const refused = [
    transaction(
      token,
      encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [thief, USDC] }),
    ),
    transaction(thief, "0x", { value: "1" }),
    transaction(
      world.factory,
      encodeFunctionData({
        abi: depositFactoryAbi,
        functionName: "setRelayer",
        args: [thief, true],
      }),
    ),
    // A nonce that another transaction already used.
    transaction(escrow, claim, { nonce: 0 }),
    // A claim may offer eight times the cap of 500 gwei, and nothing may offer more.
    transaction(escrow, claim, { maxFeePerGas: "4001000000000" }),
    // One such transaction would use up the day's gas.
    transaction(escrow, claim, { gas: "8000000", maxFeePerGas: "400000000000" }),
  ];
  for (const request of refused) {
    expect(await ask("settler", "/transactions", request)).toMatchObject({
      status: 403,
      body: { error: "REFUSED" },
    });
  }
  // The settler's signer holds lanes, and no attestor key.
  const giveBack = { srcChain: 2, deliveryId: `0x${"11".repeat(32)}`, deadline: "1" };
  expect(await ask("settler", "/returns", giveBack)).toMatchObject({ status: 403 });
  expect(await ask("attestor", "/transactions", transaction(escrow, claim))).toMatchObject({
    status: 403,
  });
});

test("a compromised service and attestor together get no payout without a lock [T111]", async () => {
  const { ethereum, base } = world.deployment.chains;
  const word = (address: string) => padAddress(toEvmAddress(address.toLowerCase()));
  const commitment = {
    integrator: toHex32(`0x${"11".repeat(32)}`),
    userId: toHex32(`0x${"22".repeat(32)}`),
    destChain: 30,
    destWallet: word(world.newRecipient()),
    destToken: word(base.token),
    refundAuthority: word(world.newRecipient()),
    maxFeeBps: 50,
    maxSlippageBps: 100,
    ...GOVERNED,
  };
  const order = {
    srcChain: 2,
    lockedAmount: 5n * USDC,
    minOut: 4n * USDC,
    seq: 0n,
    windowStart: BigInt(Math.floor(Date.now() / 1000)),
    amount: 5n * USDC,
  };
  // The attestor's machine is taken as well: its signer signs any payout of a configured pair.
  const { status, body } = await ask("attestor", "/deliveries", {
    destChain: 30,
    commitment,
    srcChain: 2,
    escrow: ethereum.escrow.toLowerCase(),
    srcToken: ethereum.token.toLowerCase(),
    lockedAmount: order.lockedAmount.toString(),
    minOut: order.minOut.toString(),
    seq: "0",
    windowStart: order.windowStart.toString(),
    amount: order.amount.toString(),
  });
  expect(status).toBe(200);
  const [escrow, srcToken] = [word(ethereum.escrow), word(ethereum.token)];
  const data = encodeFunctionData({
    abi: deliveryAbi,
    functionName: "deliver",
    args: [{ ...order, c: commitment, escrow, srcToken }, body.signature],
  });
  const deliver = await laneOf("deliver", 30);
  const nonce = await world.chains.base.client.getTransactionCount({
    // CAST: the form in which the signer answers.
    address: deliver as Hex,
  });
  const request = {
    chainId: 30,
    lane: deliver,
    to: base.delivery.toLowerCase(),
    data: data.toLowerCase(),
    value: "0",
    nonce,
    gas: "300000",
    maxFeePerGas: "2000000000",
    maxPriorityFeePerGas: "1",
  };
  expect(await ask("settler", "/transactions", request)).toMatchObject({
    status: 503,
    body: { error: "WAITS", message: expect.stringContaining("no such lock that may be paid yet") },
  });
});

test("refuses to return a claimed lock for any request", async () => {
  const done = await deposit(world, 7n * USDC);
  await expectDelivered(world, done);
  await world.until("no lock is open", async () => (await world.openLocks()) === 0);
  const journal = readJournal("attestor");
  const claims = journal.filter(({ kind }) => kind === "claim");
  const deliveryId = claims.at(-1)?.deliveryId;
  expect(deliveryId).toBeDefined();
  const giveBack = { srcChain: 2, deliveryId, deadline: "99999999999" };
  expect(await ask("attestor", "/returns", giveBack)).toMatchObject({
    status: 403,
    body: { message: "return after the lock's claim" },
  });
});

function readJournal(name: "settler" | "attestor") {
  // CAST: the state folder of the service is inside this file.
  const { stateDir } = JSON.parse(readFileSync(world.configPath, "utf8")) as { stateDir: string };
  return readFileSync(join(stateDir, "signers", `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).entry);
}

test("the journals are unbroken, and contain every transaction of every lane", async () => {
  hidePassphrase();
  // CAST: the form that the command prints.
  const { journals } = (await world.command("keys", "verify", "--json")) as {
    journals: { count: number }[];
  };
  expect(journals).toHaveLength(2);
  const entries = readJournal("settler");
  for (const [chainId, name] of [
    [2, "ethereum"],
    [30, "base"],
  ] as const) {
    for (const purpose of LANE_PURPOSES) {
      const lane = await laneOf(purpose, chainId);
      const sent = await world.chains[name].client.getTransactionCount({
        // CAST: the form in which the signer answers.
        address: lane as Hex,
      });
      const signed = entries.filter((entry) => entry.chainId === chainId && entry.lane === lane);
      const nonces = new Set(signed.map(({ nonce }) => nonce));
      expect(nonces.size).toBe(sent);
    }
  }
});

test("rotates a lane's key without losing open transactions", async () => {
  const setting = "chains[0].lanes.settle";
  const before = await laneOf("settle");
  const under = await deposit(world, 8n * USDC);
  showPassphrase();
  const made = await world.command("keys", "rotate", setting, "--json");
  hidePassphrase();
  const { address, keystore } = made;
  if (typeof address !== "string" || !isAddress(address)) throw new Error("no address was printed");
  // Follows the steps that the command prints.
  await world.addRelayer("ethereum", address);
  changeConfig(({ chains }) => {
    const [chain] = chains;
    if (!chain) throw new Error("the configuration has a chain");
    const old = chain.lanes["settle"];
    chain.lanes["settle"] = [{ keystore }, { ...(old as object), retired: true }];
  });
  await processes.stop("settler", "SIGKILL");
  await startSigner("settler");
  hidePassphrase();
  await world.replaceService({ roles: "api,quoter,scanner,settler,attestor" });
  const next = await deposit(world, 9n * USDC);
  await expectDelivered(world, under);
  await expectDelivered(world, next);
  expect(await laneOf("settle")).toBe(address.toLowerCase());
  const { client } = world.chains.ethereum;
  expect(await client.getTransactionCount({ address })).toBeGreaterThan(0);
  await expectEmptyEscrow(world);
  expect(before).not.toBe(address.toLowerCase());
});

test("keys init creates missing keystores, and keys show lists every account", async () => {
  showPassphrase();
  const missing = join(folder, "new", "deliver.json");
  changeConfig(({ chains }) => {
    const [chain] = chains;
    if (!chain) throw new Error("the configuration has a chain");
    chain.lanes["deliver"] = { keystore: missing };
  });
  const { made } = await world.command("keys", "init", "--json");
  expect(made).toMatchObject([{ setting: "chains[0].lanes.deliver", kind: "keystore" }]);
  expect(await world.command("keys", "init", "--json")).toEqual({ made: [] });
  const { keys } = await world.command("keys", "show", "--json");
  // CAST: the form that the command prints.
  const shown = keys as { setting: string; address: string }[];
  // The lanes of both chains, the attestor, and its key.
  expect(shown).toHaveLength(2 * LANE_PURPOSES.length + 2);
  expect(shown).toContainEqual((made as object[])[0]);
});
