import type { OperatorRole } from "@sluice/sdk/wire";
import { invitationUrl } from "../../console/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { inviteOperator } from "../../operators/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Invites an operator to the console, and prints the link, which works once. */
export async function run(
  call: Call,
  {
    name,
    role,
    identity,
  }: {
    readonly name: string;
    readonly role: OperatorRole | undefined;
    readonly identity: string | undefined;
  },
): Promise<Result> {
  const config = call.readConfig({ roles: ["api"] });
  const { console: listener, apiKeyPepper: pepper } = config;
  const origin =
    listener?.origin ??
    (listener && listener.port > 0 ? `http://localhost:${listener.port}` : null);
  if (origin === null) {
    throw new OperatingError(
      "CONFIG_MISSING",
      "console: expected the listener of the console, with a port or an origin.",
    );
  }
  const { token, ...operator } = await withDatabase(config, ({ db }) =>
    inviteOperator(
      { db, random: systemRandom, pepper },
      { name, role, identity, by: nameOperator() },
    ),
  );
  const url = invitationUrl(origin, token);
  return {
    json: { operator, url },
    text: `invitation for ${operator.name} (${operator.role}), works once within 24 hours: ${url}`,
  };
}
