/** Moves of treasuries as operators see them. */
import type { ConsoleMove } from "@sluice/sdk/wire";
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import type { Move } from "./store.ts";

/** Returns a move as it is shown. Of a chain or token that is no longer configured it shows ids and base units. */
export function showMove({ chains }: Pick<Config, "chains">, move: Move): ConsoleMove {
  const find = (chainId: number) => chains.find((chain) => chain.chainId === chainId);
  const nameOf = (chainId: number) => find(chainId)?.name ?? `${chainId}`;
  const token = find(move.srcChain)?.tokens.find(({ address }) => address === move.token);
  return {
    move: move.id,
    from: nameOf(move.srcChain),
    to: nameOf(move.destChain),
    symbol: token?.symbol ?? move.token,
    amount: token ? formatUnits(move.amount, token.decimals) : `${move.amount}`,
    state: move.state,
    operator: move.operator,
    reason: move.reason,
    error: move.error,
    createdAt: move.createdAt,
    endedAt: move.endedAt,
  };
}
