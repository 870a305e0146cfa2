/** Derivation of vaults and signatures of their bindings. */
import { type Commitment, NO_ROUTE_SET } from "../../core/commitment.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { VaultSigner } from "../port.ts";
import { SignerRefusal } from "../refusal.ts";
import type { Seed } from "./seed.ts";

/** Prefix of the signed binding: 24 bytes, so that no other message of the service can equal one. */
const BINDING_DOMAIN = "sluice/solana/binding/v1";

/**
 * Requires a commitment that the signer can keep: it knows no set of routes, and no vault settles without it.
 * @throws SignerRefusal
 */
export function assertVaultCommitment({ routes, flags }: Commitment): void {
  if (routes === NO_ROUTE_SET && flags === 0) return;
  throw new SignerRefusal("commitment of a vault names routes or flags");
}

/** Creates the vault signer of a seed. It signs only bindings, with a key that signs no transactions. */
export function createSolanaVaultSigner(options: {
  readonly seed: Seed;
  /** Bridge chain id. */
  readonly chainId: number;
  /** The same hash as on EVM chains. */
  readonly hashCommitment: (commitment: Commitment) => Hex32;
}): VaultSigner {
  const { seed, chainId, hashCommitment } = options;
  return {
    chainId,
    binding: seed.accounts.binding,
    async deriveVault(commitment) {
      assertVaultCommitment(commitment);
      const hash = hashCommitment(commitment);
      const wallet = seed.vaultOf(hash);
      const message = Buffer.concat([
        Buffer.from(BINDING_DOMAIN, "utf8"),
        Buffer.from(hash.slice(2), "hex"),
        Buffer.from(wallet.slice(2), "hex"),
      ]);
      const proof = Buffer.from(seed.sign("binding", message)).toString("hex");
      return { wallet, proof: `0x${proof}` };
    },
  };
}
