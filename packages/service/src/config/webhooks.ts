/** The setting `webhooks`. */
import { isIP } from "node:net";
import { type Static, Type } from "typebox";
import { setting } from "./values.ts";

/** Default values. */
const WEBHOOKS = { allowedRanges: [], endpointsPerIntegrator: 100 } as const;

/** The setting `webhooks`. */
export const Webhooks = Type.Object(
  {
    allowedRanges: setting(
      Type.Optional(
        Type.Array(Type.String({ pattern: "^[0-9a-fA-F.:]+/\\d{1,3}$" }), {
          description: "a list of ranges, such as 10.20.0.0/16",
        }),
      ),
      "Ranges of private or reserved addresses that webhooks may reach, also without TLS. Integrators choose the URLs: whatever is in a range can be asked by each of them.",
      { default: WEBHOOKS.allowedRanges },
    ),
    endpointsPerIntegrator: setting(
      Type.Optional(
        Type.Integer({ minimum: 0, maximum: 10_000, description: "a whole number, 0 to 10000" }),
      ),
      "The most endpoints of an integrator.",
      { default: WEBHOOKS.endpointsPerIntegrator },
    ),
  },
  {
    additionalProperties: false,
    description: "an object with allowedRanges or endpointsPerIntegrator",
  },
);

/** Fills in the defaults. Adds a range that cannot be read to the problems. */
export function resolveWebhooks(
  written: Static<typeof Webhooks> | undefined,
  problems: string[],
): { readonly allowedRanges: readonly string[]; readonly endpointsPerIntegrator: number } {
  const resolved = { ...WEBHOOKS, ...written };
  for (const [index, range] of resolved.allowedRanges.entries()) {
    if (isRange(range)) continue;
    problems.push(
      `webhooks.allowedRanges[${index}]: expected a range such as 10.20.0.0/16, got ${range}`,
    );
  }
  return resolved;
}

/** Returns whether a text is an address and the length of its prefix. */
function isRange(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}
