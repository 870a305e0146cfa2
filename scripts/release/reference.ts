/** The API reference of the SDK, generated from its sources: one page for each export. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openProject, run } from "./project.ts";

const ROOT = join(import.meta.dirname, "../..");
const SDK = join(ROOT, "packages/sdk");

/** Installed for the reference alone: TypeDoc reads sources with a compiler of its own. */
const TOOLS = { typedoc: "0.28.20", typescript: "6.0.3" };

/**
 * Writes the reference as HTML. Fails at an export without a description, a type that is used and not exported, and a link
 * that leads nowhere.
 * @param scratch a folder in which the generator is installed
 */
export async function writeReference(out: string, scratch: string): Promise<void> {
  const project = await openProject(scratch, "reference-tools", TOOLS);
  const { version, exports } = readSdk();
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        types: [],
        lib: ["es2024", "dom"],
        incremental: false,
        tsBuildInfoFile: null,
      },
      files: exports,
      include: [],
    }),
  );
  writeFileSync(
    join(project, "typedoc.json"),
    JSON.stringify({
      name: `@sluice/sdk ${version}`,
      entryPoints: exports,
      out,
      readme: "none",
      disableSources: true,
      excludeExternals: true,
      validation: { notExported: true, notDocumented: true, invalidLink: true },
      requiredToBeDocumented: ["Class", "Function", "Interface", "Method", "Variable"],
      treatWarningsAsErrors: true,
    }),
  );
  await run(join(project, "node_modules/.bin/typedoc"), [], project);
}

function readSdk() {
  const manifest: { version: string; exports: Record<string, string> } = JSON.parse(
    readFileSync(join(SDK, "package.json"), "utf8"),
  );
  const exports = Object.values(manifest.exports).map((path) => join(SDK, path));
  return { version: manifest.version, exports };
}
