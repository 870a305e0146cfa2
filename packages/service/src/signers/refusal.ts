import { OperatingError } from "../core/errors.ts";

/** The signer's policy forbids the request. Nothing was signed; a person must investigate. */
export class SignerRefusal extends OperatingError {
  readonly reason: string;

  constructor(reason: string) {
    super("INTERNAL", `The signer refuses: ${reason}.`, { details: { reason } });
    this.reason = reason;
  }
}

/** The signer's policy does not allow the request yet. Nothing was signed; the same request may succeed later. */
export class SignerWaits extends OperatingError {
  readonly reason: string;

  constructor(reason: string) {
    super("RPC_UNAVAILABLE", `The signer waits: ${reason}.`);
    this.reason = reason;
  }
}
