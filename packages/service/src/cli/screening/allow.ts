import type { Call, Result } from "../command.ts";
import { decide, type DecisionInput } from "./decide.ts";

/** Lets a deposit be swept, against the answer of the screening if need be. */
export async function run(call: Call, input: DecisionInput): Promise<Result> {
  return decide(call, input, "allow");
}
