import { pino, type Logger } from "pino";

/** Structured logs, one JSON object a line. */
export type Log = Logger;

/**
 * Creates the process's logger on standard error: standard output belongs to the command line. Keys and credentials
 * are `Secret` values, which print as `[redacted]`; the paths below are a second net for request objects.
 */
export function createLog(options: { readonly level: string; readonly role: string }): Log {
  return pino(
    {
      level: options.level,
      base: { role: options.role },
      redact: {
        paths: [
          "apiKey",
          "*.apiKey",
          'headers["x-api-key"]',
          '*.headers["x-api-key"]',
          "privateKey",
        ],
        censor: "[redacted]",
      },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
