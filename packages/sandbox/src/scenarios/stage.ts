/** One play of a scenario: its deposit address, the events of that address, and the faults of the sandbox. */
import { setTimeout as sleep } from "node:timers/promises";
import { depositFactoryAbi, hostileTokenAbi } from "@sluice/contracts/abi";
import { createSluiceClient, type SluiceClient } from "@sluice/sdk";
import {
  type Address,
  encodeFunctionData,
  type Hex,
  parseEther,
  type PrivateKeyAccount,
} from "viem";
import type { BridgeAttestationService } from "../bridge-attestation-service.ts";
import { type ChainName, FEE_TOKEN } from "../chain-specs.ts";
import type { SandboxChains } from "../chains.ts";
import type { Deployment } from "../deployment.ts";
import type { Descriptor } from "../descriptor.ts";
import { SandboxError } from "../errors.ts";
import type { IntegratorKey } from "../integrators.ts";
import type { SandboxKeys } from "../keys.ts";
import { asRecord } from "../json-file.ts";
import { reorganise } from "../mining.ts";
import { pay, type Payment, sendCall, sendNext, sendToken } from "../tokens.ts";
import { type AddressEvent, formatState, readState } from "./sequence.ts";

/** The parts of a sandbox that scenarios use. */
export interface ScenarioParts {
  readonly stateDir: string;
  readonly chains: SandboxChains;
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
  readonly descriptor: Descriptor;
  readonly attestations: BridgeAttestationService;
  readonly configPath: string;
  /** Starts the service again, with additions to its environment. */
  restartService(env?: Readonly<Record<string, string>>): Promise<unknown>;
}

/** The address that a scenario pays. */
export interface StageAddress {
  readonly depositAddress: Address;
  readonly integrator: IntegratorKey;
}

/** Options of a play. */
export interface StageOptions {
  readonly signal: AbortSignal;
  readonly onStep: (step: string, text: string) => void;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

const SOURCE = "ethereum" as const satisfies ChainName;
const POLL_MS = 150;
/** Time for one request, which a busy machine may need. */
const REQUEST_MS = 120_000;
const GAS = 1_000_000n;

/** Opens a stage. Events from before are not of the play. */
export async function openStage(
  parts: ScenarioParts,
  { depositAddress, integrator }: StageAddress,
  { signal, onStep }: StageOptions,
) {
  const { chains, deployment, keys } = parts;
  const { client } = chains[SOURCE];
  const { apiKey } = integrator;
  const service = createSluiceClient({ ...parts.descriptor, apiKey, timeoutMs: REQUEST_MS });
  const since = await findNewest(service);
  const events: AddressEvent[] = [];
  let cursor = since;
  // The last one: demos and the command `pay` use the first two.
  const payer = keys.payers[SOURCE].at(-1)?.account;
  if (!payer) throw new Error("ethereum has a payer");

  /** Reads new events of the address. The service may be restarting. */
  async function readEvents(): Promise<readonly AddressEvent[]> {
    signal.throwIfAborted();
    const query = cursor === undefined ? {} : { since: cursor };
    for await (const event of service.iterateExtendedEvents(query, { signal })) {
      cursor = event.timestamp;
      if (event.type === "endpoint.disabled") continue;
      if (event.data.walletAddress !== depositAddress) continue;
      events.push(event);
      onStep(event.type, formatState(readState(event)));
    }
    return events;
  }

  /** Waits until a condition holds for the events of the play. */
  async function until<T>(
    holds: (events: readonly AddressEvent[]) => T | undefined | Promise<T | undefined>,
  ): Promise<T> {
    for (;;) {
      const found = await holds(await readEvents());
      if (found !== undefined) return found;
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  const paymentOf = (token: PaidToken, amount: bigint): Payment => ({
    from: payer,
    to: depositAddress,
    token: deployment.chains[SOURCE][token],
    amount,
  });

  /** Calls a contract of the source chain as an account that is given gas money. */
  async function call(from: PrivateKeyAccount, label: string, to: Address, data: Hex) {
    await client.setBalance({ address: from.address, value: parseEther("10") });
    return sendCall(client, from, { label, to, data, gas: GAS });
  }

  const request = (method: string, params: readonly unknown[]): Promise<unknown> =>
    // CAST: a method of the node that the client's types do not include.
    client.request({ method, params } as never);

  return {
    integrator,
    parts,
    onStep,
    readEvents,
    until,
    call,

    /** Waits for an event of a type and state, after the first `skip` ones. */
    seen: (type: AddressEvent["type"], state: string, skip = 0): Promise<AddressEvent> =>
      until(
        (all) =>
          all.filter((event) => {
            const read = readState(event);
            return read.type === type && read.state === state;
          })[skip],
      ),

    /** Pays the deposit address and waits until the payment is in a block. */
    async pay(token: PaidToken, amount: bigint): Promise<void> {
      if (token === "weth") {
        const { weth } = deployment.chains[SOURCE];
        // The contract wraps every payment to it.
        await pay(client, { from: payer, to: weth, amount });
      }
      onStep("paid", await pay(client, paymentOf(token, amount)));
    },

    /** Pays the deposit address in a token that burns a share of this one transfer. */
    payTaxed: (amount: bigint) =>
      chains.holdBlocks(SOURCE, async () => {
        const { feeToken } = deployment.chains[SOURCE];
        const charge = (feeBps: number) =>
          sendNext(client, payer, {
            label: "a transfer fee",
            to: feeToken,
            gas: GAS,
            data: encodeFunctionData({
              abi: hostileTokenAbi,
              functionName: "behave",
              args: [{ ...PLAIN_TOKEN, feeBps }],
            }),
          });
        await charge(FEE_TOKEN.feeBps);
        const hash = await sendToken(client, paymentOf("feeToken", amount));
        await charge(0);
        // One block: the service's own transfers are whole.
        await chains.mine(1, SOURCE);
        onStep("paid", hash);
      }),

    /**
     * Pays the deposit address in a block of its own, and orphans the block once the deposit is detected. `follow` gets
     * the raw transaction, which the chain no longer has, and mines the blocks that follow.
     */
    payOrphaned: (token: PaidToken, amount: bigint, follow: (raw: Hex) => Promise<void>) =>
      chains.holdBlocks(SOURCE, async () => {
        const hash = await sendToken(client, paymentOf(token, amount));
        await chains.mine(1, SOURCE);
        onStep("paid", hash);
        await until((all) => all.some(({ type }) => type === "deposit_detected") || undefined);
        // CAST: the node has the transaction that it just mined.
        const raw = (await request("eth_getRawTransactionByHash", [hash])) as Hex;
        await reorganise(client, 1);
        await request("anvil_dropTransaction", [hash]);
        onStep("orphaned", `the block of ${hash}`);
        await follow(raw);
      }),

    /** Sends a payment of the same nonce as the one that was orphaned, and mines it. */
    async replaceBy(token: PaidToken, amount: bigint): Promise<void> {
      onStep("replaced", await sendToken(client, paymentOf(token, amount)));
      await chains.mine(2, SOURCE);
    },

    /** Uses up the nonce of the orphaned payment, so that it can never be mined. */
    async cancel(): Promise<void> {
      onStep("cancelled", await sendToken(client, { from: payer, to: payer.address, amount: 0n }));
      await chains.mine(2, SOURCE);
    },

    /** Sends the orphaned payment again, after two blocks without it. */
    async delay(raw: Hex): Promise<void> {
      await chains.mine(2, SOURCE);
      onStep("mined again", await client.sendRawTransaction({ serializedTransaction: raw }));
      await chains.mine(2, SOURCE);
    },

    /** Stops the node of a chain from answering for a time. */
    async freeze(chain: ChainName, ms: number): Promise<void> {
      const { pid } = chains[chain];
      onStep("outage", `the node of ${chain} does not answer for ${ms} ms`);
      process.kill(pid, "SIGSTOP");
      try {
        await sleep(ms, undefined, { signal });
      } finally {
        process.kill(pid, "SIGCONT");
      }
    },

    /** Pauses the contracts of the source chain while work runs. */
    async whilePaused<T>(work: () => Promise<T>): Promise<T> {
      const encode = (functionName: "pause" | "unpause") =>
        encodeFunctionData({ abi: depositFactoryAbi, functionName });
      await call(keys.guardian.account, "a pause", deployment.factory, encode("pause"));
      onStep("paused", "the contracts of ethereum");
      try {
        return await work();
      } finally {
        await call(keys.owner.account, "the end of a pause", deployment.factory, encode("unpause"));
        onStep("unpaused", "the contracts of ethereum");
      }
    },

    /** Waits until the sweep of the settlement is mined. */
    swept: (settlementId: string): Promise<string> =>
      until(async () => (await service.getSwap(settlementId, { signal })).swapTxHash ?? undefined),

    wait: (ms: number): Promise<void> => sleep(ms, undefined, { signal }),

    /** Calls an endpoint of the service with the key of the address's integrator. */
    async ask(
      method: "POST" | "DELETE",
      path: string,
      body?: object,
    ): Promise<Readonly<Record<string, unknown>>> {
      const response = await fetch(`${parts.descriptor.baseUrl}${path}`, {
        method,
        headers: {
          "x-api-key": integrator.apiKey,
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new SandboxError(`${method} ${path}: ${response.status} ${text}`);
      return asRecord(JSON.parse(text)) ?? {};
    },
  };
}

/** Conduct of an ordinary token. */
const PLAIN_TOKEN = {
  index: 0n,
  answer: 0,
  pretends: false,
  keepsOne: false,
  paused: false,
  refusesZero: false,
  refusesRace: false,
  stickyAllowance: false,
  capped: false,
  picky: false,
  waste: 0n,
  endless: false,
  bomb: 0,
} as const;

/** Tokens of the source chain that scenarios pay, as the deployment names them. */
export type PaidToken = "token" | "weth" | "feeToken";

/** Returns the timestamp of the newest event; undefined if there is none. */
async function findNewest(service: SluiceClient): Promise<string | undefined> {
  let newest: string | undefined;
  for await (const { timestamp } of service.iterateExtendedEvents({ limit: 200 }))
    newest = timestamp;
  return newest;
}
