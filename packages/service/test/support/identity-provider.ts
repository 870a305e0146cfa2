/**
 * An identity provider (OpenID Connect): the certified `oidc-provider`. Its login page signs in the account that the test
 * names, without a password.
 */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Provider } from "oidc-provider";
import { onTestFinished } from "vitest";

const CLIENT = { id: "sluice", secret: "a-secret-of-the-client" };

/** Starts a provider whose client may return to `redirectUri`. */
export async function startIdentityProvider(redirectUri: string) {
  let account = { sub: "", email: "", email_verified: true };
  let answer: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  const issuer = `http://127.0.0.1:${address.port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    cookies: { keys: ["a-key-of-the-provider"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...account, sub }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    ttl: { Session: 600, Interaction: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
  });
  const serve = provider.callback();
  answer = async (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return serve(request, response);
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      return provider.interactionFinished(request, response, { login: { accountId: account.sub } });
    }
    const grant = new provider.Grant({
      accountId: session?.accountId ?? "",
      clientId: String(params["client_id"]),
    });
    grant.addOIDCScope("openid email");
    const grantId = await grant.save();
    return provider.interactionFinished(request, response, { consent: { grantId } });
  };
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return {
    issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    /** Sets the account that it signs in from now on. */
    be: (who: { readonly sub: string; readonly email: string; readonly isVerified?: boolean }) => {
      const { sub, email, isVerified = true } = who;
      account = { sub, email, email_verified: isVerified };
    },
  };
}

/** Follows an address as a browser of its own would, until it leads to `origin`; returns that address. */
export async function followTo(start: string, origin: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  while (url.origin !== origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${url.href} led nowhere: ${await response.text()}`);
    url = new URL(location, url);
  }
  return url;
}
