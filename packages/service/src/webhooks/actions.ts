/** What people do by hand to webhook endpoints, on record in the transaction of the change. */
import { type ByHand, recordIntegratorAction } from "../integrators/index.ts";
import { resendEvent, resendRange } from "./deliveries.ts";
import { createEndpoint, type EndpointDeps, type EndpointRef } from "./endpoints.ts";

/** The events to send again: one, or those of a range of time. */
export type Resent =
  | { readonly event: string }
  | { readonly since: string; readonly until: string | undefined };

/** `createEndpoint`, on record. @throws OperatingError VALIDATION_ERROR naming the field. */
export async function createByHand(
  deps: EndpointDeps,
  args: Parameters<typeof createEndpoint>[1],
  by: ByHand,
): ReturnType<typeof createEndpoint> {
  return deps.db.transaction().execute(async (tx) => {
    const made = await createEndpoint({ ...deps, db: tx }, args);
    const { integratorId } = args;
    const action = { integratorId, action: "create webhook", subject: made.id };
    await recordIntegratorAction(tx, { ...by, ...action });
    return made;
  });
}

/** Changes an endpoint, on record. */
export async function changeByHand<Result>(
  deps: EndpointDeps,
  {
    ref,
    by,
    ...action
  }: {
    readonly ref: EndpointRef;
    readonly action: string;
    readonly detail?: string;
    readonly by: ByHand;
  },
  change: (deps: EndpointDeps) => Promise<Result>,
): Promise<Result> {
  return deps.db.transaction().execute(async (tx) => {
    const result = await change({ ...deps, db: tx });
    const { integratorId, id: subject } = ref;
    await recordIntegratorAction(tx, { ...by, ...action, integratorId, subject });
    return result;
  });
}

/**
 * Sends events again, on record, and returns their number. A long range is queued in parts, with a line on record for each.
 * @throws OperatingError NOT_FOUND; VALIDATION_ERROR while the endpoint is disabled.
 */
export async function resendByHand(
  deps: EndpointDeps,
  ref: EndpointRef,
  resent: Resent,
  by: ByHand,
): Promise<number> {
  const action = "resend webhook";
  if ("event" in resent) {
    const detail = `event ${resent.event}`;
    await changeByHand(deps, { ref, action, detail, by }, (own) =>
      resendEvent(own, ref, resent.event),
    );
    return 1;
  }
  const { since, until } = resent;
  let total = 0;
  let from: string | null = since;
  while (from !== null) {
    const part: { readonly since: string; readonly until: string | undefined } = {
      since: from,
      until,
    };
    const detail = `events after ${part.since}${until === undefined ? "" : ` until ${until}`}`;
    const { queued, nextCursor } = await changeByHand(deps, { ref, action, detail, by }, (own) =>
      resendRange(own, ref, part),
    );
    total += queued;
    from = nextCursor;
  }
  return total;
}
