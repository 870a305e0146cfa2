/** Webhooks: sends the events of integrators to their endpoints. Holds no key of a chain and reads no chain. */
import {
  createAddressRules,
  createDispatcher,
  createWebhookPost,
  purgeDeliveries,
} from "../webhooks/index.ts";
import { type Parts, type RunningRole, TOPICS } from "./context.ts";
import { startRoleLoop } from "./health.ts";
import { readVersion } from "./version.ts";

/** Interval of the poll for events and due deliveries without a wake-up, in milliseconds. */
const WEBHOOKS_POLL_MS = 1_000;
/** Least time between polls that new events start, in milliseconds: many events share a poll. */
const WEBHOOKS_GAP_MS = 100;
/** Interval at which old deliveries are deleted, in milliseconds. */
const PURGE_POLL_MS = 600_000;

/** Parts of the webhooks. */
export const WEBHOOKS_PARTS = [
  "config",
  "db",
  "clock",
  "random",
  "log",
  "health",
  "wakeups",
  "crashPoint",
] as const;

/** Starts sending. Several processes may: each delivery is leased by one of them at a time. */
export function startWebhooks(context: Parts<(typeof WEBHOOKS_PARTS)[number]>): RunningRole {
  const { config, db, clock, random, log, wakeups, crashPoint } = context;
  const { metrics } = context.health;
  const dispatcher = createDispatcher({
    db,
    clock,
    random,
    log,
    crashPoint,
    pepper: config.apiKeyPepper,
    post: createWebhookPost({ rules: createAddressRules(config.webhooks.allowedRanges) }),
    userAgent: `Sluice-Webhooks/${readVersion()}`,
    onAttempt({ outcome, latencyMs, lagMs }) {
      metrics.webhookAttempts.inc({ outcome });
      metrics.webhookSeconds.observe({ outcome }, latencyMs / 1_000);
      if (lagMs !== null) metrics.webhookLagSeconds.observe(lagMs / 1_000);
    },
    onDisabled(reason, integratorId) {
      metrics.webhookEndpointsDisabled.inc({ reason });
      wakeups.wake(TOPICS.events, integratorId);
    },
    wake: () => loop.wake(),
  });
  const loop = startRoleLoop(context, "webhooks", {
    name: "webhooks",
    intervalMs: WEBHOOKS_POLL_MS,
    wakeGapMs: WEBHOOKS_GAP_MS,
    poll: () => dispatcher.poll(),
  });
  const purge = startRoleLoop(context, "webhooks", {
    name: "retention of webhooks",
    intervalMs: PURGE_POLL_MS,
    async poll() {
      const deleted = await purgeDeliveries(db, clock.now());
      if (deleted > 0) log.info({ deleted }, "webhook retention ran");
      return deleted > 0;
    },
  });
  wakeups.on(TOPICS.events, (integratorId) => {
    if (integratorId !== undefined) dispatcher.prefer(integratorId);
    loop.wake();
  });
  wakeups.on(TOPICS.webhooks, () => {
    dispatcher.lookThrough();
    loop.wake();
  });
  return {
    async stop() {
      await Promise.all([loop.stop(), purge.stop()]);
      await dispatcher.stop();
    },
  };
}
