/** Simulates a process that is killed at a crash point. */
import type { CrashPoint } from "../../src/core/ports.ts";

export class Killed extends Error {}

/** Kills at the crash point with this number, counted from 0. */
export function killAt(number: number): CrashPoint {
  let passed = 0;
  return (name) => {
    if (passed === number) throw new Killed(name);
    passed += 1;
  };
}
