/** The operator of a command that is recorded, and the reason. */
import { hostname, userInfo } from "node:os";
import type { ByHand } from "../integrators/index.ts";
import { UsageError } from "./failure.ts";

const REASON_LENGTH_MAX = 500;

/** Returns the trimmed reason of a manual action. Throws `UsageError` for an empty or too long one. */
export function parseReason(reason: string): string {
  const text = reason.trim();
  if (text !== "" && text.length <= REASON_LENGTH_MAX) return text;
  throw new UsageError(`--reason: expected a text of 1 to ${REASON_LENGTH_MAX} characters.`);
}

/** Returns who acts, and why where the command says so. */
export function nameByHand(reason: string | undefined): ByHand {
  return { operator: nameOperator(), reason: reason === undefined ? null : parseReason(reason) };
}

/** Returns the account of the operating system and the machine, as `user@host`. */
export function nameOperator(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // An account without a name, as in containers.
    return `uid ${process.getuid?.() ?? "unknown"}@${hostname()}`;
  }
}
