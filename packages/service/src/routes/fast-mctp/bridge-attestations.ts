/**
 * Client of Circle's attestation service (API v2). Its answers are not trusted: a message is compared with the burn before
 * it is relayed, and a fee is bounded by the commitment.
 *
 * The service allows 35 requests a second and blocks a client that exceeds this for five minutes. This client sends far
 * fewer, pauses on a rate limit, and pauses after repeated failures. All requests are read-only except `reattest`, which can
 * be repeated.
 */
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { roundUnits } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { Clock, Http, HttpRequest } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";

/** Reason that the service gives for a delayed fast attestation. The standard attestation still follows. */
export type DelayReason =
  | "insufficient_fee"
  | "amount_above_max"
  | "insufficient_allowance_available";

/** State of one message of a transaction at the service. */
export interface AttestedMessage {
  /** Message and signatures; null until the burn is attested. */
  readonly attested: { readonly message: Hex; readonly attestation: Hex } | null;
  readonly delayReason: DelayReason | null;
}

/**
 * Minimum fees of the bridge as shares of the burned amount, in units of `1 / SHARE_SCALE`. Null where that speed is not
 * offered.
 */
export interface BridgeFees {
  readonly fast: bigint | null;
  readonly standard: bigint | null;
}

/** Scale of a share: a millionth of a basis point, because the service states fractions of basis points. */
export const SHARE_SCALE = 10_000_000_000n;
/** Decimals of a share in basis points. */
export const SHARE_DECIMALS = 6;

export interface BridgeAttestations {
  /** Returns the messages that a transaction sent; empty while the service does not know it. */
  getMessages(sourceDomain: number, txHash: TxHash): Promise<readonly AttestedMessage[]>;
  /** Requests a new attestation of a message, with a later expiry. */
  reattest(nonce: Hex32): Promise<void>;
  getFees(sourceDomain: number, destinationDomain: number): Promise<BridgeFees>;
  /** Returns the USDC that all users together may still send fast, in base units. */
  getFastAllowance(): Promise<bigint>;
}

/** Why a request failed: no usable answer, or a rate limit. */
export const SERVICE_FAILURES = ["no_answer", "rate_limited"] as const;
export type ServiceFailure = (typeof SERVICE_FAILURES)[number];

export interface BridgeAttestationsOptions {
  readonly apiUrl: string;
  readonly http: Http;
  readonly clock: Clock;
  readonly log: Log;
  readonly onFailure: (failure: ServiceFailure) => void;
}

const NO_HEADERS: HttpRequest["headers"] = new Map();
const TIMEOUT_MS = 10_000;
/** Bound on an answer: room for a transaction with a hundred decoded burns. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Spacing of ten requests a second; a settler and a quoter together stay well below 35. */
const SPACING_MS = 100;
/** Longest wait in the queue; a request that would wait longer fails. */
const QUEUE_MAX_MS = 20_000;
/** Pause after a rate limit without `Retry-After`: the service blocks for five minutes. */
const BLOCKED_MS = 300_000;
/** Consecutive failures that pause the client, and the length of the pause. */
const FAILURES_MAX = 5;
const PAUSE_MS = 30_000;

const USDC_DECIMALS = 6;

const HexText = Type.String({ pattern: "^0x[0-9a-fA-F]*$" });

const MessagesAnswer = Type.Object({
  messages: Type.Array(
    Type.Object({
      message: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      attestation: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      cctpVersion: Type.Integer(),
      status: Type.String(),
      delayReason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
    { maxItems: 1_000 },
  ),
});
const Complete = Type.Object({ message: HexText, attestation: HexText });
const ReattestAnswer = Type.Object({ nonce: Type.String() });
const FeesAnswer = Type.Array(
  Type.Object({
    finalityThreshold: Type.Integer({ minimum: 0 }),
    minimumFee: Type.Number({ minimum: 0, maximum: 10_000 }),
  }),
  { maxItems: 20 },
);
const AllowanceAnswer = Type.Object({ allowance: Type.Number({ minimum: 0, maximum: 1e15 }) });

const DELAY_REASONS: readonly DelayReason[] = [
  "insufficient_fee",
  "amount_above_max",
  "insufficient_allowance_available",
];

/** Returns a client of the service at a URL. Every method throws RPC_UNAVAILABLE if there is no usable answer. */
export function createBridgeAttestations(options: BridgeAttestationsOptions): BridgeAttestations {
  const { clock, log } = options;
  const apiUrl = options.apiUrl.replace(/\/+$/, "");
  /** Time at which the next request may be sent. */
  let nextAtMs = 0;
  /** End of the current pause, and its reason. */
  let pausedUntilMs = 0;
  let pauseReason = "";
  let failures = 0;

  /** Waits for this request's turn. */
  async function takeTurn(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs < pausedUntilMs) throw unavailable(pauseReason);
    const atMs = Math.max(nowMs, nextAtMs);
    if (atMs - nowMs > QUEUE_MAX_MS) throw unavailable("local request queue is full");
    nextAtMs = atMs + SPACING_MS;
    if (atMs > nowMs) await clock.sleep(atMs - nowMs);
    // A request ahead in the queue may have started a pause.
    if (clock.now() < pausedUntilMs) throw unavailable(pauseReason);
  }

  function pause(ms: number, reason: string): void {
    pausedUntilMs = Math.max(pausedUntilMs, clock.now() + ms);
    pauseReason = reason;
    log.warn({ ms, reason }, "attestation service paused");
  }

  function noteFailure(reason: string): OperatingError {
    options.onFailure("no_answer");
    failures += 1;
    // After the pause one request probes the service: another failure pauses it again.
    if (failures >= FAILURES_MAX) pause(PAUSE_MS, `paused after: ${reason}`);
    return unavailable(reason);
  }

  /** Returns the answer to a request, or null if the service does not know the object (404). */
  async function ask<Answer extends TSchema>(
    method: "GET" | "POST",
    path: string,
    schema: Answer,
  ): Promise<Static<Answer> | null> {
    await takeTurn();
    const answer = await options.http({
      method,
      url: `${apiUrl}${path}`,
      headers: NO_HEADERS,
      timeoutMs: TIMEOUT_MS,
      bytesMax: BODY_BYTES_MAX,
    });
    if (answer.kind === "failed") throw noteFailure(answer.reason);
    const { status, retryAfterMs, body } = answer;
    if (status === 429) {
      options.onFailure("rate_limited");
      pause(retryAfterMs ?? BLOCKED_MS, "rate limited");
      throw unavailable("rate limited");
    }
    if (status >= 500 || (status >= 300 && status < 400)) throw noteFailure(`http ${status}`);
    if (status !== 200 && status !== 404) {
      // Concerns this request only: the service itself answers.
      failures = 0;
      throw unavailable(`http ${status}`);
    }
    if (status === 404) {
      failures = 0;
      return null;
    }
    const parsed = parseJson(body);
    if (!Value.Check(schema, parsed)) throw noteFailure("malformed answer");
    failures = 0;
    return parsed;
  }

  return {
    async getMessages(sourceDomain, txHash) {
      const path = `/v2/messages/${sourceDomain}?transactionHash=${txHash}`;
      const answer = await ask("GET", path, MessagesAnswer);
      if (!answer) return [];
      return answer.messages.flatMap((entry): AttestedMessage[] => {
        if (entry.cctpVersion !== 2) return [];
        const delayReason = DELAY_REASONS.find((known) => known === entry.delayReason) ?? null;
        if (entry.status !== "complete") return [{ attested: null, delayReason }];
        if (!Value.Check(Complete, entry)) throw noteFailure("malformed answer");
        // CAST: the schema's pattern is the same as the type's.
        const attested = entry as { message: Hex; attestation: Hex };
        const { message, attestation } = attested;
        return [{ attested: { message, attestation }, delayReason }];
      });
    },

    async reattest(nonce) {
      const answer = await ask("POST", `/v2/reattest/${nonce}`, ReattestAnswer);
      if (!answer) throw unavailable("http 404");
    },

    async getFees(sourceDomain, destinationDomain) {
      const path = `/v2/burn/USDC/fees/${sourceDomain}/${destinationDomain}`;
      const answer = await ask("GET", path, FeesAnswer);
      if (!answer) throw unavailable("http 404");
      const shareOf = (threshold: number) => {
        const found = answer.find(({ finalityThreshold }) => finalityThreshold === threshold);
        return found ? roundUnits(String(found.minimumFee), SHARE_DECIMALS) : null;
      };
      return { fast: shareOf(1000), standard: shareOf(2000) };
    },

    async getFastAllowance() {
      const answer = await ask("GET", "/v2/fastBurn/USDC/allowance", AllowanceAnswer);
      if (!answer) throw unavailable("http 404");
      return roundUnits(String(answer.allowance), USDC_DECIMALS);
    },
  };
}

function unavailable(reason: string): OperatingError {
  return new OperatingError(
    "RPC_UNAVAILABLE",
    "Circle's attestation service gave no usable answer.",
    { details: { provider: "cctp", reason } },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Does not match any schema.
    return undefined;
  }
}
