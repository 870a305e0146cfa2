/**
 * The commands of the documents: each `sluice` command parses by the table of commands and is run by a test, each npm script exists, and
 * every other program is known, with the reason where no test runs it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../packages/service/src/cli/table.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const list = (folder: string, pattern: RegExp): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((name) => pattern.test(name) && !name.includes("node_modules"));

const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "bench/README.md",
  "examples/README.md",
  // The generated page has forms of commands, not commands.
  ...list("docs", /(?<!command-line)\.md$/),
  ...list("packages", /^packages\/\w+\/README\.md$/),
];

/** Options of every command. */
const GLOBAL = ["config", "json", "help", "version"];
/** What stands for a value that the reader has. */
const PLACEHOLDER = /^[A-Z_]{2,}$|^<|…|\.\.\.|^PATH/;

/** Programs beside `sluice` and npm, with the reason where no test runs the command. */
const PROGRAMS: Readonly<Record<string, string>> = {
  docker: "needs a registry",
  kubectl: "needs a cluster",
  systemctl: "needs systemd; the rehearsal obeys it",
  "deploy/rootfs.sh": "run by installed.deep.test.ts",
  node: "",
  npm: "",
  git: "",
  curl: "",
  openssl: "",
  python3: "",
  export: "",
  for: "",
  done: "",
  create: "SQL, run by the rehearsal",
  echo: "",
  head: "",
  mkdir: "",
  cp: "",
  chown: "",
  install: "",
  useradd: "",
  "-d": "continues curl",
  "(printf": "",
  POST: "a request",
  "Authorization:": "a request",
};

interface DocumentedCommand {
  readonly page: string;
  readonly line: string;
}

/** Lists the lines of indented blocks and of fences for a shell, without comments. Lines of other languages are left out. */
function listLines(page: string): readonly DocumentedCommand[] {
  let fence: string | null = null;
  return read(page)
    .split("\n")
    .flatMap((text, index, lines) => {
      const opened = /^\s*```(\w*)/.exec(text)?.[1];
      if (opened !== undefined) {
        fence = fence === null ? opened : null;
        return [];
      }
      const isIndented = fence === null && /^ {4}\S/.test(text) && !/^ {4}[|{"}[*-]/.test(text);
      const isContinuation =
        /^ {3,}\S/.test(text) && /^\s{0,3}\d+\. |^\s*[-*] /.test(paragraphOf(lines, index));
      if (fence !== "sh" && fence !== "bash" && !(isIndented && !isContinuation)) return [];
      const line = text.trim().replace(/\s+# .*$/, "");
      return line === "" || line.startsWith("#") ? [] : [{ page, line }];
    });
}

/** Returns the first line of the paragraph of a line. */
function paragraphOf(lines: readonly string[], index: number): string {
  const start = lines.slice(0, index + 1).findLastIndex((line) => line.trim() === "");
  return lines[start + 1] ?? "";
}

/** Splits a command into words as a shell does, as far as the documents need it. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s"'<]|"[^"]*"|'[^']*'|<[^>]*>)+/g)]
    .map(([word]) => word)
    .filter((word) => word !== "...")
    .map((word) => word.replaceAll(/["']/g, ""));

const all = PAGES.flatMap(listLines);
const ofSluice = all.flatMap(({ page, line }) =>
  line
    .split(/ (?:&&|\|) /)
    .map((part) => wordsOf(part.replace(/ > .*$/, "")))
    .filter(([program]) => program === "sluice")
    .map(([, ...words]) => ({ page, line, words })),
);

function rowOf(words: readonly string[]) {
  const named = COMMANDS.filter(
    ({ name }) => words.slice(0, name.split(" ").length).join(" ") === name,
  );
  return named.toSorted((one, other) => other.name.length - one.name.length)[0];
}

/** Returns the mistakes of a command. */
function mistakesOf(words: readonly string[]): readonly string[] {
  const row = rowOf(words);
  if (!row) return [`no command ${words.join(" ")}`];
  const mistakes: string[] = [];
  const given: string[] = [];
  const rest = words.slice(row.name.split(" ").length);
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (!word.startsWith("--")) {
      given.push(word);
      continue;
    }
    const name = word.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const option = row.options[name];
    if (GLOBAL.includes(name)) {
      if (name === "config") at += 1;
    } else if (!option) mistakes.push(`no option ${word}`);
    else if (option.placeholder !== null) {
      at += 1;
      const value = rest[at] ?? "";
      if (value === "") mistakes.push(`${word} has no value`);
      else if (option.parse && !PLACEHOLDER.test(value)) {
        try {
          option.parse(value);
        } catch (error) {
          mistakes.push(`${word} ${value}: ${String(error)}`);
        }
      }
    }
  }
  const expected = Object.keys(row.arguments).length;
  if (given.length !== expected) mistakes.push(`${given.length} arguments, expected ${expected}`);
  return mistakes;
}

describe("the commands of the documents", () => {
  test("parse by the table of commands", () => {
    expect(ofSluice.length).toBeGreaterThan(50);
    const wrong = ofSluice.flatMap(({ page, line, words }) =>
      mistakesOf(words).map((mistake) => `${page}: ${line}: ${mistake}`),
    );
    expect(wrong).toEqual([]);
  });

  test("in the text have names and options of the table", () => {
    const named = PAGES.filter((page) => !page.endsWith("command-line.md")).flatMap((page) =>
      [...read(page).matchAll(/`sluice ([^`]+)`/g)].map(([, text = ""]) => ({ page, text })),
    );
    expect(named.length).toBeGreaterThan(150);
    const wrong = named.flatMap(({ page, text }) =>
      mistakesOf(wordsOf(text.replaceAll(/\s+/g, " ")))
        .filter((mistake) => !/arguments|has no value/.test(mistake))
        .map((mistake) => `${page}: ${text}: ${mistake}`),
    );
    expect(wrong).toEqual([]);
  });

  test("are each run by a test", () => {
    const sources = [
      ...list("packages", /^packages\/\w+\/test\/.*\.ts$/),
      ...list("packages", /\/src\/.*\.test\.ts$/),
      ...list("scripts", /\.test\.ts$/),
      ...list("packages/sandbox/src", /\.ts$/),
    ].map(read);
    const names = new Set(ofSluice.flatMap(({ words }) => rowOf(words)?.name ?? []));
    const lost = [...names].filter((name) => {
      const spoken = new RegExp(name.split(" ").join(`(?: |["'],\\s*["'])`));
      return !sources.some((source) => spoken.test(source));
    });
    expect(lost).toEqual([]);
  });

  test("of npm are scripts that exist", () => {
    const scripts = Object.keys(JSON.parse(read("package.json")).scripts);
    const named = all.flatMap(({ page, line }) =>
      [...line.matchAll(/\bnpm (?:--prefix \S+ )?run (?:-s |--silent )?([\w:-]+)/g)].map(
        ([, name = ""]) => ({ page, name }),
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ name }) => !scripts.includes(name))).toEqual([]);
  });

  test("are of known programs otherwise", () => {
    const unknown = all.filter(({ line }) => {
      const [program = ""] = wordsOf(line);
      return program !== "sluice" && PROGRAMS[program] === undefined && !/^\w+=/.test(program);
    });
    expect(unknown).toEqual([]);
  });
});
