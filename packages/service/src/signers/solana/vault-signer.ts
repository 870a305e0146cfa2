/** Derives vaults, and vouches for them. */
import type { Commitment } from "../../core/commitment.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { VaultSigner } from "../port.ts";
import type { Seed } from "./seed.ts";

/** Before the two words that a binding is signed over: 24 bytes, so that no other message of ours could be one. */
const BINDING_DOMAIN = "sluice/solana/binding/v1";

/** The vaults of a seed. All that it ever signs are bindings, with a key that no transaction knows. */
export function createSolanaVaultSigner(options: {
  readonly seed: Seed;
  /** Bridge chain id. */
  readonly chainId: number;
  /** As on EVM chains. */
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
