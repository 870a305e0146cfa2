/**
 * Compiles the modules of the sandbox and the service ahead of their first start, into the folders in which later starts keep
 * them. `npm ci` runs it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { enableCompileCache } from "node:module";
import { join } from "node:path";

const PACKAGES = join(import.meta.dirname, "../packages");
/** Modules by package; each loads what its process loads. */
const MODULES = {
  sandbox: ["program.ts", "solana/solana-chain.ts"],
  service: ["cli/program.ts", "cli/integrator/import.ts", "cli/serve.ts"],
} as const;

/** Loads the modules of a package in this process. They are written at its end. */
async function compile(name: keyof typeof MODULES): Promise<void> {
  enableCompileCache(join(PACKAGES, name, ".compiled"));
  for (const module of MODULES[name]) await import(join(PACKAGES, name, "src", module));
}

const [name] = process.argv.slice(2);
if (name === "sandbox" || name === "service") {
  // The first start compiles them otherwise: no reason for an installation to fail.
  await compile(name).catch((error: unknown) =>
    console.warn(`The modules of ${name} are not compiled ahead: ${String(error)}`),
  );
} else {
  const ended = Object.keys(MODULES).map((each) =>
    once(spawn(process.execPath, [import.meta.filename, each], { stdio: "inherit" }), "exit"),
  );
  await Promise.all(ended);
}
