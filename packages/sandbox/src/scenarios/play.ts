/** Plays scenarios on a running sandbox, one at a time: most faults concern all deposits. */
import { createSluiceClient } from "@sluice/sdk";
import { randomBytes } from "node:crypto";
import { getAddress, isAddressEqual, isAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { SandboxError } from "../errors.ts";
import { SCRIPTS } from "./scripts.ts";
import { type AddressEvent, formatState, isSequence, readState } from "./sequence.ts";
import { openStage, type ScenarioParts, type StageAddress } from "./stage.ts";
import { isScenarioName, SCENARIO_NAMES, SCENARIOS, type ScenarioName } from "./table.ts";

/** Options of a play. */
export interface PlayOptions {
  /**
   * A deposit address of the sandbox's integrators on EVM chains, for USDC on base. Default: a new address of the first
   * integrator.
   */
  readonly depositAddress?: string;
  /** Timeout in milliseconds. Default 180000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called after each step and with each event of the address. */
  readonly onStep?: (step: string, text: string) => void;
}

/** Result of a play. */
export interface PlayResult {
  readonly scenario: ScenarioName;
  readonly depositAddress: string;
  /** Name of the integrator of the address. */
  readonly integrator: string;
  /** Sum that was delivered, in base units of USDC. */
  readonly delivered: string;
  /** The events of the address, oldest first, with details. */
  readonly events: readonly AddressEvent[];
}

const TIMEOUT_MS = 180_000;

/** Plays scenarios of one sandbox. */
export type Player = (name: string, options?: PlayOptions) => Promise<PlayResult>;

/** Returns the player of a sandbox. A play waits for the end of the one before. */
export function createPlayer(parts: ScenarioParts): Player {
  let last: Promise<unknown> = Promise.resolve();
  return async (name, options = {}) => {
    if (!isScenarioName(name)) {
      throw new SandboxError(`scenario ${name}: expected one of ${SCENARIO_NAMES.join(", ")}`);
    }
    const next = () => playScenario(parts, name, options);
    const played = last.then(next, next);
    last = played;
    return played;
  };
}

/**
 * Plays a scenario and waits until its documented sequence of events is complete.
 * @throws SandboxError if it is not complete before the timeout.
 */
async function playScenario(
  parts: ScenarioParts,
  name: ScenarioName,
  { depositAddress, timeoutMs = TIMEOUT_MS, signal, onStep = () => undefined }: PlayOptions,
): Promise<PlayResult> {
  const address =
    depositAddress === undefined
      ? await issueAddress(parts)
      : await findAddress(parts, depositAddress);
  const timeout = AbortSignal.timeout(timeoutMs);
  const ends = signal ? AbortSignal.any([signal, timeout]) : timeout;
  onStep("address", `${address.depositAddress} of ${address.integrator.name}`);
  const stage = await openStage(parts, address, { signal: ends, onStep });
  let events: readonly AddressEvent[] = [];
  const isComplete = (all: readonly AddressEvent[]) => {
    events = all;
    return isSequence(SCENARIOS[name].events, all.map(readState)) || undefined;
  };
  try {
    await SCRIPTS[name](stage);
    await stage.until(isComplete);
  } catch (error) {
    if (!timeout.aborted) throw error;
    const seen = events.map((event) => formatState(readState(event))).join(", ");
    throw new SandboxError(
      `${name} did not end as documented within ${timeoutMs} ms: the events were ${seen || "none"}`,
    );
  }
  return {
    scenario: name,
    depositAddress: address.depositAddress,
    integrator: address.integrator.name,
    delivered: String(sumDelivered(events)),
    events,
  };
}

/** Returns the sum of the amounts that completed settlements delivered. */
function sumDelivered(events: readonly AddressEvent[]): bigint {
  const amounts = events.map((event) =>
    event.type === "status_changed" && event.data.status === "completed"
      ? BigInt(event.details?.deliveredAmount ?? 0)
      : 0n,
  );
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** Creates an address of the first integrator: a new user's, for USDC of a new wallet on base. */
async function issueAddress({ descriptor, deployment }: ScenarioParts): Promise<StageAddress> {
  const [integrator] = descriptor.integrators;
  if (!integrator) throw new Error("the sandbox has integrators");
  const { quotes } = await createSluiceClient({ ...descriptor, apiKey: integrator.apiKey }).quote({
    amountIn64: "25000000",
    fromChain: "ethereum",
    fromToken: deployment.chains.ethereum.token,
    toChain: "base",
    toToken: deployment.chains.base.token,
    slippageBps: "auto",
    destinationAddress: privateKeyToAccount(generatePrivateKey()).address,
    payDeposit: true,
    payUserId: `0x${randomBytes(20).toString("hex")}`,
  });
  const issued = quotes.find(({ payDepositAddress }) => payDepositAddress !== null);
  if (!issued?.payDepositAddress) throw new SandboxError("no quote has a deposit address");
  return { depositAddress: getAddress(issued.payDepositAddress), integrator };
}

/** Finds the integrator of an address, and checks its destination. */
async function findAddress(
  { descriptor, deployment }: ScenarioParts,
  address: string,
): Promise<StageAddress> {
  if (!isAddress(address)) {
    throw new SandboxError(`depositAddress ${address}: expected an address of an EVM chain`);
  }
  const { chainId } = descriptor.chains.find(({ name }) => name === "base") ?? {};
  for (const integrator of descriptor.integrators) {
    const client = createSluiceClient({ ...descriptor, apiKey: integrator.apiKey });
    for await (const one of client.iterateDepositAddresses({ limit: 100 })) {
      if (one.walletAddress.toLowerCase() !== address.toLowerCase()) continue;
      const isUsdc =
        isAddress(one.destToken) && isAddressEqual(one.destToken, deployment.chains.base.token);
      if (!isUsdc || one.destChain !== String(chainId)) {
        throw new SandboxError(`depositAddress ${address}: expected one for USDC on base`);
      }
      return { depositAddress: getAddress(address), integrator };
    }
  }
  throw new SandboxError(`depositAddress ${address}: no integrator of the sandbox has it`);
}
