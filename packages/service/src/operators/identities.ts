/**
 * Sign-in through an identity provider (OpenID Connect). openid-client implements the protocol (code flow with PKCE, state and
 * nonce); this file has only the rules around it. Such a session is read-only: every change needs a passkey as well.
 *
 * State, nonce and PKCE verifier are derived from one challenge in the browser's cookie. Starting an attempt stores nothing,
 * and no other browser can finish it.
 */
import { createHmac } from "node:crypto";
import type { SignInProblem } from "@sluice/sdk/wire";
import type { Configuration } from "openid-client";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import {
  type ChallengeDeps,
  createChallenge,
  isOurChallenge,
  takeChallenge,
} from "./challenges.ts";
import { openSession } from "./sessions.ts";

/** The identity provider, as the configuration names it. */
export interface ProviderConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a client without a secret, which PKCE alone protects. */
  readonly clientSecret: Secret | undefined;
}

/** Dependencies of signing in by an identity provider. */
export interface IdentityDeps extends ChallengeDeps {
  readonly db: Db;
}

/** Signs operators in by an identity provider. */
export interface IdentityProvider {
  /** Begins an attempt: the address to which the browser goes, and the challenge that it keeps meanwhile. */
  begin(deps: IdentityDeps): Promise<{ readonly url: string; readonly challenge: string }>;
  /**
   * Ends an attempt with the address to which the provider sent the browser back, and opens a session.
   * @throws OperatingError UNAUTHORIZED if it is not the browser's own attempt, or nobody of that identity may come in.
   */
  finish(
    deps: IdentityDeps,
    attempt: { readonly url: URL; readonly challenge: string | undefined },
  ): Promise<{ readonly token: string }>;
}

/** Loaded by the first who signs in: most consoles have no provider. */
const library = () => import("openid-client");

const PURPOSE = "identity";
const TIMEOUT_S = 10;

/** Creates the provider. It is asked for its addresses at the first attempt, and again after a failure. */
export function createIdentityProvider(
  { issuer, clientId, clientSecret }: ProviderConfig,
  redirectUri: () => string,
): IdentityProvider {
  let discovery: Promise<Configuration> | undefined;
  const discover = async () => {
    const { allowInsecureRequests, discovery: ask, ClientSecretPost, None } = await library();
    const server = new URL(issuer);
    discovery ??= ask(
      server,
      clientId,
      undefined,
      clientSecret ? ClientSecretPost(clientSecret.reveal()) : None(),
      {
        timeout: TIMEOUT_S,
        // The configuration allows this on the same machine only.
        ...(server.protocol === "http:" && { execute: [allowInsecureRequests] }),
      },
    );
    try {
      return await discovery;
    } catch (cause) {
      discovery = undefined;
      throw unreachable(cause);
    }
  };
  return {
    async begin(deps) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library();
      const configuration = await discover();
      const challenge = createChallenge(deps, PURPOSE).toString("base64url");
      const { verifier, state, nonce } = derive(deps.pepper, challenge);
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri(),
        scope: "openid email",
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      return { url: url.href, challenge };
    },
    async finish(deps, { url, challenge = "" }) {
      if (!isOurChallenge(deps, PURPOSE, challenge)) throw refused();
      const { authorizationCodeGrant } = await library();
      const configuration = await discover();
      const { verifier, state, nonce } = derive(deps.pepper, challenge);
      const tokens = await authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      }).catch((cause: unknown) => {
        throw refused(cause);
      });
      const claims = tokens.claims();
      if (!claims) throw refused();
      const { sub: subject, email, email_verified: isVerified } = claims;
      const identity =
        typeof email === "string" && isVerified === true ? email.toLowerCase() : null;
      return deps.db.transaction().execute(async (tx) => {
        await takeChallenge(tx, challenge);
        const known = await tx
          .selectFrom("operators")
          .select("id")
          .where("subject", "=", subject)
          .executeTakeFirst();
        const operator =
          known ??
          (identity === null
            ? undefined
            : await tx
                .updateTable("operators")
                .set({ subject })
                .where("identity", "=", identity)
                .where("subject", "is", null)
                .returning("id")
                .executeTakeFirst());
        if (!operator) throw nobody();
        return openSession(tx, deps, { operatorId: operator.id, by: "identity" });
      });
    },
  };
}

/** Derives what only the browser with the challenge and this service know. */
function derive(pepper: Secret, challenge: string) {
  const of = (what: string) =>
    createHmac("sha256", pepper.reveal())
      .update(`operator identity ${what} ${challenge}`)
      .digest("base64url");
  return { verifier: of("verifier"), state: of("state"), nonce: of("nonce") };
}

function refuse(reason: SignInProblem, message: string, cause?: unknown): OperatingError {
  return new OperatingError("UNAUTHORIZED", message, { cause, details: { reason } });
}

function refused(cause?: unknown): OperatingError {
  return refuse("refused", "The identity provider did not sign the browser in.", cause);
}

function nobody(): OperatingError {
  return refuse("nobody", "No operator of this identity may use the console.");
}

function unreachable(cause: unknown): OperatingError {
  return refuse("unreachable", "The identity provider does not answer.", cause);
}
