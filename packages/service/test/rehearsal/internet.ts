/**
 * What lies outside of the machines: chains that stand in for Ethereum, Base and Optimism, a node's providers in front of each,
 * and the people of the rehearsal.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { testTokenBytecode } from "@sluice/contracts/bytecode";
import { testTokenAbi } from "@sluice/contracts/abi";
import {
  balanceOf,
  createEvmClient,
  type EvmClient,
  locateAnvil,
  mintToken,
} from "@sluice/sandbox";
import { type Provider, startProvider } from "@sluice/sandbox/provider";
import {
  type Address,
  encodeDeployData,
  getAddress,
  type Hex,
  keccak256,
  parseEther,
  stringToHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { PRESETS } from "../../src/config/presets/index.ts";
import { answeringCode } from "../evm/answering.ts";

const personOf = (name: string) => privateKeyToAccount(keccak256(stringToHex(name)));

/** Accounts with native coin on both chains. */
export const PEOPLE = {
  owner: personOf("owner"),
  guardian: personOf("guardian"),
  treasury: personOf("treasury"),
  stranger: personOf("stranger"),
  faucet: personOf("faucet"),
  payer: personOf("payer"),
  refundAuthority: personOf("refund authority"),
  coldAttestor: personOf("cold attestor"),
};

/** Milliseconds of a provider's answer. */
const LATENCY_MS = 25;
const PORT = 8545;

export type ChainName = "ethereum" | "base" | "optimism";
export type Chains = Readonly<Record<ChainName, Chain>>;

export interface Chain {
  readonly name: ChainName;
  readonly chainId: number;
  readonly client: EvmClient;
  readonly usdc: Address;
  /** Providers of the service. */
  readonly providers: readonly Provider[];
  readonly nodes: readonly string[];
  readonly attestorNodes: readonly string[];
  /** Balance of USDC, in base units. */
  readBalance(of: Address): Promise<bigint>;
  /** Makes each of the preset's price feeds answer one dollar, now. */
  setFeeds(): Promise<void>;
}

const CHAINS = [
  {
    name: "ethereum",
    chainId: 2,
    evmChainId: 1,
    hosts: ["10.77.1.1", "10.77.1.2", "10.77.1.3", "10.77.1.4"],
  },
  {
    name: "base",
    chainId: 30,
    evmChainId: 8453,
    hosts: ["10.77.2.1", "10.77.2.2", "10.77.2.3", "10.77.2.4"],
  },
  {
    name: "optimism",
    chainId: 24,
    evmChainId: 10,
    hosts: ["10.77.3.1", "10.77.3.2", "10.77.3.3", "10.77.3.4"],
  },
] as const;

/** The addresses of the providers, and of the person at the keyboard. */
export const ADDRESSES = ["10.77.9.1", ...CHAINS.flatMap(({ hosts }) => hosts)];

/** Starts the chains and the providers; the last host of each is the attestor's. */
export async function openInternet(): Promise<Chains> {
  const [ethereum, base, optimism] = await Promise.all(CHAINS.map(openChain));
  if (!ethereum || !base || !optimism) throw new Error("every chain runs");
  return { ethereum, base, optimism };
}

async function openChain({
  name,
  chainId,
  evmChainId,
  hosts,
}: (typeof CHAINS)[number]): Promise<Chain> {
  const preset = PRESETS.find((one) => one.name === name);
  const token = preset?.tokens.find(({ symbol }) => symbol === "USDC");
  if (!preset || !token?.address) throw new Error(`the preset ${name} lists USDC`);
  const usdc = getAddress(token.address);
  const rpcUrl = await startNode(evmChainId);
  const client = createEvmClient({ name, evmChainId }, rpcUrl);
  for (const { address } of Object.values(PEOPLE)) {
    await client.setBalance({ address, value: parseEther("10000") });
  }
  await putToken(client, usdc);
  await mintToken(client, {
    faucet: PEOPLE.faucet,
    token: usdc,
    to: PEOPLE.payer.address,
    amount: 10n ** 12n,
  });
  const providers = await Promise.all(
    hosts.map((host, index) =>
      startProvider({
        upstream: rpcUrl,
        host,
        port: PORT,
        latencyMs: LATENCY_MS,
        jitterMs: LATENCY_MS,
        seed: index + 1,
      }),
    ),
  );
  const urls = hosts.map((host) => `http://${host}:${PORT}`);
  return {
    name,
    chainId,
    client,
    usdc,
    providers,
    nodes: urls.slice(0, -1),
    attestorNodes: urls.slice(-1),
    readBalance: (owner) => balanceOf(client, { owner, token: usdc }),
    async setFeeds() {
      const now = BigInt(Math.floor(Date.now() / 1_000));
      for (const { feed } of preset.tokens) {
        if (!feed) continue;
        const bytecode = answeringCode({
          "function description() view returns (string)": feed.pair,
          "function decimals() view returns (uint8)": 8,
          "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)": [
            1n,
            100_000_000n,
            now,
            now,
            1n,
          ],
        });
        await client.setCode({ address: getAddress(feed.address), bytecode });
      }
    },
  };
}

/** A node with a block each second; the block two behind the head is final. */
async function startNode(evmChainId: number): Promise<string> {
  const args = [
    "--port",
    "0",
    "--chain-id",
    `${evmChainId}`,
    "--slots-in-an-epoch",
    "1",
    "--block-time",
    "1",
  ];
  const child = spawn(locateAnvil(), args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    const listening = /Listening on (\S+)\n/.exec(printed)?.[1];
    if (listening === undefined) continue;
    return `http://${listening}`;
  }
  throw new Error(`anvil ended: ${printed}`);
}

/** Puts the code of a test token to an address, with its faucet. */
async function putToken(client: EvmClient, at: Address): Promise<void> {
  const data = encodeDeployData({
    abi: testTokenAbi,
    bytecode: testTokenBytecode,
    args: ["USD Coin", "USDC", 6],
  });
  const { receipt } = await send(client, PEOPLE.faucet, { data });
  const bytecode =
    receipt.contractAddress && (await client.getCode({ address: receipt.contractAddress }));
  if (!bytecode) throw new Error("the token was deployed");
  await client.setCode({ address: at, bytecode });
}

type Account = (typeof PEOPLE)[keyof typeof PEOPLE];

/** Sends a transaction, and waits until it is mined. Throws if it reverted. */
export async function send(
  client: EvmClient,
  from: Account,
  call: { readonly to?: Address; readonly data?: Hex; readonly value?: bigint },
) {
  const [nonce, gas] = await Promise.all([
    client.getTransactionCount({ address: from.address, blockTag: "pending" }),
    client.estimateGas({ account: from.address, ...call }),
  ]);
  const serializedTransaction = await from.signTransaction({
    ...call,
    type: "eip1559",
    chainId: client.chain.id,
    nonce,
    gas: (gas * 12n) / 10n,
    maxFeePerGas: 200_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  const hash = await client.sendRawTransaction({ serializedTransaction });
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Error(`${hash} reverted on ${client.chain.name}`);
  return { hash, receipt };
}

/** Waits until something holds. Throws with its name after the deadline. */
export async function until(
  what: string | (() => string),
  holds: () => Promise<boolean>,
  {
    deadlineMs = 120_000,
    everyMs = 250,
  }: { readonly deadlineMs?: number; readonly everyMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      throw new Error(`it never came true that ${typeof what === "string" ? what : what()}`);
    }
    await delay(everyMs);
  }
}

/** Waits for the end of a program. */
export const endOf = (child: ReturnType<typeof spawn>) => once(child, "exit");
