/**
 * Verifies a Solana deposit address (a vault) before money is sent to it. Only the signer can derive a vault from its
 * commitment, so the check is of the binding: the signer's signature over both.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { readBinding, type VaultVerification, type VerifyVaultRequest } from "./binding.ts";

/** Verifies a Solana deposit address offline. Malformed input throws `AddressInputError`, which names the field. */
export function verifyVault(request: VerifyVaultRequest): VaultVerification {
  const { address, commitment, bindingAccount } = request;
  const binding = readBinding(request);
  if (binding.kind === "mismatch") return binding;
  const { message, signature, account } = binding;
  // As strict as Solana: only the canonical encoding of each point is accepted.
  return ed25519.verify(signature, message, account, { zip215: false })
    ? { kind: "ok", address, commitment: binding.commitment }
    : {
        kind: "mismatch",
        field: "binding",
        expected: `a signature of ${bindingAccount} over the commitment and the address`,
        actual: commitment.binding,
      };
}
