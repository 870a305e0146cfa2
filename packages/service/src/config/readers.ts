/** Reads the secrets and keys of the file that the process needs. */
import type { ConfigFile } from "./file.ts";
import { createKeyReader, type KeyReader, type SignerName } from "./keys.ts";
import { createSecretReader, type Environment, type SecretReader } from "./secrets.ts";
import { Secret } from "../core/secret.ts";

/** The roles of a process. */
export const ROLE_NAMES = [
  "scanner",
  "settler",
  "attestor",
  "auditor",
  "quoter",
  "api",
  "webhooks",
] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

/** Inputs for resolving the file. Mistakes are added to `problems`. */
export interface Readers {
  /** The folder of the file, the base of relative paths. */
  readonly folder: string;
  readonly env: Environment;
  readonly problems: string[];
  /** True if only keys are read, in a process without a role. */
  readonly onlyKeys: boolean;
  readonly readSecret: SecretReader;
  /** Returns a reader of secrets, which are empty unless the process has one of the roles. */
  readonly secretsOf: (...roles: readonly RoleName[]) => SecretReader;
  /** Returns a reader of a signer's keys, which are `elsewhere` if another process opens them. */
  readonly keysOf: (name: SignerName) => KeyReader;
  /** Returns whether this process opens the keys of a signer: it has the role, and the signer is no separate process. */
  readonly opens: (name: SignerName) => boolean;
}

/**
 * Creates the readers of a process. A secret of a role that the process does not have is not read, so a machine needs only
 * the secrets of its own roles.
 */
export function createReaders(args: {
  readonly folder: string;
  readonly env: Environment;
  readonly signers: ConfigFile["signers"];
  readonly roles: readonly RoleName[];
  /** Reads only the keys of one signer, or of `all`; undefined for a process with roles. */
  readonly keysOf: SignerName | "all" | undefined;
}): Readers {
  const { folder, env, signers, keysOf } = args;
  const roles = keysOf ? [] : args.roles;
  const problems: string[] = [];
  const readSecret = createSecretReader(folder, env, problems);
  const opens = (name: SignerName) =>
    keysOf
      ? keysOf === name || keysOf === "all"
      : roles.includes(name) && signers?.[name] === undefined;
  return {
    folder,
    env,
    problems,
    onlyKeys: keysOf !== undefined,
    readSecret,
    secretsOf: (...names) =>
      names.some((name) => roles.includes(name)) ? readSecret : () => new Secret(""),
    keysOf: (name) => createKeyReader({ folder, readSecret, problems, isHere: opens(name) }),
    opens,
  };
}
