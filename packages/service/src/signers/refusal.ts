import { OperatingError } from "../core/errors.ts";

/** The policy of a signer does not allow it. Nothing was signed, and a person must look. */
export class SignerRefusal extends OperatingError {
  readonly reason: string;

  constructor(reason: string) {
    super("INTERNAL", `The signer refuses: ${reason}.`, { details: { reason } });
    this.reason = reason;
  }
}

/** The policy of a signer does not allow it yet. Nothing was signed; the same may be asked again a little later. */
export class SignerWaits extends OperatingError {
  readonly reason: string;

  constructor(reason: string) {
    super("RPC_UNAVAILABLE", `The signer waits: ${reason}.`);
    this.reason = reason;
  }
}
