/**
 * An operator who pauses an integrator, a chain, a token or a kind of route, and ends the pause. Where no process freezes, no
 * sweep of a paused target is planned once the work that was under way is over.
 */
import { endPause, type PauseTarget, startPause } from "../../src/settlements/index.ts";
import { Broken } from "./broken.ts";
import type { SharedDatabase } from "./database.ts";
import type { Kernel } from "./kernel.ts";
import type { Process } from "./lives.ts";
import type { Dice } from "./random.ts";
import { CHAIN_IDS, tokenOf } from "./stage.ts";

/** Longer than a step that read the pauses before this one began. */
const UNDER_WAY_MS = 60_000;

/** Schedules a pause at a drawn time; it ends before `untilMs` of the run. */
export function startPausing(stage: {
  readonly kernel: Kernel;
  readonly dice: Dice;
  readonly api: Process;
  readonly database: SharedDatabase;
  readonly untilMs: number;
  /** Whether processes resume with old answers, so that a pause says nothing about their sweeps. */
  readonly freezes: boolean;
  readonly guard: (work: Promise<unknown>) => void;
  readonly mark: (name: string) => void;
}): void {
  const { kernel, dice, api, database, untilMs, freezes, guard, mark } = stage;
  const { db, random, clock } = api.context;
  const chainId = dice.pick(CHAIN_IDS);
  const scope = dice.pick(["integrator", "chain", "token", "route"] as const);
  const route = dice.pick(["MONO_CHAIN", "SWIFT", "FAST_MCTP"] as const);
  const name = dice.pick(["acme", "beta"]);
  const from = dice.between(0, 0.4 * untilMs);
  const until = from + dice.between(0.2, 0.6) * untilMs;

  async function readTarget(): Promise<PauseTarget> {
    if (scope === "chain") return { scope, chainId };
    if (scope === "token") return { scope, chainId, token: tokenOf(chainId) };
    if (scope === "route") return { scope, chainId, route };
    const [owner] = await database.query<{ id: string }>(
      "select id from integrators where name = $1",
      [name],
    );
    if (!owner) throw new Error(`there is no integrator ${name}`);
    return { scope, integratorId: owner.id };
  }

  /** Lists the planned sweeps of the target. */
  async function listSweeps(target: PauseTarget): Promise<ReadonlySet<string>> {
    const rows = await database.query<{ intent: string }>(
      `select t.intent from transactions t join settlements s on s.id = t.settlement_id
        where t.intent like 'sweep:%' and case $1
          when 'integrator' then s.integrator_id::text = $3
          when 'chain' then s.chain_id = $2
          when 'token' then s.chain_id = $2 and s.token = $3
          else s.chain_id = $2 and s.route = $3 end`,
      [
        target.scope,
        target.scope === "integrator" ? 0 : target.chainId,
        target.scope === "integrator"
          ? target.integratorId
          : target.scope === "token"
            ? target.token
            : target.scope === "route"
              ? target.route
              : "",
      ],
    );
    return new Set(rows.map(({ intent }) => intent));
  }

  let known: ReadonlySet<string> | null = null;
  let target: PauseTarget | null = null;
  kernel.schedule("an operator pauses", from, () =>
    guard(
      (async () => {
        target = await readTarget();
        const by = { operator: "operator", reason: "an incident" };
        await startPause({ db, random }, target, by);
        mark(`an operator paused a ${scope}`);
      })(),
    ),
  );
  kernel.schedule("a pause holds", from + UNDER_WAY_MS, () =>
    guard(
      (async () => {
        if (target) known = await listSweeps(target);
      })(),
    ),
  );
  kernel.schedule("a pause ends", Math.max(until, from + UNDER_WAY_MS + 1_000), () =>
    guard(
      (async () => {
        if (!target) throw new Error("a pause begins before it ends");
        const swept = await listSweeps(target);
        await endPause(db, target, {
          operator: "operator",
          reason: "repaired",
          nowMs: clock.now(),
        });
        const fresh = [...swept].filter((intent) => !known?.has(intent));
        if (!freezes && fresh.length > 0)
          throw new Broken(`T163: ${fresh[0]} was planned during the pause of a ${scope}`);
      })(),
    ),
  );
}
