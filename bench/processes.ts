/** Memory and processor time of processes, as `/proc` of Linux shows them. */
import { readdirSync, readFileSync } from "node:fs";

/** Ticks of a second in `/proc`, the same on every Linux. */
const TICKS = 100;

/** Returns the resident memory and the processor time of a process. */
export function readProcess(pid: number): { readonly memoryMiB: number; readonly cpuS: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const memoryMiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  return { memoryMiB, cpuS: readStat(pid).cpuS };
}

/** Returns the processor time in seconds of this process and of all that it started, by program. */
export function readProcessorTimes(): ReadonlyMap<string, number> {
  const parents = new Map<number, number>();
  const running = readdirSync("/proc").map(Number).filter(Number.isInteger).flatMap(readIfRunning);
  for (const { pid, parent } of running) parents.set(pid, parent);
  const times = new Map<string, number>();
  for (const { pid, name, cpuS } of running) {
    if (!isStartedHere(pid, parents)) continue;
    const program = nameProgram(pid, name);
    times.set(program, (times.get(program) ?? 0) + cpuS);
  }
  return times;
}

/** Programs of Node.js are called by the name of their first thread. */
function nameProgram(pid: number, name: string): string {
  if (pid === process.pid) return "benchmark";
  return name === "MainThread" ? "service" : name;
}

function isStartedHere(pid: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) {
    if (at === process.pid) return true;
  }
  return false;
}

function readIfRunning(pid: number) {
  try {
    return [{ pid, ...readStat(pid) }];
  } catch {
    // It ended since the list was made.
    return [];
  }
}

function readStat(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Behind the name, which may have spaces: the state, the parent, 9 other fields, then user and system time.
  const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
  const fields = rest.split(" ");
  return {
    name,
    parent: Number(fields[1]),
    cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS,
  };
}
