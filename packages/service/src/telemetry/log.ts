import { pino, type Logger } from "pino";

/** Structured log: one JSON object per line. */
export type Log = Logger;

/**
 * Creates the logger of the process. It writes to standard error, because commands print their results to standard output.
 * Credentials are `Secret` values, which print as `[redacted]`; the redacted paths also cover request objects.
 */
export function createLog(options: {
  readonly level: string;
  readonly role: string;
  /** Receives the lines instead of standard error. */
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

/**
 * Paths that are redacted in objects of libraries, such as requests. A wildcard matches one level, so each name is listed
 * at three depths. Values of our own are `Secret`s and need no path.
 */
const REDACTED = ["apiKey", "privateKey", "authorization", "cookie"]
  .flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  .concat(['headers["x-api-key"]', '*.headers["x-api-key"]']);

function createSink(): (line: string) => void {
  // Synchronous: the last line before a crash is the one that explains it.
  const standardError = pino.destination({ dest: 2, sync: true });
  return (line) => void standardError.write(line);
}

/**
 * Escapes control characters that JSON leaves unescaped. A terminal may execute them, break the line or reverse the text
 * that follows. They occur only inside strings.
 */
function escapeControls(line: string): string {
  return line.replace(
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
