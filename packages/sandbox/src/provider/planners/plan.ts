/** The plan of a provider for one call: refuse it, answer it, or ask the node. */
import type { Call } from "../json-rpc.ts";
import { refusalOf } from "../profiles.ts";
import type { Refusal, RefusalValues } from "../refusal.ts";

/** A refusal with its values. */
export interface Refused {
  readonly kind: "refuse";
  readonly refusal: Refusal;
  readonly values: RefusalValues;
}

/** An answer that does not come from the node. */
export type Verdict = Refused | { readonly kind: "answer"; readonly result: unknown };

export type Plan =
  | Verdict
  | {
      readonly kind: "forward";
      /** The call for the node; the client's own unless a replica has to be imitated. */
      readonly call: Call;
      /** Replaces the node's answer, or keeps it with undefined. */
      readonly check?: (body: Buffer) => Verdict | undefined;
    };

/** Plans the calls of a chain family for a lagging or limited replica. */
export interface Planner {
  /** Plans a call for a replica that is `lag` blocks behind. */
  plan(call: Call, lag: number): Promise<Plan>;
}

/** Returns a refusal with its values. */
export function refuse(id: Parameters<typeof refusalOf>[0], values: RefusalValues): Refused {
  return { kind: "refuse", refusal: refusalOf(id), values };
}

/** Returns a call with another parameter. */
export function withParam(call: Call, position: number, value: unknown): Call {
  const params = [...call.params];
  params[position] = value;
  return { ...call, params };
}
