/**
 * Schemas of values that several settings share. The `description` of a schema completes "expected …" in messages.
 */
import { type TSchema, Type } from "typebox";

/** Annotations of a setting, from which `docs/configuration.md` and the JSON schema are generated. */
export interface Documentation {
  /** Description of the setting, in Markdown. */
  readonly documentation: string;
  /** The default value. */
  readonly default?: unknown;
  /** Description of the default in Markdown, if it depends on other settings. */
  readonly defaultText?: string;
}

/** Annotates the schema of a setting and keeps its description, which completes "expected …" in messages. */
export function setting<Schema extends TSchema>(
  schema: Schema,
  documentation: string,
  fallback: Omit<Documentation, "documentation"> = {},
): Schema {
  // CAST: annotations do not affect the type of a schema.
  return Type.With(schema, { documentation, ...fallback }) as unknown as Schema;
}

export const EvmAddressText = Type.String({
  pattern: "^0x[0-9a-fA-F]{40}$",
  description: "0x and 40 hex digits",
});

export const Base58 = Type.String({
  pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$",
  description: "32 bytes in base58",
});

export const Url = Type.String({ pattern: "^https?://", description: "an http or https URL" });

export const BridgeId = Type.Integer({
  minimum: 1,
  maximum: 65535,
  description: "a bridge chain id",
});

export const Bps = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: "basis points, 0 to 10000",
});

export const Flag = Type.Boolean({ description: "true or false" });

export const SymbolText = Type.String({
  minLength: 1,
  maxLength: 16,
  description: "1 to 16 characters",
});

/** A plain decimal with at most 18 decimals. */
const DECIMAL = "^\\d{1,15}(\\.\\d{1,18})?$";

export const UsdText = Type.String({
  pattern: DECIMAL,
  description: "US dollars, a plain decimal",
});

export const NativeCoinsText = Type.String({
  pattern: DECIMAL,
  description: "whole native coins, a plain decimal",
});

export const GweiText = Type.String({
  pattern: "^\\d{1,9}(\\.\\d{1,9})?$",
  description: "gwei, a plain decimal",
});

export const UsdPerUnitText = Type.String({
  pattern: DECIMAL,
  description: "US dollars per whole unit, a plain decimal",
});

/** An amount of a token, whose decimals limit the digits after the point. */
export const UnitsText = Type.String({
  pattern: DECIMAL,
  description: "a plain decimal in whole units",
});
