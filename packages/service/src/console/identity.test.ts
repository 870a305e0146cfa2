/** Signing in by an identity provider: a real one, over its own protocol. */
import { describe, expect, test } from "vitest";
import { openConsole, ORIGIN } from "../../test/support/console-desk.ts";
import { followTo, startIdentityProvider } from "../../test/support/identity-provider.ts";
import { Secret } from "../core/secret.ts";

const CALLBACK = `${ORIGIN}/api/session/identity/callback`;

/** Opens a console with an identity provider. */
async function openIdentified() {
  const provider = await startIdentityProvider(CALLBACK);
  const { issuer, clientId, clientSecret } = provider;
  const opened = await openConsole({
    identityProvider: { issuer, clientId, clientSecret: new Secret(clientSecret) },
  });
  /** Begins in a browser; returns the address with which the provider sends it back. */
  const begin = async (browser: ReturnType<typeof opened.browse>) => {
    const { headers } = await browser.send("GET", "/api/session/identity");
    return followTo(String(headers.location), ORIGIN);
  };
  const finish = async (browser: ReturnType<typeof opened.browse>, { pathname, search }: URL) =>
    String((await browser.send("GET", `${pathname}${search}`)).headers.location);
  const signIn = async (browser: ReturnType<typeof opened.browse>) =>
    finish(browser, await begin(browser));
  return { ...opened, provider, begin, finish, signIn };
}

const NOBODY = "/#problem=nobody";
const REFUSED = "/#problem=refused";

describe("an identity provider", () => {
  test("signs in who was invited by that address, to look, and to act once a passkey signed [T286]", async () => {
    const { invite, browse, provider, signIn, fail, db } = await openIdentified();
    const { id } = await fail();
    await invite("Ada", "operator", "Ada@Example.com");
    provider.be({ sub: "person-1", email: "ada@example.com" });
    const browser = browse();
    expect(await signIn(browser)).toBe("/");
    expect(await browser.get("/api/session")).toMatchObject({
      operator: { name: "Ada", role: "operator" },
      isVerified: false,
    });
    const reason = { reason: "ticket 7" };
    const refused = await browser.post(`/api/settlements/${id}/retry`, reason);
    expect(refused.json().error.details).toEqual({ reason: "passkey" });
    expect((await browser.register()).statusCode).toBe(200);
    expect((await browser.post(`/api/settlements/${id}/retry`, reason)).statusCode).toBe(200);
    // In another browser the session needs a passkey again, and cannot add one.
    const other = browse();
    await signIn(other);
    expect((await other.register()).statusCode).toBe(403);
    expect((await other.post(`/api/settlements/${id}/retry`, reason)).statusCode).toBe(403);
    const lines = await db.selectFrom("operator_log").select(["operator", "action"]).execute();
    expect(lines).toContainEqual({ operator: "console: Ada", action: "sign in" });
  });

  test.each([
    ["whom nobody invited", { sub: "person-2", email: "eve@example.com" }],
    [
      "whose address it has not verified",
      { sub: "p", email: "ada@example.com", isVerified: false },
    ],
  ])("lets nobody in %s [T286]", async (_, who) => {
    const { invite, browse, provider, signIn } = await openIdentified();
    await invite("Ada", "operator", "ada@example.com");
    provider.be(who);
    const browser = browse();
    expect(await signIn(browser)).toBe(NOBODY);
    expect((await browser.send("GET", "/api/session")).statusCode).toBe(401);
  });

  test("refuses a later owner of the address after the first sign-in [T286]", async () => {
    const { invite, browse, provider, signIn } = await openIdentified();
    await invite("Ada", "operator", "ada@example.com");
    provider.be({ sub: "person-1", email: "ada@example.com" });
    await signIn(browse());
    provider.be({ sub: "person-9", email: "ada@example.com" });
    expect(await signIn(browse())).toBe(NOBODY);
    // Also after another invitation by the same address, as for a lost passkey.
    await invite("Ada", undefined, "ada@example.com");
    expect(await signIn(browse())).toBe(NOBODY);
    provider.be({ sub: "person-1", email: "ada.new@example.com" });
    expect(await signIn(browse())).toBe("/");
  });

  test("refuses an attempt of another browser, and a finished attempt [T287]", async () => {
    const { invite, browse, provider, begin, finish } = await openIdentified();
    await invite("Eve", "operator", "eve@example.com");
    provider.be({ sub: "person-3", email: "eve@example.com" });
    const [thief, victim] = [browse(), browse()];
    const sent = await begin(thief);
    expect(await finish(victim, sent)).toBe(REFUSED);
    await begin(victim);
    expect(await finish(victim, sent)).toBe(REFUSED);
    expect((await victim.send("GET", "/api/session")).statusCode).toBe(401);
    expect(await finish(thief, sent)).toBe("/");
    expect(await finish(thief, sent)).toBe(REFUSED);
  });

  test("refuses a disabled operator, and an address that another one has", async () => {
    const { join, invite, browse, provider, signIn } = await openIdentified();
    await invite("Ada", "operator", "ada@example.com");
    await expect(invite("Bob", "viewer", "ada@example.com")).rejects.toThrow("identity");
    await expect(invite("Bob", "viewer", "no address")).rejects.toThrow("identity");
    const admin = await join("Root", "admin");
    await admin.post("/api/operators/disable", { name: "Ada", reason: "left" });
    provider.be({ sub: "person-1", email: "ada@example.com" });
    expect(await signIn(browse())).toBe("/#problem=disabled");
  });

  test("is absent without its setting", async () => {
    const { browse } = await openConsole();
    expect(await browse().get("/api/session/ways")).toEqual({ hasIdentityProvider: false });
    expect((await browse().send("GET", "/api/session/identity")).statusCode).toBe(404);
  });
});
