import type { PayLink } from "@sluice/sdk/wire";
import { findIntegrator } from "../../integrators/index.ts";
import { listPayLinks } from "../../pay/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists the newest links of an integrator, without their tokens. */
export async function run(
  call: Call,
  { integrator, limit }: { readonly integrator: string; readonly limit: number },
): Promise<Result> {
  const { items } = await withDatabase(call.readConfig({ roles: ["api"] }), async ({ db }) =>
    listPayLinks(db, await findIntegrator(db, integrator), { limit, cursor: undefined }),
  );
  return { json: { payLinks: items }, text: items.map(format).join("\n") };
}

function format({ id, depositAddressId, title, expiresAt, revokedAt }: PayLink): string {
  return [
    id,
    `address ${depositAddressId}`,
    revokedAt === null ? `until ${expiresAt}` : `revoked ${revokedAt}`,
    ...(title === null ? [] : [JSON.stringify(title)]),
  ].join("  ");
}
