interface LockEntry {
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The part of package-lock.json that is read here. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** An optional dependency without an entry in the lock file. */
interface Missing {
  readonly name: string;
  readonly version: string;
  /** True if only development dependencies need it. */
  readonly dev: boolean;
}

/** Lists the optional dependencies of packages in the lock file that have no entry in it. */
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
