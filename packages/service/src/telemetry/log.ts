import { pino, type Logger } from "pino";

/** Structured logs, one JSON object a line. */
export type Log = Logger;

/**
 * Creates the process's logger on standard error: standard output belongs to the command line. Keys and credentials
 * are `Secret` values, which print as `[redacted]`; the paths below are a second net for request objects.
 */
export function createLog(options: {
  readonly level: string;
  readonly role: string;
  /** Takes the lines instead of standard error. */
  readonly write?: (line: string) => void;
}): Log {
  const { level, role, write = createSink() } = options;
  return pino(
    {
      level,
      base: { role },
      redact: { paths: [...REDACTED], censor: "[redacted]" },
    },
    { write: (line: string) => write(escapeControls(line)) },
  );
}

const REDACTED = ["apiKey", "privateKey", "authorization", "cookie"]
  .flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  .concat(['headers["x-api-key"]', '*.headers["x-api-key"]']);

function createSink(): (line: string) => void {
  const standardError = pino.destination({ dest: 2, sync: true });
  return (line) => void standardError.write(line);
}

/**
 * JSON leaves these as they are, and a terminal may obey them, break the line at them or show what follows in another
 * order. All of them stand inside strings.
 */
function escapeControls(line: string): string {
  return line.replace(
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
