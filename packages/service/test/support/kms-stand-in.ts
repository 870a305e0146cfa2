/**
 * A stand-in for AWS KMS, which cannot run locally: one signing key behind the two calls that we use, with answers in the
 * forms of the API Reference (SubjectPublicKeyInfo and DER). It checks signatures of requests by the AWS Signature
 * Version 4 rules, so that a request which AWS would refuse is refused here.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { secp256k1 } from "@noble/curves/secp256k1";

export const CREDENTIALS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
} as const;
export const ARN = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";

/** DER prefix of a secp256k1 public key: the algorithm (RFC 5480), and a bit string of 65 bytes. */
const SPKI_PREFIX = Buffer.from("3056301006072a8648ce3d020106052b8104000a034200", "hex");

export interface KmsStandIn {
  readonly endpoint: string;
  /** Bodies of the accepted requests. */
  readonly requests: readonly unknown[];
  /** Sets the answer to every request; null restores the ordinary ones. */
  fail(answer: { readonly status: number; readonly body: string } | null): void;
  close(): Promise<void>;
}

export async function startKmsStandIn(privateKey: string): Promise<KmsStandIn> {
  const requests: unknown[] = [];
  let failure: { readonly status: number; readonly body: string } | null = null;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const refuse = (status: number, type: string) =>
        response.writeHead(status).end(JSON.stringify({ __type: type }));
      if (failure) return response.writeHead(failure.status).end(failure.body);
      if (!isSigned(request, body)) return refuse(400, "IncompleteSignatureException");
      // CAST: only our adapter sends requests to the stand-in.
      const asked = JSON.parse(body) as Readonly<Record<string, string>>;
      requests.push(asked);
      if (asked["KeyId"] !== ARN) return refuse(400, "NotFoundException");
      switch (request.headers["x-amz-target"]) {
        case "TrentService.GetPublicKey": {
          const point = secp256k1.getPublicKey(privateKey, false);
          const PublicKey = Buffer.concat([SPKI_PREFIX, point]).toString("base64");
          return response.end(JSON.stringify({ KeySpec: "ECC_SECG_P256K1", PublicKey }));
        }
        case "TrentService.Sign": {
          const { MessageType, SigningAlgorithm, Message = "" } = asked;
          if (MessageType !== "DIGEST" || SigningAlgorithm !== "ECDSA_SHA_256") {
            return refuse(400, "ValidationException");
          }
          // KMS returns `s` in either half of the order, without saying which.
          const signature = secp256k1.sign(Buffer.from(Message, "base64"), privateKey, {
            lowS: false,
          });
          const Signature = Buffer.from(signature.toDERRawBytes()).toString("base64");
          return response.end(JSON.stringify({ Signature }));
        }
        default:
          return refuse(400, "UnknownOperationException");
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // CAST: a TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    fail(answer) {
      failure = answer;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** AWS Signature Version 4 (AWS Identity and Access Management User Guide, "Create a signed AWS API request"). */
function isSigned({ headers, method, url }: IncomingMessage, body: string): boolean {
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  const [, id, day = "", region = "", service = "", names = "", signature = ""] = parsed ?? [];
  if (id !== CREDENTIALS.accessKeyId || service !== "kms") return false;
  const signed = signRequest({
    secret: CREDENTIALS.secretAccessKey,
    scope: { day, region, service },
    at: String(headers["x-amz-date"]),
    method: method ?? "",
    path: url ?? "",
    headers: names.split(";").map((name) => [name, String(headers[name])]),
    body,
  });
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signed));
}

/** Returns the signature of a request without a query, in hex. */
export function signRequest(request: {
  readonly secret: string;
  readonly scope: { readonly day: string; readonly region: string; readonly service: string };
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}): string {
  const { secret, scope, at, method, path, headers, body } = request;
  const canonical = [
    method,
    path,
    "",
    ...headers.map(([name, value]) => `${name}:${value}`),
    "",
    headers.map(([name]) => name).join(";"),
    sha256(body),
  ].join("\n");
  const { day, region, service } = scope;
  const scoped = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", at, scoped, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    (derived, part) => createHmac("sha256", derived).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac("sha256", key).update(toSign).digest("hex");
}

function sha256(value: string): string {
  return createHash("sha256").update(value).digest("hex");
}
