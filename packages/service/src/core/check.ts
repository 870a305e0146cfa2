/**
 * Checks of the doctor. A check examines one thing and reports what it found, what was expected and the remedy. It runs only
 * if every check that it needs found no problem, so that one fault is reported once.
 */

/** From good to bad. `skipped` means not examined, for the reason in the finding. */
export type CheckStatus = "ok" | "warning" | "problem" | "skipped";

/** Result of one check, in words for operators. */
export interface Finding {
  readonly status: CheckStatus;
  readonly found: string;
  readonly expected: string;
  /** The remedy; null if none is needed. */
  readonly advice: string | null;
}

/** Identifies a check. */
export interface CheckName {
  /** Kind of check, such as `token.decimals`; `docs/doctor.md` lists each. */
  readonly id: string;
  /** Subject, such as `chain 2 (ethereum)`. */
  readonly subject: string;
  /** One of several items of the subject, such as a token or a lane. */
  readonly item?: string;
}

export interface Check extends CheckName {
  readonly needs: readonly Check[];
  /** Runs the check. An `OperatingError` is reported as a problem; any other error is a bug and is rethrown. */
  run(): Finding | Promise<Finding>;
}

export interface CheckResult extends CheckName, Finding {}

/** Returns a finding without a problem. */
export function ok(found: string, expected: string): Finding {
  return { status: "ok", found, expected, advice: null };
}

/** Returns the finding of a check that could not run. */
export function skip(reason: string, expected: string): Finding {
  return { status: "skipped", found: reason, expected, advice: null };
}

/** Returns `ok` if the expectation holds, otherwise a problem or the given status. */
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

/** Returns a function that reads a value once for several checks. If the read fails, each of them gets the error. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read());
}

/** A named value: found and expected. */
export interface Compared {
  readonly name: string;
  readonly found: string | number | bigint;
  readonly expected: string | number | bigint;
}

/** Compares named values as text and returns a finding with those that differ. */
export function judgeSame(pairs: readonly Compared[], advice: string): Finding {
  const wrong = pairs.filter(({ found, expected }) => String(found) !== String(expected));
  const shown = wrong.length > 0 ? wrong : pairs;
  const list = (side: "found" | "expected") =>
    shown.map((pair) => `${pair.name} ${pair[side]}`).join(", ");
  return judge(wrong.length === 0, { found: list("found"), expected: list("expected"), advice });
}

/** Returns a finding on whether a contract lists an expected entry. */
export function judgeListed(
  isListed: boolean,
  args: { readonly expected: string; readonly advice: string },
) {
  return judge(isListed, { found: isListed ? "listed" : "not listed", ...args });
}
