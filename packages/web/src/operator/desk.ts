/** What the page asks of the console's own service, and how a passkey confirms it. */
import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from "@simplewebauthn/browser";
import type { ErrorResponse } from "@sluice/sdk/wire";
import { Refusal } from "../console/api.ts";

/** The console's service refused because a passkey has not signed, or not lately. */
class NeedsPasskey extends Refusal {}

async function ask<Body>(path: string, body?: object): Promise<Body> {
  let response: Response;
  try {
    response = await fetch(
      `api/${path}`,
      body && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      },
    );
  } catch {
    throw new Refusal(0, "The service cannot be reached.");
  }
  if (response.ok) return response.json();
  const failed: Partial<ErrorResponse> | null = await response.json().catch(() => null);
  const message = failed?.error?.message ?? `Status ${response.status}`;
  const Kind = failed?.error?.details?.["reason"] === "passkey" ? NeedsPasskey : Refusal;
  throw new Kind(response.status, message);
}

/** Reads an answer. @throws Refusal, also without a connection (status 0). */
export function read<Body>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Body> {
  const asked = new URLSearchParams(query).toString();
  return ask(asked === "" ? path : `${path}?${asked}`);
}

/**
 * Changes something. Where that needs a passkey's signature, the browser asks for it, and the change is sent again.
 * @throws Refusal in words for the operator.
 */
export async function act<Body>(path: string, body: object = {}): Promise<Body> {
  try {
    return await ask<Body>(path, body);
  } catch (error) {
    if (!(error instanceof NeedsPasskey)) throw error;
  }
  await sign("session/confirm");
  return ask<Body>(path, body);
}

/** Signs in by any passkey of this console. @throws Refusal. */
export function signIn(): Promise<void> {
  return sign("session/passkey");
}

/** Registers a passkey for the session's operator. @throws Refusal. */
export async function register(): Promise<void> {
  const optionsJSON = await ask<PublicKeyCredentialCreationOptionsJSON>("passkeys/options", {});
  const answer = await prompt(() => startRegistration({ optionsJSON }));
  // The challenge lasts while a known passkey confirms a further one.
  await act("passkeys", { answer });
}

async function sign(path: "session/confirm" | "session/passkey"): Promise<void> {
  const optionsJSON = await ask<PublicKeyCredentialRequestOptionsJSON>(`${path}/options`, {});
  const answer = await prompt(() => startAuthentication({ optionsJSON }));
  await ask(path, { answer });
}

/** Runs the browser's dialog. What it throws, such as for a closed one, becomes a refusal. */
async function prompt<Answer>(open: () => Promise<Answer>): Promise<Answer> {
  if (!browserSupportsWebAuthn()) throw new Refusal(0, "This browser has no passkeys.");
  try {
    return await open();
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    throw new Refusal(
      0,
      name === "NotAllowedError"
        ? "The passkey was not used. Register one first, or try again."
        : `The passkey could not be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
