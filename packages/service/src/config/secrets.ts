/** Secrets are never in the file, which refers to environment variables and other files instead. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Static, Type } from "typebox";
import { Secret } from "../core/secret.ts";

/** The process's environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

const Name = Type.String({ minLength: 1 });

export const FromEnvironment = Type.Object({ env: Name }, { additionalProperties: false });
export const FromFile = Type.Object({ file: Name }, { additionalProperties: false });

/** A file in the folder that `CREDENTIALS_DIRECTORY` names: systemd sets it, and containers can. */
const FromCredential = Type.Object(
  { credential: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }) },
  { additionalProperties: false },
);

/** A reference to a secret. */
export const SecretRef = Type.Union([FromEnvironment, FromFile, FromCredential], {
  description: '{ "env": NAME }, { "file": PATH } or { "credential": NAME }',
});
export type SecretRef = Static<typeof SecretRef>;

/** Reads a secret. On failure, adds the setting to the problems and returns an empty secret. */
export type SecretReader = (ref: SecretRef, setting: string) => Secret;

/** Returns a reader of secrets. Paths are relative to `folder`, which contains the configuration file. */
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
    if ("credential" in ref && !env["CREDENTIALS_DIRECTORY"]) {
      problems.push(
        `${setting}: expected the environment variable CREDENTIALS_DIRECTORY to name the folder of ${ref.credential}`,
      );
      return new Secret("");
    }
    const path =
      "credential" in ref
        ? join(env["CREDENTIALS_DIRECTORY"] ?? "", ref.credential)
        : resolve(folder, ref.file);
    try {
      return new Secret(readFileSync(path, "utf8").trim());
    } catch {
      problems.push(`${setting}: expected a readable file at ${path}`);
      return new Secret("");
    }
  };
}
