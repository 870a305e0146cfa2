import type { SourceToken } from "@sluice/sdk";

/** A funded account of one chain: pays, and reads the balance of a recipient. */
export interface Party {
  readonly address: string;
  /** Pays the address and waits until the payment is in a block. Wraps native coin if the token is its wrapped form. */
  pay(payment: {
    readonly to: string;
    readonly token: SourceToken;
    /** In base units. */
    readonly amount: bigint;
  }): Promise<string>;
  /** Returns what the account can pay of a token, in base units, with the native coin that can be wrapped for it. */
  readSpendable(token: SourceToken): Promise<bigint>;
  /** Returns a balance in base units. */
  balanceOf(owner: string, token: SourceToken): Promise<bigint>;
}
