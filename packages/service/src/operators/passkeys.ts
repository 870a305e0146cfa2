/**
 * Passkeys (WebAuthn): how operators register one, sign in by it, and confirm an action. The library of SimpleWebAuthn
 * checks what the authenticator answers; here are only the rules around it.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import type { Db, Tx } from "../db/schema.ts";
import {
  type ChallengeDeps,
  type ChallengePurpose,
  createChallenge,
  isOurChallenge,
  takeChallenge,
} from "./challenges.ts";
import { appendToLog } from "./operators.ts";
import { FRESH_MS, nameInLog, openSession, type Session } from "./sessions.ts";

export interface PasskeyDeps extends ChallengeDeps {
  readonly db: Db;
  /** The origin of the page; its host is the passkeys' relying party. */
  readonly origin: string;
}

/** Loaded by the first who signs in: most processes have no console. */
const library = () => import("@simplewebauthn/server");

/** The person must be verified by the authenticator: a stolen device alone signs nothing. */
const VERIFICATION = "required";
const PASSKEYS_MAX = 20;

function partyOf(origin: string): string {
  return new URL(origin).hostname;
}

/** Proposes to register a passkey for the operator of a session. Stores nothing. */
export async function proposePasskey(deps: PasskeyDeps, { id, operator }: Session) {
  const known = await deps.db
    .selectFrom("operator_passkeys")
    .select("credential_id")
    .where("operator_id", "=", operator.id)
    .execute();
  if (known.length >= PASSKEYS_MAX) {
    throw new OperatingError(
      "VALIDATION_ERROR",
      `An operator has at most ${PASSKEYS_MAX} passkeys.`,
    );
  }
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: "Sluice",
    rpID: partyOf(deps.origin),
    userName: operator.name,
    userID: new TextEncoder().encode(operator.id),
    challenge: new Uint8Array(createChallenge(deps, `register ${id}`)),
    attestationType: "none",
    excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
    authenticatorSelection: { residentKey: "required", userVerification: VERIFICATION },
  });
}

/**
 * Registers a passkey, which also signs for the session. A further one needs an invitation, or a passkey's signature
 * within the last minutes: who finds an open page cannot add a passkey of their own.
 * @throws OperatingError UNAUTHORIZED for an answer that is not right.
 */
export async function registerPasskey(
  deps: PasskeyDeps,
  session: Session,
  answer: object,
): Promise<void> {
  const { operator } = session;
  let challenge = "";
  const { verifyRegistrationResponse } = await library();
  const verified = await verify(() =>
    verifyRegistrationResponse({
      // CAST: the library checks each field.
      response: answer as RegistrationResponseJSON,
      expectedChallenge: remember(deps, `register ${session.id}`, (given) => (challenge = given)),
      expectedOrigin: deps.origin,
      expectedRPID: partyOf(deps.origin),
      requireUserVerification: true,
    }),
  );
  const { registrationInfo } = verified;
  if (!registrationInfo) throw notRight();
  const { credential } = registrationInfo;
  await deps.db.transaction().execute(async (tx) => {
    await takeChallenge(tx, challenge);
    // One after the other for an operator, so that two first passkeys cannot both be the first.
    await tx
      .selectFrom("operators")
      .select("id")
      .where("id", "=", operator.id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const isFirst = (await countPasskeys(tx, operator.id)) === 0;
    if (!isFirst && !mayAddPasskey(session)) {
      throw new OperatingError("FORBIDDEN", "Confirm with your passkey.", {
        details: { reason: "passkey" },
      });
    }
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto("operator_passkeys")
      .values({
        credential_id: credential.id,
        operator_id: operator.id,
        public_key: Buffer.from(credential.publicKey),
        counter: BigInt(credential.counter),
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) {
      throw new OperatingError("VALIDATION_ERROR", "This passkey is registered already.");
    }
    await markVerified(tx, session.id);
    await appendToLog(tx, {
      operator: nameInLog(operator),
      action: "register passkey",
      entry: { session: session.id, credential: credential.id },
    });
  });
}

/** An invitation lets an operator who lost a passkey register another one, once. */
function mayAddPasskey({ byInvitation, verifiedAgoMs }: Session): boolean {
  if (verifiedAgoMs === null) return byInvitation;
  return verifiedAgoMs < FRESH_MS;
}

/** Proposes to sign: for a session, by a passkey of its operator; without one, by any, to sign in. */
export async function proposeSignature(deps: PasskeyDeps, session: Session | null) {
  const known = session
    ? await deps.db
        .selectFrom("operator_passkeys")
        .select("credential_id")
        .where("operator_id", "=", session.operator.id)
        .execute()
    : [];
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: partyOf(deps.origin),
    challenge: new Uint8Array(createChallenge(deps, purposeOf(session))),
    allowCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
    userVerification: VERIFICATION,
  });
}

const purposeOf = (session: Session | null): ChallengePurpose =>
  session ? `confirm ${session.id}` : "sign in";

/**
 * Opens a session for the operator of a passkey.
 * @throws OperatingError UNAUTHORIZED for an answer that is not right, and for a disabled operator.
 */
export async function signInByPasskey(
  deps: PasskeyDeps,
  answer: object,
): Promise<{ readonly token: string }> {
  return deps.db.transaction().execute(async (tx) => {
    const operatorId = await takeSignature(tx, deps, { session: null, answer });
    return openSession(tx, deps, { operatorId, by: "passkey" });
  });
}

/**
 * Notes that a passkey of the session's operator signed for it just now.
 * @throws OperatingError UNAUTHORIZED for an answer that is not right.
 */
export async function confirmPasskey(
  deps: PasskeyDeps,
  session: Session,
  answer: object,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const operatorId = await takeSignature(tx, deps, { session, answer });
    if (operatorId !== session.operator.id) throw notRight();
    await markVerified(tx, session.id);
  });
}

/** Returns the number of an operator's passkeys. */
export async function countPasskeys(db: Db | Tx, operatorId: string): Promise<number> {
  const { count } = await db
    .selectFrom("operator_passkeys")
    .select(sql<bigint>`count(*)`.as("count"))
    .where("operator_id", "=", operatorId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Verifies a signature, uses up its challenge and stores the authenticator's counter. Returns the passkey's operator. */
async function takeSignature(
  tx: Tx,
  deps: PasskeyDeps,
  { session, answer }: { readonly session: Session | null; readonly answer: object },
): Promise<string> {
  // CAST: the library checks each field.
  const response = answer as AuthenticationResponseJSON;
  const passkey =
    typeof response.id === "string"
      ? await tx
          .selectFrom("operator_passkeys")
          .selectAll()
          .where("credential_id", "=", response.id)
          .forUpdate()
          .executeTakeFirst()
      : undefined;
  if (!passkey) throw notRight();
  let challenge = "";
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verify(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: remember(deps, purposeOf(session), (given) => (challenge = given)),
      expectedOrigin: deps.origin,
      expectedRPID: partyOf(deps.origin),
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: Number(passkey.counter),
      },
    }),
  );
  if (!verified) throw notRight();
  await takeChallenge(tx, challenge);
  await tx
    .updateTable("operator_passkeys")
    .set({
      counter: BigInt(authenticationInfo.newCounter),
      last_used_at: sql<string>`clock_timestamp()`,
    })
    .where("credential_id", "=", passkey.credential_id)
    .execute();
  return passkey.operator_id;
}

async function markVerified(tx: Tx, sessionId: string): Promise<void> {
  await tx
    .updateTable("operator_sessions")
    .set({ verified_at: sql<string>`clock_timestamp()` })
    .where("id", "=", sessionId)
    .execute();
}

/** Returns the check of a challenge, which hands over the one that the authenticator signed. */
function remember(
  deps: ChallengeDeps,
  purpose: ChallengePurpose,
  keep: (challenge: string) => void,
): (challenge: string) => boolean {
  return (challenge) => {
    keep(challenge);
    return isOurChallenge(deps, purpose, challenge);
  };
}

/** Turns what the library throws for a wrong answer into one refusal, which tells a stranger nothing. */
async function verify<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw notRight(cause);
  }
}

function notRight(cause?: unknown): OperatingError {
  return new OperatingError("UNAUTHORIZED", "The passkey's answer is not right.", { cause });
}
