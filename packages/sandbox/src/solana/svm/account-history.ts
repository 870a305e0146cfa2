/**
 * What every account was, slot by slot, so that reads at each commitment level are exact and a fork can be undone.
 *
 * An account that nothing ever changed has no history: it is what the SVM holds. Before the first change its state is
 * kept as the one of `BEFORE_ALL`.
 */
import type { Address } from "@solana/kit";

/** An account that exists. */
export interface StoredAccount {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly programAddress: Address;
  readonly executable: boolean;
}

/** An account as it was from a slot on; undefined where it did not exist. */
export interface Version {
  readonly slot: bigint;
  readonly account: StoredAccount | undefined;
}

/** The slot of what was there before the first block. */
export const BEFORE_ALL = -1n;

/** The histories of all accounts that ever changed. */
export type AccountHistory = ReturnType<typeof createAccountHistory>;

/** Makes a history, empty or as it was saved. `readLive` reads the SVM. */
export function createAccountHistory(
  readLive: (address: Address) => StoredAccount | undefined,
  saved: readonly (readonly [Address, readonly Version[]])[] = [],
) {
  const versions = new Map<Address, Version[]>(
    saved.map(([address, list]) => [address, [...list]] as const),
  );
  /** Accounts with more than one version, which are all that pruning has to look at. */
  const layered = new Set<Address>(
    saved.filter(([, list]) => list.length > 1).map(([address]) => address),
  );

  const record = (slot: bigint, address: Address, account: StoredAccount | undefined): void => {
    const list = versions.get(address) ?? [];
    versions.set(address, list);
    const newest = list.at(-1);
    if (newest && newest.slot > slot) throw new Error(`${address} already changed after ${slot}`);
    if (newest?.slot === slot) list.pop();
    list.push({ slot, account });
    if (list.length > 1) layered.add(address);
  };

  return {
    /** Keeps what an account is before it changes for the first time. */
    keepBefore: (address: Address): void => {
      if (!versions.has(address)) record(BEFORE_ALL, address, readLive(address));
    },
    /** Remembers what an account is from this slot on. Slots never go down but by `rollBack`. */
    record,
    /** The account as it was when this slot had ended. */
    readAt: (address: Address, slot: bigint): StoredAccount | undefined => {
      const list = versions.get(address);
      return list ? list.findLast((version) => version.slot <= slot)?.account : readLive(address);
    },
    /** Forgets everything after a slot and returns the accounts that differed, as they are again. */
    rollBack: (slot: bigint): ReadonlyMap<Address, StoredAccount | undefined> => {
      const changed = new Map<Address, StoredAccount | undefined>();
      for (const [address, list] of versions) {
        const newest = list.at(-1);
        if (newest === undefined || newest.slot <= slot) continue;
        const kept = list.filter((version) => version.slot <= slot);
        changed.set(address, kept.at(-1)?.account);
        if (kept.length > 0) versions.set(address, kept);
        else versions.delete(address);
        if (kept.length < 2) layered.delete(address);
      }
      return changed;
    },
    /** Forgets what no read at or after this slot asks for. */
    prune: (slot: bigint): void => {
      for (const address of layered) {
        const list = versions.get(address) ?? [];
        const keepFrom = list.findLastIndex((version) => version.slot <= slot);
        if (keepFrom > 0) list.splice(0, keepFrom);
        if (list.length < 2) layered.delete(address);
      }
    },
    /** Everything, to be kept for the next start. */
    save: (): (readonly [Address, readonly Version[]])[] => [...versions],
    /** Addresses with a history. */
    addresses: (): Iterable<Address> => versions.keys(),
  };
}
