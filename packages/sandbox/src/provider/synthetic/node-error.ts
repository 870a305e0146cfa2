/** Errors of the synthetic node, in geth's words. */
import { refusalOf } from "../profiles.ts";
import { type RefusalError, type RefusalValues, renderError } from "../refusal.ts";

/** An error of the node, for the client. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly error: RefusalError;
  constructor(error: RefusalError) {
    super(error.message);
    this.error = error;
  }
}

/** Throws a quoted refusal. */
export function fail(id: Parameters<typeof refusalOf>[0], values: RefusalValues = {}): never {
  throw new NodeError(renderError(refusalOf(id), values));
}
