/** Transfers of treasuries as operators see them. */
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { getChainConfig, getToken } from "../routes/index.ts";
import type { Move } from "./store.ts";

/** A move, with its amount in whole units and the names of its chains. */
export interface ShownMove {
  readonly move: string;
  readonly from: string;
  readonly to: string;
  readonly symbol: string;
  readonly amount: string;
  readonly state: string;
  /** Null if the service planned it. */
  readonly operator: string | null;
  readonly reason: string;
  readonly error: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

/** Returns a move as it is shown. Throws CONFIG_MISSING for a chain or token that is no longer configured. */
export function showMove(config: Pick<Config, "chains">, move: Move): ShownMove {
  const { symbol, decimals } = getToken(config, move.srcChain, move.token);
  return {
    move: move.id,
    from: getChainConfig(config, move.srcChain).name,
    to: getChainConfig(config, move.destChain).name,
    symbol,
    amount: formatUnits(move.amount, decimals),
    state: move.state,
    operator: move.operator,
    reason: move.reason,
    error: move.error,
    createdAt: move.createdAt,
    endedAt: move.endedAt,
  };
}
