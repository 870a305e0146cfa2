import { type Quote, verifyDepositAddress, verifyVault } from "@sluice/sdk";
import { getBase58Encoder } from "@solana/kit";
import { SandboxError } from "./errors.ts";

/** Contract or account that the payer trusts, from its own configuration and not from the quote. */
export type Trusted =
  | { readonly kind: "evm"; readonly factory: string }
  | { readonly kind: "svm"; readonly bindingAccount: string };

/** The delivery that the payer asked for. */
export interface ExpectedDelivery {
  /** Bridge chain id. */
  readonly chainId: number;
  /** In the chain's own format. */
  readonly wallet: string;
  readonly token: string;
}

/**
 * Verifies offline that the deposit address of a quote is committed to the delivery, and returns it.
 * @throws SandboxError if the quote has no address, no commitment or another delivery.
 */
export function verifyQuote(quote: Quote, trusted: Trusted, delivery: ExpectedDelivery): string {
  const { payDepositAddress: address, payDepositCommitment: commitment } = quote;
  if (address === null) throw new SandboxError("the quote has no deposit address");
  if (!commitment) throw new SandboxError("the quote has no commitment for its deposit address");
  const expected = {
    destChain: delivery.chainId,
    destWallet: toBytes32(delivery.wallet),
    destToken: toBytes32(delivery.token),
  };
  const verification =
    trusted.kind === "evm"
      ? verifyDepositAddress({ address, commitment, factory: trusted.factory, expected })
      : verifyVault({
          address,
          commitment: { ...commitment, binding: commitment.binding ?? "" },
          bindingAccount: trusted.bindingAccount,
          expected,
        });
  if (verification.kind === "ok") return address;
  throw new SandboxError(
    `the deposit address is not the requested one: ${verification.field} is ${verification.actual}, expected ${verification.expected}`,
  );
}

/** Converts an address of either family to 32 bytes in hex; the native coin's address becomes zero. */
function toBytes32(address: string): string {
  if (address.startsWith("0x")) return `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;
  return `0x${Buffer.from(getBase58Encoder().encode(address)).toString("hex")}`;
}
