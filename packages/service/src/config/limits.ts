/** Limits on callers that are not counted per minute. */
import { type Static, Type } from "typebox";
import { setting } from "./values.ts";

/** Default values. */
const REQUESTS_AT_ONCE = { perKey: 8, waitMs: 1_000 } as const;

/** The setting `requestsAtOnce`. */
export const RequestsAtOnce = Type.Object(
  {
    perKey: setting(
      Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000,
          description: "a number of requests, 1 to 1000",
        }),
      ),
      "Requests with one API key that are served at the same time.",
      { default: REQUESTS_AT_ONCE.perKey },
    ),
    waitMs: setting(
      Type.Optional(
        Type.Integer({ minimum: 0, maximum: 10_000, description: "milliseconds, 0 to 10000" }),
      ),
      "Time that a further request waits for one of them to end. Then it is refused with 429.",
      { default: REQUESTS_AT_ONCE.waitMs },
    ),
  },
  { additionalProperties: false, description: "an object with perKey or waitMs" },
);

/** Fills in the defaults. */
export function resolveRequestsAtOnce(written: Static<typeof RequestsAtOnce> | undefined): {
  readonly perKey: number;
  readonly waitMs: number;
} {
  return { ...REQUESTS_AT_ONCE, ...written };
}
