/** The tables of webhooks as Kysely types. */
import type { Generated } from "kysely";
import type { Stamp } from "./columns.ts";

export interface WebhookCursorsTable {
  integrator_id: string;
  cursor: Stamp;
}

export interface WebhookEndpointsTable {
  id: string;
  integrator_id: string;
  url: string;
  description: string | null;
  types: string[] | null;
  extended: boolean;
  ordered: boolean;
  state: string;
  disabled_reason: string | null;
  disabled_at: Stamp | null;
  since: Stamp;
  failing_since: Stamp | null;
  still_failing_at: Stamp | null;
  not_before: Stamp | null;
  created_at: Stamp;
}

export interface WebhookSecretsTable {
  id: string;
  endpoint_id: string;
  scheme: string;
  sealed: Buffer;
  public_key: string | null;
  created_at: Stamp;
  expires_at: Stamp | null;
}

export interface WebhookDeliveriesTable {
  endpoint_id: string;
  event_id: string;
  integrator_id: string;
  is_test: Generated<boolean>;
  type: string;
  event_at: Stamp;
  order_key: string | null;
  state: string;
  attempts: Generated<number>;
  tries: Generated<number>;
  next_check_at: Stamp;
}

export interface WebhookAttemptsTable {
  endpoint_id: string;
  event_id: string;
  attempt: number;
  at: Stamp;
  latency_ms: number;
  status: number | null;
  error: string | null;
}
