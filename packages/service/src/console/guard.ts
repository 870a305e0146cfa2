/**
 * Who may call what. The console has no cross-origin callers: a request must name the console's own host, which stops
 * pages whose name resolves to this machine, and every change must come from the console's own origin. The cookie is
 * strict, so that a foreign page cannot use it either.
 */
import type { OperatorRole } from "@sluice/sdk/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { findSession, FRESH_MS, type OperatorDeps, type Session } from "../operators/index.ts";

/** What a route needs; `null` for a route without a session. */
export interface Needs {
  readonly role: OperatorRole;
  /** A passkey must have signed for the session. */
  readonly passkey?: boolean;
  /** A passkey must have signed within the last minutes. */
  readonly fresh?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    readonly console?: Needs | null;
  }
}

const RANKS: Readonly<Record<OperatorRole, number>> = { viewer: 0, operator: 1, admin: 2 };

/** Access to the session of a request. */
export interface Guard {
  sessionOf(request: FastifyRequest): Session;
  /** Sets the cookie of a session; an empty token removes it. */
  setCookie(reply: FastifyReply, token: string): void;
  /** The challenge of the browser's attempt at an identity provider. */
  attemptOf(request: FastifyRequest): string | undefined;
  /** Keeps that challenge for the callback; an empty one is removed. */
  setAttempt(reply: FastifyReply, challenge: string): void;
}

/** Guards the routes that are added afterwards. `origin` is known once the listener is open. */
export function guard(
  app: FastifyInstance,
  deps: Omit<OperatorDeps, "random">,
  origin: () => string,
): Guard {
  const sessions = new WeakMap<FastifyRequest, Session>();
  const isSecure = () => origin().startsWith("https:");
  // With the prefix a browser takes the cookie from this host alone, over TLS.
  const cookieName = () => (isSecure() ? "__Host-sluice-console" : "sluice-console");
  // Not strict: the provider sends the browser back from its own page.
  const attemptName = () => (isSecure() ? "__Host-sluice-attempt" : "sluice-attempt");
  const set = (reply: FastifyReply, name: string, value: string, rest: string) => {
    const end = value === "" ? "; Max-Age=0" : "";
    const secure = isSecure() ? "; Secure" : "";
    const known = reply.getHeader("set-cookie");
    const cookies = Array.isArray(known) ? known : known === undefined ? [] : [String(known)];
    const cookie = `${name}=${value}; Path=/; HttpOnly; ${rest}${secure}${end}`;
    reply.removeHeader("set-cookie").header("set-cookie", [...cookies, cookie]);
  };

  app.addHook("onRoute", ({ config, method, url }) => {
    assert(config?.console !== undefined, `${String(method)} ${url} says who may call it`);
  });
  app.addHook("onRequest", async (request) => {
    const { headers, method } = request;
    if (headers.host !== new URL(origin()).host) {
      throw forbidden("host", `the host of ${origin()}`);
    }
    if (method !== "GET" && method !== "HEAD" && headers.origin !== origin()) {
      throw forbidden("origin", origin());
    }
    const needs = request.routeOptions.config.console;
    if (needs === undefined || needs === null) return;
    const session = await findSession(deps, readCookie(headers.cookie, cookieName()));
    if (!session) throw new OperatingError("UNAUTHORIZED", "Sign in.");
    assertAllowed(session, needs);
    sessions.set(request, session);
  });

  return {
    sessionOf(request) {
      const session = sessions.get(request);
      if (!session) throw new OperatingError("UNAUTHORIZED", "Sign in.");
      return session;
    },
    setCookie: (reply, token) => set(reply, cookieName(), token, "SameSite=Strict"),
    attemptOf: ({ headers }) => readCookie(headers.cookie, attemptName()),
    setAttempt: (reply, challenge) => set(reply, attemptName(), challenge, "SameSite=Lax"),
  };
}

function assertAllowed({ operator, verifiedAgoMs }: Session, needs: Needs): void {
  if (RANKS[operator.role] < RANKS[needs.role]) {
    throw new OperatingError("FORBIDDEN", `This needs the role ${needs.role}.`, {
      details: { reason: "role" },
    });
  }
  const isVerified = verifiedAgoMs !== null;
  const isFresh = isVerified && verifiedAgoMs < FRESH_MS;
  if ((needs.passkey && !isVerified) || (needs.fresh && !isFresh)) {
    throw new OperatingError("FORBIDDEN", "Confirm with your passkey.", {
      details: { reason: "passkey" },
    });
  }
}

function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function forbidden(field: string, expected: string): OperatingError {
  return new OperatingError("FORBIDDEN", `${field}: expected ${expected}.`, {
    details: { field, reason: field },
  });
}
