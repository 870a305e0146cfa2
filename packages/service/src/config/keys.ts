/** References to signing keys in the configuration. `signers/` opens the keys. */
import { resolve } from "node:path";
import { type Static, Type } from "typebox";
import type { Frozen } from "../core/frozen.ts";
import { Secret } from "../core/secret.ts";
import { type Environment, FromEnvironment, FromFile, type SecretReader } from "./secrets.ts";
import { Url } from "./values.ts";

/** The signers. The keys of the settler's lanes and of the attestor are kept apart. */
export const SIGNER_NAMES = ["settler", "attestor"] as const;
export type SignerName = (typeof SIGNER_NAMES)[number];

const retired = Type.Optional(
  Type.Boolean({
    description: "true for a lane that finishes its open transactions and takes no new ones",
  }),
);
const Name = Type.String({ minLength: 1 });
const strict = { additionalProperties: false };

/** A reference to a signing key. */
export const KeyRef = Type.Union(
  [
    Type.Object({ ...FromEnvironment.properties, retired }, strict),
    Type.Object({ ...FromFile.properties, retired }, strict),
    Type.Object({ keystore: Name, retired }, strict),
    Type.Object({ kms: Name, endpoint: Type.Optional(Url), retired }, strict),
    Type.Object({ googleKms: Name, endpoint: Type.Optional(Url), retired }, strict),
  ],
  {
    description:
      '{ "keystore": PATH }, { "kms": ARN }, { "googleKms": VERSION }, { "env": NAME } or { "file": PATH }',
  },
);
export type KeyRef = Static<typeof KeyRef>;

const ARN = /^arn:(aws|aws-cn|aws-us-gov):kms:([a-z0-9-]+):\d{12}:(key|alias)\/[\w/:-]+$/;

const VERSION =
  /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+\/cryptoKeyVersions\/\d+$/;

/** Inputs for resolving a key. Mistakes are added to `problems`. */
interface Given {
  /** Base of relative paths. */
  readonly folder: string;
  readonly readSecret: SecretReader;
  readonly problems: string[];
}

/** Returns the source of a key. Its signer opens keystores and the KMS later. */
function sourceOf(ref: KeyRef, setting: string, { folder, readSecret, problems }: Given) {
  if ("keystore" in ref) {
    // A keystore in the standard JSON format.
    return { kind: "keystore" as const, path: resolve(folder, ref.keystore) };
  }
  if ("kms" in ref) {
    const match = ARN.exec(ref.kms);
    const [, partition, region = ""] = match ?? [];
    if (!match) problems.push(`${setting}.kms: expected the ARN of a key or an alias`);
    const suffix = partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
    const endpoint = ref.endpoint ?? `https://kms.${region}.${suffix}`;
    return { kind: "kms" as const, arn: ref.kms, region, endpoint };
  }
  if ("googleKms" in ref) {
    const { googleKms: version, endpoint = "https://cloudkms.googleapis.com" } = ref;
    if (!VERSION.test(version)) {
      problems.push(
        `${setting}.googleKms: expected the name of a key's version, projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/1`,
      );
    }
    return { kind: "google_kms" as const, version, endpoint };
  }
  // The private key itself.
  const key = readSecret(ref, setting);
  if (key.reveal() !== "" && !/^0x[0-9a-fA-F]{64}$/.test(key.reveal())) {
    problems.push(`${setting}: expected a private key, 0x and 64 hex digits`);
  }
  return { kind: "raw" as const, key };
}

/** Resolves a reference. Does not read the secret of a key that another process holds. */
function resolveKey(ref: KeyRef, setting: string, given: Given & { readonly isHere: boolean }) {
  return {
    /** The setting that names the key, such as `chains[0].lanes.settle`. */
    setting,
    /** True for a retired lane, which finishes its open transactions and takes no new ones. */
    retired: ref.retired ?? false,
    source: given.isHere ? sourceOf(ref, setting, given) : { kind: "elsewhere" as const },
  };
}

/** A resolved signing key. */
export interface KeyConfig extends Frozen<ReturnType<typeof resolveKey>> {}
export type KeySource = KeyConfig["source"];

/** Resolves a key. Adds mistakes to the problems. */
export type KeyReader = (ref: KeyRef, setting: string) => KeyConfig;

/** Returns a reader of keys. `isHere` is true if this process opens the keys. */
export function createKeyReader(given: Given & { readonly isHere: boolean }): KeyReader {
  return (ref, setting) => resolveKey(ref, setting, given);
}

/** Returns the KMS credentials from the standard AWS environment variables; undefined if there are none. */
export function readAwsCredentials(env: Environment) {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: token } = env;
  if (!id || !key) return undefined;
  return {
    accessKeyId: id,
    secretAccessKey: new Secret(key),
    sessionToken: token ? new Secret(token) : undefined,
  };
}

export interface AwsCredentials extends Frozen<
  NonNullable<ReturnType<typeof readAwsCredentials>>
> {}

/**
 * Returns from where Google's credentials come, by its own environment variables: the file of a service account, or the metadata
 * server of the machine.
 */
export function readGoogleCredentials(env: Environment) {
  const { GOOGLE_APPLICATION_CREDENTIALS: file, GCE_METADATA_HOST: host } = env;
  return { accountFile: file || null, metadataHost: host || "metadata.google.internal" };
}

export interface GoogleCredentials extends Frozen<ReturnType<typeof readGoogleCredentials>> {}

/** Returns whether two settings name the same key, as far as known without opening the keys. */
export function isSameKey({ source: one }: KeyConfig, { source: other }: KeyConfig): boolean {
  if (one.kind === "raw" && other.kind === "raw") {
    return one.key.reveal() !== "" && lower(one.key) === lower(other.key);
  }
  if (one.kind === "keystore" && other.kind === "keystore") return one.path === other.path;
  if (one.kind === "google_kms" && other.kind === "google_kms") {
    return one.version === other.version;
  }
  return one.kind === "kms" && other.kind === "kms" && one.arn === other.arn;
}

function lower(key: Secret): string {
  return key.reveal().toLowerCase();
}
