/**
 * The client of Circle's attestation service (its API v2), which vouches for burns. What it says is never believed: a
 * message is compared with the burn before it is relayed, and a fee is bounded by the commitment.
 *
 * The service allows 35 requests a second and blocks for five minutes whoever asks more often, so we ask far less often,
 * stand still when told to, and leave a service alone for a while that keeps failing. Requests are read-only but for
 * `reattest`, which may be repeated.
 */
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { roundUnits } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Hex, Hex32, TxHash } from "../../core/hex.ts";
import type { Clock, Http, HttpRequest } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";

/** Why an attestation keeps waiting, where the service says so. The fast way is closed; the standard one goes on. */
export type DelayReason =
  "insufficient_fee" | "amount_above_max" | "insufficient_allowance_available";

/** What the service says of one message of a transaction. */
export interface AttestedMessage {
  /** As attested; null while it is not. */
  readonly attested: { readonly message: Hex; readonly attestation: Hex } | null;
  readonly delayReason: DelayReason | null;
}

/** What the bridge keeps at least, as a share of what is burned: `share` of `SHARE_SCALE`. Null where it is not offered. */
export interface BridgeFees {
  readonly fast: bigint | null;
  readonly standard: bigint | null;
}

/** A millionth of a basis point: the service states fractions of basis points. */
export const SHARE_SCALE = 10_000_000_000n;
/** Shares are basis points with so many decimals. */
export const SHARE_DECIMALS = 6;

export interface BridgeAttestations {
  /** The messages that a transaction sent; none while the service does not know it. */
  getMessages(sourceDomain: number, txHash: TxHash): Promise<readonly AttestedMessage[]>;
  /** Asks for a message to be attested anew, with another expiry. */
  reattest(nonce: Hex32): Promise<void>;
  getFees(sourceDomain: number, destinationDomain: number): Promise<BridgeFees>;
  /** USDC that may still be sent fast by everybody together, in base units. */
  getFastAllowance(): Promise<bigint>;
}

/** Why there was no answer: none came that can be used, or we asked too often. */
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
/** Of a transaction with a hundred burns, decoded, with room to spare. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Ten a second; a settler and a quoter together stay well below 35. */
const SPACING_MS = 100;
/** Whoever would have to wait longer for its turn is told to come back. */
const QUEUE_MAX_MS = 20_000;
/** For how long the service blocks, where it does not say. */
const BLOCKED_MS = 300_000;
/** Failures in a row after which the service is left alone, and for how long. */
const FAILURES_MAX = 5;
const LEFT_ALONE_MS = 30_000;

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

/** A client of the service at a URL. Everything throws RPC_UNAVAILABLE when there was no answer that can be used. */
export function createBridgeAttestations(options: BridgeAttestationsOptions): BridgeAttestations {
  const { clock, log } = options;
  const apiUrl = options.apiUrl.replace(/\/+$/, "");
  /** When the next request may go out. */
  let nextAtMs = 0;
  /** Until when none may, and why. */
  let stillUntilMs = 0;
  let stillBecause = "";
  let failures = 0;

  /** Waits for this request's turn. */
  async function takeTurn(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs < stillUntilMs) throw unavailable(stillBecause);
    const atMs = Math.max(nowMs, nextAtMs);
    if (atMs - nowMs > QUEUE_MAX_MS) throw unavailable("too many requests of our own");
    nextAtMs = atMs + SPACING_MS;
    if (atMs > nowMs) await clock.sleep(atMs - nowMs);
    // Whoever went before may have been told to stand still.
    if (clock.now() < stillUntilMs) throw unavailable(stillBecause);
  }

  function standStill(ms: number, reason: string): void {
    stillUntilMs = Math.max(stillUntilMs, clock.now() + ms);
    stillBecause = reason;
    log.warn({ ms, reason }, "the attestation service is left alone");
  }

  function noteFailure(reason: string): OperatingError {
    options.onFailure("no_answer");
    failures += 1;
    // One request after the pause tells whether it is back: a single failure more closes again.
    if (failures >= FAILURES_MAX) standStill(LEFT_ALONE_MS, `left alone after: ${reason}`);
    return unavailable(reason);
  }

  /** The answer to a request, or null where the service knows nothing of what was asked for. */
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
      standStill(retryAfterMs ?? BLOCKED_MS, "rate limited");
      throw unavailable("rate limited");
    }
    if (status >= 500 || (status >= 300 && status < 400)) throw noteFailure(`http ${status}`);
    if (status !== 200 && status !== 404) {
      // About this request alone: the service is there.
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
        // CAST: the pattern of the schema is that of the type.
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
    "The attestation service did not give a usable answer.",
    { details: { provider: "cctp", reason } },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Fails the schema.
    return undefined;
  }
}
