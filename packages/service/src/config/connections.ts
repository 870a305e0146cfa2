/** The database connections of each role: a flood of requests takes those of the API, and leaves money's alone. */
import { type Static, Type } from "typebox";
import type { RoleName } from "./readers.ts";
import { setting } from "./values.ts";

/** Connections per pool. `shared` serves what belongs to no role: the claim on roles, wake-ups, metrics, nodes' budgets. */
export const CONNECTIONS = {
  scanner: 10,
  settler: 10,
  attestor: 4,
  auditor: 3,
  api: 14,
  stream: 3,
  quoter: 10,
  webhooks: 4,
  shared: 4,
} as const;
export type PoolName = keyof typeof CONNECTIONS;
/** The most connections of each pool. */
export type ConnectionLimits = Readonly<Record<PoolName, number>>;

/** A process listens for wake-ups over one connection outside its pools. */
const LISTENING = 1;

function createConnections(name: PoolName, documentation: string, minimum = 1) {
  return setting(
    Type.Optional(
      Type.Integer({
        minimum,
        maximum: 1_000,
        description: `a number of connections, ${minimum} to 1000`,
      }),
    ),
    documentation,
    { default: CONNECTIONS[name] },
  );
}

/** The setting `databaseConnections`. */
export const DatabaseConnections = Type.Object(
  {
    scanner: createConnections("scanner", "Of the scanner."),
    settler: createConnections("settler", "Of the settler."),
    attestor: createConnections("attestor", "Of the attestor."),
    auditor: createConnections("auditor", "Of the auditor."),
    api: createConnections(
      "api",
      "Of REST and handshakes. A statement of theirs that takes longer than 3 seconds is ended and answered 503.",
    ),
    stream: createConnections("stream", "Of the events of the stream."),
    quoter: createConnections("quoter", "Of the quote service, with the same 3 seconds."),
    webhooks: createConnections("webhooks", "Of webhooks."),
    shared: createConnections(
      "shared",
      "Of the work of a process that belongs to no role: the claim on roles (one connection for as long as it runs), wake-ups, metrics and the nodes' budgets.",
      2,
    ),
  },
  {
    additionalProperties: false,
    description:
      "an object with scanner, settler, attestor, auditor, api, stream, quoter, webhooks or shared",
  },
);

/** Fills in the defaults. */
export function resolveConnections(
  written: Static<typeof DatabaseConnections> | undefined,
): ConnectionLimits {
  return { ...CONNECTIONS, ...written };
}

/** Returns the pools of the roles of a process. */
export function listPools(roles: readonly RoleName[]): readonly PoolName[] {
  return ["shared", ...roles, ...(roles.includes("api") ? (["stream"] as const) : [])];
}

/** Returns the most connections that a process with these roles opens. */
export function countConnections(limits: ConnectionLimits, roles: readonly RoleName[]): number {
  return listPools(roles).reduce((sum, name) => sum + limits[name], LISTENING);
}
