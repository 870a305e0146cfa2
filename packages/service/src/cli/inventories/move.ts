import { formatUnits, parseUnits } from "../../core/amounts.ts";
import type { Config } from "../../config/index.ts";
import { type Direction, insertMove, listDirections } from "../../rebalancing/index.ts";
import { listOpenMoves, readSource, showMove } from "../../rebalancing/index.ts";
import { getChainConfig, getToken } from "../../routes/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { withInventory } from "../inventory.ts";
import { nameOperator, parseReason } from "../operator.ts";

interface MoveInput {
  readonly from: number;
  readonly to: number;
  readonly token: string;
  /** Whole units. */
  readonly amount: string;
  readonly reason: string;
  readonly yes: boolean;
}

/** Has the settler move a token of a treasury to an inventory. Without `--yes` it says what would happen. */
export async function run(call: Call, input: MoveInput): Promise<Result> {
  const config = call.readConfig();
  const direction = findDirection(config, input);
  const { symbol, decimals } = getToken(config, direction.srcChain, direction.token);
  const amount = parseAmount(input.amount, decimals);
  const reason = parseReason(input.reason);
  return withInventory(config, async (deps) => {
    const source = await readSource(deps, direction, await listOpenMoves(deps.db));
    if (!source) throw new UsageError("--from: expected a chain whose nodes answer.");
    const free = source.movable - source.spoken;
    if (amount > free) {
      const most = formatUnits(free > 0n ? free : 0n, decimals);
      throw new UsageError(`--amount: expected at most ${most} ${symbol}, which can be moved now.`);
    }
    const from = getChainConfig(config, direction.srcChain).name;
    const to = getChainConfig(config, direction.destChain).name;
    const what = `${formatUnits(amount, decimals)} ${symbol} from the treasury of ${from} to the inventory of ${to}`;
    if (!input.yes) {
      const json = { from, to, symbol, amount: formatUnits(amount, decimals), moved: false };
      return { json, text: `would move ${what}; add --yes to do it` };
    }
    const id = systemRandom.uuid();
    const row = { ...direction, id, amount, reason, operator: nameOperator() };
    await insertMove(deps.db, { ...row, state: "asked" });
    const asked = (await listOpenMoves(deps.db)).find((move) => move.id === id);
    const json = { moved: true, ...(asked && showMove(config, asked)) };
    return {
      json,
      text: `move ${id}: ${what}. The settler sends it; \`sluice inventory\` follows it.`,
    };
  });
}

function findDirection(config: Config, { from, to, token }: MoveInput): Direction {
  const directions = listDirections(config);
  const found = directions.find(
    (direction) =>
      direction.srcChain === from &&
      direction.destChain === to &&
      getToken(config, from, direction.token).symbol.toLowerCase() === token.toLowerCase(),
  );
  if (found) return found;
  const known = directions.map((one) => {
    const { symbol } = getToken(config, one.srcChain, one.token);
    return `${getChainConfig(config, one.srcChain).name} to ${getChainConfig(config, one.destChain).name} ${symbol}`;
  });
  throw new UsageError(
    known.length === 0
      ? "--to: expected an inventory with inventoryTarget, on a chain with a treasury contract; the configuration has none."
      : `--from, --to, --token: expected one of ${known.join("; ")}.`,
  );
}

function parseAmount(text: string, decimals: number): bigint {
  const amount = /^\d+(\.\d+)?$/.test(text) ? tryUnits(text, decimals) : null;
  if (amount !== null && amount > 0n) return amount;
  throw new UsageError(
    `--amount: expected whole units with at most ${decimals} decimals, above zero.`,
  );
}

function tryUnits(text: string, decimals: number): bigint | null {
  return (text.split(".")[1] ?? "").length > decimals ? null : parseUnits(text, decimals);
}
