import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder with foundry.toml. */
export const CONTRACTS_DIR = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const ROOT_DIR = resolve(CONTRACTS_DIR, "../..");

/** Returns npm's path of forge for this platform. Its packages are named after Go's architectures. */
function findForge(): string {
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const packageName = `@foundry-rs/forge-${process.platform}-${architecture}`;
  const binary = process.platform === "win32" ? "forge.exe" : "forge";
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
    return join(dirname(manifest), "bin", binary);
  } catch (cause) {
    throw new Error(
      `forge is missing: ${packageName} is not installed. Run npm install with optional dependencies; ` +
        `if the package does not exist for this platform, run on Linux or in a container.`,
      { cause },
    );
  }
}

interface ForgeResult {
  readonly status: number;
  /** Empty unless captured. */
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs forge in the contracts folder. The compiler is a Node program that forge starts by name, so
 * the workspace's Node comes first on the path.
 */
export function runForge(args: readonly string[], output: "inherit" | "capture"): ForgeResult {
  const path = [
    dirname(process.execPath),
    join(ROOT_DIR, "node_modules/.bin"),
    process.env["PATH"] ?? "",
  ].join(delimiter);
  const result = spawnSync(findForge(), args, {
    cwd: CONTRACTS_DIR,
    env: { ...process.env, PATH: path },
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    stdio: output === "inherit" ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  if (result.error !== undefined) throw result.error;
  return {
    status: result.status ?? 1,
    stdout: result.stdout ?? "",
    stderr: result.stderr ?? "",
  };
}

// As a command: passes its arguments to forge and exits with its code.
if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = runForge(process.argv.slice(2), "inherit").status;
}
