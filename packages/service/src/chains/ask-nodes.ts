/**
 * Asks several nodes of one chain the same question.
 *
 * An answer counts when `required` nodes gave it. That number is constant: nodes that are down, slow, on another chain
 * or that disagree do not lower it, and too many of them leave no answer. An answer is returned as soon as it counts;
 * later answers are still compared with it, so that a lying node appears in the log.
 *
 * Invariant: no answer is returned that fewer than `required` nodes gave.
 */
import { isDeepStrictEqual } from "node:util";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Hex32 } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import { createAskFew } from "./ask-few.ts";
import {
  type AnswerOf,
  type AskOf,
  EQUALITY,
  isAboutTheChain,
  isBug,
  isSameAnswer,
  largestGroup,
  type OnAnswerOf,
  type ReadOf,
  type Rule,
  show,
} from "./node-answers.ts";
import type { Chain } from "./port/index.ts";

export type { Rule } from "./node-answers.ts";

/** Milliseconds to wait for the remaining nodes when enough have answered but disagree. */
const STRAGGLER_MS = 1_000;
/** Milliseconds for which an identity check is valid: a URL can get another node. A check costs two requests. */
const IDENTITY_AGE_MAX_MS = 300_000;
/**
 * Shortest and longest pause after an identity check that failed again. The first failure has none: a single request may fail.
 */
const IDENTITY_PAUSE_MIN_MS = 500;
const IDENTITY_PAUSE_MAX_MS = 10_000;
/** Most open requests of one node; further ones count as unanswered. */
const PENDING_MAX = 256;
/** Shortest interval between two equal log lines about one node. */
const COMPLAINT_PAUSE_MS = 60_000;

/** The questions that every node can answer. */
export type Askable = Pick<Chain, "chainId" | "checkIdentity">;

/** A question to one node. */
export type Read<T, N = Chain> = ReadOf<T, N>;

/** Ways to ask several nodes. */
export interface Asking<N = Chain> {
  /**
   * Returns the answer that `required` nodes gave. Throws RPC_UNAVAILABLE when there is none. An `OperatingError` of
   * another code counts as an answer and is thrown when `required` nodes gave it.
   */
  agree<T>(read: Read<T, N>, rule?: Rule<T>): Promise<T>;
  /** Returns at least `required` answers that need not agree, such as heights. */
  collect<T>(read: Read<T, N>): Promise<Collected<T>>;
}

export interface Nodes<N = Chain> extends Asking<N> {
  /** Number of nodes that must agree. */
  readonly required: number;
  /**
   * Asks only as many nodes as must agree, in turns, and the others when one of them fails or is slow, or they differ: for
   * large answers, of which every further one costs time.
   */
  readonly sparing: Asking<N>;
  /** Returns the first answer judged `enough`, otherwise one that `counts` and `required` nodes gave, otherwise null. */
  findAny<T>(
    read: Read<T, N>,
    judge: (value: T) => "enough" | "counts" | "nothing",
  ): Promise<T | null>;
  /** Returns the value that occurs at least `required` times, or undefined. */
  agreedOf<T>(values: readonly T[]): T | undefined;
  /** Returns the greatest value that `required` of the values reach. Throws on fewer values. */
  reachedBy<T extends bigint | number>(values: readonly T[]): T;
}

export interface Collected<T> {
  readonly values: readonly T[];
  /** Creates an RPC_UNAVAILABLE error because the values differ, with each node's answer as its cause. */
  disagreement(): OperatingError;
}

type Answer<T> = AnswerOf<T, Standing>;
type Ask<N> = AskOf<N, Standing>;
type OnAnswer<T> = OnAnswerOf<T, Standing>;

/** The state of a node. */
interface Standing {
  /** From 0, in the order of the configuration. Names the node in logs, since its URL is never shown. */
  readonly position: number;
  pending: number;
  /** The last identity check, and how long it counts; undefined before the first. */
  identity: { readonly atMs: number; forMs: number; readonly check: Promise<void> } | undefined;
  /** Identity checks that failed since the last success. */
  failures: number;
  /** Hash of its first block, as of that check. */
  genesis: Hex32 | undefined;
  readonly complaints: Map<string, number>;
}

interface Node<N> extends Standing {
  readonly chain: N;
}

/** Combines the nodes of one chain. Throws unless the quorum is more than half of them. */
export function createNodes<N extends Askable>(
  chains: readonly N[],
  options: {
    readonly required: number;
    readonly clock: Clock;
    readonly log: Log;
    /** Returns the hash of the chain's first block; null when the node lacks it. */
    readonly readFirst: (node: N) => Promise<Hex32 | null>;
  },
): Nodes<N> {
  const { required, clock, log, readFirst } = options;
  const [first] = chains;
  // With more than half, two different answers can never both count.
  const isQuorum = required <= chains.length && 2 * required > chains.length;
  assert(first && isQuorum, "the quorum is more than half of the nodes");
  const { chainId } = first;
  const nodes = chains.map((chain, position): Node<N> => ({
    chain,
    position,
    pending: 0,
    identity: undefined,
    failures: 0,
    genesis: undefined,
    complaints: new Map(),
  }));
  /** Hash of the chain's first block, once enough nodes agree on it. */
  let genesis: Hex32 | undefined;

  function complain(node: Standing, what: string, about: object, level: "warn" | "error"): void {
    const last = node.complaints.get(what);
    if (last !== undefined && Math.abs(clock.now() - last) < COMPLAINT_PAUSE_MS) return;
    node.complaints.set(what, clock.now());
    log[level]({ chainId, node: node.position, ...about }, what);
  }

  /** Resolves when the node serves the right chain; otherwise rejects. */
  function identify(node: Node<N>): Promise<void> {
    const { identity } = node;
    if (identity && Math.abs(clock.now() - identity.atMs) < identity.forMs) {
      return identity.check;
    }
    const check = checkIdentity(node);
    const begun = { atMs: clock.now(), forMs: IDENTITY_AGE_MAX_MS, check };
    node.identity = begun;
    check.then(
      () => {
        node.failures = 0;
      },
      () => {
        begun.forMs = pauseAfter(node.failures);
        node.failures += 1;
      },
    );
    return check;
  }

  /** Returns how long a failed check stands before it is repeated. */
  function pauseAfter(failuresBefore: number): number {
    if (failuresBefore === 0) return 0;
    return Math.min(IDENTITY_PAUSE_MIN_MS * 2 ** (failuresBefore - 1), IDENTITY_PAUSE_MAX_MS);
  }

  async function checkIdentity(node: Node<N>): Promise<void> {
    await node.chain.checkIdentity();
    const first = await readFirst(node.chain);
    if (first === null) throw lacking({ reason: "no first block" });
    node.genesis = first;
    genesis ??= agreedOf(nodes.flatMap((known) => known.genesis ?? []));
  }

  /** Throws CONFIG_MISSING when the node has another first block: a fork can have the same chain id as its origin. */
  function expectGenesis(node: Standing): void {
    if (genesis === undefined || node.genesis === genesis) return;
    throw new OperatingError(
      "CONFIG_MISSING",
      `chain ${chainId}: the node at position ${node.position} has another first block than the others; check rpcUrls.`,
      { details: { chainId, reason: "genesis differs", node: node.position } },
    );
  }

  /** Asks one node. Never rejects. */
  async function askOne<T>(node: Node<N>, read: Read<T, N>): Promise<Answer<T>> {
    if (node.pending >= PENDING_MAX) {
      return { kind: "none", node, error: lacking({ reason: "too many open requests" }) };
    }
    node.pending += 1;
    try {
      try {
        await identify(node);
        expectGenesis(node);
      } catch (error) {
        if (isAboutTheChain(error)) {
          complain(node, "a node serves another chain and is left out", { err: error }, "error");
          return { kind: "none", node, error };
        }
        throw error;
      }
      return { kind: "value", node, value: await read(node.chain) };
    } catch (error) {
      if (isAboutTheChain(error)) return { kind: "refusal", node, error };
      complain(node, "a node gave no answer", { err: error }, "warn");
      return { kind: "none", node, error };
    } finally {
      node.pending -= 1;
    }
  }

  /** Asks all nodes at once. Calls `onAnswer` after each answer, also after the caller resolved. */
  const askAll: Ask<N> = <T>(read: Read<T, N>, onAnswer: OnAnswer<T>) => {
    const answers: Answer<T>[] = [];
    for (const node of nodes) {
      void askOne(node, read).then((answer) => {
        answers.push(answer);
        onAnswer(answers, nodes.length - answers.length);
      });
    }
  };

  const askFew = createAskFew(nodes, { required, clock, askOne });

  function lacking(details: Readonly<Record<string, string | number>>, cause?: unknown) {
    const message =
      details.reason === "nodes disagree"
        ? "The chain's nodes do not agree."
        : "Too few of the chain's nodes gave a usable answer.";
    return new OperatingError("RPC_UNAVAILABLE", message, {
      details: { chainId, ...details, required },
      ...(cause === undefined ? {} : { cause }),
    });
  }

  /** Lists each node's answer, for the log. */
  function listAnswers(answers: readonly Answer<unknown>[]): Error {
    const said = nodes.map((node) => {
      const answer = answers.find((given) => given.node === node);
      return `node ${node.position}: ${show(answer)}`;
    });
    return new Error(said.join("; "));
  }

  /** Explains a missing answer. A bug or configuration error is thrown itself if it leaves too few nodes. */
  function explain(answers: readonly Answer<unknown>[]): unknown {
    const failures = answers.flatMap((answer) => (answer.kind === "none" ? [answer.error] : []));
    for (const isOurs of [isBug, isAboutTheChain]) {
      const ours = failures.filter(isOurs);
      if (ours.length > nodes.length - required) return ours[0];
    }
    const answered = answers.length - failures.length;
    const reason = answered >= required ? "nodes disagree" : "too few nodes";
    return lacking({ reason, answered }, listAnswers(answers));
  }

  function agree<T>(ask: Ask<N>, read: Read<T, N>, rule: Rule<T> = EQUALITY): Promise<T> {
    return new Promise((resolve, reject) => {
      ask(read, (answers, open) => {
        const given = answers.filter(({ kind }) => kind !== "none");
        const same = largestGroup(given, (one, other) => isSameAnswer(one, other, rule));
        if (same.length + open < required) {
          reject(explain(answers));
          return [];
        }
        if (same.length < required) return null;
        const [chosen] = same;
        if (chosen?.kind === "refusal") reject(chosen.error);
        else resolve(rule.merge(same.flatMap((a) => (a.kind === "value" ? [a.value] : []))));
        exposeOthers(answers, same);
        return same;
      });
    });
  }

  /** Logs nodes that contradict the agreed answer. Null does not: a node that is behind says so too. */
  function exposeOthers(answers: readonly Answer<unknown>[], agreed: readonly Answer<unknown>[]) {
    const saysSomething = (answer: Answer<unknown> | undefined) =>
      answer?.kind === "value" && answer.value !== null;
    if (!saysSomething(agreed[0])) return;
    for (const answer of answers) {
      if (!saysSomething(answer) || agreed.includes(answer)) continue;
      const about = { said: show(answer), others: show(agreed[0]) };
      complain(answer.node, "a node answers otherwise than the others", about, "warn");
    }
  }

  function collect<T>(ask: Ask<N>, read: Read<T, N>): Promise<Collected<T>> {
    const startMs = clock.now();
    return new Promise((resolve, reject) => {
      const finished = new AbortController();
      let patience: "whole" | "running" | "gone" = "whole";
      let judge = (): readonly Answer<T>[] | null => null;
      ask(read, (answers, open) => {
        judge = () => {
          const values = answers.filter((answer) => answer.kind === "value");
          if (values.length + open < required) {
            reject(explain(answers));
            return [];
          }
          if (values.length < required) return null;
          const same = largestGroup(values, (one, other) => isSameAnswer(one, other, EQUALITY));
          const isAgreed = same.length >= required;
          if (open === 0 || patience === "gone" || isAgreed) {
            finished.abort();
            const given = [...answers];
            resolve({
              values: values.map(({ value }) => value),
              disagreement: () =>
                lacking({ reason: "nodes disagree", answered: values.length }, listAnswers(given)),
            });
            return isAgreed ? same : [];
          }
          if (patience === "whole") {
            patience = "running";
            // A node that is asked after the others gets as much time as they took.
            const laterMs = ask === askFew ? clock.now() - startMs : 0;
            void clock.sleep(Math.max(STRAGGLER_MS, laterMs), finished.signal).then(() => {
              patience = "gone";
              judge();
            });
          }
          return null;
        };
        return judge();
      });
    });
  }

  function findAny<T>(
    read: Read<T, N>,
    judge: (value: T) => "enough" | "counts" | "nothing",
  ): Promise<T | null> {
    return new Promise((resolve) => {
      askAll(read, (answers, open) => {
        const values = answers.flatMap((answer) => (answer.kind === "value" ? [answer.value] : []));
        const found =
          values.find((value) => judge(value) === "enough") ??
          agreedOf(values.filter((value) => judge(value) === "counts"));
        if (found !== undefined) resolve(found);
        else if (open === 0) resolve(null);
        return null;
      });
    });
  }

  function agreedOf<T>(values: readonly T[]): T | undefined {
    const same = largestGroup(values, isDeepStrictEqual);
    return same.length >= required ? same[0] : undefined;
  }

  const asking = (ask: Ask<N>): Asking<N> => ({
    agree: (read, rule) => agree(ask, read, rule),
    collect: (read) => collect(ask, read),
  });

  return {
    required,
    ...asking(askAll),
    sparing: asking(askFew),
    findAny,
    agreedOf,
    reachedBy<T extends bigint | number>(values: readonly T[]): T {
      const sorted = [...values].sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));
      const reached = sorted[required - 1];
      assert(reached !== undefined, "enough nodes answered");
      return reached;
    },
  };
}
