/** Writes docs/rpc.md from the measurement in docs/rpc.json; with --check it only reports whether the page is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { finalityDelay } from "../packages/service/src/jobs/delays.ts";
import { isTest, type Preset, PRESETS } from "../packages/service/src/config/presets/index.ts";
import { BLOCK_SECONDS, FINAL_SECONDS } from "./rpc/block-seconds.ts";
import { add, type ByMethod, readMeasured, scale, total } from "./rpc/measured.ts";
import { HELIUS, type Plan, type Provider, PROVIDERS, READ_ON } from "./rpc/plans.ts";
import { table } from "./table.ts";

/** Measured are the pace and the traffic of main networks. */
const MAINS = PRESETS.filter((preset) => !isTest(preset));

const target = new URL("../docs/rpc.md", import.meta.url);
const DAY_S = 86_400;
const MONTH_DAYS = 30;
const DEPOSITS = [0, 1, 100, 10_000];
const ROLES = ["quoter", "scanner", "settler", "attestor", "auditor"];

const measured = readMeasured();
const { soon, late } = measured.deposits;

/** Returns the scanner's requests and bytes of a day. */
function followOf({ name, terms }: Preset, hasCoin: boolean) {
  const blockSeconds = BLOCK_SECONDS[name] ?? NaN;
  const found = measured.followed.find(
    (one) =>
      one.blockSeconds === blockSeconds &&
      one.pollMs === terms.pollIntervalMs &&
      one.hasCoin === hasCoin,
  );
  if (!found) throw new Error(`${name}: not measured, run npm run bench -- budget`);
  const perDay = DAY_S / blockSeconds / found.blocks;
  return { requests: scale(found.byMethod, perDay), bytes: found.bytes * perDay };
}

/** Returns the requests per second at rest of the roles that do not follow blocks, on one chain. */
function restOf(role: string): ByMethod {
  const rows = soon.roles.filter((row) => row.role === role && row.chain === "source");
  return scale(add(...rows.map(({ idle }) => idle)), 1 / soon.idleSeconds);
}

const OTHERS = ROLES.filter((role) => role !== "scanner");

/** Requests of one deposit, of all roles or one, on one side. Rests below zero are noise of the comparison. */
function depositOf(counts: typeof soon, chain: "source" | "destination", role?: string): ByMethod {
  const rows = counts.roles.filter(
    (row) => row.chain === chain && (role === undefined || row.role === role),
  );
  const sum = scale(add(...rows.map(({ deposits }) => deposits)), 1 / counts.deposits);
  return Object.fromEntries(Object.entries(sum).filter(([, count]) => count > 0));
}

const SECONDS_SOON = soon.seconds / soon.deposits;
const SECONDS_LATE = late.seconds / late.deposits;

/** Returns the requests of each second in which a deposit waits for finality. */
function waitOf(chain: "source" | "destination", role?: string): ByMethod {
  const [one, other] = [depositOf(soon, chain, role), depositOf(late, chain, role)];
  const factor = 1 / (SECONDS_LATE - SECONDS_SOON);
  return Object.fromEntries(
    Object.keys(other).flatMap((method) => {
      const rate = ((other[method] ?? 0) - (one[method] ?? 0)) * factor;
      return rate > 0 ? [[method, rate]] : [];
    }),
  );
}

/** Shortest interval of the settler's polls, in seconds. */
const POLL_S = 0.5;

/** Returns the number of polls in a wait as long as the ones before it. */
function countPolls(seconds: number): number {
  let polls = 0;
  for (let at = 0; at < seconds; polls++) {
    at += Math.max(POLL_S, finalityDelay(at * 1_000, seconds * 1_000) / 1_000);
  }
  return polls;
}

/** Returns the requests of a wait for finality, from the measured shorter one. */
function waitFor(chain: "source" | "destination", seconds: number): ByMethod {
  const measuredS = SECONDS_LATE - SECONDS_SOON;
  return scale(waitOf(chain), (measuredS * countPolls(seconds)) / countPolls(measuredS));
}

/** Returns all requests of a day to one chain, with deposits that arrive there. */
function dayOf(preset: Preset, deposits: number): ByMethod {
  const finality = FINAL_SECONDS[preset.name] ?? NaN;
  return add(
    followOf(preset, true).requests,
    ...OTHERS.map((role) => scale(restOf(role), DAY_S)),
    scale(add(depositOf(soon, "source"), waitFor("source", finality)), deposits),
  );
}

function count(value: number): string {
  return value >= 10_000
    ? `${(value / 1_000).toLocaleString("en-US", { maximumFractionDigits: 0 })},000`
    : Math.round(value).toLocaleString("en-US");
}

function millions(value: number): string {
  return (value / 1e6).toLocaleString("en-US", { maximumFractionDigits: value < 1e7 ? 2 : 0 });
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toLocaleString("en-US", { maximumFractionDigits: 1 });
}

function writeScanner(): string {
  return table(
    ["chain", "block, s", "poll, s", "requests", "with coin", "GB", "with coin"],
    MAINS.map((preset) => {
      const [tokens, coin] = [followOf(preset, false), followOf(preset, true)];
      return [
        preset.name,
        String(BLOCK_SECONDS[preset.name]),
        String(preset.terms.pollIntervalMs / 1_000),
        count(total(tokens.requests)),
        count(total(coin.requests)),
        gigabytes(tokens.bytes),
        gigabytes(coin.bytes),
      ];
    }),
  );
}

function writeRoles(): string {
  const each = (chain: "source" | "destination", role: string) => [
    total(depositOf(soon, chain, role)).toFixed(0),
    (total(waitOf(chain, role)) * 60).toFixed(0),
  ];
  return table(
    ["role", "at rest, per day", "source", "per minute", "destination", "per minute"],
    ROLES.map((role) => [
      role,
      role === "scanner" ? "above" : count(total(restOf(role)) * DAY_S),
      ...each("source", role),
      ...each("destination", role),
    ]),
  );
}

function writeMethods(): string {
  const [source, destination] = [depositOf(soon, "source"), depositOf(soon, "destination")];
  const methods = Object.keys(add(source, destination)).sort();
  return table(
    ["method", "source", "destination"],
    methods.map((method) => [
      `\`${method}\``,
      (source[method] ?? 0).toFixed(1),
      (destination[method] ?? 0).toFixed(1),
    ]),
  );
}

/** Two for each call that is simulated. */
function countOracleCalls(side: "source" | "destination"): number {
  return 2 * Math.ceil(depositOf(soon, side)["eth_estimateGas"] ?? 0);
}

function writeDays(): string {
  return table(
    ["chain", ...DEPOSITS.map((number) => `deposits: ${number.toLocaleString("en-US")}`)],
    MAINS.map((preset) => [
      preset.name,
      ...DEPOSITS.map((number) => count(total(dayOf(preset, number)))),
    ]),
  );
}

function writeCredits(): string {
  return table(
    ["chain", "deposits", ...PROVIDERS.map(({ name }) => name)],
    MAINS.flatMap((preset) =>
      DEPOSITS.map((number) => [
        preset.name,
        number.toLocaleString("en-US"),
        ...PROVIDERS.map(({ cost }) => millions(total(dayOf(preset, number), cost))),
      ]),
    ),
  );
}

function writePlans(): string {
  return table(
    ["provider", "plan", "millions a month", "units/s", "`eth_getLogs`, blocks", "remark"],
    PROVIDERS.flatMap((provider) => provider.plans.map((plan) => writePlan(provider, plan))),
  );
}

function writePlan({ name, unit }: Provider, plan: Plan): string[] {
  return [
    `${name}, ${unit}`,
    plan.name,
    plan.unitsPerMonth === null ? "not limited, or not stated" : millions(plan.unitsPerMonth),
    plan.unitsPerSecond === null ? "not stated" : plan.unitsPerSecond.toLocaleString("en-US"),
    plan.range === null ? "no stated limit" : plan.range.toLocaleString("en-US"),
    plan.note ?? "",
  ];
}

/** Names the first plan with enough units for one chain, or says that none is large enough. */
function writeSuffices(deposits: number): string {
  const suffices = (preset: Preset, provider: Provider) => {
    const day = total(dayOf(preset, deposits), provider.cost);
    const plan = provider.plans.find(
      ({ unitsPerMonth, unitsPerSecond, without = [] }) =>
        !without.includes(preset.name) &&
        day * MONTH_DAYS <= (unitsPerMonth ?? Infinity) &&
        // Twice the mean, for the blocks after a pause.
        (2 * day) / DAY_S <= (unitsPerSecond ?? Infinity),
    );
    return plan?.name ?? "none of these";
  };
  return table(
    ["chain", ...PROVIDERS.map(({ name }) => name)],
    MAINS.map((preset) => [
      preset.name,
      ...PROVIDERS.map((provider) => suffices(preset, provider)),
    ]),
  );
}

const arbitrumBlocks = DAY_S / (BLOCK_SECONDS["arbitrum"] ?? NaN);
function writeSettings(): string {
  return table(
    ["setting", "costs"],
    [
      [
        "`pollIntervalMs`",
        "one request per poll: 86,400 a day at 1 s; a longer interval delays detection by as much",
      ],
      [
        "the native coin among `tokens`",
        "nothing more per new block, but larger ones; one request per block in backfill",
      ],
      [
        "`traces`",
        `one \`debug_traceBlockByHash\` per block: ${count(arbitrumBlocks)} a day on Arbitrum, which many plans lack or bill higher`,
      ],
      [
        "`balanceCheckIntervalMs`",
        "per check a final height and an `eth_call` for each 2,000 [wallets that are due](nodes.md#native-balances), where the native coin is listed: 3,840 to 34,560 a day at 45 s, not in the tables",
      ],
      [
        "a further node, `quorum`",
        "every read again, to each node; of old blocks, `quorum` nodes in turns get it",
      ],
      [
        "`wsUrl`",
        "subscriptions and notices, which some providers bill; fewer polls ([nodes.md](nodes.md#push))",
      ],
      [
        "`grpcUrl`",
        "on Solana about 2.3 MB per slot in place of a request of 4.3 MB, both before compression ([nodes.md](nodes.md#streams-on-solana))",
      ],
      [
        "`requestsPerSecond`, `requestsPerDay`",
        "nothing; keep them above the figures of this page",
      ],
    ],
  );
}

const text = `# Requests to nodes

The requests that the service sends to each node of a chain, and the plans of providers that suffice. Generated from the
measurement in [rpc.json](rpc.json) of ${measured.date} by \`npm run gen\`; \`${measured.command}\` measures again. Figures are per
node: with a quorum, every node gets them. [doctor.md](doctor.md#nodes) measures your own nodes.

## The scanner, per day

${writeScanner()}

- "With coin": with the native coin listed, blocks are read with their transactions.
- Measured on synthetic blocks of 150 transactions and 300 token transfers, 30 % of them of listed tokens. Bytes are those of
  the answers before compression, and grow with the real blocks; requests do not. Block times are nominal.
- Each poll costs one request, each new block one more for its logs; the newest final height is read every 32 blocks.

## A deposit

Requests of a SWIFT deposit of USDC between two EVM chains, from its arrival to the claim of its lock, in a sandbox with one
process per role. It took ${SECONDS_SOON.toFixed(0)} s in all; "per minute" counts the next ${(SECONDS_LATE - SECONDS_SOON).toFixed(0)} s until the claim, measured with a later
finality. Polls become rarer the longer a deposit waits: the ${countPolls(SECONDS_LATE - SECONDS_SOON)} polls of that time become ${countPolls(900)} in a quarter of an
hour. Deposits were settled one after another: at higher load, batches make each cheaper.

${writeRoles()}

By method:

${writeMethods()}

On chains of the OP stack a simulated call asks the gas oracle twice, for the fees of layer 1 and of the operator: ${countOracleCalls("source")} more
\`eth_call\` where the deposit arrives, and ${countOracleCalls("destination")} where it is paid. The figures here and below do not count them.

## All roles, per day

Requests to one node of a chain on which the deposits arrive, with the native coin, all roles reading through it, and one wait
for the chain's finality per deposit. Where the attestor has nodes of its own, its share goes there. **The figures with many
deposits are upper bounds**: they multiply one deposit that waits alone, and deposits that wait together share the requests of
the lane. Where finality takes a quarter of an hour or more, half of them or more are the settler's polls meanwhile.

${writeDays()}

## Units of providers, per day, in millions

${writeCredits()}

## Plans

As published on the pages below, read in stored copies on ${READ_ON}. Compare them with the provider's page before you order:
plans change without notice, and two pages of one provider can differ (the lower figure is given here).

${writePlans()}

The first plan with enough units and twice the mean rate for one chain with the native coin, at one deposit a day:

${writeSuffices(1)}

And at 100 deposits a day:

${writeSuffices(100)}

- A chain takes its units from the same plan as every other chain at that provider: add them up.
- Plans with ranges of 10 blocks suffice at the head. Searches for deliveries and outages take a request for every 10 blocks
  there: \`node.log-range\` of the doctor warns of them.
- Public nodes without a key state no allowance in text, and are suited as further nodes of a quorum, not as the only one.

Solana: at most 1.1 requests per slot and node ([solana.md](solana.md)), 9,000 slots an hour: about ${count(1.1 * 9_000 * 24)} requests a day,
mostly \`getBlock\`. At Helius that is ${HELIUS.perBlock} credits per block and ${HELIUS.perOther} for most other requests, so about ${millions(HELIUS.perBlock * 9_000 * 24 * MONTH_DAYS)} million a month
(${HELIUS.plans}). Deposits on Solana were not measured.

## Settings

${writeSettings()}

## Sources

${[...PROVIDERS.flatMap(({ name, sources }) => sources.map((source) => `- ${name}: <${source}>`)), ...HELIUS.sources.map((source) => `- Helius: <${source}>`)].join("\n")}
`;

/** What `sluice plan` multiplies: requests and units of a day at rest, and of one deposit on either side. */
const figures = new URL("../packages/service/src/planning/figures.ts", import.meta.url);

function figuresOf(preset: Preset) {
  const finality = FINAL_SECONDS[preset.name] ?? NaN;
  const loads = {
    idle: dayOf(preset, 0),
    source: add(depositOf(soon, "source"), waitFor("source", finality)),
    destination: add(depositOf(soon, "destination"), waitFor("destination", finality)),
  };
  const sums = (cost?: (method: string) => number) =>
    Object.fromEntries(
      Object.entries(loads).map(([name, counts]) => [name, Math.round(total(counts, cost))]),
    );
  return {
    requests: sums(),
    units: Object.fromEntries(PROVIDERS.map(({ name, cost }) => [name, sums(cost)])),
  };
}

const ofChains = Object.fromEntries(MAINS.map((preset) => [preset.name, figuresOf(preset)]));
const ofProviders = PROVIDERS.map(({ name, unit, plans }) => ({
  name,
  unit,
  plans: plans.map(({ name: plan, unitsPerMonth, unitsPerSecond, without = [] }) => ({
    name: plan,
    unitsPerMonth,
    unitsPerSecond,
    without,
  })),
}));
const figuresText = `/** Figures of docs/rpc.md, of ${measured.date}, and plans of providers, of ${READ_ON}. Written by \`npm run gen\`. */
import type { ChainFigures, ProviderPlans } from "./plan.ts";

export const CHAIN_FIGURES: Readonly<Record<string, ChainFigures>> = ${JSON.stringify(ofChains)};

export const PROVIDER_PLANS: readonly ProviderPlans[] = ${JSON.stringify(ofProviders)};
`;

/** Returns what a formatter leaves alone. */
const bare = (code: string) => code.replaceAll(/[\s",_]/g, "");

if (process.argv.includes("--check")) {
  if (bare(readFileSync(figures, "utf8")) !== bare(figuresText)) {
    console.error("packages/service/src/planning/figures.ts is not up to date: run `npm run gen`");
    process.exitCode = 1;
  }
  if (readFileSync(target, "utf8") !== text) {
    console.error("docs/rpc.md is not up to date: run `npm run gen`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
  writeFileSync(figures, figuresText);
}
