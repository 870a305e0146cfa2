/** The scenarios that the sandbox plays: the fault, the sequence of events that integrators see, and their duty. */
import type { ExpectedEvent, Times } from "./sequence.ts";

/** A scenario. */
export interface Scenario {
  /** The fault, in one sentence. */
  readonly fault: string;
  /** Everything that is paid, in whole tokens. */
  readonly paid: string;
  /** The events of the deposit address, in order. */
  readonly events: readonly ExpectedEvent[];
  /** The integrator's part. */
  readonly duty: string;
}

const detected = (note: string, times: Times = "once"): ExpectedEvent => ({
  type: "deposit_detected",
  state: "queued",
  times,
  note,
});
const ignored = (reason: string, note: string): ExpectedEvent => ({
  type: "deposit_detected",
  state: reason,
  times: "once",
  note,
});
const status = (
  state: string,
  note: string,
  { times = "once", error }: { readonly times?: Times; readonly error?: string } = {},
): ExpectedEvent => ({
  type: "status_changed",
  state,
  times,
  note,
  ...(error === undefined ? {} : { error }),
});

const DETECTED = detected("the deposit is in a block, and a settlement takes it");
const COMPLETED = status("completed", "`details` has the delivered amount and its transaction");
/** Only the first settlement of an address deploys its wallet. */
const DEPLOYMENT = [
  status("deploying", "first settlement of the address only", { times: "maybe" }),
  status("pending_swap", "first settlement of the address only", { times: "maybe" }),
] as const;
const SWAPPING = status("swapping", "the sweep is planned");
const SETTLED = [...DEPLOYMENT, SWAPPING, COMPLETED] as const;
/** Until the service has seen that the block is orphaned, the settlement goes on, and its steps fail. */
const ORPHANED = [
  ...DEPLOYMENT,
  status("failed_deploy", "the deposit is orphaned", { times: "any" }),
  ...DEPLOYMENT,
  status("swapping", "planned before the orphaning was seen", { times: "maybe" }),
  status("failed_swap", "the deposit is orphaned", { times: "any" }),
] as const;

export const SCENARIOS = {
  "deposit-delivered": {
    fault: "None: an ordinary deposit.",
    paid: "25 USDC",
    events: [DETECTED, ...SETTLED],
    duty: "Credit the customer once, with `deliveredAmount` of the event `completed`.",
  },
  "deposit-reorged": {
    fault: "The block of the deposit is orphaned, and its transaction is never mined again.",
    paid: "25 USDC, which do not arrive",
    events: [
      DETECTED,
      ...ORPHANED,
      status("dead", "the orphaning is final, about a minute later", { error: "REORG" }),
    ],
    duty: "Credit nothing: `deposit_detected` is no promise. Remove the deposit from the customer's pending ones.",
  },
  "deposit-replaced": {
    fault:
      "The block of the deposit is orphaned, and the payer replaces the payment by a smaller one.",
    paid: "25 USDC, replaced by 10 USDC",
    events: [
      DETECTED,
      ...ORPHANED,
      detected("the second deposit"),
      ...ORPHANED,
      status("swapping", "the sweep is planned", { times: "maybe" }),
      COMPLETED,
    ],
    duty: "Credit the delivered amount, never the sum of the detected ones.",
  },
  "deposit-delayed": {
    fault:
      "The block of the deposit is orphaned, and its transaction is mined again two blocks later.",
    paid: "25 USDC",
    events: [
      DETECTED,
      ...ORPHANED,
      detected("the same deposit in its new block", "maybe"),
      ...ORPHANED,
      status("swapping", "the sweep is planned", { times: "maybe" }),
      COMPLETED,
    ],
    duty: "Credit once: the same transaction can be detected twice.",
  },
  dust: {
    fault: "Somebody pays the smallest amount.",
    paid: "0.000001 USDC",
    events: [ignored("below_token_min", "the balance is below the token's minimum")],
    duty: "Credit nothing.",
  },
  "below-minimum": {
    fault: "A deposit is below the minimum, and a second one brings the balance above it.",
    paid: "0.5 USDC, then 0.6 USDC",
    events: [
      ignored("below_token_min", "the balance is below the token's minimum"),
      detected("both deposits together reach the minimum"),
      ...SETTLED,
    ],
    duty: "Show the minimum before the payment. Credit the delivered amount, which is that of both deposits.",
  },
  "fee-on-transfer": {
    fault: "The token burns 0.3 % of the customer's transfer.",
    paid: "100 FEE, of which 99.7 arrive",
    events: [DETECTED, ...SETTLED],
    duty: "Credit the delivered amount, not the amount of the customer's transaction. (A token that also burns of the service's own transfers is delivered only on its own chain: the escrow refuses to lock less than it is told.)",
  },
  "provider-outage": {
    fault:
      "The node of the destination chain stops answering for 15 seconds while the delivery is due.",
    paid: "25 USDC",
    events: [
      DETECTED,
      ...DEPLOYMENT,
      SWAPPING,
      status("failed_swap", "the node does not answer", { times: "any", error: "RPC_UNAVAILABLE" }),
      status("swapping", "the delivery goes on", { times: "maybe" }),
      COMPLETED,
    ],
    duty: "Wait: the category `retrying` needs no action.",
  },
  "attestation-late": {
    fault: "Circle's service takes 12 seconds longer to attest the burn.",
    paid: "0.01 WETH, swapped into USDC",
    events: [DETECTED, ...SETTLED],
    duty: "Wait. `GET /settlements/{id}` says why it waits.",
  },
  "bridge-stuck": {
    fault: "Circle's service is down after the burn, until the service has noticed.",
    paid: "0.01 WETH, swapped into USDC",
    events: [
      DETECTED,
      ...DEPLOYMENT,
      SWAPPING,
      status("failed_swap", "the bridge does not answer", {
        times: "repeated",
        error: "RPC_UNAVAILABLE",
      }),
      status("swapping", "the bridge answers again", { times: "maybe" }),
      COMPLETED,
    ],
    duty: "Wait: value in flight is never given up.",
  },
  "route-paused": {
    fault: "The operator pauses the contracts of the source chain, and lifts the pause later.",
    paid: "25 USDC",
    events: [
      DETECTED,
      ...DEPLOYMENT,
      status("swapping", "the sweep is planned", { times: "maybe" }),
      status("failed_swap", "the contracts are paused", { times: "repeated" }),
      SWAPPING,
      COMPLETED,
    ],
    duty: "Wait. `GET /settlements/{id}` says why it waits.",
  },
  "settlement-dead": {
    fault: "A settlement cannot go on, and the operator ends it.",
    paid: "25 USDC, which stay in the deposit address",
    events: [
      DETECTED,
      ...DEPLOYMENT,
      status("swapping", "the sweep is planned", { times: "maybe" }),
      status("failed_swap", "the contracts are paused", { times: "repeated" }),
      status("dead", "terminal: the deposit stays in its address"),
    ],
    duty: "Credit nothing, and raise the case with the operator: the deposit belongs to the refund authority.",
  },
  "deposit-refunded": {
    fault: "A settlement ends dead, and the refund authority takes the deposit back.",
    paid: "25 USDC, refunded",
    events: [
      DETECTED,
      ...DEPLOYMENT,
      status("swapping", "the sweep is planned", { times: "maybe" }),
      status("failed_swap", "the contracts are paused", { times: "repeated" }),
      status("dead", "terminal: the deposit stays in its address"),
      { type: "refund_detected", state: "", times: "once", note: "in a block that is not final" },
      { type: "refund_final", state: "", times: "once", note: "the block is final" },
    ],
    duty: "Return the refunded amount to the customer outside of Sluice at `refund_final`, once per `txHash`.",
  },
  "webhook-endpoint-down": {
    fault: "A webhook endpoint, which the scenario creates, answers 503 for four seconds.",
    paid: "25 USDC",
    events: [DETECTED, ...SETTLED],
    duty: "Ignore a `webhook-id` that was processed before: retries repeat it, and events overtake each other.",
  },
  "clock-jump": {
    fault:
      "The clock of the service is five minutes ahead for one deposit, and right again for the next.",
    paid: "25 USDC, then 10 USDC",
    events: [
      DETECTED,
      ...SETTLED,
      detected("`timestamp` is later than that of the event before, though the clock went back"),
      SWAPPING,
      COMPLETED,
    ],
    duty: "Take the order and cursors from `timestamp`, and never compare it with your own clock.",
  },
} as const satisfies Readonly<Record<string, Scenario>>;

/** Name of a scenario. */
export type ScenarioName = keyof typeof SCENARIOS;

/** Names of all scenarios. */
// CAST: the keys of the object above, and no others.
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];

/** Reports whether a scenario has this name. */
export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}
