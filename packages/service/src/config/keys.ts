/** Where signing keys are, as the configuration names them. Opening them is `signers/`'. */
import { resolve } from "node:path";
import { Secret } from "../core/secret.ts";
import type { KeyRef, SecretRef } from "./schema.ts";

/** Which signer holds a key: the settler's lanes and the attestor are kept apart. */
export const SIGNER_NAMES = ["settler", "attestor"] as const;
export type SignerName = (typeof SIGNER_NAMES)[number];

/** One signing key. */
export interface KeyConfig {
  /** The setting that names it, such as `chains[0].lanes.settle`. */
  readonly setting: string;
  /** A lane that ends what it has begun and begins nothing. */
  readonly retired: boolean;
  readonly source: KeySource;
}

export type KeySource =
  /** The private key itself, 0x and 64 hex digits. */
  | { readonly kind: "raw"; readonly key: Secret }
  /** A keystore in the standard JSON format. */
  | { readonly kind: "keystore"; readonly path: string }
  /** A key that never leaves AWS KMS. */
  | {
      readonly kind: "kms";
      readonly arn: string;
      readonly region: string;
      readonly endpoint: string;
    }
  /** Not this process's: a role that it does not have, or a signer of its own. */
  | { readonly kind: "elsewhere" };

/** What a KMS asks for. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | undefined;
}

const ARN = /^arn:(aws|aws-cn|aws-us-gov):kms:([a-z0-9-]+):\d{12}:(key|alias)\/[\w/:-]+$/;

/** Turns references into keys. Secrets of keys that are elsewhere are not read. */
export function createKeyResolver(options: {
  readonly folder: string;
  readonly readSecret: (ref: SecretRef, setting: string) => Secret;
  readonly problems: string[];
}): (ref: KeyRef, setting: string, isHere: boolean) => KeyConfig {
  const { folder, readSecret, problems } = options;

  function sourceOf(ref: KeyRef, setting: string): KeySource {
    if ("keystore" in ref) return { kind: "keystore", path: resolve(folder, ref.keystore) };
    if ("kms" in ref) {
      const match = ARN.exec(ref.kms);
      const [, partition, region = ""] = match ?? [];
      if (!match) problems.push(`${setting}.kms: expected the ARN of a key or an alias`);
      const suffix = partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
      const endpoint = ref.endpoint ?? `https://kms.${region}.${suffix}`;
      return { kind: "kms", arn: ref.kms, region, endpoint };
    }
    const key = readSecret(ref, setting);
    if (key.reveal() !== "" && !/^0x[0-9a-fA-F]{64}$/.test(key.reveal())) {
      problems.push(`${setting}: expected a private key, 0x and 64 hex digits`);
    }
    return { kind: "raw", key };
  }

  return (ref, setting, isHere) => ({
    setting,
    retired: ref.retired ?? false,
    source: isHere ? sourceOf(ref, setting) : { kind: "elsewhere" },
  });
}

/** Whether two settings name one key, as far as that can be told without opening them. */
export function isSameKey({ source: one }: KeyConfig, { source: other }: KeyConfig): boolean {
  if (one.kind === "raw" && other.kind === "raw") {
    return one.key.reveal() !== "" && lower(one.key) === lower(other.key);
  }
  if (one.kind === "keystore" && other.kind === "keystore") return one.path === other.path;
  return one.kind === "kms" && other.kind === "kms" && one.arn === other.arn;
}

function lower(key: Secret): string {
  return key.reveal().toLowerCase();
}
