/**
 * The scheduler: everything that the service waits for (a node's answer, a database connection, time) is a gate, and the
 * seed chooses one gate to open at a time. Between two gates only one process runs, until all of its work waits; so the
 * same seed gives the same run, step by step.
 */
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/core/ports.ts";
import type { Dice } from "./random.ts";

/** One life of a process, from its start to its sudden end. */
export interface Life {
  readonly name: string;
  dead: boolean;
  /** Virtual time until which it is frozen, like a container that is paused. */
  frozenUntilMs: number;
}

interface Gate {
  readonly life: Life | null;
  readonly label: string;
  /** Virtual time from which the gate may open. */
  atMs: number;
  /** Whether the gate may open now. */
  readonly isFree: () => boolean;
  readonly open: () => void;
}

/** Virtual time from which a gate may open. */
function opensAt({ atMs, life }: Gate): number {
  return life === null ? atMs : Math.max(atMs, life.frozenUntilMs);
}

/** Ends a process at once; its next actions never happen. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** A longer sleep lasts twice its length at most. */
const STRETCHED_MAX_MS = 600_000;

/** A promise that never resolves, for the waits of a dead process. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

export class Kernel {
  readonly dice: Dice;
  nowMs: number;
  steps = 0;
  /** Whether the sleeps of a life last about as long as requested. */
  isPrompt: (life: Life) => boolean = () => false;
  /** How much longer than requested a short sleep may last. */
  sleepStretch = 120;
  /** Called before each step of a process, which it may kill. */
  onStep: (life: Life, label: string) => void = () => undefined;
  /** Of the living and of the world, in the order in which they came. */
  #gates: Gate[] = [];
  readonly #trace = createHash("sha256");
  readonly #log: string[] | null;
  #underWay = 0;
  #failure: { readonly error: unknown } | null = null;
  #idle: (() => void) | null = null;

  constructor(dice: Dice, startMs: number, options: { readonly keepLog?: boolean } = {}) {
    this.dice = dice;
    this.nowMs = startMs;
    this.#log = options.keepLog ? [] : null;
  }

  /** Hash of all steps so far. */
  get traceHash(): string {
    return this.#trace.copy().digest("hex").slice(0, 16);
  }

  get log(): readonly string[] {
    return this.#log ?? [];
  }

  get keepsLog(): boolean {
    return this.#log !== null;
  }

  /** Adds a note to the trace for readers; it decides nothing. */
  remark(text: string): void {
    this.#log?.push(`      ${text}`);
  }

  note(text: string): void {
    this.#trace.update(`${text}\n`);
    this.#log?.push(`${this.steps} ${Math.round(this.nowMs) % 100_000_000} ${text}`);
  }

  /** Waits until the scheduler lets the process go on. */
  gate(
    life: Life,
    label: string,
    options: { readonly atMs?: number; readonly isFree?: () => boolean } = {},
  ): Promise<void> {
    if (life.dead) return never();
    return new Promise((resolve) => {
      this.#gates.push({
        life,
        label,
        atMs: options.atMs ?? this.nowMs,
        isFree: options.isFree ?? (() => true),
        open: resolve,
      });
    });
  }

  /** Runs an action again and again, so many milliseconds apart. */
  repeat(name: string, afterMs: number, action: () => void): void {
    this.schedule(name, afterMs, () => {
      action();
      this.repeat(name, afterMs, action);
    });
  }

  /** Schedules an event of the world. An error in it ends the run. */
  schedule(label: string, inMs: number, act: () => void | Promise<void>): void {
    const open = () => {
      Promise.resolve()
        .then(act)
        .catch((error: unknown) => {
          this.#failure ??= { error };
        });
    };
    this.#gates.push({
      life: null,
      label,
      atMs: this.nowMs + inMs,
      isFree: () => true,
      open,
    });
  }

  /**
   * Returns how many times longer than requested a sleep may last. Sleeps of a minute and more stay near their length: work
   * such as the second look would otherwise happen once in the hours of a run.
   */
  #stretchOf(life: Life, ms: number): number {
    if (this.isPrompt(life)) return 2;
    return Math.max(2, Math.min(this.sleepStretch, STRETCHED_MAX_MS / ms));
  }

  clockOf(life: Life): Clock {
    return {
      now: () => Math.floor(this.nowMs),
      sleep: (ms, signal) => {
        if (life.dead) return never();
        const { promise, resolve } = Promise.withResolvers<void>();
        const gate: Gate = {
          life,
          label: "sleep",
          atMs: this.nowMs + ms * this.dice.between(1, this.#stretchOf(life, ms)),
          isFree: () => true,
          open: resolve,
        };
        this.#gates.push(gate);
        const wake = () => {
          gate.atMs = this.nowMs;
        };
        if (signal?.aborted) wake();
        signal?.addEventListener("abort", wake);
        return promise;
      },
    };
  }

  /** Tracks work outside the simulation, such as a query; the next gate waits for it. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    }
  }

  /** Resolves when no work is running. */
  async settle(): Promise<void> {
    for (;;) {
      await nextTurn();
      if (this.#underWay === 0) return;
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
  }

  /** Lists the gates that may open now. A loop, since every step of a run takes it. */
  #listReady(): Gate[] {
    const ready: Gate[] = [];
    for (const gate of this.#gates) {
      if (opensAt(gate) <= this.nowMs && gate.isFree()) ready.push(gate);
    }
    return ready;
  }

  /** Opens one gate; returns false when none waits. */
  async step(): Promise<boolean> {
    let ready = this.#listReady();
    if (ready.length === 0) {
      let first = Infinity;
      for (const gate of this.#gates) {
        if (gate.isFree()) first = Math.min(first, opensAt(gate));
      }
      if (first === Infinity) return false;
      this.nowMs = Math.max(this.nowMs, first);
      ready = this.#listReady();
    }
    const chosen = this.dice.pick(ready);
    this.#gates.splice(this.#gates.indexOf(chosen), 1);
    this.steps += 1;
    this.nowMs += this.dice.between(0, 20);
    this.note(`${chosen.life?.name ?? "world"} ${chosen.label}`);
    if (chosen.life) this.onStep(chosen.life, chosen.label);
    if (!chosen.life?.dead) chosen.open();
    await this.settle();
    if (this.#failure) throw this.#failure.error;
    return true;
  }

  kill(life: Life): void {
    if (life.dead) return;
    life.dead = true;
    this.#gates = this.#gates.filter((gate) => gate.life !== life);
    this.note(`${life.name} is killed`);
  }
}
