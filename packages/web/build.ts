/**
 * Builds the pages into `packages/service/pages`, from which the service serves them. `npm ci` runs it; afterwards
 * `npm run build:pages`. An installation without development packages has no Vite, and then no pages.
 */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

const PAGES = join(import.meta.dirname, "../service/pages");

/** Scripts by the name of the built file. */
const ENTRIES = [
  ["sluice-pay", "src/pay/element.tsx"],
  ["console", "src/console/main.tsx"],
  ["operator", "src/operator/main.tsx"],
] as const;

/** Builds the pages into a folder, which is emptied first. */
export async function buildPages(to = PAGES): Promise<void> {
  rmSync(to, { recursive: true, force: true });
  // One after the other: the pay page stays one file, without parts that it shares with the console.
  for (const [name, entry] of ENTRIES) await buildEntry(join(to, "assets"), name, entry);
  for (const name of ["pay.html", "assets/page.css", "console.html", "operator.html"]) {
    cpSync(join(import.meta.dirname, "static", name), join(to, name));
  }
}

async function buildEntry(outDir: string, name: string, entry: string): Promise<void> {
  const { build } = await import("vite");
  await build({
    configFile: false,
    logLevel: "error",
    root: join(import.meta.dirname, "src"),
    // Addresses of chunks are relative to the module: the pages also work behind a proxy with a path.
    base: "./",
    // The same files wherever they are built: in tests the default would be a development build.
    mode: "production",
    oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
    build: {
      outDir,
      emptyOutDir: false,
      target: "es2022",
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: { [name]: join(import.meta.dirname, entry) },
        preserveEntrySignatures: "strict",
        // Importing signals makes components follow them; no other module does anything by being imported.
        treeshake: { moduleSideEffects: (id) => id.includes("@preact/signals") },
        output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
      },
    },
  });
}

// Also before Node 24, which has no `import.meta.main`.
if (process.argv[1] === import.meta.filename) {
  await buildPages().catch((error: unknown) => {
    const isMissing =
      error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw error;
    process.stderr.write("The pages are not built: vite is not installed.\n");
  });
}
