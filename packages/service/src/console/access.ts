/** Access rules and parameters of the console's routes. */
import { UUID_PATTERN } from "@sluice/sdk/wire";
import type { FastifyRequest } from "fastify";
import { invalid } from "../api/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Needs } from "./guard.ts";

interface Config {
  readonly config: { readonly console: Needs | null };
}

/** Who may call a route, for its options, and who called it. */
export interface Access {
  /** Anybody who is signed in. */
  readonly viewer: Config;
  /** An operator for whom a passkey signed in this session. */
  readonly actor: Config;
  /** An operator for whom a passkey signed within the last minutes. */
  readonly confirmed: Config;
  /** An admin for whom a passkey signed within the last minutes. */
  readonly admin: Config;
  /** The person's name in records. */
  operatorOf(request: FastifyRequest): string;
}

/** The options of routes. */
export const ACCESS: Omit<Access, "operatorOf"> & { readonly anyone: Config } = {
  anyone: { config: { console: null } },
  viewer: { config: { console: { role: "viewer" } } },
  actor: { config: { console: { role: "operator", passkey: true } } },
  confirmed: { config: { console: { role: "operator", fresh: true } } },
  admin: { config: { console: { role: "admin", fresh: true } } },
};

/** Returns the parameters of a path. */
export function paramsOf(request: FastifyRequest): Readonly<Record<string, string>> {
  // CAST: a path is an object of strings.
  return request.params as Record<string, string>;
}

/** Returns the parameters of a query. */
export function queryOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  // CAST: a query is an object of strings.
  return request.query as Record<string, string | undefined>;
}

/** Returns a reason without spaces around it. @throws OperatingError VALIDATION_ERROR for an empty one. */
export function trimReason(given: string): string {
  const trimmed = given.trim();
  if (trimmed === "") throw invalid("reason", "1 to 500 characters");
  return trimmed;
}

/** Returns an id. @throws OperatingError NOT_FOUND for a text that is none, which no row has. */
export function readId(value: string | undefined, missing: string): string {
  if (value !== undefined && new RegExp(UUID_PATTERN).test(value)) return value;
  throw new OperatingError("NOT_FOUND", missing);
}

/** The position of a row in a list. */
export interface Position {
  readonly at: string;
  readonly id: string;
}

/** Reads the position after which a page begins. @throws OperatingError VALIDATION_ERROR. */
export function readPosition(value: string | undefined): Position | undefined {
  if (value === undefined) return undefined;
  const [at = "", id = ""] = value.split("_");
  if (!Number.isNaN(Date.parse(at)) && new RegExp(UUID_PATTERN).test(id)) return { at, id };
  throw invalid("cursor", "the nextCursor of an earlier page");
}

/** Reads the bridge id of a chain. @throws OperatingError VALIDATION_ERROR. */
export function readChainId(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw invalid("chainId", "the bridge id of a chain");
  return Number(value);
}
