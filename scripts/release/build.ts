/**
 * Builds the published packages: modules compiled to JavaScript with declarations and source maps, and manifests that
 * name them. Sources in this repository run as they are, so nothing else needs a build.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Manifest, publishedManifest } from "./manifest.ts";
import { type Published, PUBLISHED } from "./packages.ts";

const ROOT = join(import.meta.dirname, "../..");

export interface Built {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/**
 * Builds packages, by default all, each in a folder of its own below `out`, which is emptied first and must lie in this
 * repository, where the compiler finds the dependencies.
 */
export function buildPackages(
  out: string,
  folders: readonly string[] = PUBLISHED.map(({ folder }) => folder),
): readonly Built[] {
  rmSync(out, { recursive: true, force: true });
  const scope = join(out, "node_modules/@sluice");
  mkdirSync(scope, { recursive: true });
  // The service serves them; nobody else needs the sources.
  execFileSync(process.execPath, [join(ROOT, "packages/web/build.ts")], { stdio: "inherit" });
  return PUBLISHED.filter(({ folder }) => folders.includes(folder)).map((one) => {
    const folder = join(out, one.folder);
    const manifest = readManifest(join(ROOT, "packages", one.folder));
    stage(one, manifest, folder);
    // The packages that are built next import this one from here.
    symlinkSync(folder, join(scope, one.folder), "dir");
    return { name: manifest.name, version: manifest.version, folder };
  });
}

function stage(one: Published, manifest: Manifest, folder: string): void {
  const from = join(ROOT, "packages", one.folder);
  const source = join(folder, one.source);
  cpSync(join(from, one.source), source, {
    recursive: true,
    filter: (path) => !path.endsWith(".test.ts"),
  });
  for (const asset of one.assets)
    cpSync(join(from, asset), join(folder, asset), { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  writeJson(join(folder, "package.json"), publishedManifest(one, manifest, pinnedNodes()));
  compile(one, folder);
  copyOthers(source, join(folder, "dist"));
  rmSync(source, { recursive: true });
  rewrite(join(folder, "dist"), (text) => text.replaceAll(MODULE_URL, '$1.js"'));
  rewrite(join(folder, "bin"), (text) =>
    text.replaceAll(/"\.\.\/src\/(.*)\.ts"/g, '"../dist/$1.js"'),
  );
}

/** The address of a module beside this one, or the specifier of a declaration: both keep `.ts` when they are compiled. */
const MODULE_URL = /((?:new URL\(|from |import\()"\.{1,2}\/[^"]*|new URL\("[a-z-]+)\.ts"/g;

function compile(one: Published, folder: string): void {
  const config = join(folder, "tsconfig.json");
  writeJson(config, {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      sourceMap: true,
      inlineSources: true,
      rewriteRelativeImportExtensions: true,
      // Runs on Node 20, and in browsers.
      target: "es2022",
      ...(one.isUniversal && { lib: ["es2023", "dom"], types: [] }),
      rootDir: join(folder, one.source),
      outDir: join(folder, "dist"),
    },
    include: [join(folder, one.source)],
    exclude: [],
  });
  execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", config], { stdio: "inherit" });
  rmSync(config);
}

/** Copies the files that are no modules, such as SQL and protocol definitions. */
function copyOthers(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(".ts") });
}

/** Rewrites the text files of a folder, if there is one. */
function rewrite(folder: string, change: (text: string) => string): void {
  const names = readdirOf(folder).filter((name) => /\.(d\.ts|js)$/.test(name));
  for (const name of names) {
    const path = join(folder, name);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }
}

function readdirOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Returns the pinned Node of this repository, by package. */
function pinnedNodes(): Readonly<Record<string, string>> {
  const { optionalDependencies = {} } = readManifest(ROOT);
  return Object.fromEntries(
    Object.entries(optionalDependencies).filter(([name]) => name.startsWith("node-")),
  );
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
