/**
 * Stores the versions of every account by slot, so that reads at each commitment level are exact and a fork can be
 * rolled back.
 *
 * An account that never changed has no history: its state is the one in the SVM. Before its first change that state is
 * stored as version `BEFORE_ALL`.
 */
import type { Address } from "@solana/kit";

/** An account that exists. */
export interface StoredAccount {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly programAddress: Address;
  readonly executable: boolean;
}

/** The state of an account from a slot on; undefined if it did not exist. */
export interface Version {
  readonly slot: bigint;
  readonly account: StoredAccount | undefined;
}

/** The slot of states before the first block. */
export const BEFORE_ALL = -1n;

/** The histories of all accounts that have changed. */
export type AccountHistory = ReturnType<typeof createAccountHistory>;

/** Creates a history, empty or from a saved one. `readLive` reads the SVM. */
export function createAccountHistory(
  readLive: (address: Address) => StoredAccount | undefined,
  saved: readonly (readonly [Address, readonly Version[]])[] = [],
) {
  const versions = new Map<Address, Version[]>(
    saved.map(([address, list]) => [address, [...list]] as const),
  );
  /** Accounts with more than one version, the only ones that need pruning. */
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
    /** Stores the state of an account before its first change. */
    keepBefore: (address: Address): void => {
      if (!versions.has(address)) record(BEFORE_ALL, address, readLive(address));
    },
    /** Stores the state of an account from this slot on. Slots decrease only by `rollBack`. */
    record,
    /** Returns the account as of the end of a slot. */
    readAt: (address: Address, slot: bigint): StoredAccount | undefined => {
      const list = versions.get(address);
      return list ? list.findLast((version) => version.slot <= slot)?.account : readLive(address);
    },
    /** Removes all versions after a slot and returns the changed accounts with their restored states. */
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
    /** Removes versions that no read at or after this slot needs. */
    prune: (slot: bigint): void => {
      for (const address of layered) {
        const list = versions.get(address) ?? [];
        const keepFrom = list.findLastIndex((version) => version.slot <= slot);
        if (keepFrom > 0) list.splice(0, keepFrom);
        if (list.length < 2) layered.delete(address);
      }
    },
    /** Returns the whole history, to be stored. */
    save: (): (readonly [Address, readonly Version[]])[] => [...versions],
    /** Returns the addresses with a history. */
    addresses: (): Iterable<Address> => versions.keys(),
  };
}
