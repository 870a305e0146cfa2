/** The seed of Solana in two files: its keystore and its backup. */
import { toBase58 } from "../../chains/solana/base58.ts";
import { OperatingError } from "../../core/errors.ts";
import type { AskPassphrase } from "../../roles/key-opener.ts";
import type { KeptKey, ScryptCost } from "../../signers/keystore.ts";

/** The prompt when a backup is written or opened. */
export const QUESTION = "Passphrase of the backup: ";

/** The file of a seed and the address of its binding key, which a person compares. */
export interface ShownSeed {
  readonly path: string;
  readonly binding: string;
}

/** The terminal, and the encryption cost of a new keystore. */
export interface SeedOptions {
  readonly askPassphrase: AskPassphrase;
  /** Cost of encryption; lower only in tests. */
  readonly cost?: ScryptCost;
}

/** Throws CONFIG_MISSING if a file contains another seed than the expected one. */
export function refuseOther(path: string, found: KeptKey, wanted: KeptKey): void {
  if (found.key.reveal() === wanted.key.reveal()) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `${path}: it has another seed, with the binding key ${toBase58(found.address)}; nothing was changed`,
  );
}
