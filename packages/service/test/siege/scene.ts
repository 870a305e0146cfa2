/** The scene of a siege: a world with hostile tokens, providers in front of its nodes, and funded accounts. */
import { type ChainName, mintToken } from "@sluice/sandbox";
import type { RemoteProvider } from "@sluice/sandbox/provider";
import { type Address, createWalletClient, type Hex, http, parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostileTokens } from "../support/hostile-tokens.ts";
import type { World } from "../support/world.ts";

/** Indexes of the world's integrators. */
export const HOSTILE = 0;
export const HONEST = 1;

const GWEI = 1_000_000_000n;
/** Above the spikes of the fee, so that players are not stopped by them. */
export const MAX_FEE_PER_GAS = 2_000n * GWEI;

export interface Scene {
  readonly world: World;
  readonly hostileTokens: HostileTokens;
  readonly providers: readonly RemoteProvider[];
  /** Ends the siege. */
  readonly signal: AbortSignal;
}

/** One attack. Its counts are printed, so that an attack that did nothing is seen. */
export interface Player {
  readonly name: string;
  /** Threats of docs/threats.md that it plays. */
  readonly threats: string;
  /** Prepares what the attack needs, and returns one round of it, which is repeated until the siege ends. */
  open(scene: Scene): Promise<Round>;
  /** Pause between two rounds, in milliseconds. */
  readonly everyMs: number;
  /** Undoes what the attack has left, such as a pause. */
  close?(scene: Scene): Promise<void>;
}

/** Plays one round, and returns the number of actions that were taken. */
export type Round = (round: number) => Promise<number>;

/** Deeds of a player. */
export interface Played {
  readonly name: string;
  readonly threats: string;
  readonly actions: number;
  /** Refusals, by their message, with their number. */
  readonly refused: ReadonlyMap<string, number>;
}

/** Plays an attack until the siege ends. A refused action is counted and does not end the attack. */
export async function play(player: Player, scene: Scene): Promise<Played> {
  let actions = 0;
  const refused = new Map<string, number>();
  const refuse = (error: unknown) => {
    const [line = ""] = String(error).split("\n");
    refused.set(line.slice(0, 120), (refused.get(line.slice(0, 120)) ?? 0) + 1);
  };
  const round = await player.open(scene);
  for (let index = 0; !scene.signal.aborted; index += 1) {
    try {
      actions += await round(index);
    } catch (error) {
      refuse(error);
    }
    await sleep(player.everyMs, undefined, { signal: scene.signal }).catch(() => undefined);
  }
  await player.close?.(scene).catch(refuse);
  return { name: player.name, threats: player.threats, actions, refused };
}

/** A call, or with no `to` a deployment. */
interface Call {
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas: bigint;
}

/** A stranger with gas money. It sends many transactions without waiting for one another. */
export interface Stranger {
  readonly account: PrivateKeyAccount;
  /** Sends calls in order and waits until the last is mined. Returns their hashes. */
  send(calls: readonly Call[]): Promise<readonly Hex[]>;
  /** Deploys a contract of a given runtime code. */
  deploy(runtime: Hex): Promise<Address>;
}

/** Opens an account with coin, and with USDC if an amount is given. */
export async function openStranger(
  { world }: Scene,
  chain: ChainName,
  { coin = parseEther("1000"), usdc = 0n }: { readonly coin?: bigint; readonly usdc?: bigint } = {},
): Promise<Stranger> {
  const { client, rpcUrl } = world.chains[chain];
  const account = privateKeyToAccount(generatePrivateKey());
  await client.setBalance({ address: account.address, value: coin });
  if (usdc > 0n) {
    const { token } = world.deployment.chains[chain];
    await mintToken(client, {
      faucet: world.faucet,
      token,
      to: account.address,
      amount: usdc,
    });
  }
  const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) });
  let nonce = 0;

  async function send(calls: readonly Call[]): Promise<readonly Hex[]> {
    const hashes: Hex[] = [];
    for (const call of calls) {
      hashes.push(
        await wallet.sendTransaction({
          ...call,
          nonce: nonce++,
          maxFeePerGas: MAX_FEE_PER_GAS,
          maxPriorityFeePerGas: GWEI,
        }),
      );
    }
    const last = hashes.at(-1);
    if (last) await client.waitForTransactionReceipt({ hash: last, timeout: 60_000 });
    return hashes;
  }

  return {
    account,
    send,
    async deploy(runtime) {
      const size = ((runtime.length - 2) / 2).toString(16).padStart(4, "0");
      // PUSH2 size, DUP1, PUSH1 11, PUSH0, CODECOPY, PUSH0, RETURN: the constructor returns what follows it.
      const data: Hex = `0x61${size}80600a5f395ff3${runtime.slice(2)}`;
      const [hash] = await send([{ data, gas: 1_000_000n }]);
      if (!hash) throw new Error("one call has one hash");
      const { contractAddress } = await client.getTransactionReceipt({ hash });
      if (!contractAddress) throw new Error("nothing was deployed");
      return contractAddress;
    },
  };
}
