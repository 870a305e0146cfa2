/** Secrets are never in the file: it names where each is found. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Static, Type } from "typebox";
import { Secret } from "../core/secret.ts";

/** The process's environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

const Name = Type.String({ minLength: 1 });

export const FromEnvironment = Type.Object({ env: Name }, { additionalProperties: false });
export const FromFile = Type.Object({ file: Name }, { additionalProperties: false });

/** Where a secret is found. */
export const SecretRef = Type.Union([FromEnvironment, FromFile], {
  description: '{ "env": NAME } or { "file": PATH }',
});
export type SecretRef = Static<typeof SecretRef>;

/** Reads a secret; where it cannot, adds the setting to the problems and returns an empty one. */
export type SecretReader = (ref: SecretRef, setting: string) => Secret;

/** Paths of secrets are relative to `folder`, that of the configuration file. */
export function createSecretReader(
  folder: string,
  env: Environment,
  problems: string[],
): SecretReader {
  return (ref, setting) => {
    if ("env" in ref) {
      const value = env[ref.env];
      if (!value) {
        problems.push(`${setting}: expected the environment variable ${ref.env} to be set`);
      }
      return new Secret(value ?? "");
    }
    const path = resolve(folder, ref.file);
    try {
      return new Secret(readFileSync(path, "utf8").trim());
    } catch {
      problems.push(`${setting}: expected a readable file at ${path}`);
      return new Secret("");
    }
  };
}
