/** Exports of simulated runs: their sums are the ledger's, to the base unit, and so are the fees of every settlement. */
import type { ExportedDeposit, ExportedSettlement, ExportKind } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../src/db/schema.ts";
import { exportLines } from "../src/exports/index.ts";
import { addressFormat } from "../src/roles/address-format.ts";
import { useSimulations } from "./simulation/databases.ts";
import type { RouteChoice } from "./simulation/faults.ts";
import { runSeed } from "./simulation/run.ts";

const SEEDS = 3;
const simulations = useSimulations();
const { display } = addressFormat;

/** Sums by chain and token, in the order of the keys. */
type Sums = Readonly<Record<string, string>>;

function sum(amounts: readonly (readonly [place: string, amount: string | null])[]): Sums {
  const sums = new Map<string, bigint>();
  for (const [place, amount] of amounts) {
    sums.set(place, (sums.get(place) ?? 0n) + BigInt(amount ?? 0));
  }
  return Object.fromEntries(
    [...sums].filter(([, total]) => total !== 0n).map(([place, total]) => [place, String(total)]),
  );
}

async function exportAll<Item>(db: Db, kind: ExportKind): Promise<Item[]> {
  const items: Item[] = [];
  for (const { id } of await db.selectFrom("integrators").select("id").execute()) {
    const deps = { db, display, chains: [] };
    for await (const page of exportLines(deps, { integratorId: id, kind, format: "jsonl" })) {
      items.push(...page.map((line) => JSON.parse(line)));
    }
  }
  return items;
}

/** Returns the ledger's sums of lines that a condition selects, by chain and token. */
async function sumLines(db: Db, condition: ReturnType<typeof sql<boolean>>): Promise<Sums> {
  const { rows } = await sql<{ chain_id: number; token: string; amount: string }>`
    select chain_id, token, sum(amount)::text as amount from ledger_lines where ${condition}
    group by 1, 2`.execute(db);
  return sum(
    rows.map(({ chain_id, token, amount }) => [placeOf(chain_id, display(token as never)), amount]),
  );
}

const placeOf = (chainId: number | string, token: string) => `${chainId} ${token}`;

/** Compares the exports of a database with its ledger. Returns the routes of the settlements whose fees were compared. */
async function reconcile(db: Db): Promise<readonly string[]> {
  const deposits = await exportAll<ExportedDeposit>(db, "deposits");
  const settlements = await exportAll<ExportedSettlement>(db, "settlements");
  const counted = deposits.filter(({ finality }) => finality !== "orphaned");
  const arrived = sum(
    counted.map(({ chainId, tokenAddress, amount }) => [placeOf(chainId, tokenAddress), amount]),
  );
  expect(arrived).toEqual(await sumLines(db, sql`account = 'wallet' and reason = 'deposit'`));
  const atSource = (amountOf: (one: ExportedSettlement) => string | null | undefined) =>
    sum(settlements.map((one) => [placeOf(one.chainId, one.tokenAddress), amountOf(one) ?? null]));
  const atDestination = (amountOf: (one: ExportedSettlement) => string | null | undefined) =>
    sum(settlements.map((one) => [placeOf(one.destChain, one.destToken), amountOf(one) ?? null]));
  expect(atSource(({ sweptAmount }) => sweptAmount)).toEqual(
    await sumLines(db, sql`account = 'in_flight' and reason = 'sweep'`),
  );
  expect(atDestination(({ deliveredAmount }) => deliveredAmount)).toEqual(
    await sumLines(db, sql`account = 'delivered'`),
  );
  for (const [part, at] of [
    ["service", atSource],
    ["gas", atSource],
    ["bridge", atDestination],
  ] as const) {
    expect(at(({ fees }) => fees?.[part])).toEqual(
      await sumLines(db, sql`account = 'fees' and owner = ${part}`),
    );
  }
  const { rows } = await sql<{ id: string; service: string; gas: string; bridge: string }>`
    select of.id, sum(case when l.owner = 'service' then l.amount else 0 end)::text as service,
           sum(case when l.owner = 'gas' then l.amount else 0 end)::text as gas,
           sum(case when l.owner = 'bridge' then l.amount else 0 end)::text as bridge
    from ledger_lines l
    left join deliveries d on d.id = l.ref
    left join bridge_transfers t on t.id::text = l.ref
    cross join lateral (select coalesce(d.settlement_id::text, t.settlement_id::text, l.ref) as id) of
    where l.account = 'fees' group by of.id`.execute(db);
  const posted = new Map(rows.map(({ id, ...fees }) => [id, fees]));
  const completed = settlements.filter(({ fees }) => fees !== null);
  for (const { id, fees } of completed) {
    expect(fees).toEqual(posted.get(id) ?? { service: "0", gas: "0", bridge: "0" });
  }
  return completed.map(({ route }) => route ?? "");
}

test.each<readonly [RouteChoice[number], RouteChoice]>([
  ["SWIFT", ["SWIFT"]],
  ["FAST_MCTP", ["FAST_MCTP"]],
])(
  "exports of runs between the chains by %s sum to the ledger, and the fees of each settlement are its",
  { timeout: 900_000 },
  async (route, routes) => {
    const compared: string[] = [];
    const seeds = Array.from({ length: SEEDS }, (_, index) => 2_200 + index);
    const problems = await simulations.collect(seeds, async (database, seed) => {
      const { broken } = await runSeed(database, seed, {
        routes,
        onRest: async ({ db }) => void compared.push(...(await reconcile(db))),
      });
      return broken && `seed ${seed}: ${broken}`;
    });
    expect(problems).toEqual([]);
    expect(new Set(compared)).toContain(route);
  },
);
