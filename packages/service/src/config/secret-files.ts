/** Lists the secret files of a configuration and whether other users can access them. */
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

export interface SecretFile {
  /** The setting that names the file, such as `attestor.key`. */
  readonly setting: string;
  readonly path: string;
  /** True if the file's mode allows its group or others to read or write it. */
  readonly isOpenToOthers: boolean;
}

/** Lists every readable `{ "file": PATH }` of the configuration. `loadConfig` reports unreadable files. */
export function listSecretFiles(configPath: string): readonly SecretFile[] {
  const file: unknown = JSON.parse(readFileSync(configPath, "utf8"));
  return findReferences(file, "").flatMap(({ setting, file: name }) => {
    const path = resolve(dirname(configPath), name);
    const status = statSync(path, { throwIfNoEntry: false });
    return status ? [{ setting, path, isOpenToOthers: (status.mode & 0o077) !== 0 }] : [];
  });
}

/** Lists every `{ "keystore": PATH }` of the configuration, whether the file exists or not. */
export function listKeystoreFiles(
  configPath: string,
): readonly { readonly setting: string; readonly path: string }[] {
  const file: unknown = JSON.parse(readFileSync(configPath, "utf8"));
  return findReferences(file, "", "keystore").map(({ setting, file: name }) => ({
    setting,
    path: resolve(dirname(configPath), name),
  }));
}

/** Finds the objects that name a file under a key, with the settings that hold them. */
function findReferences(
  value: unknown,
  setting: string,
  key: "file" | "keystore" = "file",
): readonly { readonly setting: string; readonly file: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const named = Object.entries(value).find(([name]) => name === key)?.[1];
  if (typeof named === "string") return [{ setting, file: named }];
  return Object.entries(value).flatMap(([name, item]) =>
    findReferences(
      item,
      Array.isArray(value) ? `${setting}[${name}]` : setting ? `${setting}.${name}` : name,
      key,
    ),
  );
}
