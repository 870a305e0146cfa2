/**
 * Rules that the compiler cannot check: import direction, where libraries and globals may be used, forbidden words, and
 * files that must be up to date. Each rule reads the files that git tracks.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { BUGS, plant, SERVICE_DIR } from "../packages/service/test/planted/bank.ts";
import { TABLE_OWNERS } from "../packages/service/src/db/owners.ts";
import { listMissingOptional } from "./lock.ts";

const root = join(import.meta.dirname, "..");
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sources = files.filter((path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path));
const code = sources.filter((path) => !path.endsWith(".test.ts"));
const service = code.filter((path) => path.startsWith("packages/service/src/"));

/** Returns the module names that a file imports, in `import` and `export` statements and `import()` calls. */
function importsOf(path: string): string[] {
  const pattern = /(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)["']([^"']+)["']/gm;
  return [...read(path).matchAll(pattern)].flatMap((match) => (match[1] ? [match[1]] : []));
}

/** Returns the code of a file without comments and string literals. */
function bareCode(path: string): string {
  return read(path)
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
}

function offenders(paths: readonly string[], pattern: RegExp): string[] {
  return paths.filter((path) => pattern.test(bareCode(path)));
}

/** Each folder may import the folders before it. Folders in one line must not import each other. */
const ORDER: readonly (readonly string[])[] = [
  ["core"],
  ["config", "telemetry"],
  ["chains"],
  ["signers", "db"],
  ["jobs"],
  ["events"],
  ["integrators", "operators"],
  ["webhooks"],
  ["addresses", "prices"],
  ["fees"],
  ["ledger"],
  ["transactions"],
  ["routes"],
  ["deposits"],
  ["quotes"],
  ["settlements"],
  ["scanner"],
  ["rebalancing"],
  ["backups", "exports", "governance", "pay", "planning"],
  ["doctor", "health"],
  ["api"],
  ["console"],
  ["roles"],
  ["cli"],
  ["main.ts"],
];

const folderOf = (path: string): string => path.split("/")[3] ?? "";
/** Reports whether a file composes the service: the roles, and the commands that work without one. */
const isComposition = (path: string): boolean => /^(roles|cli)$/.test(folderOf(path));
const rankOf = (folder: string): number => ORDER.findIndex((line) => line.includes(folder));

describe("import direction", () => {
  test("every folder of the service has a place in the order", () => {
    const unknown = new Set(service.map(folderOf).filter((folder) => rankOf(folder) === -1));
    expect([...unknown]).toEqual([]);
  });

  test("no file of the service imports upwards or sideways", () => {
    const wrong = service.flatMap((path) =>
      importsOf(path)
        .filter((name) => name.startsWith("."))
        .map((name) => relative(root, join(root, dirname(path), name)))
        .filter((target) => target.startsWith("packages/service/src/"))
        .filter((target) => folderOf(target) !== folderOf(path))
        .filter((target) => rankOf(folderOf(target)) >= rankOf(folderOf(path)))
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("a folder of another domain is imported only by its index.ts", () => {
    const doors = /^(core|config|telemetry|chains|signers|db|jobs|roles|cli)$/;
    const wrong = service
      .filter((path) => !isComposition(path))
      .flatMap((path) =>
        importsOf(path)
          .filter((name) => name.startsWith("."))
          .map((name) => relative(root, join(root, dirname(path), name)))
          .filter((target) => folderOf(target) !== folderOf(path))
          .filter((target) => !doors.test(folderOf(target)))
          .filter((target) => target.split("/").length > 5 || !target.endsWith("/index.ts"))
          .map((target) => `${path} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  test("packages import only packages below them", () => {
    const allowed: Readonly<Record<string, readonly string[]>> = {
      contracts: [],
      sdk: [],
      sandbox: ["@sluice/contracts", "@sluice/sdk"],
      service: ["@sluice/contracts", "@sluice/sdk"],
      web: ["@sluice/sdk"],
    };
    const wrong = code.flatMap((path) => {
      const name = path.split("/")[1] ?? "";
      return importsOf(path)
        .filter((imported) => imported.startsWith("@sluice/"))
        .filter((imported) => !allowed[name]?.some((below) => imported.startsWith(below)))
        .map((imported) => `${path} imports ${imported}`);
    });
    expect(wrong).toEqual([]);
  });

  test("chain libraries are imported only by their adapters", () => {
    const wrongOf = (library: RegExp, adapters: RegExp) =>
      service
        .filter((path) => importsOf(path).some((name) => library.test(name)))
        .filter((path) => !adapters.test(path));
    expect(wrongOf(/^viem(\/|$)/, /\/(chains|signers)\/evm\//)).toEqual([]);
    expect(wrongOf(/^@solana(-program)?\//, /\/(chains|signers)\/solana\//)).toEqual([]);
  });

  test("the SDK imports nothing from Node, so that it runs in browsers", () => {
    const client = code.filter((path) => path.startsWith("packages/sdk/src/"));
    const wrong = client.filter((path) => importsOf(path).some((name) => name.startsWith("node:")));
    expect(wrong).toEqual([]);
    expect(offenders(client, /\b(process|Buffer|require)\b/)).toEqual([]);
  });

  test("no shipped file imports from a test folder", () => {
    const wrong = code.flatMap((path) =>
      importsOf(path)
        .filter((name) => name.startsWith("."))
        .map((name) => relative(root, join(root, dirname(path), name)))
        .filter((target) => /(^|\/)(test|testing)\//.test(target) || target.endsWith(".test.ts"))
        .map((target) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("only adapters, signers, configuration and composition compare chain families", () => {
    const rooms = /\/src\/(chains|signers|config|roles|cli)\//;
    const wrong = service
      .filter((path) => !rooms.test(path))
      .filter((path) => /[!=]==\s*"(evm|svm)"/.test(read(path)));
    expect(wrong).toEqual([]);
  });

  test("kinds of routes are named only in routes", () => {
    const kind = /["'`](MONO_CHAIN|SWIFT|FAST_MCTP)\b/;
    const wrong = service
      .filter((path) => folderOf(path) !== "routes")
      .filter((path) => kind.test(read(path).replace(/\/\*[\s\S]*?\*\//g, "")));
    // What the reference says of the bridge's service.
    expect(wrong).toEqual(["packages/service/src/config/file.ts"]);
    const handed = /\b(moduleOf|ROUTE_(MODULES|AUDITS|GAUGES|DEFINITIONS))\b[^;]*from "[^"]*routes/;
    const importing = service.filter((path) => /^(doctor|health)$/.test(folderOf(path)));
    expect(importing.filter((path) => handed.test(read(path)))).toEqual([]);
  });

  test("adapters are imported only by composition", () => {
    const wrong = service
      .filter((path) => !isComposition(path))
      .filter((path) => !/\/(chains|signers)\/(evm|solana)\//.test(path))
      .filter((path) => importsOf(path).some((name) => /\/(evm|solana)\//.test(name)));
    expect(wrong).toEqual([]);
  });
});

describe("tables", () => {
  /** Returns the tables that a file writes and reads, in kysely statements and in SQL. */
  function tablesOf(path: string): { readonly written: Set<string>; readonly read: Set<string> } {
    const text = read(path);
    const sqlOf = [...text.matchAll(/\bsql(?:<[^`]*?>)?`([^`]*)`/g)].map((match) => match[1] ?? "");
    const named = (pattern: RegExp, texts: readonly string[]) =>
      texts.flatMap((part) => [...part.matchAll(pattern)].flatMap((match) => match[1] ?? []));
    const known = (names: readonly string[]) =>
      new Set(names.filter((name) => Object.hasOwn(TABLE_OWNERS, name)));
    return {
      written: known([
        ...named(/\.(?:insertInto|updateTable|deleteFrom)\(\s*"(\w+)/g, [text]),
        ...named(/\bcreateDueRows(?:<\w+>)?\(\{\s*table: "(\w+)/g, [text]),
        ...named(/\b(?:insert into|update|delete from)\s+(\w+)/gi, sqlOf),
      ]),
      read: known([
        ...named(/\.(?:selectFrom|from|using|\w*[jJ]oin)\(\s*"(\w+)/g, [text]),
        ...named(/\b(?:from|join)\s+(\w+)/gi, sqlOf),
      ]),
    };
  }

  const SRC = "packages/service/src/";
  const isIn = (path: string, place: string) =>
    path.startsWith(`${SRC}${place}/`) || path === `${SRC}${place}.ts`;
  const used = service.map((path) => ({ path, ...tablesOf(path) }));
  const rankOfPlace = (place: string) => rankOf(place.split("/")[0] ?? "");

  test("each table is written only by its owner", () => {
    const wrong = used.flatMap(({ path, written }) =>
      [...written]
        .filter((table) => !isIn(path, TABLE_OWNERS[table as keyof typeof TABLE_OWNERS].owner))
        .map((table) => `${path} writes ${table}`),
    );
    expect(wrong).toEqual([]);
  });

  test("each table is read only by its owner and the readers of its entry", () => {
    const wrong = used.flatMap(({ path, read: tables }) =>
      [...tables].flatMap((table) => {
        const {
          owner,
          readers = {},
          proofs = [],
        } = TABLE_OWNERS[table as keyof typeof TABLE_OWNERS];
        const may = [owner, ...Object.keys(readers), ...proofs];
        return may.some((place) => isIn(path, place)) ? [] : [`${path} reads ${table}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("every reader of an entry reads the table", () => {
    const idle = Object.entries(TABLE_OWNERS).flatMap(([table, { readers = {}, proofs = [] }]) =>
      [...Object.keys(readers), ...proofs]
        .filter((place) => !used.some(({ path, read }) => isIn(path, place) && read.has(table)))
        .map((place) => `${place} does not read ${table}`),
    );
    expect(idle).toEqual([]);
  });

  test("only proofs read a table of a higher folder", () => {
    const wrong = Object.entries(TABLE_OWNERS).flatMap(([table, { owner, readers = {} }]) =>
      Object.keys(readers)
        .filter((place) => rankOfPlace(place) <= rankOfPlace(owner))
        .map((place) => `${place} reads ${table} of ${owner}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("ports", () => {
  const atTheBorder =
    /\/(roles\/system-ports|main|signers\/keystore|chains\/rpc\/post)\.ts$|\/(chains|signers)\/(evm|solana)\/|\/db\//;
  const inside = service.filter((path) => !atTheBorder.test(path));

  test("time comes through its port", () => {
    const wrong = /\bDate\.now\(|new Date\(\)|\bset(Timeout|Interval|Immediate)\(|performance\.now/;
    expect(offenders(inside, wrong)).toEqual([]);
  });

  test("randomness comes through its port", () => {
    expect(offenders(inside, /Math\.random|randomUUID|randomBytes|getRandomValues/)).toEqual([]);
  });

  test("outbound calls come through their port", () => {
    expect(offenders(inside, /\bfetch\(/)).toEqual([]);
  });

  test("only config reads the environment", () => {
    const wrong = offenders(service, /process\.env/).filter(
      (path) => !path.startsWith("packages/service/src/config/"),
    );
    expect(wrong).toEqual([]);
  });

  test("amounts never become floating-point numbers", () => {
    const wrong = /\bNumber\((?:\w+\.)*\w*[aA]mount\w*\)|parseFloat\(/;
    expect(offenders(service, wrong)).toEqual([]);
  });
});

describe("words", () => {
  test("no file contains a mark of unfinished work", () => {
    const marks = /\bTODO\b|\bFIXME\b|\bXXX\b|not implemented/;
    const prose = files.filter(
      (path) => /\.(ts|sol|md|sql)$/.test(path) && path !== "scripts/tidy.test.ts",
    );
    expect(prose.filter((path) => marks.test(read(path)))).toEqual([]);
  });

  test("no test is skipped or focused", () => {
    const tests = files.filter((path) => path.endsWith(".test.ts"));
    expect(offenders(tests, /\.(only|skip|todo|skipIf|runIf)\b/)).toEqual([]);
  });

  test("every cast has a CAST comment with its reason", () => {
    const wrong = code.flatMap((path) => {
      const lines = read(path).split("\n");
      return lines.flatMap((line, index) => {
        const cast = /\bas (?!const\b)[A-Z{(]\w*/.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line);
        const renames = /^\s*(import|export)\b|^\s*[\w$]+ as [\w$]+,?$|["'`].* as .*["'`]/.test(
          line,
        );
        const said = [line, lines[index - 1], lines[index - 2]].some((l) => l?.includes("CAST:"));
        return cast && !renames && !said ? [`${path}:${index + 1}`] : [];
      });
    });
    expect(wrong).toEqual([]);
  });

  test("no file or folder has a catch-all name such as utils", () => {
    const catchAll = /\/(utils?|helpers?|common|shared|misc|lib)(\/|\.ts$)/;
    expect(files.filter((path) => path.endsWith(".ts") && catchAll.test(path))).toEqual([]);
  });
});

describe("tree", () => {
  test("ARCHITECTURE.md lists every folder of the service", () => {
    const page = read("ARCHITECTURE.md");
    const folders = new Set(service.map(folderOf).filter((folder) => !folder.endsWith(".ts")));
    expect([...folders].filter((folder) => !page.includes(`${folder}/`))).toEqual([]);
  });

  test("no table of a page is wider than 160 characters", () => {
    const pages = ["docs/configuration.md"];
    const wide = pages.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, index) =>
          line.startsWith("|") && line.length > 160 ? [`${path}:${index + 1}`] : [],
        ),
    );
    expect(wide).toEqual([]);
  });

  test("no source file has more than 800 lines", () => {
    const written = files.filter((path) => /\.(ts|sol)$/.test(path) && !path.includes("/abi/"));
    const large = written.filter((path) => read(path).split("\n").length > 800);
    expect(large).toEqual([]);
  });

  test("every optional dependency has an entry in package-lock.json", () => {
    expect(listMissingOptional(JSON.parse(read("package-lock.json")))).toEqual([]);
  });

  test("package-lock.json contains no download URLs", () => {
    const lock: { packages: Record<string, { resolved?: string }> } = JSON.parse(
      read("package-lock.json"),
    );
    const addressed = Object.values(lock.packages).filter((entry) =>
      entry.resolved?.includes("://"),
    );
    expect(addressed).toEqual([]);
  });

  test("docs/dependencies.md lists every dependency", () => {
    // A name that ends with * matches one package per platform.
    const named = [...read("docs/dependencies.md").matchAll(/`([^`\s]+)`/g)].map(
      ([, name = ""]) => name,
    );
    const isNamed = (dependency: string) =>
      named.some((name) =>
        name.endsWith("*") ? dependency.startsWith(name.slice(0, -1)) : name === dependency,
      );
    const unnamed = files
      .filter((path) => path.endsWith("package.json"))
      .flatMap((path) => {
        const manifest: Record<string, Record<string, string> | undefined> = JSON.parse(read(path));
        return ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) =>
          Object.keys(manifest[kind] ?? {}),
        );
      })
      .filter((dependency) => !dependency.startsWith("@sluice/") && !isNamed(dependency));
    expect(unnamed).toEqual([]);
  });

  test("docs/threats.md defines every threat and invariant id in the tree once", () => {
    const ids = (text: string) =>
      text.match(/(?<![A-Za-z0-9])(?:T(?!00)|[VMEXDI])\d{1,3}(?![A-Za-z0-9])/g) ?? [];
    const rows = [...read("docs/threats.md").matchAll(/^\| ([A-Z]\d+) /gm)].map(([, id]) => id);
    const defined = new Set(rows);
    expect(rows.filter((id, index) => rows.indexOf(id) !== index)).toEqual([]);
    const undefinedIds = files
      .filter((path) => /^(packages|scripts|docs)\/.*\.(ts|sol|sql|md|json)$/.test(path))
      .filter((path) => !path.includes("/abi/"))
      .flatMap((path) =>
        ids(read(path))
          .filter((id) => !defined.has(id))
          .map((id) => `${path}: ${id}`),
      );
    expect(undefinedIds).toEqual([]);
  });

  test("links between pages point to existing files and headings", () => {
    const anchorsOf = (page: string) =>
      [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
          .replaceAll(" ", "-"),
      );
    const broken = files
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) =>
        [
          ...read(path)
            .replaceAll(/`[^`\n]*`/g, "")
            .matchAll(/\]\(([^)\s]+)\)/g),
        ]
          .map(([, link = ""]) => link)
          .filter((link) => !/^[a-z]+:/.test(link))
          .filter((link) => {
            const [file = "", anchor] = link.split("#");
            const page = file === "" ? path : join(dirname(path), file);
            if (!existsSync(join(root, page))) return true;
            return anchor !== undefined && !anchorsOf(page).includes(anchor);
          })
          .map((link) => `${path}: ${link}`),
      );
    expect(broken).toEqual([]);
  });

  test("dependencies are pinned to exact versions [T114]", () => {
    const wrong = files
      .filter((path) => path.endsWith("package.json"))
      .flatMap((path) => {
        const manifest: Record<string, Record<string, string> | undefined> = JSON.parse(read(path));
        return ["dependencies", "devDependencies", "optionalDependencies"]
          .flatMap((kind) => Object.entries(manifest[kind] ?? {}))
          .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version))
          .map(([name, version]) => `${path}: ${name}@${version}`);
      });
    expect(wrong).toEqual([]);
  });
});

describe("planted bugs", () => {
  test.each(BUGS)("$name: applies to the current code", ({ name, by, edits }) => {
    const changed = new Map<string, string>();
    for (const edit of edits) {
      const path = join(SERVICE_DIR, edit.file);
      const source = changed.get(path) ?? readFileSync(path, "utf8");
      changed.set(path, plant(source, edit, name));
    }
    expect(by === "simulation" || existsSync(join(SERVICE_DIR, by))).toBe(true);
  });

  test("every recorded result belongs to a planted bug", () => {
    const results: readonly { readonly name: string; readonly by: string }[] = JSON.parse(
      read("packages/service/test/planted/results.json"),
    );
    const known = new Set(BUGS.map(({ name, by }) => `${name}: ${by}`));
    expect(results.filter(({ name, by }) => !known.has(`${name}: ${by}`))).toEqual([]);
  });
});
