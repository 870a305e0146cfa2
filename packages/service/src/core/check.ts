/**
 * A check looks at one thing and says what it found, what was expected and what to do. It runs only when every check
 * that it needs has found nothing broken: one fault is then named once, and not again by all that depends on it.
 */

/** From good to bad, except `skipped`: not looked at, and the finding says why. */
export type CheckStatus = "ok" | "warning" | "problem" | "skipped";

export interface Finding {
  readonly status: CheckStatus;
  readonly found: string;
  readonly expected: string;
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null;
}

/** What a check is about. */
export interface CheckName {
  /** What is looked at, such as `token.decimals`; `docs/doctor.md` has a row for each. */
  readonly id: string;
  /** Whose, such as `chain 2 (ethereum)`. */
  readonly subject: string;
  /** Which of several in the subject, such as a token or a lane. */
  readonly item?: string;
}

export interface Check extends CheckName {
  readonly needs: readonly Check[];
  /** An `OperatingError` that it throws is a problem; anything else is a bug and goes on. */
  look(): Finding | Promise<Finding>;
}

export interface CheckResult extends CheckName, Finding {}

export function ok(found: string, expected: string): Finding {
  return { status: "ok", found, expected, advice: null };
}

export function skip(reason: string, expected: string): Finding {
  return { status: "skipped", found: reason, expected, advice: null };
}

/** `ok` when the expectation holds; otherwise a problem, or the status that is given. */
export function judge(
  holds: boolean,
  args: {
    readonly found: string;
    readonly expected: string;
    readonly advice: string;
    readonly otherwise?: "warning" | "problem";
  },
): Finding {
  const { found, expected, advice, otherwise = "problem" } = args;
  return holds ? ok(found, expected) : { status: otherwise, found, expected, advice };
}

/** Reads once what several checks look at; the first of them names the trouble when it fails. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read());
}

/** A named value, as it is and as it should be. */
export interface Compared {
  readonly name: string;
  readonly found: string | number | bigint;
  readonly expected: string | number | bigint;
}

/** Compares named values; the finding names those that differ. Values are compared as text. */
export function judgeSame(pairs: readonly Compared[], advice: string): Finding {
  const wrong = pairs.filter(({ found, expected }) => String(found) !== String(expected));
  const shown = wrong.length > 0 ? wrong : pairs;
  const list = (side: "found" | "expected") =>
    shown.map((pair) => `${pair.name} ${pair[side]}`).join(", ");
  return judge(wrong.length === 0, { found: list("found"), expected: list("expected"), advice });
}

/** Whether a contract lists what it should. */
export function judgeListed(
  isListed: boolean,
  args: { readonly expected: string; readonly advice: string },
) {
  return judge(isListed, { found: isListed ? "listed" : "not listed", ...args });
}
