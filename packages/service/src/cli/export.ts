import { EXPORT_KINDS, type ExportFormat } from "@sluice/sdk/wire";
import { exportLines } from "../exports/index.ts";
import { findIntegrator } from "../integrators/index.ts";
import { addressFormat } from "../roles/address-format.ts";
import type { Call } from "./command.ts";
import { withDatabase } from "./with-database.ts";
import { UsageError } from "./failure.ts";

/** Writes the lines of `GET /exports/KIND` of an integrator: its deposits, settlements or events of a time range. */
export async function run(
  call: Call,
  {
    kind: text,
    integrator,
    format,
    from,
    to,
  }: {
    readonly kind: string;
    readonly integrator: string;
    readonly format: ExportFormat;
    readonly from: string | undefined;
    readonly to: string | undefined;
  },
): Promise<undefined> {
  const kind = EXPORT_KINDS.find((known) => known === text);
  if (!kind) throw new UsageError(`${text}: expected ${EXPORT_KINDS.join(", ")}.`);
  const config = call.readConfig({ roles: [] });
  await withDatabase(config, async ({ db }) => {
    const integratorId = await findIntegrator(db, integrator);
    const deps = { db, display: addressFormat.display, chains: config.chains };
    for await (const lines of exportLines(deps, { integratorId, kind, format, from, to })) {
      for (const line of lines) await call.write(line);
    }
  });
}
