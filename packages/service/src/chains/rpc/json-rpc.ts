/** Encodes JSON-RPC 2.0 requests and matches the answers of a node with them. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { type Packed, unpack } from "./packed.ts";

/** Result of a node, or its own error. */
export type NodeAnswer =
  | { readonly ok: true; readonly result: unknown }
  | ({ readonly ok: false } & NodeError);

export interface NodeError {
  readonly code: number;
  /** The node's text: for matching only, never displayed. */
  readonly message: string;
  readonly data: unknown;
}

/** One request of a batch. */
export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The answers to the requests of one HTTP request. */
export type Answers =
  /** In the order of the requests. Undefined: not answered, answered twice, or in another form. */
  | { readonly kind: "answers"; readonly answers: readonly (NodeAnswer | undefined)[] }
  /** One error for the whole of a batch. */
  | { readonly kind: "refused"; readonly error: NodeError }
  | { readonly kind: "malformed" };

const Reply = Type.Object({
  id: Type.Optional(Type.Union([Type.Integer(), Type.String(), Type.Null()])),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(
    Type.Union([
      Type.Null(),
      Type.Object({
        code: Type.Integer(),
        message: Type.String(),
        data: Type.Optional(Type.Unknown()),
      }),
    ]),
  ),
});
type Reply = Static<typeof Reply>;
const ReplyForm = Compile(Reply);

/** Returns the body of an HTTP request: an object for one request, else a list. The first has the id `firstId`. */
export function encodeRequests(requests: readonly RpcRequest[], firstId: number): string {
  const bodies = requests.map(({ method, params }, index) => ({
    jsonrpc: "2.0",
    id: firstId + index,
    method,
    params,
  }));
  return JSON.stringify(bodies.length === 1 ? bodies[0] : bodies);
}

/** Decompresses and decodes the body of an HTTP answer. Throws `UnusableBody`, or another error if it is not JSON. */
export type Decode = (body: Packed) => unknown;

export const decodeJson: Decode = async (body) => JSON.parse((await unpack(body)).toString("utf8"));

/** Parses the decoded body of an HTTP answer to `count` requests. */
export function parseAnswers(
  body: unknown,
  { count, firstId }: { readonly count: number; readonly firstId: number },
): Answers {
  if (count === 1) return parseSingle(body, firstId);
  if (!Array.isArray(body)) return parseRefusal(body);
  const answers = matchById(body, { count, firstId });
  if (answers.some((answer) => answer !== undefined)) return { kind: "answers", answers };
  // Some servers refuse a batch with a list of one error.
  const [only] = body;
  return body.length === 1 ? parseRefusal(only) : { kind: "malformed" };
}

function parseSingle(body: unknown, id: number): Answers {
  const answer = readReply(body);
  if (answer === undefined) return { kind: "malformed" };
  // An error may lack the id. A result of another request is no answer.
  if (answer.ok && idOf(body) !== String(id)) return { kind: "malformed" };
  return { kind: "answers", answers: [answer] };
}

function parseRefusal(body: unknown): Answers {
  const answer = readReply(body);
  return answer === undefined || answer.ok
    ? { kind: "malformed" }
    : { kind: "refused", error: answer };
}

function matchById(
  replies: readonly unknown[],
  { count, firstId }: { readonly count: number; readonly firstId: number },
): readonly (NodeAnswer | undefined)[] {
  const byId = Map.groupBy(replies, idOf);
  return Array.from({ length: count }, (_, index) => {
    const own = byId.get(String(firstId + index)) ?? [];
    // Of two answers to one request either may be wrong.
    return own.length === 1 ? readReply(own[0]) : undefined;
  });
}

/** Returns the id as text: some servers turn numbers into text. */
function idOf(reply: unknown): string | undefined {
  return ReplyForm.Check(reply) && reply.id !== undefined ? String(reply.id) : undefined;
}

function readReply(reply: unknown): NodeAnswer | undefined {
  if (!ReplyForm.Check(reply)) return undefined;
  const { result, error }: Reply = reply;
  if (error) return { ok: false, code: error.code, message: error.message, data: error.data };
  return result === undefined ? undefined : { ok: true, result };
}
