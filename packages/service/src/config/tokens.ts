/** The tokens of a chain: what every family writes of one, and how it is used. */
import { type Static, type TProperties, Type } from "typebox";
import { parseUnits } from "../core/amounts.ts";
import type { Frozen } from "../core/frozen.ts";
import type { Address } from "../core/hex.ts";
import { Price, resolvePrice } from "./prices.ts";
import type { SecretReader } from "./secrets.ts";
import { EvmAddressText, setting, SymbolText } from "./values.ts";

const Minimum = Type.Optional(
  Type.String({ pattern: "^\\d+(\\.\\d+)?$", description: "a plain decimal in whole units" }),
);

export const Token = Type.Object(
  {
    symbol: setting(
      SymbolText,
      "The symbol. That of the native coin is the name of the chain in upper case.",
    ),
    address: setting(EvmAddressText, "The contract; the zero address for the native coin.", {
      defaultText: "the preset's, else required",
    }),
    decimals: setting(
      Type.Integer({ minimum: 0, maximum: 77, description: "a whole number, 0 to 77" }),
      "Decimals of the token.",
      { defaultText: "the preset's, else required" },
    ),
    minDeposit: setting(Minimum, "The least deposit that settles, in whole units.", {
      defaultText: "the preset's, else no minimum",
    }),
    inventoryMin: setting(
      Minimum,
      "Inventory, in whole units, below which [an alert](runbook/inventory-low.md) goes out.",
      { defaultText: "no alert" },
    ),
    price: setting(Type.Optional(Price), "The sources of its [price](#prices).", {
      defaultText: "the preset's, else none",
    }),
  },
  { additionalProperties: false },
);

/** A token in use. */
export interface TokenConfig extends Frozen<ReturnType<typeof resolveToken>> {}

/** Reads a token of any family, whose address was read before. */
export function resolveToken(
  token: Omit<Static<typeof Token>, "address"> & { readonly address: Address },
  setting: string,
  given: { readonly readSecret: SecretReader; readonly problems: string[] },
) {
  const { symbol, address, decimals, minDeposit } = token;
  return {
    symbol,
    address,
    decimals,
    /** The minimum as written, in whole units. */
    minDepositUnits: minDeposit,
    /** Base units; undefined where no minimum is set. */
    minDeposit: resolveUnits(token, "minDeposit", setting, given.problems),
    /** Base units of inventory below which an alert goes out; undefined where none does. */
    inventoryMin: resolveUnits(token, "inventoryMin", setting, given.problems),
    /** Where its price comes from; undefined where it has none. */
    price: token.price && resolvePrice(token.price, `${setting}.price`, given),
  };
}

/** Returns an amount in base units, or undefined where nothing is written or it has too many decimals. */
function resolveUnits<Name extends string>(
  token: { readonly [name in Name]?: string | undefined } & { readonly decimals: number },
  name: Name,
  setting: string,
  problems: string[],
): bigint | undefined {
  const units = token[name];
  return units === undefined
    ? undefined
    : parseUnitsAt(units, token.decimals, { setting: `${setting}.${name}`, problems });
}

/** Parses whole units into base units; more decimals than the token has are a problem of the setting. */
export function parseUnitsAt(
  units: string,
  decimals: number,
  { setting, problems }: { readonly setting: string; readonly problems: string[] },
): bigint | undefined {
  try {
    return parseUnits(units, decimals);
  } catch {
    problems.push(`${setting}: expected at most ${decimals} decimals, got "${units}"`);
    return undefined;
  }
}

/** Returns the schema of `tokens` in the file: each a token, the symbol of one of the preset, or that with changes. */
export function createWrittenTokens<Properties extends TProperties>(partial: Properties) {
  const Entry = Type.Union([SymbolText, Type.Object(partial, { additionalProperties: false })], {
    description: "a token, or the symbol of one of the preset",
  });
  return Type.Optional(Type.Array(Entry, { description: "a list of tokens" }));
}

/**
 * The tokens of an entry as if everything had been written out: all of the preset unless the file lists its own, by symbol,
 * with changes, or in full. Undefined where neither says any.
 */
export function completeTokens<Known extends { readonly symbol: string }>(
  listed: readonly (string | { readonly symbol: string; readonly address?: string })[] | undefined,
  given: {
    readonly preset: { readonly name: string; readonly tokens: readonly Known[] } | undefined;
    /** Writes a token of the preset as the file would. */
    readonly write: (known: Known) => object;
    /** Stands in for a token that could not be found, so that nothing else of it is a problem too. */
    readonly placeholder: object;
    readonly setting: string;
    readonly problems: string[];
  },
): readonly object[] | undefined {
  const { preset, write, placeholder, setting, problems } = given;
  if (!listed) return preset?.tokens.map(write);
  return listed.map((item, index) => {
    const token = typeof item === "string" ? { symbol: item } : item;
    // One with an address stands alone: the facts of another contract do not hold for it.
    if (typeof item !== "string" && (item.address !== undefined || !preset)) return item;
    const known = preset?.tokens.find(({ symbol }) => symbol === token.symbol);
    if (known) return { ...write(known), ...token };
    const symbols = preset?.tokens.map(({ symbol }) => symbol).join(", ");
    problems.push(
      preset
        ? `${setting}.tokens[${index}]: expected a token of the preset ${preset.name} (${symbols}), or one with an address`
        : `${setting}.tokens[${index}]: expected a token with symbol, address and decimals, since there is no preset`,
    );
    return placeholder;
  });
}
