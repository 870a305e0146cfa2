/** Measures the requests of a day and of a deposit, and writes docs/rpc.json, from which docs/rpc.md is generated. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { PRESETS } from "../packages/service/src/config/presets/index.ts";
import { startThrowawayServer } from "../packages/service/test/support/throwaway-server.ts";
import { BLOCK_SECONDS } from "../scripts/rpc/block-seconds.ts";
import { followAtPace, type Followed, type Pace } from "./budget-blocks.ts";
import { countDeposits } from "./budget-deposits.ts";

const TARGET = new URL("../docs/rpc.json", import.meta.url);

export async function benchBudget(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: "string", default: "60" } },
  });
  const seconds = Number(values.seconds);
  const followed = await followAll(seconds);
  const counted = { deposits: 4, idleSeconds: 30 };
  const soon = await countDeposits({ ...counted, slotsInAnEpoch: 2 });
  const late = await countDeposits({ ...counted, deposits: 2, slotsInAnEpoch: 24 });
  const measured = {
    command: `npm run bench -- budget --seconds ${seconds}`,
    date: new Date().toISOString().slice(0, 10),
    seconds,
    followed,
    deposits: { soon, late },
  };
  writeFileSync(TARGET, `${JSON.stringify(measured, null, 2)}\n`);
  console.log("docs/rpc.json is written: run `npm run gen` for docs/rpc.md");
}

/** Follows each pace of a preset once, with and without the native coin, at the same time. */
async function followAll(seconds: number): Promise<readonly Followed[]> {
  const paces = new Map<string, Pace>();
  for (const { name, terms } of PRESETS) {
    const blockSeconds = BLOCK_SECONDS[name];
    // Test networks have none: nobody pays for their requests.
    if (blockSeconds === undefined) continue;
    const pace = { blockSeconds, pollMs: terms.pollIntervalMs };
    paces.set(JSON.stringify(pace), pace);
  }
  const server = await startThrowawayServer("sluice-bench");
  try {
    return await Promise.all(
      [...paces.values()].flatMap((pace) =>
        [false, true].map((hasCoin) => followAtPace(server, { pace, hasCoin, seconds })),
      ),
    );
  } finally {
    await server.stop();
  }
}
