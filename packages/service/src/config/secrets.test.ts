/** Places of secrets. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "typebox/value";
import { expect, onTestFinished, test } from "vitest";
import { createSecretReader, SecretRef } from "./secrets.ts";

test("a file is relative to the configuration's folder, and read without the trailing newline", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "secrets"));
  writeFileSync(join(folder, "secrets/pepper"), "canary\n");
  const problems: string[] = [];
  const read = createSecretReader(folder, {}, problems);
  expect(read({ file: "secrets/pepper" }, "apiKeyPepper").reveal()).toBe("canary");
  expect(problems).toEqual([]);
});

test("a credential is a file in the folder that the supervisor names", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "pepper"), "canary\n");
  const read = (env: Record<string, string>, credential: string) => {
    const problems: string[] = [];
    const secret = createSecretReader("/", env, problems)({ credential }, "apiKeyPepper");
    return { text: secret.reveal(), problems };
  };
  const named = { CREDENTIALS_DIRECTORY: folder };
  expect(read(named, "pepper")).toEqual({ text: "canary", problems: [] });
  expect(read(named, "salt").problems).toEqual([
    `apiKeyPepper: expected a readable file at ${join(folder, "salt")}`,
  ]);
  expect(read({}, "pepper").problems).toEqual([
    "apiKeyPepper: expected the environment variable CREDENTIALS_DIRECTORY to name the folder of pepper",
  ]);
});

test.each(["../pepper", "/etc/passwd", "..", ".hidden", ""])(
  "a credential named %j is refused",
  (credential) => {
    expect(Value.Check(SecretRef, { credential })).toBe(false);
  },
);
