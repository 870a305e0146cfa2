/** An agent pays a deposit address on a chain of the sandbox, and the seller's wallet on another chain receives it. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeSandbox, type Sandbox, startSandbox } from "@sluice/sandbox";
import { createSluiceClient } from "@sluice/sdk";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  erc20Abi,
  getAddress,
  http,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { settlePayment } from "./facilitator.ts";
import { buy, openSeller } from "./seller.ts";
import type { PaymentPayload } from "./x402.ts";

const PRICE = 5_000_000n;
const RECEIVED = PRICE - PRICE / 1_000n;

let folder: string;
let sandbox: Sandbox;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-x402-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(folder, 0o755);
  sandbox = await startSandbox({
    stateDir: join(folder, ".sluice"),
    ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
  });
});

afterAll(async () => {
  await sandbox?.stop();
  await removeSandbox(join(folder, ".sluice"));
  rmSync(folder, { recursive: true, force: true });
});

function chainsOf({ descriptor }: Sandbox) {
  const [source, destination] = descriptor.chains.filter((chain) => chain.kind === "evm");
  if (!source || !destination) throw new Error("the sandbox has two EVM chains");
  return [source, destination].map((chain) => {
    const usdc = chain.tokens.find(({ symbol }) => symbol === "USDC");
    const [agent, facilitator] = chain.funded;
    if (!usdc || !agent || !facilitator) throw new Error(`${chain.name} lacks USDC or accounts`);
    const viemChain = defineChain({
      id: chain.evmChainId,
      name: chain.name,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [chain.rpcUrl] } },
    });
    const transport = http();
    const account = privateKeyToAccount(facilitator.privateKey);
    return {
      ...chain,
      usdc: usdc.address,
      agent: privateKeyToAccount(agent.privateKey),
      reader: createPublicClient({ chain: viemChain, transport, pollingInterval: 200 }),
      sender: createWalletClient({ chain: viemChain, transport, account }),
    };
  });
}

test("a payment by signature is delivered to the seller's wallet on another chain, once", async () => {
  const [source, destination] = chainsOf(sandbox);
  if (!source || !destination) throw new Error("the sandbox has two EVM chains");
  const { baseUrl, quoteUrl, integrators } = sandbox.descriptor;
  const client = createSluiceClient({ baseUrl, quoteUrl, apiKey: integrators[0]?.apiKey ?? "" });
  const wallet = privateKeyToAccount(generatePrivateKey()).address;
  const { quotes } = await client.quote({
    amountIn64: String(PRICE),
    fromToken: source.usdc,
    fromChain: source.name,
    toToken: destination.usdc,
    toChain: destination.name,
    destinationAddress: wallet,
    payDeposit: true,
    payUserId: "0x00000000000000000000000000000000000402a1",
  });
  const depositAddress = getAddress(quotes[0]?.payDepositAddress ?? "");
  const name = await source.reader.readContract({
    address: source.usdc,
    abi: erc20Abi,
    functionName: "name",
  });

  const payments: PaymentPayload[] = [];
  const seller = await openSeller({
    content: { report: "all is well" },
    order: {
      evmChainId: source.evmChainId,
      depositAddress,
      token: { address: source.usdc, name, version: "2" },
      amount: PRICE,
    },
    settle: (payment) => {
      payments.push(payment);
      return settlePayment(source, payment);
    },
  });
  const limits = { network: `eip155:${source.evmChainId}`, asset: source.usdc, amountMax: PRICE };
  const bought = await buy(seller.url, source.agent, limits);
  await seller.close();
  expect(bought).toMatchObject({ status: 200, content: { report: "all is well" } });
  const { transaction } = bought.settlement ?? {};

  const balance = () =>
    destination.reader.readContract({
      address: destination.usdc,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [wallet],
    });
  await vi.waitFor(async () => expect(await balance()).toBe(RECEIVED), {
    timeout: 60_000,
    interval: 250,
  });
  // The transaction that the seller's answer names is the deposit's.
  const { items } = await client.listDeposits({ txHash: transaction ?? "" });
  expect(items).toMatchObject([{ amount: String(PRICE), walletAddress: depositAddress }]);

  // The token takes the signature once, from any sender.
  const [payment] = payments;
  if (!payment) throw new Error("expected a payment");
  expect(await settlePayment(source, payment)).toMatchObject({
    success: false,
    errorReason: "invalid_transaction_state",
    transaction: "",
  });
  expect(await balance()).toBe(RECEIVED);
}, 120_000);
