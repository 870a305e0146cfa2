/** A key in AWS KMS, which it never leaves: each signature is one request. */
import { AwsClient } from "aws4fetch";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import type { AwsCredentials, KeySource } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import type { EvmKey } from "./key.ts";
import { createRemoteKey } from "./remote-key.ts";

const TIMEOUT_MS = 10_000;
/** Retries after the first request; lanes retry on their own. */
const RETRIES = 2;

/** The field that holds the type of an AWS error. */
const TYPE = "__type";

const PublicKeyAnswer = Type.Object({
  KeySpec: Type.Literal("ECC_SECG_P256K1"),
  PublicKey: Type.String({ minLength: 1 }),
});
const SignAnswer = Type.Object({ Signature: Type.String({ minLength: 1 }) });

/**
 * Opens a key of AWS KMS, whose key spec must be ECC_SECG_P256K1. Throws RPC_UNAVAILABLE when KMS does not answer,
 * CONFIG_MISSING when it refuses. Source: AWS KMS API Reference (`GetPublicKey`, `Sign` with a digest).
 */
export async function openKmsKey(
  source: KeySource & { readonly kind: "kms" },
  options: { readonly setting: string; readonly credentials: AwsCredentials | undefined },
): Promise<EvmKey> {
  const { arn, region, endpoint } = source;
  const { setting, credentials } = options;
  if (!credentials) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment`,
    );
  }
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;

  async function ask<Answer extends TSchema>(
    action: string,
    body: object,
    schema: Answer,
  ): Promise<Static<Answer>> {
    // Created for each request, so that plain-text credentials do not stay in memory.
    const aws = new AwsClient({
      accessKeyId,
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken && { sessionToken: sessionToken.reveal() }),
      region,
      service: "kms",
      retries: RETRIES,
    });
    let response: Response;
    let text: string;
    try {
      response = await aws.fetch(`${endpoint}/`, {
        method: "POST",
        headers: {
          "content-type": "application/x-amz-json-1.1",
          "x-amz-target": `TrentService.${action}`,
        },
        body: JSON.stringify({ KeyId: arn, ...body }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await response.text();
    } catch (cause) {
      throw unavailable(setting, "it did not answer", cause);
    }
    const answer = parseJson(text);
    if (response.ok && Value.Check(schema, answer)) return answer;
    if (response.status >= 500) throw unavailable(setting, `it answered ${response.status}`);
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: AWS KMS refused ${action} (${errorTypeOf(answer) ?? `status ${response.status}`}); ` +
        `expected an enabled signing key with key spec ECC_SECG_P256K1, and permission to use it`,
    );
  }

  const { PublicKey } = await ask("GetPublicKey", {}, PublicKeyAnswer);
  return createRemoteKey({
    publicKey: { key: Buffer.from(PublicKey, "base64"), format: "der", type: "spki" },
    async sign(digest) {
      const { Signature } = await ask(
        "Sign",
        {
          Message: digest.toString("base64"),
          MessageType: "DIGEST",
          SigningAlgorithm: "ECDSA_SHA_256",
        },
        SignAnswer,
      );
      return Buffer.from(Signature, "base64");
    },
    mismatch: () => unavailable(setting, "it signed with a key other than its public key"),
  });
}

/** Returns the error type, such as `AccessDeniedException`. Leaves out the message, which may name accounts. */
function errorTypeOf(answer: unknown): string | undefined {
  const Failure = Type.Object({ [TYPE]: Type.String({ pattern: "^[\\w.#]{1,100}$" }) });
  return Value.Check(Failure, answer) ? answer[TYPE] : undefined;
}

function unavailable(setting: string, what: string, cause?: unknown): OperatingError {
  return new OperatingError(
    "RPC_UNAVAILABLE",
    `The AWS KMS key of ${setting} is unavailable: ${what}.`,
    {
      cause,
    },
  );
}
