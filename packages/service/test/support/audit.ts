import type { AuditReport } from "../../src/cli/audit.ts";
import type { World } from "./world.ts";

/** Runs the whole audit. Returns the report also where it is not proved and the command fails. */
export async function auditWorld(world: World): Promise<AuditReport> {
  try {
    return (await world.command("audit", "--json")) as unknown as AuditReport;
  } catch (error) {
    const { stdout = "" } = error as { readonly stdout?: string };
    return JSON.parse(stdout);
  }
}
