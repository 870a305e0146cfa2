interface LockEntry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** Optional dependencies that some package of the lock names and that have no entry of their own. */
export function listMissingOptional(lock: Lock): { name: string; version: string }[] {
  const missing = new Map<string, string>();
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const found = Object.keys(lock.packages).some(
        (path) => path === `node_modules/${name}` || path.endsWith(`/node_modules/${name}`),
      );
      if (!found) missing.set(name, version);
    }
  }
  return [...missing].map(([name, version]) => ({ name, version }));
}
