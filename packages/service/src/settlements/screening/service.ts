/**
 * Asks the operator's list and service about a deposit. The service is trusted to decide and not to be well: it is asked
 * again, with no redirect followed, and anything but a clear answer is `wait`.
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { Address } from "../../core/hex.ts";
import type { Http, HttpRequest } from "../../core/ports.ts";
import { Secret } from "../../core/secret.ts";
import { VERDICTS } from "./rows.ts";
import type { Answer, Screen, ScreenedDeposit } from "./screen.ts";

export interface ScreeningConfig {
  readonly url: string | undefined;
  readonly token: Secret | undefined;
  readonly timeoutMs: number;
  /** Senders that are refused without a question. */
  readonly denied: readonly string[];
}

const BODY_BYTES_MAX = 64 * 1024;
const DETAIL_LENGTH_MAX = 500;

const ServiceAnswer = Type.Object({
  verdict: Type.Enum(VERDICTS),
  reason: Type.Optional(Type.String()),
});
type ServiceAnswer = Static<typeof ServiceAnswer>;

/** Creates the screening of a configuration. */
export function createScreen(
  { url, token, timeoutMs, denied }: ScreeningConfig,
  { http, display }: { readonly http: Http; readonly display: (address: Address) => string },
): Screen {
  const listed = new Set(denied);
  return async (deposit) => {
    const { sender } = deposit;
    if (sender !== null && listed.has(sender)) return byList("refuse", "the sender is listed");
    if (url === undefined) {
      return sender === null
        ? byList("wait", "the chain shows no sender: an operator decides")
        : byList("allow", null);
    }
    const answer = await http({
      method: "POST",
      url,
      headers: headersOf(token),
      body: JSON.stringify(describe(deposit, display)),
      timeoutMs,
      bytesMax: BODY_BYTES_MAX,
    });
    if (answer.kind === "failed") return unanswered(answer.reason);
    if (answer.status !== 200) return unanswered(`status ${answer.status}`);
    const parsed = parse(answer.body);
    if (!parsed) return unanswered("malformed answer");
    const detail = parsed.reason?.slice(0, DETAIL_LENGTH_MAX) ?? null;
    return { verdict: parsed.verdict, source: "service", detail };
  };
}

function headersOf(token: Secret | undefined): HttpRequest["headers"] {
  return new Map([
    ["content-type", new Secret("application/json")],
    ...(token ? [["authorization", new Secret(`Bearer ${token.reveal()}`)] as const] : []),
  ]);
}

/** Returns the question: the facts of the deposit on its chain. */
function describe(deposit: ScreenedDeposit, display: (address: Address) => string): object {
  const { id, integratorId, chainId, wallet, token, amount, txHash, sender } = deposit;
  return {
    depositId: id,
    integratorId,
    chainId,
    depositAddress: display(wallet),
    token: display(token),
    amount: amount.toString(),
    txHash,
    sender: sender === null ? null : display(sender),
  };
}

function parse(body: string): ServiceAnswer | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // Not JSON: the deposit waits, and the caller records why.
    return null;
  }
  return Value.Check(ServiceAnswer, value) ? value : null;
}

const byList = (verdict: Answer["verdict"], detail: string | null): Answer => ({
  verdict,
  source: "list",
  detail,
});
const unanswered = (detail: string): Answer => ({ verdict: "wait", source: null, detail });
