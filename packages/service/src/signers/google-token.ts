/** Access tokens for Google Cloud: of a service account's key, or of the machine by its metadata server. */
import { readFileSync } from "node:fs";
import { importPKCS8, SignJWT } from "jose";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { GoogleCredentials } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { parseJson } from "../core/json.ts";
import type { Clock, Http, HttpRequest } from "../core/ports.ts";
import { Secret } from "../core/secret.ts";

const SCOPE = "https://www.googleapis.com/auth/cloudkms";
const TIMEOUT_MS = 10_000;
const BYTES_MAX = 100_000;
/** A token is renewed so long before it ends. */
const EARLY_MS = 60_000;
/** The life of an assertion, in seconds; an hour at most. */
const ASSERTED_S = 600;

const Account = Type.Object({
  type: Type.Literal("service_account"),
  client_email: Type.String({ minLength: 3 }),
  private_key: Type.String({ minLength: 1 }),
  token_uri: Type.String({ pattern: "^https?://" }),
});
type Account = Static<typeof Account>;
const TokenAnswer = Type.Object({
  access_token: Type.String({ minLength: 1 }),
  expires_in: Type.Number({ minimum: 0 }),
});

export interface GoogleTokens {
  /**
   * Returns a token that is valid now; the same one until it ends or is dropped. Throws CONFIG_MISSING for unusable credentials,
   * RPC_UNAVAILABLE if Google does not answer.
   */
  get(): Promise<Secret>;
  /** Forgets the token, which was refused. */
  drop(): void;
}

interface TokenDeps {
  /** The setting of the key, for messages. */
  readonly setting: string;
  readonly credentials: GoogleCredentials;
  readonly http: Http;
  readonly clock: Clock;
}

/**
 * Creates the source of tokens. Source: Google, "Using OAuth 2.0 for Server to Server Applications" (RFC 7523), and "View and query
 * VM metadata".
 */
export function createGoogleTokens(deps: TokenDeps): GoogleTokens {
  const { setting, credentials, http, clock } = deps;
  let held: { readonly token: Secret; readonly untilMs: number } | null = null;

  async function ask(request: Pick<HttpRequest, "method" | "url" | "headers" | "body">) {
    const answer = await http({ ...request, timeoutMs: TIMEOUT_MS, bytesMax: BYTES_MAX });
    if (answer.kind === "failed") throw unavailable(setting, answer.reason);
    const parsed = parseJson(answer.body);
    if (answer.status === 200 && Value.Check(TokenAnswer, parsed)) return parsed;
    if (answer.status >= 500) throw unavailable(setting, `status ${answer.status}`);
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: Google refused a token (status ${answer.status}); expected a service account that may use Cloud KMS`,
    );
  }

  async function fetchToken() {
    if (credentials.accountFile === null) {
      return ask({
        url: `http://${credentials.metadataHost}/computeMetadata/v1/instance/service-accounts/default/token`,
        headers: new Map([["metadata-flavor", new Secret("Google")]]),
      });
    }
    const account = readAccount(credentials.accountFile, setting);
    const assertion = await signAssertion(account, { setting, nowMs: clock.now() });
    const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    return ask({
      method: "POST",
      url: account.token_uri,
      headers: new Map([["content-type", new Secret("application/x-www-form-urlencoded")]]),
      body: new URLSearchParams({ grant_type: grant, assertion }).toString(),
    });
  }

  return {
    async get() {
      if (held && clock.now() < held.untilMs) return held.token;
      const { access_token: token, expires_in: seconds } = await fetchToken();
      held = { token: new Secret(token), untilMs: clock.now() + seconds * 1_000 - EARLY_MS };
      return held.token;
    },
    drop() {
      held = null;
    },
  };
}

/** Returns the assertion with which an account asks for a token. */
async function signAssertion(
  { client_email: issuer, private_key: key, token_uri: audience }: Account,
  { setting, nowMs }: { readonly setting: string; readonly nowMs: number },
): Promise<string> {
  const now = Math.floor(nowMs / 1_000);
  try {
    return await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: "RS256", typ: "JWT" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + ASSERTED_S)
      .sign(await importPKCS8(key, "RS256"));
  } catch (cause) {
    throw notAnAccount(setting, cause);
  }
}

function readAccount(path: string, setting: string): Account {
  let parsed: unknown;
  try {
    parsed = parseJson(readFileSync(path, "utf8"));
  } catch (cause) {
    throw notAnAccount(setting, cause);
  }
  if (Value.Check(Account, parsed)) return parsed;
  throw notAnAccount(setting);
}

function notAnAccount(setting: string, cause?: unknown): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `${setting}: expected the JSON key of a service account in the file that GOOGLE_APPLICATION_CREDENTIALS names`,
    { cause },
  );
}

function unavailable(setting: string, why: string): OperatingError {
  return new OperatingError(
    "RPC_UNAVAILABLE",
    `Google gave no token for the key of ${setting}: ${why}.`,
  );
}
