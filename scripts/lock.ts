interface LockEntry {
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** What some package of the lock names and that has no entry of its own. */
export interface Missing {
  readonly name: string;
  readonly version: string;
  /** True when only development needs it. */
  readonly dev: boolean;
}

/** Optional dependencies that some package of the lock names and that have no entry of their own. */
export function listMissingOptional(lock: Lock): Missing[] {
  const missing = new Map<string, Missing>();
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const found = Object.keys(lock.packages).some(
        (path) => path === `node_modules/${name}` || path.endsWith(`/node_modules/${name}`),
      );
      if (found) continue;
      const dev = entry.dev === true && missing.get(name)?.dev !== false;
      missing.set(name, { name, version, dev });
    }
  }
  return [...missing.values()];
}
