/**
 * Composes the dependencies of settlements at two levels: queueing settlements for arrived value (scanner) and by request
 * (API), and the steps of settlements (settler).
 */
import { type Config, listSolanaChains } from "../config/index.ts";
import { getAddressById } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import { remember } from "../core/remember.ts";
import type { Address } from "../core/hex.ts";
import { floorAmount, gateBalance, type Minimums } from "../deposits/index.ts";
import { ROUTE_MODULES } from "../routes/index.ts";
import {
  type AttestedRefunds,
  type IntakeDeps,
  type SettlementDeps,
  SETTLEMENTS,
} from "../settlements/index.ts";
import { type Parts, type RoleContext, TOPICS, wakeDue, wakeLanes } from "./context.ts";
import { REFUND_GAS } from "../fees/index.ts";
import { createConfiguredFees, createConfiguredGasCosts } from "./fees.ts";
import { createAttestorSet } from "./keys.ts";

/** Interval at which waiting work is polled when nothing wakes it, in milliseconds. */
export const POLL_MS = 500;

/** Parts for queueing settlements. */
export const INTAKE_PARTS = [
  "config",
  "db",
  "clock",
  "random",
  "log",
  "health",
  "wakeups",
  "chains",
  "prices",
  "format",
  "routes",
] as const;

export type IntakeParts = Parts<(typeof INTAKE_PARTS)[number]>;

/** Composes the dependencies of queueing settlements. */
export function createIntakeDeps(parts: IntakeParts): IntakeDeps {
  const { wakeups } = parts;
  return {
    db: parts.db,
    clock: parts.clock,
    random: parts.random,
    log: parts.log,
    chains: parts.chains,
    routes: parts.routes,
    quotas: parts.config.quotas,
    displayAddress: parts.format.display,
    metrics: parts.health.metrics,
    readMinimums: createMinimums(parts),
    wakeEvents: (integratorId) => wakeups.wake(TOPICS.events, integratorId),
    wakeSettlements: (chainId) => wakeDue(wakeups, [{ name: SETTLEMENTS, chainId }]),
  };
}

/** Composes the dependencies of the settlement steps. */
export function createSettlementDeps(
  parts: IntakeParts,
  lanes: SettlementDeps["lanes"],
): SettlementDeps {
  const { wakeups } = parts;
  return {
    ...createIntakeDeps(parts),
    fees: createConfiguredFees(parts),
    readAddress: createAddressReader(parts),
    screens: parts.config.screening !== undefined,
    lanes,
    attestedRefunds: {
      policies: parts.config.refunds,
      attestors: createAttestorSet(parts.config),
      wakeAttestor: () => wakeups.wake(TOPICS.attestations, "refund"),
      readCost: createRefundCosts(parts),
    },
    wakeLanes: (chainId, lane) => wakeLanes(wakeups, chainId, lane),
    wakeDeliveries({ kind, pair: { destChain: chainId } }) {
      const name = ROUTE_MODULES.find((module) => module.kind === kind)?.queue;
      if (name !== undefined) wakeDue(wakeups, [{ name, chainId }]);
    },
    pollMs: POLL_MS,
  };
}

/** Returns what the gas of a refund costs, in base units of the refunded token; null while that cannot be priced. */
function createRefundCosts(parts: IntakeParts): AttestedRefunds["readCost"] {
  const gasCosts = createConfiguredGasCosts(parts);
  const { chains } = parts.config;
  return async ({ chainId, token, deploys }) => {
    const listed = chains.find((chain) => chain.chainId === chainId)?.tokens;
    const decimalsIn = listed?.find(({ address }) => address === token)?.decimals;
    if (decimalsIn === undefined) return null;
    const pair = { srcChain: chainId, srcToken: token, destChain: chainId, destToken: token };
    const gasSteps = [{ on: "source", gas: REFUND_GAS, paysRecipient: true }] as const;
    try {
      return await gasCosts.read({ pair, decimalsIn, gasSteps }, deploys);
    } catch (error) {
      if (error instanceof OperatingError && error.code === "PRICE_UNAVAILABLE") return null;
      throw error;
    }
  };
}

/** How long addresses are remembered, in milliseconds: longer than most settlements take. */
export const ADDRESS_MEMO_MS = 600_000;

function createAddressReader({ clock, db }: IntakeParts): SettlementDeps["readAddress"] {
  return remember({ clock, forMs: ADDRESS_MEMO_MS }, (id) => getAddressById(db, id));
}

/** Creates the check of a balance against the minimums; false while that cannot be known. */
export function createBelowMinimum(
  parts: Parameters<typeof createMinimums>[0],
): (chainId: number, token: Address, balance: bigint) => Promise<boolean> {
  const readMinimums = createMinimums(parts);
  return async (chainId, token, balance) =>
    gateBalance(balance, await readMinimums(chainId, token)).kind === "ignore";
}

/**
 * Returns the lanes that send refunds by request: on Solana the first fee payer, whose key is derived from the seed. Elsewhere
 * the settler chooses one, once the attestors have signed.
 */
export function listRefundLanes(config: Config): SettlementDeps["lanes"] {
  return new Map(
    listSolanaChains(config).map(({ chainId, accounts: { settle } }) => [
      chainId,
      { deploy: [], settle: [settle] },
    ]),
  );
}

/** Returns the minimums of a balance, from the configuration and current prices. */
export function createMinimums({
  config,
  prices,
  log,
}: Pick<RoleContext, "config" | "prices" | "log">): SettlementDeps["readMinimums"] {
  return async (chainId: number, address: Address): Promise<Minimums> => {
    const chain = config.chains.find((known) => known.chainId === chainId);
    const token = chain?.tokens.find((known) => known.address === address);
    const minimum = token?.minDeposit;
    // A token without price sources has no minimum in US dollars.
    if (!chain || !token?.price || chain.minDepositUsd === undefined) {
      return { token: minimum, floor: undefined };
    }
    try {
      const priceUsd = await prices.readUsd({ chainId, token: address });
      const { decimals } = token;
      const floor = floorAmount({ floorUsd: chain.minDepositUsd, priceUsd, decimals });
      return { token: minimum, floor };
    } catch (error) {
      if (!(error instanceof OperatingError) || error.code !== "PRICE_UNAVAILABLE") throw error;
      // The deposit is queued and waits for a price, since refusing it would depend on an outage.
      log.warn({ err: error, chainId, token: address }, "no price for the minimum in US dollars");
      return { token: minimum, floor: "unpriced" };
    }
  };
}
