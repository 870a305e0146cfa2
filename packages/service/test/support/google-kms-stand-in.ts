/**
 * A stand-in for Google Cloud KMS, its token endpoint and the metadata server of a machine, which cannot run locally: one key
 * version behind the calls that we use, with answers in the forms of the REST reference. It verifies assertions (RFC 7523) by
 * Node's own RS256, so that one which Google would refuse is refused here.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { secp256k1 } from "@noble/curves/secp256k1";

export const VERSION =
  "projects/acme/locations/europe-west3/keyRings/sluice/cryptoKeys/attestor/cryptoKeyVersions/1";
const ACCOUNT = "signer@acme.iam.gserviceaccount.com";
const SCOPE = "https://www.googleapis.com/auth/cloudkms";
const LIFE_S = 3_600;

/** DER prefix of a secp256k1 public key: the algorithm (RFC 5480), and a bit string of 65 bytes. */
const SPKI_PREFIX = Buffer.from("3056301006072a8648ce3d020106052b8104000a034200", "hex");

export interface GoogleKmsStandIn {
  readonly endpoint: string;
  /** `HOST:PORT` of the metadata server. */
  readonly metadataHost: string;
  /** The JSON key of a service account. */
  readonly account: string;
  /** Bodies of the accepted requests to sign, and how many tokens were given. */
  readonly requests: readonly unknown[];
  readonly tokensGiven: () => number;
  /** Ends every token that was given. */
  revoke(): void;
  /** Sets the answer to every request to KMS; null restores the ordinary ones. */
  fail(answer: { readonly status: number; readonly body: string } | null): void;
  close(): Promise<void>;
}

/** Starts the stand-in with a key, in hex. `algorithm` is what it states for the version. */
export async function startGoogleKmsStandIn(
  privateKey: string,
  algorithm = "EC_SIGN_SECP256K1_SHA256",
): Promise<GoogleKmsStandIn> {
  const requests: unknown[] = [];
  const tokens = new Set<string>();
  let given = 0;
  let failure: { readonly status: number; readonly body: string } | null = null;
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let endpoint = "";

  const giveToken = () => {
    given += 1;
    const token = `ya29.${given}`;
    tokens.add(token);
    return JSON.stringify({ access_token: token, expires_in: LIFE_S, token_type: "Bearer" });
  };

  async function answer(request: IncomingMessage): Promise<readonly [number, string]> {
    const { method, url = "", headers } = request;
    const body = await text(request);
    if (url === "/token" && method === "POST") {
      const form = new URLSearchParams(body);
      const isGrant = form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer";
      const claims = isGrant ? verifyJws(form.get("assertion") ?? "", rsa.publicKey) : null;
      if (!claims || !isAssertion(claims, `${endpoint}/token`))
        return [400, '{"error":"invalid_grant"}'];
      return [200, giveToken()];
    }
    if (url === "/computeMetadata/v1/instance/service-accounts/default/token") {
      // The server refuses what a page could be made to send.
      return headers["metadata-flavor"] === "Google" ? [200, giveToken()] : [403, ""];
    }
    if (failure) return [failure.status, failure.body];
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    if (!tokens.has(bearer)) return [401, '{"error":{"status":"UNAUTHENTICATED"}}'];
    if (url === `/v1/${VERSION}/publicKey` && method === "GET") {
      const spki = Buffer.concat([SPKI_PREFIX, secp256k1.getPublicKey(privateKey, false)]);
      const pem = createPublicKey({ key: spki, format: "der", type: "spki" }).export({
        format: "pem",
        type: "spki",
      });
      return [200, JSON.stringify({ pem, algorithm, name: VERSION })];
    }
    if (url === `/v1/${VERSION}:asymmetricSign` && method === "POST") {
      // CAST: only our adapter sends requests to the stand-in.
      const asked = JSON.parse(body) as { readonly digest?: { readonly sha256?: string } };
      requests.push(asked);
      const digest = Buffer.from(asked.digest?.sha256 ?? "", "base64");
      if (digest.length !== 32) return [400, '{"error":{"status":"INVALID_ARGUMENT"}}'];
      const signature = secp256k1.sign(digest, privateKey, { lowS: false });
      return [
        200,
        JSON.stringify({
          signature: Buffer.from(signature.toDERRawBytes()).toString("base64"),
          name: VERSION,
        }),
      ];
    }
    return [404, '{"error":{"status":"NOT_FOUND"}}'];
  }

  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => response.writeHead(status).end(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // CAST: a TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    metadataHost: `127.0.0.1:${port}`,
    account: JSON.stringify({
      type: "service_account",
      client_email: ACCOUNT,
      private_key: rsa.privateKey.export({ format: "pem", type: "pkcs8" }),
      token_uri: `${endpoint}/token`,
    }),
    requests,
    tokensGiven: () => given,
    revoke: () => tokens.clear(),
    fail(next) {
      failure = next;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the claims of a compact JWS with RS256 (RFC 7515); null if its signature is another. */
export function verifyJws(jws: string, key: KeyObject): unknown {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const { alg } = JSON.parse(Buffer.from(header, "base64url").toString("utf8") || "{}");
  const signed = Buffer.from(`${header}.${payload}`, "ascii");
  const isSigned = verify("RSA-SHA256", signed, key, Buffer.from(signature, "base64url"));
  if (alg !== "RS256" || !isSigned) return null;
  return JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}

function isAssertion(claims: unknown, audience: string): boolean {
  const { iss, scope, aud, iat, exp } = Object(claims);
  const now = Date.now() / 1_000;
  const isNow = iat <= now + 60 && exp > now && exp - iat <= LIFE_S;
  return iss === ACCOUNT && scope === SCOPE && aud === audience && isNow;
}
