/**
 * Completes package-lock.json after `npm install`.
 *
 * Tools with one package per platform list all of them as optional dependencies. If the registry lacks one of them, npm
 * omits its entry from the lock file, and `npm ci` then rejects the file. This script adds the missing entries with
 * version and platform only: npm skips them on other platforms and resolves them by name and version on their own. Run
 * it after every `npm install`; the tidy test fails if an entry is missing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { listMissingOptional } from "./lock.ts";

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
const missing = listMissingOptional(lock);
for (const { name, version, dev } of missing) {
  const [, os, cpu, libc] =
    /-(darwin|linux|win32|freebsd|android|openharmony)-(\w+?)(?:-(musl|gnu|eabihf|gnueabihf|msvc))?$/.exec(
      name,
    ) ?? [];
  lock.packages[`node_modules/${name}`] = {
    version,
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(dev ? { dev: true } : {}),
    optional: true,
    ...(os ? { os: [os] } : {}),
    ...(libc === "musl" ? { libc: ["musl"] } : {}),
  };
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`added ${missing.length} entries to package-lock.json`);
