/** The attacks of `npm run siege`: each is cheap for a stranger or one integrator, and must not disturb the others. */
import { deliveryAbi, depositFactoryAbi } from "@sluice/contracts/abi";
import type { ChainName } from "@sluice/sandbox";
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseEther,
  zeroAddress,
} from "viem";
import { setTimeout as sleep } from "node:timers/promises";
import { USDC } from "../support/deposits.ts";
import { HOSTILE, MAX_FEE_PER_GAS, openStranger, type Player, type Scene } from "./scene.ts";

const GWEI = 1_000_000_000n;

/** Emits as many empty logs as its argument says, in rounds of 32. */
const LOG_EMITTER: Hex = `0x5f355b${"5f5fa0".repeat(32)}602090038060025700`;
/** Answers every call with 2^200. */
const ANSWERS_MUCH: Hex = "0x600160c81b5f5260205ff3";
/** Reverts every call and payment. */
const REFUSES: Hex = "0x5f5ffd";

const LOGS_PER_TRANSACTION = 32 * 100;
const CHAINS = ["ethereum", "base"] as const satisfies readonly ChainName[];
const other = (chain: ChainName): ChainName => (chain === "ethereum" ? "base" : "ethereum");
const chainOf = (round: number): ChainName => (round % 2 === 0 ? "ethereum" : "base");

/** Returns a new deposit address of the hostile integrator, for USDC on a chain to the other. */
async function openAddress({ world }: Scene, chain: ChainName): Promise<Address> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({
    from: chain,
    to: other(chain),
    recipient,
    userId: recipient,
    by: HOSTILE,
  });
  return address;
}

/** Opens addresses one after the other: more than a few requests at once of one key are refused. */
async function openAddresses(
  scene: Scene,
  count: number,
  chainAt: (n: number) => ChainName,
): Promise<readonly Address[]> {
  const wallets: Address[] = [];
  for (let n = 0; n < count; n += 1) wallets.push(await openAddress(scene, chainAt(n)));
  return wallets;
}

/** Blocks full of logs that are of nobody here. */
const foreignLogs: Player = {
  name: "foreign logs",
  threats: "T131",
  everyMs: 5_000,
  async open(scene) {
    const strangers = await Promise.all(CHAINS.map((chain) => openStranger(scene, chain)));
    const emitters = await Promise.all(strangers.map((stranger) => stranger.deploy(LOG_EMITTER)));
    return async (round) => {
      const [stranger, to] = [strangers[round % 2], emitters[round % 2]];
      if (!stranger || !to) throw new Error("there are two chains");
      const data: Hex = `0x${LOGS_PER_TRANSACTION.toString(16).padStart(64, "0")}`;
      await stranger.send(Array.from({ length: 4 }, () => ({ to, data, gas: 7_000_000n })));
      return 4 * LOGS_PER_TRANSACTION;
    };
  },
};

/** Dust of a listed token for many addresses of one integrator, in as few blocks as they fit. */
const dust: Player = {
  name: "dust",
  threats: "T18",
  everyMs: 10_000,
  async open(scene) {
    const wallets = await openAddresses(scene, 80, chainOf);
    const strangers = await Promise.all(
      CHAINS.map((chain) => openStranger(scene, chain, { usdc: USDC })),
    );
    return async (round) => {
      const stranger = strangers[round % 2];
      if (!stranger) throw new Error("there are two chains");
      const { token } = scene.world.deployment.chains[chainOf(round)];
      const calls = wallets.map((wallet) => ({
        to: token,
        gas: 80_000n,
        data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [wallet, 1n] }),
      }));
      await stranger.send(calls);
      return calls.length;
    };
  },
};

/** Deposits whose recipient refuses native coin, each of a quarter of the inventory. */
const unpayable: Player = {
  name: "unpayable recipients",
  threats: "T19",
  everyMs: 10_000,
  async open(scene) {
    const { world } = scene;
    const recipient = await (await openStranger(scene, "base")).deploy(REFUSES);
    const payer = await openStranger(scene, "ethereum", { coin: parseEther("1000000") });
    return async (round) => {
      const native = { fromToken: zeroAddress, toToken: zeroAddress, amount: parseEther("1") };
      const { address } = await world.quote({
        from: "ethereum",
        to: "base",
        ...native,
        recipient,
        userId: `0x${round.toString(16)}`,
        by: HOSTILE,
      });
      const inventory = await world.nativeBalance("base", world.deployment.chains.base.delivery);
      await payer.send([{ to: address, value: inventory / 4n, gas: 100_000n }]);
      return 1;
    };
  },
};

/** Requests to settle tokens of one's own that answer every balance with a large number. */
const junkTokens: Player = {
  name: "request-index of junk",
  threats: "T96, T79",
  everyMs: 200,
  async open(scene) {
    const { world } = scene;
    const stranger = await openStranger(scene, "ethereum");
    const tokens: Address[] = [];
    for (let n = 0; n < 10; n += 1) tokens.push(await stranger.deploy(ANSWERS_MUCH));
    const wallets = await openAddresses(scene, 20, () => "ethereum");
    const { baseUrl } = world.serviceUrls();
    const apiKey = world.apiKeyOf(HOSTILE);
    return async (round) => {
      const requests = Array.from({ length: 10 }, async (_, n) => {
        const index = round * 10 + n;
        const walletAddress = wallets[index % wallets.length];
        const tokenAddress = tokens[Math.floor(index / wallets.length) % tokens.length];
        const response = await fetch(`${baseUrl}/request-index?apiKey=${apiKey}`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-api-key": apiKey },
          body: JSON.stringify({ chain: 2, walletAddress, tokenAddress }),
        });
        await response.text();
      });
      await Promise.all(requests);
      return requests.length;
    };
  },
};

/** Addresses issued without end. */
const addresses: Player = {
  name: "addresses",
  threats: "T79",
  everyMs: 100,
  open: async (scene) => async (round) => {
    await Promise.all([0, 1, 2, 3].map((n) => openAddress(scene, chainOf(round + n))));
    return 4;
  },
};

/** Thousands of times the fee of a quiet chain, and below what the sandbox's payers offer. */
const SPIKE = 150n * GWEI;

/** Spikes of the fee on one chain after the other. */
const fees: Player = {
  name: "fee spikes",
  threats: "T66",
  everyMs: 20_000,
  open: async ({ world }) => {
    return async (round) => {
      await world.setBaseFee(chainOf(round), SPIKE);
      return 1;
    };
  },
};

const PAUSE_MS = 4_000;
const UNPAUSE_CALLS_MAX = 10;

/**
 * Short pauses of the payouts on one chain, and of the settlements on the other, as an operator makes them. Its calls offer
 * more than the spikes of the fee, so that each pause is as short as it is meant to be.
 */
const pauses: Player = {
  name: "pauses",
  threats: "T81",
  everyMs: 30_000,
  async open({ world }) {
    const paused = [
      {
        chain: "base",
        to: world.deployment.chains.base.delivery,
        pause: encodeFunctionData({ abi: deliveryAbi, functionName: "pause" }),
        unpause: encodeFunctionData({ abi: deliveryAbi, functionName: "unpause" }),
      },
      {
        chain: "ethereum",
        to: world.factory,
        pause: encodeFunctionData({ abi: depositFactoryAbi, functionName: "pause" }),
        unpause: encodeFunctionData({ abi: depositFactoryAbi, functionName: "unpause" }),
      },
    ] as const;
    return async (round) => {
      const { chain, to, pause, unpause } = paused[round % 2 === 0 ? 0 : 1];
      const { client } = world.chains[chain];
      const isPaused = () =>
        client.readContract({ address: to, abi: deliveryAbi, functionName: "paused" });
      const fees = { maxFeePerGas: MAX_FEE_PER_GAS, maxPriorityFeePerGas: GWEI };
      await world
        .sendAs(chain, world.guardian, { to, data: pause, ...fees })
        .catch(async (error: unknown) => {
          if (!(await isPaused())) throw error;
        });
      await sleep(PAUSE_MS);
      // An operator would call again.
      let failure: unknown;
      for (let calls = 0; await isPaused(); calls += 1) {
        if (calls === UNPAUSE_CALLS_MAX) throw failure;
        await world
          .asOwner(chain, { to, data: unpause, ...fees })
          .catch((error: unknown) => void (failure = error));
      }
      return 1;
    };
  },
};

/** A listed token that destroys deposits, refuses sweeps and lies, in turns. */
const liar: Player = {
  name: "a listed token that lies",
  threats: "T08, T13, T78",
  everyMs: 3_000,
  async open({ hostileTokens }) {
    const ONE = 10n ** 18n;
    const conducts = [
      { index: ONE / 2n },
      { paused: true },
      { pretends: true },
      { bomb: 50_000 },
      { endless: true },
      {},
    ] as const;
    return async (round) => {
      // Ordinary while it is paid: a deposit must arrive for the rest to matter.
      await hostileTokens.behave("ethereum", {});
      const { address } = await hostileTokens.quote(round % 3 === 0 ? "ethereum" : "base");
      await hostileTokens.pay(address, 50n * USDC);
      await hostileTokens.behave("ethereum", conducts[round % conducts.length] ?? {});
      return 1;
    };
  },
  close: async ({ hostileTokens }) => void (await hostileTokens.behave("ethereum", {})),
};

/** Faults of a provider on a bad day, for some seconds at a time. */
export const BAD_DAY = { drop: 0.05, htmlErrors: 0.05, lagBlocks: 2 };
const GOOD_DAY = { drop: 0, htmlErrors: 0, lagBlocks: 0 };

/** A provider that drops connections, answers with pages of errors, and whose replicas lag. */
const provider: Player = {
  name: "a bad provider",
  threats: "T47, T55",
  everyMs: 10_000,
  open: async ({ providers }) => {
    return async (round) => {
      const settings = round % 2 === 0 ? BAD_DAY : GOOD_DAY;
      await Promise.all(providers.map((one) => one.set(settings)));
      return 1;
    };
  },
  close: async ({ providers }) => {
    await Promise.all(providers.map((one) => one.set(GOOD_DAY)));
  },
};

export const PLAYERS: readonly Player[] = [
  foreignLogs,
  dust,
  unpayable,
  junkTokens,
  addresses,
  fees,
  pauses,
  liar,
  provider,
];
