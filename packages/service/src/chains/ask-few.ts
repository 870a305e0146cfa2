/**
 * Asks as many nodes as must agree, and the others when one of them fails or is slow, or they differ: for large answers, of
 * which every further one costs time.
 *
 * The nodes are asked in turns, so that each is used and checked. Those because of which others had to be asked come last for
 * a minute: a node that hangs or lies costs little time.
 */
import type { Clock } from "../core/ports.ts";
import type { AnswerOf, AskOf, OnAnswerOf, ReadOf } from "./node-answers.ts";

/** Milliseconds after which the other nodes are asked too if none has answered. */
const SILENT_MS = 10_000;
/** A node that takes longer than the first one that answered by this factor and time is slow. */
const SLOW_FACTOR = 2;
const SLOW_MS = 1_000;
/** Time for which a node that was no help comes last. */
const LATE_MS = 60_000;

/** Returns the way to ask few of these nodes. */
export function createAskFew<S, N extends S & { readonly chain: C }, C>(
  nodes: readonly N[],
  options: {
    readonly required: number;
    readonly clock: Clock;
    /** Asks one node. Never rejects. */
    readonly askOne: <T>(node: N, read: ReadOf<T, C>) => Promise<AnswerOf<T, S>>;
  },
): AskOf<C, S> {
  const { clock, askOne } = options;
  const turns = createTurns<S, N>(nodes, options);

  return <T>(read: ReadOf<T, C>, onAnswer: OnAnswerOf<T, S>) => {
    const { few, spare } = turns.next();
    const startMs = clock.now();
    const answers: AnswerOf<T, S>[] = [];
    const finished = new AbortController();
    let asked = 0;

    function askMore(some: readonly N[]): void {
      asked += some.length;
      for (const node of some) {
        void askOne(node, read).then((answer) => {
          answers.push(answer);
          const agreed = onAnswer(answers, nodes.length - answers.length);
          if (agreed) finish(agreed);
          else if (answer.kind === "none" || answers.length === asked) askSpare();
          else if (answers.length === 1)
            askSpareIn((clock.now() - startMs) * SLOW_FACTOR + SLOW_MS);
        });
      }
    }

    function askSpare(): void {
      if (!finished.signal.aborted && asked < nodes.length) askMore(spare);
    }

    function finish(agreed: readonly AnswerOf<T, S>[]): void {
      if (finished.signal.aborted) return;
      finished.abort();
      if (asked === few.length || agreed.length === 0) return;
      const helped = new Set(agreed.map(({ node }) => node));
      for (const node of few) if (!helped.has(node)) turns.late(node);
    }

    function askSpareIn(ms: number): void {
      void clock.sleep(ms, finished.signal).then(askSpare);
    }

    askMore(few);
    askSpareIn(SILENT_MS);
  };
}

interface Turns<S, N> {
  /** Returns the nodes to ask first, and the others. */
  next(): { readonly few: readonly N[]; readonly spare: readonly N[] };
  /** Reports that others had to be asked because of this node. */
  late(node: S): void;
}

function createTurns<S, N extends S>(
  nodes: readonly N[],
  { required, clock }: { readonly required: number; readonly clock: Clock },
): Turns<S, N> {
  const lateAtMs = new Map<S, number>();
  let turn = 0;
  return {
    next() {
      const nowMs = clock.now();
      const inTurn = [...nodes.slice(turn), ...nodes.slice(0, turn)];
      turn = (turn + 1) % nodes.length;
      const isLate = (node: N) => {
        const atMs = lateAtMs.get(node);
        return atMs !== undefined && Math.abs(nowMs - atMs) < LATE_MS;
      };
      const ordered = [...inTurn.filter((node) => !isLate(node)), ...inTurn.filter(isLate)];
      return { few: ordered.slice(0, required), spare: ordered.slice(required) };
    },
    late(node) {
      lateAtMs.set(node, clock.now());
    },
  };
}
