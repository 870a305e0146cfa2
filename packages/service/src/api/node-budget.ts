/**
 * The budget of requests to nodes of one key: the work of its calls is counted by the requests that it causes, and a key
 * whose budget is used up is refused before any work. So one key can use up neither a provider's plan nor the turns of the
 * scanner. Answers from memory cost nothing.
 */
import type { NodeMeter } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import { logExceeded } from "./admission.ts";
import type { KeyUses } from "./key-uses.ts";
import { type RateLimiter, refuseExceeded } from "./rate-limits.ts";

export interface NodeBudget {
  /**
   * Runs work on behalf of a key and counts its requests. Work under way is not interrupted: a key may exceed its budget by
   * the requests that it has in progress.
   * @throws RateLimited, before the work, if the key's budget is used up.
   */
  spend<Result>(keyId: string, work: () => Promise<Result>): Promise<Result>;
}

export function createNodeBudget({
  limiter,
  nodeMeter,
  uses,
  log,
}: {
  readonly limiter: RateLimiter;
  readonly nodeMeter: NodeMeter;
  readonly uses: Pick<KeyUses, "countNodeRequests">;
  readonly log: Log;
}): NodeBudget {
  return {
    async spend(keyId, work) {
      refuseExceeded(await limiter.peek("nodeRequestsPerKey", keyId));
      let spent = 0;
      try {
        return await nodeMeter.run(work, (count) => (spent += count));
      } finally {
        // Counted together: of shared limits each count is a statement.
        if (spent > 0) {
          const counted = await limiter.take("nodeRequestsPerKey", keyId, spent);
          logExceeded(log, counted, { keyId });
          uses.countNodeRequests(keyId, spent);
        }
      }
    },
  };
}
