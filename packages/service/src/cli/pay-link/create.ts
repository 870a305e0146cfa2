import { UUID_PATTERN } from "@sluice/sdk/wire";
import { listByWallets } from "../../addresses/index.ts";
import type { Config } from "../../config/index.ts";
import type { Db } from "../../db/schema.ts";
import { findIntegrator } from "../../integrators/index.ts";
import { createPayLink, payPath } from "../../pay/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { withDatabase } from "../with-database.ts";

/** Creates a link, which is shown only this once. */
export async function run(
  call: Call,
  input: {
    readonly integrator: string;
    readonly address: string;
    readonly title: string | undefined;
    readonly expires: number | undefined;
  },
): Promise<Result> {
  const config = call.readConfig({ roles: ["api"] });
  const { title, expires } = input;
  const made = await withDatabase(config, async ({ db }) =>
    createPayLink(
      { db, random: systemRandom, pepper: config.apiKeyPepper },
      {
        integratorId: await findIntegrator(db, input.integrator),
        depositAddressId: await findAddressId(db, input.address),
        title,
        expiresInSeconds: expires && Math.floor(expires / 1_000),
      },
    ),
  );
  const url = `${baseUrlOf(config)}${payPath(made.token)}`;
  return { json: { ...made, url }, text: `pay page (shown once): ${url}` };
}

async function findAddressId(db: Db, text: string): Promise<string> {
  if (new RegExp(UUID_PATTERN).test(text)) return text;
  const wallet = addressFormat.parseAny(text);
  const found = wallet && (await listByWallets(db, [wallet])).get(wallet);
  if (found) return found.id;
  throw new UsageError("address: expected a deposit address of this service, or its id");
}

function baseUrlOf({ publicUrls, api }: Config): string {
  const host = api.host.includes(":") ? `[${api.host}]` : api.host;
  return (publicUrls.api ?? `http://${host}:${api.port}`).replace(/\/$/, "");
}
