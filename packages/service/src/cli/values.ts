/** Parsers of option values. Each throws InvalidArgumentError with the expected form. */
import {
  OPERATOR_ROLES,
  type OperatorRole,
  EXPORT_FORMATS,
  type ExportFormat,
  KEY_SCOPES,
  type KeyScope,
  UUID_PATTERN,
  WEBHOOK_DELIVERY_STATES,
  WEBHOOK_SCHEME_NAMES,
} from "@sluice/sdk/wire";
import { InvalidArgumentError } from "commander";
import { parseStamp } from "../api/stamp-input.ts";
import {
  type GasPolicy,
  ROLE_NAMES,
  type RoleName,
  SIGNER_NAMES,
  type SignerName,
} from "../config/index.ts";
import { findChainById, findChainByName } from "../core/chain-registry.ts";
import type { KeySettings } from "../integrators/index.ts";
import type { RetriedStatus } from "../settlements/index.ts";
import { ROUTE_TERMS, type RouteTerms } from "../core/commitment.ts";
import type { DeliveryState, WebhookScheme } from "../webhooks/index.ts";

/** An integrator's gas policy; `default` stands for the configuration's. */
export type GasChoice = GasPolicy | "default";
export const GAS_CHOICES = "sponsored, charged or default";

export function parseSigner(text: string): SignerName {
  const name = SIGNER_NAMES.find((known) => known === text);
  if (name) return name;
  throw new InvalidArgumentError(`expected ${SIGNER_NAMES.join(" or ")}`);
}

export function parseRoles(text: string): readonly RoleName[] {
  const roles = ROLE_NAMES.filter((role) => text.split(",").includes(role));
  if (roles.length > 0 && roles.length === text.split(",").length) return roles;
  throw new InvalidArgumentError(`expected some of ${ROLE_NAMES.join(", ")}, each once`);
}

export function parseBps(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 10_000) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 0 to 10000");
}

export function parseChainId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected an EIP-155 chain id, a whole number");
}

/** Parses a chain of the registry: its bridge id, or its name. */
export function parseBridgeId(text: string): number {
  const known = /^[1-9]\d{0,4}$/.test(text)
    ? findChainById(Number(text))
    : findChainByName(text.toLowerCase());
  if (known) return known.chainId;
  throw new InvalidArgumentError(
    "expected a chain: its bridge id or its name, such as 2 or ethereum",
  );
}

/** Parses chains of the registry, each once. */
export function parseChains(text: string): readonly number[] {
  const chains = text.split(",").map(parseBridgeId);
  if (new Set(chains).size === chains.length) return chains;
  throw new InvalidArgumentError("expected chains, each once, such as ethereum,base");
}

export function parseSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number of seconds");
}

/** Parses an id. */
export function parseUuid(text: string): string {
  if (new RegExp(UUID_PATTERN).test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("expected a UUID");
}

/** Parses a time of ISO 8601 into the wire's spelling. */
export function parseTime(text: string): string {
  const stamp = parseStamp(text, "down");
  if (stamp !== undefined) return stamp;
  throw new InvalidArgumentError("expected a time such as 2026-01-31T12:00:00Z");
}

/** Parses the format of an export. */
export function parseExportFormat(text: string): ExportFormat {
  const format = EXPORT_FORMATS.find((known) => known === text);
  if (format) return format;
  throw new InvalidArgumentError(`expected ${EXPORT_FORMATS.join(" or ")}`);
}

/** Parses event types, separated by commas. */
export function parseTypes(text: string): readonly string[] {
  const types = text.split(",");
  if (types.every((type) => /^[a-z]+([._][a-z]+)*$/.test(type))) return types;
  throw new InvalidArgumentError("expected event types, such as deposit_detected,status_changed");
}

/** Parses a scheme of signatures. */
export function parseScheme(text: string): WebhookScheme {
  const scheme = WEBHOOK_SCHEME_NAMES.find((known) => known === text);
  if (scheme) return scheme;
  throw new InvalidArgumentError(`expected ${WEBHOOK_SCHEME_NAMES.join(" or ")}`);
}

/** Parses a role of an operator. */
export function parseOperatorRole(text: string): OperatorRole {
  const role = OPERATOR_ROLES.find((known) => known === text);
  if (role) return role;
  throw new InvalidArgumentError(`expected ${OPERATOR_ROLES.join(", ")}`);
}

/** Parses a state of a delivery. */
export function parseDeliveryState(text: string): DeliveryState {
  const state = WEBHOOK_DELIVERY_STATES.find((known) => known === text);
  if (state) return state;
  throw new InvalidArgumentError(`expected ${WEBHOOK_DELIVERY_STATES.join(", ")}`);
}

export function parseGas(text: string): GasChoice {
  if (text === "sponsored" || text === "charged" || text === "default") return text;
  throw new InvalidArgumentError(`expected ${GAS_CHOICES}`);
}

/** A quota of an integrator; `default` stands for the configuration's. */
export type QuotaChoice = number | "default";

export function parseQuota(text: string): QuotaChoice {
  if (text === "default") return text;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number below a billion, or default");
}

export function parseWeight(text: string): number {
  if (/^[1-9]\d?$|^100$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 1 to 100");
}

export function parseRouteTerms(text: string): RouteTerms {
  const terms = ROUTE_TERMS.find((known) => known === text);
  if (terms) return terms;
  throw new InvalidArgumentError(`expected ${ROUTE_TERMS.join(" or ")}`);
}

export function parseSwitch(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw new InvalidArgumentError("expected on or off");
}

export function parseHeight(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("expected a block number");
}

/** Returns base units, more than zero. */
export function parseBaseUnits(text: string): bigint {
  if (/^[1-9]\d{0,77}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("expected base units: a whole number above zero");
}

/** Parses the format of a batch. */
export function parseBatch(text: string): "safe" {
  if (text === "safe") return text;
  throw new InvalidArgumentError("expected safe");
}

/** Parses daily caps, such as `base:USDC=250000`, in whole units. */
export function parseCaps(
  text: string,
): readonly { readonly chain: string; readonly symbol: string; readonly amount: string }[] {
  return text.split(",").map((part) => {
    const match = /^([a-z0-9-]+):([^:=,]+)=(\d+(?:\.\d+)?)$/.exec(part);
    if (!match) throw new InvalidArgumentError("expected caps such as base:USDC=250000");
    const [, chain = "", symbol = "", amount = ""] = match;
    return { chain, symbol, amount };
  });
}

/** Parses a span of time into milliseconds. */
export function parseSpan(text: string): number {
  const [, count = "", unit = ""] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const ms = SPANS[unit];
  if (ms !== undefined) return Number(count) * ms;
  throw new InvalidArgumentError("expected a span such as 30m, 6h or 2d");
}

/** A time in milliseconds until expiry. */
export type LifetimeChoice = number | "never";

export function parseLifetime(text: string): LifetimeChoice {
  return text === "never" ? text : parseSpan(text);
}

/** Scopes of an API key; `all` includes later ones. */
export type ScopesChoice = readonly KeyScope[] | "all";

export function parseScopes(text: string): ScopesChoice {
  if (text === "all") return text;
  const given = text.split(",");
  const scopes = KEY_SCOPES.filter((scope) => given.includes(scope));
  if (scopes.length === given.length) return scopes;
  throw new InvalidArgumentError(`expected some of ${KEY_SCOPES.join(", ")}, each once, or all`);
}

/** Addresses and networks that an API key may be used from. */
export type AllowedChoice = readonly string[] | "any";

export function parseAllowed(text: string): AllowedChoice {
  return text === "any" ? text : text.split(",");
}

/** Rights of an API key as options give them. */
export interface KeyChoices {
  readonly label: string | undefined;
  readonly scopes: ScopesChoice | undefined;
  readonly allow: AllowedChoice | undefined;
  readonly expires: LifetimeChoice | undefined;
}

/** Returns the settings of a key; null removes a restriction. */
export function toKeySettings({ label, scopes, allow, expires }: KeyChoices): KeySettings {
  return {
    label,
    scopes: scopes === "all" ? null : scopes,
    allowedNetworks: allow === "any" ? null : allow,
    expiresInMs: expires === "never" ? null : expires,
  };
}

const SPANS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 1, below a billion");
}

export function parseNames(text: string): readonly string[] {
  if (/^[a-z0-9-]+(,[a-z0-9-]+)*$/.test(text)) return text.split(",");
  throw new InvalidArgumentError("expected names, separated by commas");
}

export function parseLimit(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 1 to 99999");
}

/** Repeated here, since the help must not load the settlements. */
const RETRIED: Readonly<Record<RetriedStatus, true>> = {
  failed_deploy: true,
  failed_swap: true,
  failed_settle: true,
  deferred: true,
  dead: true,
};

function isRetried(text: string): text is RetriedStatus {
  return Object.hasOwn(RETRIED, text);
}

export function parseRetried(text: string): readonly RetriedStatus[] {
  const given = text.split(",");
  const statuses = given.filter(isRetried);
  if (statuses.length === given.length) return statuses;
  throw new InvalidArgumentError(`expected some of ${Object.keys(RETRIED).join(", ")}`);
}
