import { findIntegrator } from "../../integrators/index.ts";
import { revokePayLink } from "../../pay/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Revokes a link: its page and stream are refused from now on. */
export async function run(
  call: Call,
  { id, integrator }: { readonly id: string; readonly integrator: string },
): Promise<Result> {
  await withDatabase(call.readConfig({ roles: ["api"] }), async ({ db }) =>
    revokePayLink(db, { integratorId: await findIntegrator(db, integrator), id }),
  );
  return { json: { revoked: id }, text: `the pay link ${id} is revoked` };
}
