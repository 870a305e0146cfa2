/**
 * The operator's screening service: in one seed of eight it is asked about every deposit before its sweep, and fails, is
 * silent, redirects or asks to wait. At last it allows every deposit, so that all of them must arrive.
 */
import type { Config } from "../../src/config/index.ts";
import type { Http, HttpAnswer } from "../../src/core/ports.ts";
import type { Kernel, Life } from "./kernel.ts";
import type { Dice } from "./random.ts";

export interface Screening {
  /** The setting of the seed's service. */
  readonly config: Config["screening"];
  httpOf(life: Life): Http;
}

/** Draws the screening of a seed. */
export function createScreening(
  dice: Dice,
  {
    kernel,
    isOff,
    isCalm,
    mark,
  }: {
    readonly kernel: Kernel;
    readonly isOff: boolean;
    /** Whether the faults have ended. */
    readonly isCalm: () => boolean;
    readonly mark: (name: string) => void;
  },
): Screening {
  const isOn = !isOff && dice.chance(1 / 8);
  const fails = dice.between(0.1, 0.9);
  const failures: readonly HttpAnswer[] = [
    { kind: "failed", reason: "timed_out" },
    { kind: "failed", reason: "unreachable" },
    answered(500, "allow"),
    answered(302, "allow"),
    answered(200, "wait"),
    { kind: "answered", status: 200, body: "allow" },
  ];
  return {
    config: isOn
      ? { url: "http://screening", token: undefined, timeoutMs: 5_000, denied: [] }
      : undefined,
    httpOf: (life) => async (request) => {
      if (!isOn) throw new Error("no price of the simulation is somebody else's");
      await kernel.gate(life, `screening ${request.url}`);
      if (isCalm() || !dice.chance(fails)) {
        mark("a deposit was allowed by the screening");
        return answered(200, "allow");
      }
      mark("the screening failed");
      return dice.pick(failures);
    },
  };
}

function answered(status: number, verdict: string): HttpAnswer {
  return { kind: "answered", status, body: JSON.stringify({ verdict }) };
}
