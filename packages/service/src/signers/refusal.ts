import { OperatingError } from "../core/errors.ts";

/**
 * The subject of a refusal: the call, which is refused under any nonce; the nonce, under which another call was signed; or
 * the lane, whose other calls would be refused too (its budget, its fees).
 */
export const REFUSED = ["call", "nonce", "lane"] as const;
export type Refused = (typeof REFUSED)[number];

/** The signer's policy forbids the request. Nothing was signed; a person must investigate. */
export class SignerRefusal extends OperatingError {
  readonly reason: string;
  readonly about: Refused;

  constructor(reason: string, about: Refused = "call") {
    super("INTERNAL", `The signer refuses: ${reason}.`, { details: { reason } });
    this.reason = reason;
    this.about = about;
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
