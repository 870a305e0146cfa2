/** Reads secrets and keys of the file, as far as the process needs them. */
import { type ConfigFile } from "./file.ts";
import { createKeyReader, type KeyReader, type SignerName } from "./keys.ts";
import { createSecretReader, type Environment, type SecretReader } from "./secrets.ts";
import { Secret } from "../core/secret.ts";

/** The roles of a process. */
export const ROLE_NAMES = ["scanner", "settler", "attestor", "auditor", "quoter", "api"] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

/** What resolving the file needs of its surroundings; mistakes are added to `problems`. */
export interface Readers {
  /** The folder of the file, where relative paths begin. */
  readonly folder: string;
  readonly env: Environment;
  readonly problems: string[];
  /** Whether only keys are read, as for a process without a role. */
  readonly onlyKeys: boolean;
  readonly readSecret: SecretReader;
  /** Reads a secret where the process has one of the roles; else it is empty. */
  readonly secretsOf: (...roles: readonly RoleName[]) => SecretReader;
  /** Reads keys of a signer; where another process opens them they are `elsewhere`. */
  readonly keysOf: (name: SignerName) => KeyReader;
  /** Whether this process opens the keys of a signer: it has the role, and the signer is no process of its own. */
  readonly opens: (name: SignerName) => boolean;
}

export function createReaders(args: {
  readonly folder: string;
  readonly env: Environment;
  readonly signers: ConfigFile["signers"];
  readonly roles: readonly RoleName[];
  /** Only keys are read: those of one signer, or `all`. */
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
