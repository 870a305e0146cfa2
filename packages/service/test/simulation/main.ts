/**
 * `npm run simulate -- --seeds N --from S`: runs seeds, several at once, and prints the failed ones. `--log` also prints
 * every step. `--stop-at-first` stops after the first failed seed, and prints how many were run.
 * `--routes FAST_MCTP,SWIFT` replaces the seed's routes between the chains, in this order; `--swaps` and `--no-swaps` put
 * pool swaps into every seed or into none, `--solana` and `--no-solana` the same with Solana. `--crashes` instead disturbs
 * every effect of the base seeds, one at a time; with `--swaps` or `--solana` only of those base seeds.
 * `--hash` also prints one hash over the traces of the seeds, at every hundredth seed and at the end: a change without an
 * effect on behaviour keeps it equal.
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import {
  BASES,
  type CrashCase,
  listCrashCases,
  runCrashCase,
  SOLANA_BASES,
  SWAP_BASES,
} from "./crashes.ts";
import { ROUTE_CHOICES } from "./faults.ts";
import { runSeed } from "./run.ts";
import { type SimulationDatabase, startServer } from "./server.ts";

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    "at-once": { type: "string", default: "3" },
    crashes: { type: "boolean", default: false },
    log: { type: "boolean", default: false },
    hash: { type: "boolean", default: false },
    routes: { type: "string" },
    swaps: { type: "boolean" },
    solana: { type: "boolean" },
    "stop-at-first": { type: "boolean", default: false },
  },
});

/** Items between two lines of progress. */
const PROGRESS_ITEMS = 250;

function readCount(name: "seeds" | "from" | "at-once"): number {
  const count = Number(values[name]);
  if (Number.isSafeInteger(count) && count > 0) return count;
  console.error(`--${name}: expected a whole number above 0, got ${values[name]}`);
  process.exit(2);
}

const routes = ROUTE_CHOICES.find((choice) => choice.join() === values.routes);
if (values.routes !== undefined && !routes) {
  console.error(`--routes: expected one of ${ROUTE_CHOICES.join("; ")}, got ${values.routes}`);
  process.exit(2);
}
const [seeds, from, atOnce] = [readCount("seeds"), readCount("from"), readCount("at-once")];
const server = await startServer();
const startedAt = performance.now();
let broken = 0;
/** Failed seeds. Seeds below the lowest of them were started before it, and are run to their end. */
const brokenSeeds: number[] = [];

/** Runs a list, several items at once, each worker with its own database. */
async function each<T>(
  items: readonly T[],
  work: (database: SimulationDatabase, item: T) => Promise<string | null>,
): Promise<void> {
  let next = 0;
  let done = 0;
  const worker = async () => {
    const database = await server.open();
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      if (values["stop-at-first"] && broken > 0) break;
      const problem = await work(database, item);
      done += 1;
      if (done % PROGRESS_ITEMS === 0) {
        console.error(`${done} of ${items.length} run, ${broken} broken`);
      }
      if (problem === null) continue;
      broken += 1;
      console.log(problem);
    }
    await database.close();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function runCrashes(): Promise<string> {
  const database = await server.open();
  const cases: CrashCase[] = [];
  const bases = [...BASES, ...SOLANA_BASES, ...SWAP_BASES].filter(
    ({ swaps = false, solana = false }) =>
      (values.swaps === undefined || swaps === values.swaps) &&
      (values.solana === undefined || solana === values.solana),
  );
  for (const base of bases) cases.push(...(await listCrashCases(database, base)));
  await database.close();
  await each(cases, runCrashCase);
  return `${cases.length} crash cases`;
}

/** Hashes the traces of seeds, in the order of the seeds. */
function printHashes(hashes: readonly string[]): void {
  const all = createHash("sha256");
  for (const [index, hash] of hashes.entries()) {
    all.update(`${hash ?? "not run"}\n`);
    const count = index + 1;
    if (count % 100 !== 0 && count !== hashes.length) continue;
    console.log(`hash of ${count} seeds: ${all.copy().digest("hex").slice(0, 32)}`);
  }
}

async function runSeeds(): Promise<string> {
  const marks = new Map<string, number>();
  const hashes: string[] = [];
  let steps = 0;
  await each(
    Array.from({ length: seeds }, (_, index) => from + index),
    async (database, seed) => {
      const result = await runSeed(database, seed, {
        keepLog: values.log,
        ...(routes && { routes }),
        ...(values.swaps !== undefined && { swaps: values.swaps }),
        ...(values.solana !== undefined && { solana: values.solana }),
      });
      steps += result.steps;
      hashes[seed - from] = result.traceHash;
      for (const mark of Object.keys(result.marks)) marks.set(mark, (marks.get(mark) ?? 0) + 1);
      if (values.log) console.log(result.log.join("\n"));
      if (result.broken !== null) brokenSeeds.push(seed);
      return result.broken && `seed ${seed}, step ${result.steps}: ${result.broken}`;
    },
  );
  if (values.hash) printHashes(hashes);
  for (const [mark, count] of [...marks].toSorted()) console.log(`${mark}: in ${count} seeds`);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${(seeds / seconds).toFixed(2)} seeds/s, ${Math.round(steps / seconds)} steps/s, ${Math.round(steps / seeds)} steps a seed`,
  );
  if (values["stop-at-first"] && brokenSeeds.length > 0) {
    return `${Math.min(...brokenSeeds) - from + 1} seeds to the first that broke`;
  }
  return `${seeds} seeds`;
}

const what = values.crashes ? await runCrashes() : await runSeeds();
await server.stop();
console.log(`${what}, ${broken} broken`);
process.exit(broken === 0 ? 0 : 1);
