import { OperatingError } from "../core/errors.ts";

/** The policy of a signer does not allow it. Nothing was signed, and a person must look. */
export class SignerRefusal extends OperatingError {
  readonly reason: string;

  constructor(reason: string) {
    super("INTERNAL", `The signer refuses: ${reason}.`, { details: { reason } });
    this.reason = reason;
  }
}
