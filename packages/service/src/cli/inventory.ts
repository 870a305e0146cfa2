/** `sluice inventory`: what each inventory has and how long it lasts, what treasuries can move, and moves under way. */
import { toChecksumAddress } from "../chains/evm/checksum.ts";
import type { ConsoleMove } from "@sluice/sdk/wire";
import type { Chains } from "../chains/port/index.ts";
import { type Config, listEvmChains } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import type { Db } from "../db/schema.ts";
import {
  type Holding,
  listDirections,
  listNewestMoves,
  listOpenMoves,
  readHoldings,
  readSource,
  showMove,
  type SilentToken,
} from "../rebalancing/index.ts";
import { getChainConfig, getToken, readInventories, type ShownInventory } from "../routes/index.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import type { Call, Result } from "./command.ts";
import { withDatabase } from "./with-database.ts";
import { createChains } from "../roles/chains.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import { systemClock } from "../roles/system-ports.ts";

/** Ended moves that are shown. */
const ENDED_SHOWN = 20;

/** A direction of a treasury, with amounts in whole units. */
export interface ShownDirection {
  readonly from: string;
  readonly to: string;
  readonly symbol: string;
  readonly token: string;
  /** The account that receives it: the `Delivery` of the chain, or a deposit address of the operator. */
  readonly account: string;
  /** The most that a move may move now; null while the chain does not answer. */
  readonly movable: string | null;
}

/** Shows every inventory that a route pays from, and how it is refilled. */
export async function run(call: Call): Promise<Result> {
  const config = call.readConfig();
  return withInventory(config, async (deps) => {
    const inventories = await readInventories({ ...deps, clock: systemClock });
    const treasuries = await readTreasuries(deps);
    const directions = await readDirections(deps);
    const newest = await listNewestMoves(deps.db, ENDED_SHOWN);
    const moves = newest.map((move) => showMove(config, move));
    const text = [
      formatInventories(inventories),
      ...treasuries.map(formatTreasury),
      formatDirections(directions),
      formatMoves(moves),
    ];
    const json = {
      inventories,
      treasuries: treasuries.flatMap(({ held }) => held.filter((one) => !("silent" in one))),
      directions,
      moves,
    };
    return { json, text: text.filter(Boolean).join("\n\n") };
  });
}

/** What the commands of inventories read. */
export interface InventoryDeps {
  readonly config: Config;
  readonly db: Db;
  readonly chains: Chains;
  readonly log: Log;
}

/** Runs a command of inventories with the database and the nodes. */
export function withInventory<Result>(
  config: Config,
  work: (deps: InventoryDeps) => Promise<Result>,
): Promise<Result> {
  const log = createLog({ level: config.logLevel, role: "inventory" });
  const chains = createChains(config, {
    clock: systemClock,
    log,
    trafficOf: createCommandTraffic(),
  });
  return withDatabase(config, ({ db }) => work({ config, db, chains, log }));
}

interface ShownTreasury {
  readonly chain: string;
  readonly held: readonly (ReturnType<typeof showHolding> | SilentToken)[];
}

async function readTreasuries(deps: InventoryDeps): Promise<readonly ShownTreasury[]> {
  const { config } = deps;
  return Promise.all(
    listEvmChains(config).map(async ({ chainId, name: chain }) => {
      const held = await readHoldings(deps, chainId);
      const shown = held.map((one) => ("silent" in one ? one : showHolding(chain, one)));
      return { chain, held: shown };
    }),
  );
}

async function readDirections(deps: InventoryDeps): Promise<readonly ShownDirection[]> {
  const { config, db } = deps;
  const open = await listOpenMoves(db);
  return Promise.all(
    listDirections(config).map(async (direction) => {
      const { srcChain, destChain, token } = direction;
      const source = await readSource(deps, direction, open);
      const { symbol, decimals } = getToken(config, srcChain, token);
      return {
        from: getChainConfig(config, srcChain).name,
        to: getChainConfig(config, destChain).name,
        symbol,
        token: toChecksumAddress(token),
        account: toChecksumAddress(direction.to),
        movable: source && formatUnits(source.movable, decimals),
      };
    }),
  );
}

/** Formats the inventories as lines of text. */
function formatInventories(inventories: readonly ShownInventory[]): string {
  if (inventories.length === 0) return "No route pays from inventory.";
  return inventories.map(formatInventory).join("\n\n");
}

function formatInventory(inventory: ShownInventory): string {
  const { symbol, unpaid, unclaimed, runwayHours } = inventory;
  const oldest =
    unclaimed.oldestMinutes === null ? "" : `, the oldest ${unclaimed.oldestMinutes} min`;
  const runway =
    runwayHours === null
      ? "unknown: nothing was paid in seven days"
      : `${runwayHours} h at the pace of seven days (${inventory.paidIn7Days} ${symbol})`;
  return [
    `${symbol} on ${inventory.chain} (${inventory.token})`,
    `  balance    ${inventory.balance}`,
    `  reserved   ${inventory.reserved}`,
    `  cap left   ${inventory.capLeft} in the current 24 h`,
    `  available  ${inventory.available}`,
    `  unpaid     ${unpaid.count} locks, ${unpaid.amount}`,
    `  unclaimed  ${unclaimed.count} deliveries, ${unclaimed.amount}${oldest}`,
    `  runway     ${runway}`,
  ].join("\n");
}

/** Returns a holding with amounts in whole units. */
function showHolding(chain: string, holding: Holding) {
  const { token, symbol, announced, needed, free } = holding;
  const show = (units: bigint) => formatUnits(units, holding.decimals);
  return {
    chain,
    symbol,
    token: toChecksumAddress(token),
    balance: show(holding.balance),
    earned: show(holding.earned),
    floor: show(holding.floor),
    spoken: show(holding.spoken),
    needed: needed === null ? null : show(needed),
    announced: announced && {
      amount: show(announced.amount),
      readyAt: new Date(Number(announced.readyAt) * 1_000).toISOString(),
    },
    free: free === null ? null : show(free),
  };
}

function formatTreasury({ chain, held }: ShownTreasury): string {
  return held
    .map((one) => {
      const name = `treasury of ${chain}, ${one.symbol} (${toChecksumAddress(one.token)})`;
      if ("silent" in one) return `${name}: no answer`;
      const { balance, earned, spoken, needed, announced, free } = one;
      return [
        name,
        `  balance    ${balance}`,
        `  earned     ${earned} since the beginning`,
        `  moves      ${spoken} to be taken out`,
        `  needed     ${needed ?? "unknown: a chain does not answer"}`,
        ...(announced
          ? [`  announced  ${announced.amount}, to be withdrawn from ${announced.readyAt} on`]
          : []),
        `  free       ${free ?? "unknown"}`,
      ].join("\n");
    })
    .join("\n\n");
}

function formatDirections(directions: readonly ShownDirection[]): string {
  return directions
    .map(({ from, to, symbol, movable }) => {
      const amount = movable === null ? "no answer" : `${movable} ${symbol} can be moved`;
      return `treasury of ${from} to ${to}: ${amount}`;
    })
    .join("\n");
}

function formatMoves(moves: readonly ConsoleMove[]): string {
  return moves
    .map(({ move, createdAt, from, to, symbol, amount, state, operator, reason, error }) => {
      const why = error === null ? reason : `${reason}; waits: ${error}`;
      const who = operator === null ? "" : `, ${operator}`;
      return `${move}  ${createdAt}  ${amount} ${symbol} from ${from} to ${to}  ${state}  (${why}${who})`;
    })
    .join("\n");
}
