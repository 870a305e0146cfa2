/** The seed of Solana in two files: its keystore and its backup. */
import { toBase58 } from "../../chains/solana/base58.ts";
import { OperatingError } from "../../core/errors.ts";
import type { AskPassphrase } from "../../roles/keys.ts";
import type { KeptKey, ScryptCost } from "../../signers/keystore.ts";

/** Asked when a backup is written, and when it is opened. */
export const QUESTION = "Passphrase of the backup: ";

/** Where a seed is, and the address of its binding key: what a person compares. */
export interface ShownSeed {
  readonly path: string;
  readonly binding: string;
}

/** The terminal, and the cost of a new keystore. */
export interface SeedOptions {
  readonly askPassphrase: AskPassphrase;
  /** Lower in tests alone. */
  readonly cost?: ScryptCost;
}

/** Throws CONFIG_MISSING when a file has another seed than the wanted one. */
export function refuseOther(path: string, found: KeptKey, wanted: KeptKey): void {
  if (found.key.reveal() === wanted.key.reveal()) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `${path}: it has another seed, the one of the binding key ${toBase58(found.address)}; it is left as it is`,
  );
}
