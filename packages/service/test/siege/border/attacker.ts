/** The process of one attack. It starts with a message of its name and target, and reports when its parent disconnects it. */
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "./attack.ts";
import { ATTACKS } from "./attacks.ts";

/** Outcomes of an attack with their numbers. */
export interface Report {
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Attackers have machines of their own: on this one, the service comes first. */
const NICE = 5;

async function play(name: string, target: Target): Promise<void> {
  const attack = ATTACKS.find((one) => one.name === name);
  if (!attack) throw new Error(`there is no attack ${name}`);
  setPriority(NICE);
  const outcomes: Record<string, number> = {};
  const count = (outcome: string, times = 1) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + times;
  };
  process.once("message", () => {
    process.send?.({ outcomes } satisfies Report, () => process.exit(0));
  });
  const round = attack.open(target, count);
  for (;;) {
    await round().catch((error: unknown) => count(String(error).slice(0, 80)));
    await sleep(attack.everyMs);
  }
}

process.once("message", ({ name, target }: { name: string; target: Target }) => {
  void play(name, target);
});
