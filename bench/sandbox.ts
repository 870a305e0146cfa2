/** A sandbox of a benchmark: its state is in a temporary folder, and its ports are free ones. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, type SandboxOptions, startSandbox } from "@sluice/sandbox";

const PORTS = { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 };

/** Starts a sandbox, and stops and deletes it after the work. */
export async function withSandbox<Result>(
  work: (sandbox: Sandbox, stateDir: string) => Promise<Result>,
  options: Pick<SandboxOptions, "mining" | "blocksKept"> = {},
): Promise<Result> {
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  // The embedded PostgreSQL runs as `nobody` where the benchmark runs as root.
  chmodSync(stateDir, 0o755);
  const sandbox = await startSandbox({ ...options, stateDir, ports: PORTS });
  try {
    return await work(sandbox, stateDir);
  } finally {
    await sandbox.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}
