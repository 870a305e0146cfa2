/**
 * Checks in the browser that the address belongs to its destination. On EVM chains the address is computed from the
 * commitment, with the bytes of the wallet that are part of this bundle. On Solana only the signer can derive the address, so
 * its signature is verified.
 *
 * Whom the payer trusts depends on where the trusted values come from: `host` are those of the embedding page, `server` are
 * those that the service itself named.
 */
import { readBinding, type SignedBinding, verifyDepositAddress } from "@sluice/sdk/address";
import type { PayStatus } from "@sluice/sdk/wire";

/** Values of the embedding page. Those that are absent are taken from the service. */
export interface Pinned {
  /** Factory of the deposit wallets. */
  readonly factory?: string | undefined;
  /** Solana account that signs bindings. */
  readonly bindingAccount?: string | undefined;
  readonly destWallet?: string | undefined;
  readonly destToken?: string | undefined;
  readonly destChain?: number | undefined;
  readonly refundAuthority?: string | undefined;
}

/** Outcome of the check. An address with `mismatch` must not be paid. */
export type AddressCheck =
  | {
      readonly kind: "ok";
      readonly family: "evm" | "svm";
      /** Where the factory or the signer's account comes from. */
      readonly trusts: "host" | "server";
      readonly pinsDestination: boolean;
    }
  | { readonly kind: "mismatch"; readonly field: string }
  /** The browser cannot verify signatures: it is old, or the page is not on a secure origin. */
  | { readonly kind: "unchecked" };

/** Checks the address of a status. Malformed values are a mismatch. */
export async function checkAddress(
  { address, destination }: PayStatus,
  pinned: Pinned,
): Promise<AddressCheck> {
  const { walletAddress, chainType, commitment } = address;
  const expected = {
    destChain: pinned.destChain ?? destination.chainId,
    destWallet: pinned.destWallet ?? destination.wallet,
    ...((pinned.destToken ?? destination.token?.address)
      ? { destToken: pinned.destToken ?? destination.token?.address ?? "" }
      : {}),
    ...(pinned.refundAuthority === undefined ? {} : { refundAuthority: pinned.refundAuthority }),
  };
  const pinsDestination = pinned.destWallet !== undefined && pinned.destChain !== undefined;
  try {
    if (chainType === "evm") {
      const factory = pinned.factory ?? commitment.factory;
      const result = verifyDepositAddress({
        address: walletAddress,
        commitment,
        factory,
        expected,
      });
      if (result.kind === "mismatch") return { kind: "mismatch", field: result.field };
      const trusts = pinned.factory === undefined ? "server" : "host";
      return { kind: "ok", family: "evm", trusts, pinsDestination };
    }
    const binding = readBinding({
      address: walletAddress,
      commitment: { ...commitment, binding: commitment.binding ?? "" },
      bindingAccount: pinned.bindingAccount ?? commitment.factory,
      expected,
    });
    if (binding.kind === "mismatch") return { kind: "mismatch", field: binding.field };
    const isSigned = await verifySignature(binding);
    if (isSigned === null) return { kind: "unchecked" };
    if (!isSigned) return { kind: "mismatch", field: "binding" };
    const trusts = pinned.bindingAccount === undefined ? "server" : "host";
    return { kind: "ok", family: "svm", trusts, pinsDestination };
  } catch (error) {
    // A value that is no address is as bad as a wrong one; its field is in the message.
    return { kind: "mismatch", field: error instanceof Error ? error.message : "address" };
  }
}

/** Verifies a signature with the browser's own Ed25519; null if it has none. */
async function verifySignature(binding: SignedBinding): Promise<boolean | null> {
  const subtle = globalThis.crypto?.subtle;
  const key = await subtle
    ?.importKey("raw", toBuffer(binding.account), "Ed25519", false, ["verify"])
    .catch((error: unknown) => {
      if (error instanceof DOMException && error.name === "NotSupportedError") return null;
      throw error;
    });
  if (!key) return null;
  return subtle.verify("Ed25519", key, toBuffer(binding.signature), toBuffer(binding.message));
}

/** Copies bytes into a buffer of their own, as the browser's types require. */
function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
