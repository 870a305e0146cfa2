/** Asks questions at the terminal, or reads the answers from standard input, one per line. */
import { createInterface } from "node:readline";
import { OperatingError } from "../../core/errors.ts";

/** A question. The answer is parsed at once. */
export interface Question<Answer> {
  readonly text: string;
  /** The answer of an empty line, as it is shown; without one an answer is required. */
  readonly fallback?: string;
  /** Returns the answer. Throws an `Error` with the expected form. */
  readonly parse: (text: string) => Answer;
}

export interface Dialog {
  /** Asks until the answer is valid. Without a terminal, throws VALIDATION_ERROR for one that is not. */
  ask<Answer>(question: Question<Answer>): Promise<Answer>;
  close(): void;
}

/** Opens a dialog. Questions go to standard error, so that they are seen where output is piped. */
export function openDialog({ stdin, stderr }: Pick<NodeJS.Process, "stdin" | "stderr">): Dialog {
  const input = createInterface({ input: stdin });
  const lines = input[Symbol.asyncIterator]();
  return {
    async ask({ text, fallback, parse }) {
      for (;;) {
        stderr.write(`${text}${fallback === undefined ? "" : ` [${fallback}]`}: `);
        const { done, value } = await lines.next();
        if (!stdin.isTTY) stderr.write("\n");
        if (done) throw new OperatingError("VALIDATION_ERROR", `${text}: expected an answer.`);
        const answer = value.trim() || fallback || "";
        try {
          return parse(answer);
        } catch (error) {
          const problem = `${text}: ${error instanceof Error ? error.message : String(error)}, got "${answer}".`;
          if (!stdin.isTTY) throw new OperatingError("VALIDATION_ERROR", problem);
          stderr.write(`${problem}\n`);
        }
      }
    },
    close: () => input.close(),
  };
}
