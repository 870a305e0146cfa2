/** The terms of webhooks. */
import type { WebhookScheme } from "./secrets.ts";

/** Why an endpoint is disabled: its owner asked, it answered 410, or it failed for five days. */
export const DISABLED_REASONS = ["requested", "gone", "failing"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** States of a delivery: attempts follow; an answer of 2xx came; the schedule is over. */
export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A secret of an endpoint, without the secret. */
export interface SecretFacts {
  readonly id: string;
  readonly scheme: WebhookScheme;
  /** `whpk_…`; null for `v1`. */
  readonly publicKey: string | null;
  readonly createdAt: string;
  /** When it stops signing; null for the newest. */
  readonly expiresAt: string | null;
}

/** An endpoint as its owner sees it. */
export interface EndpointFacts {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  /** Types that are delivered; null for all. */
  readonly types: readonly string[] | null;
  readonly extended: boolean;
  readonly ordered: boolean;
  readonly state: "enabled" | "disabled";
  readonly disabledReason: DisabledReason | null;
  readonly disabledAt: string | null;
  /** First failure since the last success. */
  readonly failingSince: string | null;
  readonly secrets: readonly SecretFacts[];
  readonly createdAt: string;
}

/** An endpoint with its new secret, which is shown once. */
export interface EndpointWithSecret extends EndpointFacts {
  /** `whsec_…`; null for `v1a`, whose public key is among the secrets. */
  readonly secret: string | null;
}

/** One attempt. */
export interface AttemptFacts {
  readonly attempt: number;
  readonly at: string;
  readonly latencyMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

/** A delivery of an event to an endpoint, with its newest attempts. */
export interface DeliveryFacts {
  readonly eventId: string;
  readonly type: string;
  readonly timestamp: string;
  readonly test: boolean;
  readonly state: DeliveryState;
  /** Null unless pending. */
  readonly nextAttemptAt: string | null;
  readonly attemptCount: number;
  /** The newest first. */
  readonly attempts: readonly AttemptFacts[];
}
