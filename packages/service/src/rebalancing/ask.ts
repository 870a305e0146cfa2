/** Moves that operators ask for, by the command line or in the console. */
import { OperatingError } from "../core/errors.ts";
import { formatUnits, parseUnits } from "../core/amounts.ts";
import { getChainConfig, getToken } from "../routes/index.ts";
import { type Direction, listDirections } from "./directions.ts";
import * as store from "./store.ts";
import { type RebalancingDeps, readSource } from "./worker.ts";

export interface MoveRequest {
  /** Bridge chain id of the treasury. */
  readonly from: number;
  /** Bridge chain id of the inventory. */
  readonly to: number;
  /** Symbol of the token on the treasury's chain. */
  readonly token: string;
  /** Whole units. */
  readonly amount: string;
}

type AskDeps = Pick<RebalancingDeps, "config" | "db" | "chains" | "log" | "random">;

/** A move that could be made now. */
export interface PossibleMove {
  readonly direction: Direction;
  /** Base units of the treasury's token. */
  readonly amount: bigint;
}

/**
 * Checks the request of an operator. Changes nothing.
 * @throws OperatingError VALIDATION_ERROR with the field and the expected form; RPC_UNAVAILABLE if the treasury's chain does not
 *   answer.
 */
export async function checkMove(
  deps: Omit<AskDeps, "random">,
  request: MoveRequest,
): Promise<PossibleMove> {
  const { config } = deps;
  const direction = findDirection(config, request);
  const { symbol, decimals } = getToken(config, direction.srcChain, direction.token);
  const amount = parseAmount(request.amount, decimals);
  const source = await readSource(deps, direction, await store.listOpen(deps.db));
  if (!source) {
    const { name } = getChainConfig(config, direction.srcChain);
    throw new OperatingError("RPC_UNAVAILABLE", `No node of ${name} answers.`);
  }
  const free = source.movable > source.spoken ? source.movable - source.spoken : 0n;
  if (amount > free) {
    throw invalid(
      "amount",
      `at most ${formatUnits(free, decimals)} ${symbol}, which can be moved now`,
    );
  }
  if (amount < source.minimum) {
    const least = formatUnits(source.minimum, decimals);
    throw invalid("amount", `at least ${least} ${symbol}, the smallest deposit that is settled`);
  }
  return { direction, amount };
}

/** Has the settler make a move. Returns its id. Throws as `checkMove`. */
export async function askMove(
  deps: AskDeps,
  request: MoveRequest & { readonly operator: string; readonly reason: string },
): Promise<string> {
  const { direction, amount } = await checkMove(deps, request);
  const { operator, reason } = request;
  const id = deps.random.uuid();
  await store.insertMove(deps.db, { ...direction, id, amount, operator, reason, state: "asked" });
  return id;
}

function findDirection(config: AskDeps["config"], { from, to, token }: MoveRequest): Direction {
  const symbolOf = ({ srcChain, token: held }: Direction) =>
    getToken(config, srcChain, held).symbol;
  const directions = listDirections(config);
  const found = directions.find(
    (one) =>
      one.srcChain === from &&
      one.destChain === to &&
      symbolOf(one).toLowerCase() === token.toLowerCase(),
  );
  if (found) return found;
  if (directions.length === 0) {
    throw invalid("to", "an inventory with inventoryTarget, on a chain with a treasury contract");
  }
  const known = directions.map((one) => {
    const [source, destination] = [one.srcChain, one.destChain].map(
      (chainId) => getChainConfig(config, chainId).name,
    );
    return `${symbolOf(one)} from ${source} to ${destination}`;
  });
  throw invalid("from, to, token", `one of ${known.join("; ")}`);
}

/** Parses whole units. Throws VALIDATION_ERROR for zero, another form, or more decimals than the token has. */
export function parseAmount(text: string, decimals: number): bigint {
  const [, fraction = ""] = text.split(".");
  const isUnits = /^\d{1,40}(\.\d+)?$/.test(text) && fraction.length <= decimals;
  const amount = isUnits ? parseUnits(text, decimals) : 0n;
  if (amount > 0n) return amount;
  throw invalid("amount", `whole units above zero, with at most ${decimals} decimals`);
}

function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
