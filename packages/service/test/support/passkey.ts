/** An authenticator in software, as a browser would use one: ES256, no attestation (WebAuthn Level 3, sections 6.1 and 6.5). */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

interface CreationOptions {
  readonly challenge: string;
}

/** Options of the authenticator's answers, for answers that are not right. */
interface AnswerOptions {
  readonly origin?: string;
  readonly isVerified?: boolean;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_KEY = 0x40;
/** Passkeys that several devices share keep no count of their signatures. */
const NO_COUNT = Buffer.alloc(4);

const bytesOf = (length: number, value: Buffer) => {
  const head =
    length < 24
      ? Buffer.from([0x40 | length])
      : length < 256
        ? Buffer.from([0x58, length])
        : Buffer.from([0x59, length >> 8, length & 255]);
  return Buffer.concat([head, value]);
};
const cborBytes = (value: Buffer) => bytesOf(value.length, value);
const cborText = (text: string) =>
  Buffer.concat([Buffer.from([0x60 | text.length]), Buffer.from(text)]);

/** Creates an authenticator with one passkey for an origin. */
export function createPasskey(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(16);
  const party = createHash("sha256").update(new URL(origin).hostname).digest();

  const clientDataOf = (type: string, challenge: string, from: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));
  const authDataOf = (flags: number, rest: Buffer = Buffer.alloc(0)) => {
    return Buffer.concat([party, Buffer.from([flags]), NO_COUNT, rest]);
  };
  const base = {
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
  };

  return {
    id: base.id,
    /** Answers a proposal to register. */
    register({ challenge }: CreationOptions, { origin: from = origin }: AnswerOptions = {}) {
      // COSE: kty EC2, alg ES256, curve P-256, x, y.
      const key = Buffer.concat([
        Buffer.from("a5010203262001215820", "hex"),
        Buffer.from(x, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y, "base64url"),
      ]);
      const credential = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([id.length >> 8, id.length & 255]),
        id,
        key,
      ]);
      const authData = authDataOf(USER_PRESENT | USER_VERIFIED | HAS_KEY, credential);
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText("fmt"),
        cborText("none"),
        cborText("attStmt"),
        Buffer.from([0xa0]),
        cborText("authData"),
        cborBytes(authData),
      ]);
      return {
        ...base,
        response: {
          clientDataJSON: clientDataOf("webauthn.create", challenge, from).toString("base64url"),
          attestationObject: attestationObject.toString("base64url"),
          transports: ["internal"],
        },
      };
    },
    /** Answers a proposal to sign. */
    sign(
      { challenge }: CreationOptions,
      { origin: from = origin, isVerified = true }: AnswerOptions = {},
    ) {
      const authenticatorData = authDataOf(USER_PRESENT | (isVerified ? USER_VERIFIED : 0));
      const clientData = clientDataOf("webauthn.get", challenge, from);
      const hash = createHash("sha256").update(clientData).digest();
      const signature = sign("sha256", Buffer.concat([authenticatorData, hash]), privateKey);
      return {
        ...base,
        response: {
          clientDataJSON: clientData.toString("base64url"),
          authenticatorData: authenticatorData.toString("base64url"),
          signature: signature.toString("base64url"),
        },
      };
    },
  };
}
