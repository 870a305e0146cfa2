/** Tokens of a chain of any family: their entries in the file, and their resolved form. */
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
      "The symbol. The native coin has the name of the chain in upper case as its symbol.",
    ),
    address: setting(
      EvmAddressText,
      "The address of the contract; the zero address for the native coin.",
      {
        defaultText: "the preset's, else required",
      },
    ),
    decimals: setting(
      Type.Integer({ minimum: 0, maximum: 77, description: "a whole number, 0 to 77" }),
      "The token's decimals.",
      { defaultText: "the preset's, else required" },
    ),
    minDeposit: setting(Minimum, "The smallest balance that is settled, in whole units.", {
      defaultText: "the preset's, else no minimum",
    }),
    inventoryMin: setting(
      Minimum,
      "The inventory, in whole units, below which [an alert](runbook/inventory-low.md) fires.",
      { defaultText: "no alert" },
    ),
    inventoryTarget: setting(
      Minimum,
      "The inventory, in whole units, up to which the [treasury contract](inventory.md) refills it: with the claims of this chain below the target, from other chains below `inventoryMin`. EVM chains only.",
      { defaultText: "it is refilled by hand" },
    ),
    price: setting(Type.Optional(Price), "The sources of its [price](#prices).", {
      defaultText: "the preset's, else none",
    }),
  },
  { additionalProperties: false },
);

/** A resolved token. */
export interface TokenConfig extends Frozen<ReturnType<typeof resolveToken>> {}

/** Resolves a token of any family. The family has already parsed the address. */
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
    /** Minimum deposit as written, in whole tokens. */
    minDepositUnits: minDeposit,
    /** Minimum deposit in base units; undefined for none. */
    minDeposit: resolveUnits(token, "minDeposit", setting, given.problems),
    /** Inventory in base units below which an alert fires; undefined for no alert. */
    inventoryMin: resolveUnits(token, "inventoryMin", setting, given.problems),
    /** Inventory in base units up to which the treasury refills it; undefined if it does not. */
    inventoryTarget: resolveUnits(token, "inventoryTarget", setting, given.problems),
    /** Price sources; undefined for a token without a price. */
    price: token.price && resolvePrice(token.price, `${setting}.price`, given),
  };
}

/** Returns an amount in base units; undefined if it is absent or has too many decimals. */
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

/** Parses whole tokens to base units. More decimals than the token has are a problem of the setting. */
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

/** Returns the schema of `tokens`: a token, the symbol of a token of the preset, or a symbol with overrides. */
export function createWrittenTokens<Properties extends TProperties>(partial: Properties) {
  const Entry = Type.Union([SymbolText, Type.Object(partial, { additionalProperties: false })], {
    description: "a token, or the symbol of one of the preset",
  });
  return Type.Optional(Type.Array(Entry, { description: "a list of tokens" }));
}

/**
 * Returns the tokens of an entry with every setting written out: those that the file lists by symbol, with overrides or
 * in full, else all of the preset. Undefined if there is neither.
 */
export function completeTokens<Known extends { readonly symbol: string }>(
  listed: readonly (string | { readonly symbol: string; readonly address?: string })[] | undefined,
  given: {
    readonly preset: { readonly name: string; readonly tokens: readonly Known[] } | undefined;
    /** Converts a token of the preset to the form of the file. */
    readonly write: (known: Known) => object;
    /** Replaces a token that was not found, so that it causes no further problems. */
    readonly placeholder: object;
    readonly setting: string;
    readonly problems: string[];
  },
): readonly object[] | undefined {
  const { preset, write, placeholder, setting, problems } = given;
  if (!listed) return preset?.tokens.map(write);
  return listed.map((item, index) => {
    const token = typeof item === "string" ? { symbol: item } : item;
    // A token with an address takes nothing from the preset, whose facts hold for another contract.
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
