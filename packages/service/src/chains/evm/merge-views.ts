/**
 * Merges calls of views into one `eth_call`: creation code calls each of them and returns what each returned. No contract is
 * deployed for it. A view sees another caller than alone, which no view of ours reads.
 */
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { concat, type Hex, numberToHex, size } from "viem";
import { type BatchSize, createBatchSize } from "../rpc/batch-size.ts";
import { reasonOf } from "../rpc/errors.ts";
import type { Merge, Merged, NodeAnswer, RpcRequest } from "../rpc/rpc.ts";
import { parseBytes } from "./answers.ts";

/** Views per call: the code that it returns may have 24,576 bytes, and a record of a lock has 384. */
const VIEWS_AT_ONCE = 40;
/** Bytes of all calls: creation code may have 49,152. */
const BYTES_MAX = 40_000;
/** Bytes of the data of one view. */
const DATA_MAX = 0xffff;
const GAS_MAX = 0xffff_ffff;
/** Turns of the event loop with shared requests in which nothing is merged, after a node refused two views at once. */
const REST_TURNS = 1_000;
/** JSON-RPC's code of a revert in the answers of nodes. */
const REVERTED = 3;

/**
 * Creation code that makes each appended call, of 20 bytes of contract, 4 of gas, 2 of length, and data, and returns for each
 * a word that is 1 if it succeeded, a word with the length of its answer, and its answer. It fails as a whole when less gas is
 * left than a view may use, so that none fails for lack of gas.
 */
export const VIEW_READER: Hex = concat([
  "0x60766000", // start at the first appended byte, with empty memory
  "0x5b388210600e57", // while bytes are left
  "0x6000f3", // return the answers
  "0x5b6020828239", // load the next 32 bytes
  "0x8051", // as one word: contract, gas, length
  "0x8060401c63ffffffff16", // its gas
  "0x8060051c810161c350015a11603057fe", // fail unless a 32nd and 50,000 more is left
  "0x5b8160301c61ffff16", // its length
  "0x8085601a018560400139", // load its data behind two words
  "0x6000600082866040018660601c86fa", // call the contract with that gas
  "0x8452", // write whether it succeeded
  "0x3d8460200152", // the length of its answer
  "0x3d6000856040013e", // and its answer
  "0x601a018401", // advance the offset of the calls
  "0x836040013d01", // and that of the answers
  "0x935093505050600456",
]);

/** The parameters of a view at a tag. Calls with a sender, at a block or of other forms are left alone. */
const ViewParameters = Compile(
  Type.Tuple([
    Type.Object(
      {
        to: Type.TemplateLiteral("0x${string}"),
        data: Type.TemplateLiteral("0x${string}"),
        gas: Type.TemplateLiteral("0x${string}"),
      },
      { additionalProperties: false },
    ),
    Type.String(),
  ]),
);

/** A view among the requests of a turn. */
interface View {
  readonly request: RpcRequest;
  readonly tag: string;
  /** Contract, gas, length and data, as the reader takes them. */
  readonly call: Hex;
}

/**
 * Returns the merging of a node's requests: views at the same tag are one. A node that refuses it gets smaller ones; one that
 * refuses two at once gets views of their own for a while, since the reason may have passed.
 */
export function createViewMerge(): Merge {
  let batchSize = createBatchSize(VIEWS_AT_ONCE);
  let restTurns = 0;
  return (requests) => {
    if (batchSize.now() === 1) {
      batchSize = createBatchSize(VIEWS_AT_ONCE);
      restTurns = REST_TURNS;
    }
    if (restTurns > 0) {
      restTurns -= 1;
      return [];
    }
    const views = requests.flatMap((request) => {
      const { method, params } = request;
      if (method !== "eth_call" || !ViewParameters.Check(params)) return [];
      const [{ to, data, gas }, tag] = params;
      if (BigInt(gas) > GAS_MAX || size(data) > DATA_MAX) return [];
      const header = [numberToHex(BigInt(gas), { size: 4 }), numberToHex(size(data), { size: 2 })];
      return [{ request, tag, call: concat([to, ...header, data]) }];
    });
    const parts = [...Map.groupBy(views, ({ tag }) => tag).values()].flatMap((some) =>
      split(some, batchSize.now()),
    );
    return parts.filter((part) => part.length > 1).map((part) => mergePart(part, batchSize));
  };
}

/** Merges views at one tag. */
function mergePart(views: readonly View[], batchSize: BatchSize): Merged {
  const data = concat([VIEW_READER, ...views.map(({ call }) => call)]);
  return {
    request: { method: "eth_call", params: [{ data }, views[0]?.tag] },
    members: views.map(({ request }) => request),
    separate(answer) {
      const answers =
        answer instanceof Error || !answer.ok ? null : readAnswers(answer.result, views.length);
      if (answers) batchSize.accepted(views.length);
      else if (reasonOf(answer) !== "rate limited") batchSize.refused(views.length);
      return answers;
    },
  };
}

/** Splits views into those of one call each. */
function split(views: readonly View[], countMax: number): View[][] {
  const parts: View[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const view of views) {
    const last = parts.at(-1);
    bytes += size(view.call);
    if (last && last.length < countMax && bytes <= BYTES_MAX) {
      last.push(view);
    } else {
      parts.push([view]);
      bytes = size(view.call);
    }
  }
  return parts;
}

/** Returns the answer to each view, as the node gives it to the view alone; null if the result has another form. */
function readAnswers(result: unknown, count: number): readonly NodeAnswer[] | null {
  let returned: Hex;
  try {
    returned = parseBytes(result);
  } catch {
    return null;
  }
  const answers: NodeAnswer[] = [];
  let at = 2;
  const take = (digits: number): string => {
    at += digits;
    return returned.slice(at - digits, at);
  };
  while (answers.length < count && at + 128 <= returned.length) {
    const succeeded = BigInt(`0x${take(64)}`) === 1n;
    const length = BigInt(`0x${take(64)}`);
    if (length > DATA_MAX) return null;
    const data = `0x${take(2 * Number(length))}`;
    answers.push(
      succeeded
        ? { ok: true, result: data }
        : { ok: false, code: REVERTED, message: "execution reverted", data },
    );
  }
  return answers.length === count && at === returned.length ? answers : null;
}
