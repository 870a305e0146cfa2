/** Accounts of keys on this machine, behind signers' sockets, and on the attestor's own machine. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CONFIG_ENV, createConfigFile } from "../../test/support/config.ts";
import { toEvmAddress } from "../core/hex.ts";
import { Secret } from "../core/secret.ts";
import { encryptKeystore } from "../signers/keystore.ts";
import { loadConfig } from "./config.ts";
import { listAccounts, listKeyFiles } from "./key-accounts.ts";

const ELSEWHERE = `0x${"e".repeat(40)}`;
const ANOTHER = `0x${"d".repeat(40)}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-accounts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Configures an attestor with a keystore, which exists or not, and further settings. */
async function configure(settings: object, { exists }: { readonly exists: boolean }) {
  const file = createConfigFile();
  const keystore = join(folder, "attestor.json");
  if (exists) {
    const key = { key: new Secret(`0x${"1".repeat(64)}`), address: toEvmAddress(ANOTHER) };
    const cost = { n: 2, r: 1, p: 1 };
    writeFileSync(keystore, JSON.stringify(await encryptKeystore(key, new Secret("-"), cost)));
  }
  const path = join(folder, "sluice.json");
  const attestor = { ...file.attestor, key: { keystore } };
  writeFileSync(path, JSON.stringify({ ...file, attestor, ...settings }));
  return (keysOf: "all" | "settler" | "attestor" | undefined) =>
    loadConfig({ path, env: CONFIG_ENV, ...(keysOf && { keysOf }) });
}

const attestorsOf = async (accounts: ReturnType<typeof listAccounts>) =>
  (await accounts).flatMap(({ lane, kind, address }) => (lane ? [] : [`${kind} ${address}`]));

const NAMED = { attestors: { accounts: [ELSEWHERE] } };
const SOCKET = { signers: { attestor: "run/nobody.sock" } };

test("an attestor on another machine is the one that the configuration names", async () => {
  const withoutKey = await configure(NAMED, { exists: false });
  expect(await attestorsOf(listAccounts(withoutKey(undefined)))).toEqual([`named ${ELSEWHERE}`]);
  const withoutSigner = await configure({ ...NAMED, ...SOCKET }, { exists: false });
  expect(await attestorsOf(listAccounts(withoutSigner(undefined)))).toEqual([`named ${ELSEWHERE}`]);
  expect(await attestorsOf(listAccounts(withoutSigner("all"), { early: true }))).toEqual([
    `named ${ELSEWHERE}`,
  ]);
});

test("without a named account the error says where to name it", async () => {
  const read = await configure(SOCKET, { exists: false });
  await expect(listAccounts(read(undefined))).rejects.toThrow(
    "If it is on another machine, name its account in attestors.accounts.",
  );
  await expect(listAccounts((await configure({}, { exists: false }))(undefined))).rejects.toThrow(
    "attestor.key",
  );
});

test("the key file of this machine is read before its signer runs, only by the commands that come first", async () => {
  const read = await configure({ ...NAMED, ...SOCKET }, { exists: true });
  expect(await attestorsOf(listAccounts(read("all"), { early: true }))).toEqual([
    `keystore ${ANOTHER}`,
  ]);
  const settler = await configure({ signers: { settler: "run/nobody.sock" } }, { exists: true });
  await expect(listAccounts(settler("all"))).rejects.toThrow("is unavailable: no answer");
  expect((await listAccounts(settler("all"), { early: true })).length).toBeGreaterThan(1);
});

test("the key files of one signer are listed without those of the other", async () => {
  const read = await configure({}, { exists: true });
  const kinds = async (keysOf: "all" | "settler" | "attestor") =>
    (await listKeyFiles(read(keysOf))).map(({ lane }) => (lane ? "lane" : "attestor"));
  expect(await kinds("attestor")).toEqual(["attestor"]);
  expect(new Set(await kinds("settler"))).toEqual(new Set(["lane"]));
  expect(new Set(await kinds("all"))).toEqual(new Set(["lane", "attestor"]));
});
