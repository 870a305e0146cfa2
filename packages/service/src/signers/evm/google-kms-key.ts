/** A key in Google Cloud KMS, which it never leaves: each signature is one request. */
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import type { GoogleCredentials, KeySource } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import type { Clock, Http } from "../../core/ports.ts";
import { Secret } from "../../core/secret.ts";
import { createGoogleTokens } from "../google-token.ts";
import type { EvmKey } from "./key.ts";
import { createRemoteKey } from "./remote-key.ts";

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 100_000;
const UNAUTHENTICATED = 401;

const ALGORITHM = "EC_SIGN_SECP256K1_SHA256";
const PublicKeyAnswer = Type.Object({
  pem: Type.String({ minLength: 1 }),
  algorithm: Type.Literal(ALGORITHM),
});
const SignAnswer = Type.Object({ signature: Type.String({ minLength: 1 }) });

/**
 * Opens a version of a key of Google Cloud KMS, whose algorithm must be EC_SIGN_SECP256K1_SHA256. Throws RPC_UNAVAILABLE when KMS
 * does not answer, CONFIG_MISSING when it refuses. Its checksums are not needed: the address that a signature recovers to proves
 * the digest and the key. Source: Cloud KMS REST API (`getPublicKey`, `asymmetricSign` with a digest of 32 bytes).
 */
export async function openGoogleKmsKey(
  { version, endpoint }: KeySource & { readonly kind: "google_kms" },
  deps: {
    readonly setting: string;
    readonly credentials: GoogleCredentials;
    readonly http: Http;
    readonly clock: Clock;
  },
): Promise<EvmKey> {
  const { setting, http } = deps;
  const tokens = createGoogleTokens(deps);

  async function send(path: string, body: object | undefined) {
    const token = await tokens.get();
    const answer = await http({
      method: body ? "POST" : "GET",
      url: `${endpoint}/v1/${version}${path}`,
      headers: new Map([
        ["authorization", new Secret(`Bearer ${token.reveal()}`)],
        ["content-type", new Secret("application/json")],
      ]),
      ...(body && { body: JSON.stringify(body) }),
      timeoutMs: TIMEOUT_MS,
      bytesMax: BYTES_MAX,
    });
    if (answer.kind === "failed") throw unavailable(setting, answer.reason);
    return answer;
  }

  async function ask<Answer extends TSchema>(
    path: string,
    body: object | undefined,
    schema: Answer,
  ): Promise<Static<Answer>> {
    let answer = await send(path, body);
    if (answer.status === UNAUTHENTICATED) {
      // The account or its rights may have changed since the token was given.
      tokens.drop();
      answer = await send(path, body);
    }
    const parsed = parseJson(answer.body);
    if (answer.status === 200 && Value.Check(schema, parsed)) return parsed;
    if (answer.status >= 500 || answer.status === 429) {
      throw unavailable(setting, `status ${answer.status}`);
    }
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: Google Cloud KMS refused ${path.replace(/^\W/, "")} (status ${answer.status}); ` +
        `expected an enabled version with the algorithm ${ALGORITHM}, and permission to use it`,
    );
  }

  const { pem } = await ask("/publicKey", undefined, PublicKeyAnswer);
  return createRemoteKey({
    publicKey: { key: pem, format: "pem" },
    async sign(digest) {
      const body = { digest: { sha256: digest.toString("base64") } };
      const { signature } = await ask(":asymmetricSign", body, SignAnswer);
      return Buffer.from(signature, "base64");
    },
    mismatch: () => unavailable(setting, "it signed with a key other than its public key"),
  });
}

function unavailable(setting: string, why: string): OperatingError {
  return new OperatingError(
    "RPC_UNAVAILABLE",
    `The Google Cloud KMS key of ${setting} is unavailable: ${why}.`,
  );
}
