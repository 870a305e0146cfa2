/** Writes docs/scenarios.md from the table of the sandbox's scenarios; with `--check` compares only. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  SCENARIO_NAMES,
  SCENARIOS,
  type Scenario,
} from "../packages/sandbox/src/scenarios/table.ts";
import { table } from "./table.ts";

const target = new URL("../docs/scenarios.md", import.meta.url);

const TIMES = {
  once: "once",
  maybe: "at most once",
  repeated: "at least once",
  any: "any number",
} as const;

function writeScenario(name: string, { fault, paid, events, duty }: Scenario): string {
  return [
    `## ${name}`,
    `${fault} Paid: ${paid}.`,
    table(
      ["event", "state", "error", "times", "meaning"],
      events.map(({ type, state, error, times, note }) => [
        `\`${type}\``,
        state === "" ? "" : `\`${state}\``,
        error === undefined ? "" : `\`${error}\``,
        TIMES[times],
        note,
      ]),
    ),
    `**Your part.** ${duty}`,
  ].join("\n\n");
}

const text = `# Scenarios

Generated from \`packages/sandbox/src/scenarios/table.ts\` by \`npm run gen\`; do not edit.

The sandbox plays faults on demand, on real nodes, contracts and the real service, so that your tests meet them before your
customers do. Each scenario pays USDC, or another token, on \`ethereum\` to a deposit address for USDC on \`base\`, causes its
fault, undoes it, and waits until the events of the address are exactly those below. A test plays every scenario and compares.

    npm run play -- deposit-reorged                     # on the running sandbox, with a new address
    npm run play -- deposit-reorged --address 0x…       # with an address that your backend requested

By HTTP, on the \`controlUrl\` of the sandbox's descriptor (loopback only): \`GET /scenarios\` lists this page as data.
\`POST /play/NAME\` with the type \`application/json\` and an object with the optional \`depositAddress\` and \`timeoutMs\` answers
with one JSON object per line: \`{ step, text }\` for each step, and at the end \`{ result }\` or \`{ error: { message } }\`.

\`\`\`ts
import { startSandbox } from "@sluice/sandbox";

const sandbox = await startSandbox({ stateDir });
const { events, delivered } = await sandbox.play("deposit-reorged", { depositAddress });
\`\`\`

\`events\` are extended events, oldest first, and \`delivered\` is the sum that reached the recipient, in base units of USDC. Without
\`depositAddress\` a new user of the first integrator gets an address. Plays wait for one another, because most faults concern
every deposit of the sandbox: a pause, an outage or a wrong clock. The events \`deploying\` and \`pending_swap\` come only
for the first settlement of an address. Only readers with \`extended\` see \`refund_detected\` and
\`refund_final\`.

${table(
  ["scenario", "fault"],
  SCENARIO_NAMES.map((name) => [`[${name}](#${name})`, SCENARIOS[name].fault]),
)}

${SCENARIO_NAMES.map((name) => writeScenario(name, SCENARIOS[name])).join("\n\n")}
`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    process.stderr.write("docs/scenarios.md is not up to date: run `npm run gen`\n");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
