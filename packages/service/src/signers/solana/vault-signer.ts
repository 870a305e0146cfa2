/** Derivation of vaults and signatures of their bindings. */
import type { Commitment } from "../../core/commitment.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { VaultSigner } from "../port.ts";
import type { Seed } from "./seed.ts";

/** Prefix of the signed binding: 24 bytes, so that no other message of the service can equal one. */
const BINDING_DOMAIN = "sluice/solana/binding/v1";

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
