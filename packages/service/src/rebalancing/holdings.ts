/**
 * What treasuries hold, and what of it their owner can withdraw without taking it from a move or an inventory.
 *
 * Invariant: once the free amount has been withdrawn, the treasury still has every move that is planned, and the rest of what
 * each inventory needs of it.
 */
import type { TreasuryStock } from "../chains/port/index.ts";
import { rescale } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import { sumFees } from "../ledger/index.ts";
import { getChain, getChainConfig } from "../routes/index.ts";
import { type Direction, isLocalTo, listDirections } from "./directions.ts";
import { type Level, neededBy } from "./plan.ts";
import * as store from "./store.ts";
import { answerOf, readLevels, type RebalancingDeps, sumSpoken } from "./worker.ts";

/** A token of a treasury. Amounts are in its base units. */
export interface Holding extends TreasuryStock {
  /** Bridge chain id of the treasury. */
  readonly chainId: number;
  readonly token: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** Fees for service and gas since the beginning, which claims and sweeps brought. */
  readonly earned: bigint;
  /** What planned moves have yet to take out. */
  readonly spoken: bigint;
  /** What the inventories that it refills lack of their targets; null while one of their chains does not answer. */
  readonly needed: bigint | null;
  /** The amount that the owner can withdraw beyond the announced one; null while the need is not known. */
  readonly free: bigint | null;
}

type HoldingDeps = Pick<RebalancingDeps, "config" | "db" | "chains" | "log">;

/** A token whose contract, or whose chain, does not answer. */
export type SilentToken = Pick<Holding, "chainId" | "token" | "symbol" | "decimals"> & {
  readonly silent: true;
};

/** Reads the tokens of a chain's treasury, each by itself; none without a treasury contract. */
export async function readHoldings(
  deps: HoldingDeps,
  chainId: number,
): Promise<readonly (Holding | SilentToken)[]> {
  const { config, db } = deps;
  const { treasury } = getChain(deps.chains, chainId);
  if (!treasury) return [];
  const open = await store.listOpen(db);
  const levels = await readLevels(deps, open);
  const directions = listDirections(config);
  return Promise.all(
    getChainConfig(config, chainId).tokens.map(async ({ address: token, symbol, decimals }) => {
      const of = { chainId, token, decimals };
      const stock = await answerOf(deps, chainId, () => treasury.readStock(token));
      if (stock === null) return { ...of, symbol, silent: true as const };
      const spoken = sumSpoken(open, of);
      const needed = sumNeeded(of, directions, levels);
      const free = needed === null ? null : freeOf(stock, spoken + needed);
      return { ...of, ...stock, symbol, earned: await sumFees(db, of), spoken, needed, free };
    }),
  );
}

function freeOf({ balance, announced }: TreasuryStock, spokenFor: bigint): bigint {
  const kept = spokenFor + (announced?.amount ?? 0n);
  return balance > kept ? balance - kept : 0n;
}

/**
 * Sums what a treasury must leave to inventories: to its own chain's up to the target, to others once they are below their
 * minimum. Null if one of them is not among the levels, since its chain or token did not answer.
 */
export function sumNeeded(
  from: Pick<Holding, "chainId" | "token" | "decimals">,
  directions: readonly Direction[],
  levels: readonly Level[],
): bigint | null {
  let needed = 0n;
  for (const direction of directions) {
    if (direction.srcChain !== from.chainId || direction.token !== from.token) continue;
    const level = levels.find(
      ({ chainId, token }) => chainId === direction.destChain && token === direction.destToken,
    );
    if (!level) return null;
    const isAsked = isLocalTo(direction) || level.free + level.underWay < level.min;
    if (isAsked) needed += rescale(neededBy(level), level.decimals, from.decimals);
  }
  return needed;
}

/**
 * Returns the holding of a token by its symbol. Throws VALIDATION_ERROR that lists those that there are, RPC_UNAVAILABLE for one
 * that does not answer.
 */
export function findHolding(holdings: readonly (Holding | SilentToken)[], symbol: string): Holding {
  const found = holdings.find((one) => one.symbol.toLowerCase() === symbol.toLowerCase());
  if (found && "silent" in found) {
    throw new OperatingError(
      "RPC_UNAVAILABLE",
      `${found.symbol} of the treasury does not answer.`,
      {
        details: { chainId: found.chainId },
      },
    );
  }
  if (found) return found;
  const known = holdings.map((one) => one.symbol).join(", ");
  throw new OperatingError(
    "VALIDATION_ERROR",
    known === ""
      ? "chain: expected one with a treasury contract."
      : `token: expected one of ${known}.`,
  );
}
