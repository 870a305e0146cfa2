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
 * Sends events again, on record, and returns their number. A long range is queued in parts, at most `partsMax` of them; then
 * `nextCursor` is the stamp from which to go on.
 * @throws OperatingError NOT_FOUND; VALIDATION_ERROR while the endpoint is disabled.
 */
export async function resendByHand(
  deps: EndpointDeps,
  ref: EndpointRef,
  resent: Resent,
  { partsMax = Infinity, ...by }: ByHand & { readonly partsMax?: number },
): Promise<{ readonly queued: number; readonly nextCursor: string | null }> {
  const action = "resend webhook";
  if ("event" in resent) {
    const detail = `event ${resent.event}`;
    await changeByHand(deps, { ref, action, detail, by }, (own) =>
      resendEvent(own, ref, resent.event),
    );
    return { queued: 1, nextCursor: null };
  }
  const { since, until } = resent;
  const detail = `events after ${since}${until === undefined ? "" : ` until ${until}`}`;
  let { queued, nextCursor } = await changeByHand(deps, { ref, action, detail, by }, (own) =>
    resendRange(own, ref, { since, until }),
  );
  for (let parts = 1; nextCursor !== null && parts < partsMax; parts++) {
    const part = await resendRange(deps, ref, { since: nextCursor, until });
    queued += part.queued;
    nextCursor = part.nextCursor;
  }
  return { queued, nextCursor };
}
