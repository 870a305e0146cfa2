import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  sandboxMessageTransmitterV2Abi,
  sandboxTokenMessengerV2Abi,
  testTokenAbi,
} from "@sluice/contracts/abi";
import {
  type Address,
  encodeFunctionData,
  type Hex,
  pad,
  parseEventLogs,
  type PrivateKeyAccount,
} from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BridgeAttestationService } from "./bridge-attestation-service.ts";
import { type SandboxChains, startChains } from "./chains.ts";
import { removeSandbox } from "./clear-state.ts";
import { deployContracts } from "./contracts.ts";
import type { Deployment } from "./deployment.ts";
import { sendCalls } from "./evm-client.ts";
import { loadKeys } from "./keys.ts";
import { startBridgeAttestations } from "./sandbox.ts";
import { balanceOf } from "./tokens.ts";

const RECIPIENT: Address = "0x00000000000000000000000000000000000c0ffe";
const GAS = 1_000_000n;
const MILLION = 1_000_000n;

let stateDir: string;
let chains: SandboxChains;
let deployment: Deployment;
let service: BridgeAttestationService;
let payer: PrivateKeyAccount;

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "sluice-attestations-"));
  chains = await startChains({ stateDir, ports: { ethereum: 0, base: 0 }, mining: false });
  const keys = loadKeys(join(stateDir, "keys"));
  deployment = await deployContracts(chains, keys);
  const [first] = keys.payers.ethereum;
  if (!first) throw new Error("no payer on ethereum");
  payer = first.account;
  service = await startBridgeAttestations({ chains, deployment, keys });
});
afterAll(async () => {
  await service.stop();
  await chains.stop();
  await removeSandbox(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
});
beforeEach(() => {
  Object.assign(service.controls, {
    down: false,
    unknown: false,
    rateLimitSeconds: null,
    paused: false,
    allowance: 1_000_000n * MILLION,
    expiryBlocks: 100n,
  });
});

/** Burns USDC on ethereum for base, in a separate block that is not final. */
async function burn(amount: bigint, maxFee: bigint, threshold = 1000): Promise<Hex> {
  const { client } = chains.ethereum;
  const { token, messenger } = deployment.chains.ethereum;
  const approve = encodeFunctionData({
    abi: testTokenAbi,
    functionName: "approve",
    args: [messenger, amount],
  });
  const deposit = encodeFunctionData({
    abi: sandboxTokenMessengerV2Abi,
    functionName: "depositForBurn",
    args: [amount, 6, pad(RECIPIENT), token, pad("0x"), maxFee, threshold],
  });
  const nonce = await client.getTransactionCount({ address: payer.address });
  const [, hash] = await sendCalls(
    client,
    payer,
    [
      { label: "approve", to: token, data: approve, gas: GAS },
      { label: "burn", to: messenger, data: deposit, gas: GAS },
    ],
    nonce,
  );
  await chains.mine(1, "ethereum");
  if (!hash) throw new Error("expected two hashes for two calls");
  return hash;
}

async function ask(path: string, method = "GET") {
  const response = await fetch(`${service.url}${path}`, { method });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const messagesOf = (hash: Hex) => ask(`/v2/messages/0?transactionHash=${hash}`);

/** Submits a message on base and returns the status of the receipt. */
async function relay(message: Hex, attestation: Hex) {
  const { client } = chains.base;
  const { transmitter } = deployment.chains.base;
  const data = encodeFunctionData({
    abi: sandboxMessageTransmitterV2Abi,
    functionName: "receiveMessage",
    args: [message, attestation],
  });
  await client.setBalance({ address: payer.address, value: 10n ** 18n });
  const nonce = await client.getTransactionCount({ address: payer.address });
  const call = { label: "relay", to: transmitter, data, gas: GAS };
  const [hash] = await sendCalls(client, payer, [call], nonce);
  await chains.mine(1, "base");
  if (!hash) throw new Error("expected one hash for one call");
  return client.getTransactionReceipt({ hash });
}

const held = () =>
  balanceOf(chains.base.client, { owner: RECIPIENT, token: deployment.chains.base.token });

describe("a burn", () => {
  test("that requests it is attested fast, and the transmitter accepts the signatures of both attesters", async () => {
    const before = await held();
    const { status, body } = await messagesOf(await burn(10n * MILLION, 2_000n));
    expect(status).toBe(200);
    expect(body.messages).toHaveLength(1);
    const [{ message, attestation, eventNonce, ...rest }] = body.messages;
    expect(rest).toEqual({ cctpVersion: 2, status: "complete", delayReason: null });
    const receipt = await relay(message, attestation);
    const [received] = parseEventLogs({
      abi: sandboxMessageTransmitterV2Abi,
      logs: receipt.logs,
      eventName: "MessageReceived",
    });
    expect(received?.args).toMatchObject({ nonce: eventNonce, finalityThresholdExecuted: 1000 });
    // 1.3 basis points.
    expect((await held()) - before).toBe(10n * MILLION - 1_300n);
    expect((await relay(message, attestation)).status).toBe("reverted");
  });

  test("whose fee is too low has a delay reason, and is attested without a fee once it is final", async () => {
    const before = await held();
    const hash = await burn(10n * MILLION, 1_299n);
    const waiting = await messagesOf(hash);
    expect(waiting.body.messages).toEqual([
      expect.objectContaining({
        status: "pending_confirmations",
        attestation: "PENDING",
        delayReason: "insufficient_fee",
      }),
    ]);
    await chains.mine(3, "ethereum");
    const [{ message, attestation }] = (await messagesOf(hash)).body.messages;
    expect((await relay(message, attestation)).status).toBe("success");
    expect((await held()) - before).toBe(10n * MILLION);
  });

  test("above the allowance waits for finality and has a delay reason", async () => {
    service.controls.allowance = MILLION;
    const { body } = await messagesOf(await burn(2n * MILLION, 1_000n));
    expect(body.messages[0]).toMatchObject({ delayReason: "insufficient_allowance_available" });
  });

  test("that requests standard transfer waits for finality without a delay reason", async () => {
    const { body } = await messagesOf(await burn(MILLION, 0n, 2000));
    expect(body.messages[0]).toMatchObject({ status: "pending_confirmations", delayReason: null });
  });

  test("whose attestation expired is rejected, and accepted after a re-attestation", async () => {
    service.controls.expiryBlocks = 1n;
    const hash = await burn(5n * MILLION, 1_000n);
    const [first] = (await messagesOf(hash)).body.messages;
    expect((await relay(first.message, first.attestation)).status).toBe("reverted");
    service.controls.expiryBlocks = 100n;
    expect(await ask(`/v2/reattest/${first.eventNonce}`, "POST")).toMatchObject({
      status: 200,
      body: { nonce: first.eventNonce },
    });
    const [again] = (await messagesOf(hash)).body.messages;
    expect(again.eventNonce).toBe(first.eventNonce);
    expect((await relay(again.message, again.attestation)).status).toBe("success");
  });
});

describe("HTTP API", () => {
  test("returns 404 for an unknown burn or nonce", async () => {
    const nothing: Hex = `0x${"00".repeat(32)}`;
    expect((await messagesOf(nothing)).status).toBe(404);
    expect((await ask(`/v2/reattest/${nothing}`, "POST")).status).toBe(404);
    expect((await ask("/v2/messages/0?transactionHash=0x12")).status).toBe(400);
  });

  test("returns fees and allowance in Circle's units", async () => {
    service.controls.allowance = 1_234_567_890n;
    expect((await ask("/v2/burn/USDC/fees/0/6")).body).toEqual([
      { finalityThreshold: 1000, minimumFee: 1.3 },
      { finalityThreshold: 2000, minimumFee: 0 },
    ]);
    expect((await ask("/v2/fastBurn/USDC/allowance")).body).toMatchObject({
      allowance: 1234.56789,
    });
  });

  test("follows the controls unknown, rateLimitSeconds and down", async () => {
    const hash = await burn(MILLION, 1_000n);
    service.controls.unknown = true;
    expect((await messagesOf(hash)).status).toBe(404);
    service.controls.rateLimitSeconds = 7;
    const limited = await fetch(`${service.url}/v2/fastBurn/USDC/allowance`);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "7"]);
    service.controls.down = true;
    await expect(messagesOf(hash)).rejects.toThrow("fetch failed");
  });
});
