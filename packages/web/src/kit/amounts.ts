/** Amounts: base units as bigints inside, decimal text for people. Never floating-point numbers. */

/** Converts base units to a decimal text, `1234567` with 6 decimals to `1.234567`, without trailing zeros. */
export function toUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * Parses a decimal text of a person, with a point or a comma, to base units. Returns null for a text that is no amount, is zero
 * or has more decimals than the token.
 */
export function parseUnits(text: string, decimals: number): bigint | null {
  const [, whole = "", fraction = ""] = /^\s*(\d{0,60})(?:[.,](\d*))?\s*$/.exec(text) ?? [];
  if (whole === "" && fraction === "") return null;
  const kept = fraction.replace(/0+$/, "");
  if (kept.length > decimals) return null;
  const amount = BigInt(`${whole}${kept.padEnd(decimals, "0")}`);
  return amount === 0n ? null : amount;
}

/** Formats base units for people in a language: grouped, with the language's decimal sign. */
export function formatAmount(amount: bigint, decimals: number, language: string): string {
  const [whole = "0", fraction] = toUnits(amount, decimals).split(".");
  const grouped = new Intl.NumberFormat(language).format(BigInt(whole));
  return fraction === undefined ? grouped : `${grouped}${decimalSign(language)}${fraction}`;
}

function decimalSign(language: string): string {
  const parts = new Intl.NumberFormat(language).formatToParts(1.5);
  return parts.find(({ type }) => type === "decimal")?.value ?? ".";
}

/** Splits an address into groups of four characters, for reading it aloud and comparing it. */
export function groupAddress(address: string): readonly string[] {
  const [prefix, rest] = address.startsWith("0x") ? ["0x", address.slice(2)] : ["", address];
  const groups = rest.match(/.{1,4}/g) ?? [];
  return prefix === "" ? groups : [prefix, ...groups];
}

/** Shortens an address or a hash to its ends. */
export function shorten(text: string): string {
  return text.length <= 14 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`;
}
