/** Answers of nodes, and whether they agree. */
import { isDeepStrictEqual } from "node:util";
import { OperatingError } from "../core/errors.ts";

/** Most characters of an answer in logs and errors. */
const SHOWN_MAX = 300;

/** Decides whether two answers agree, and merges those that do. By default: deep equality, and the first. */
export interface Rule<T> {
  isSame(one: T, other: T): boolean;
  merge(same: readonly T[]): T;
}

/** The answer of one node. */
export type AnswerOf<T, N> =
  | { readonly kind: "value"; readonly node: N; readonly value: T }
  /** An operating error about the chain, such as too little gas. */
  | { readonly kind: "refusal"; readonly node: N; readonly error: OperatingError }
  | { readonly kind: "none"; readonly node: N; readonly error: unknown };

/** A question to one node. */
export type ReadOf<T, N> = (node: N) => Promise<T>;

/** Takes all answers so far, and returns those that agree as soon as no further ones are needed. */
export type OnAnswerOf<T, N> = (
  answers: readonly AnswerOf<T, N>[],
  open: number,
) => readonly AnswerOf<T, N>[] | null;

/** A way to ask nodes of a kind C, known as N: all at once, or few at first. */
export type AskOf<C, N> = <T>(read: ReadOf<T, C>, onAnswer: OnAnswerOf<T, N>) => void;

/** The rule by default. */
export const EQUALITY: Rule<unknown> & { merge<T>(same: readonly T[]): T } = {
  isSame: isDeepStrictEqual,
  merge<T>(same: readonly T[]): T {
    const [chosen] = same;
    // CAST: a group has at least one member, which may itself be undefined.
    return chosen as T;
  },
};

/** Returns whether an error is an answer about the chain, rather than the lack of an answer. */
export function isAboutTheChain(error: unknown): error is OperatingError {
  return error instanceof OperatingError && error.code !== "RPC_UNAVAILABLE";
}

export function isBug(error: unknown): boolean {
  return !(error instanceof OperatingError);
}

/** Formats an answer for logs. Chain data is public; of an error only our own reason or code is shown. */
export function show(answer: AnswerOf<unknown, unknown> | undefined): string {
  if (!answer) return "nothing yet";
  if (answer.kind !== "value") {
    const { error } = answer;
    const words = error instanceof OperatingError ? (error.details?.["reason"] ?? error.code) : "";
    return `no answer (${words || "a mistake of ours"})`;
  }
  const text = JSON.stringify(answer.value, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  return text === undefined ? "done" : text.slice(0, SHOWN_MAX);
}

export function isSameAnswer<T>(
  one: AnswerOf<T, unknown>,
  other: AnswerOf<T, unknown>,
  rule: Rule<T>,
): boolean {
  if (one.kind === "value" && other.kind === "value") return rule.isSame(one.value, other.value);
  if (one.kind !== "refusal" || other.kind !== "refusal") return false;
  return (
    one.error.code === other.error.code && isDeepStrictEqual(one.error.details, other.error.details)
  );
}

/** Returns the largest group of items that agree with its first item. */
export function largestGroup<T>(
  items: readonly T[],
  isSame: (one: T, other: T) => boolean,
): readonly T[] {
  const groups = items.map((item, at) => [
    item,
    ...items.filter((other, index) => index !== at && isSame(item, other)),
  ]);
  return groups.reduce((largest, group) => (group.length > largest.length ? group : largest), []);
}
