/** Builds payment URIs for a deposit address. A wallet opens the URI, fills in its values and asks the payer to confirm. */

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NATIVE = `0x${"0".repeat(40)}`;
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** SOL, as the service lists it. It is not a mint, so it must not appear as `spl-token`. */
const NATIVE_SOL = "1".repeat(32);

/** A payment on an EVM chain. */
export interface EvmPayment {
  /** The deposit address. */
  readonly address: string;
  /** EIP-155 chain id, such as 1 for Ethereum. Not the bridge chain id. */
  readonly evmChainId: number;
  /** The token's contract. Absent or the zero address: the native coin. */
  readonly token?: string;
  /** Amount in base units. Absent: the payer chooses. */
  readonly amount?: bigint;
}

/**
 * Returns the payment as an ERC-681 URI.
 * @throws TypeError naming the malformed field
 * @see https://eips.ethereum.org/EIPS/eip-681
 */
export function toEvmPaymentUri({ address, evmChainId, token, amount }: EvmPayment): string {
  if (!EVM_ADDRESS.test(address)) throw new TypeError("address: expected 0x and 40 hex digits");
  if (!Number.isSafeInteger(evmChainId) || evmChainId < 1) {
    throw new TypeError("evmChainId: expected a whole number from 1");
  }
  checkAmount(amount);
  if (token === undefined || token === NATIVE) {
    const value = amount === undefined ? "" : `?value=${amount}`;
    return `ethereum:${address}@${evmChainId}${value}`;
  }
  if (!EVM_ADDRESS.test(token)) throw new TypeError("token: expected 0x and 40 hex digits");
  const units = amount === undefined ? "" : `&uint256=${amount}`;
  return `ethereum:${token}@${evmChainId}/transfer?address=${address}${units}`;
}

/** A payment on Solana. */
export interface SolanaPayment {
  /** The deposit address. */
  readonly address: string;
  /** The token's mint. Absent or `11111111111111111111111111111111` (as the service lists it): SOL. */
  readonly mint?: string;
  /** Amount in base units. Absent: the payer chooses. */
  readonly amount?: bigint;
  /** Decimals of the token, 9 for SOL. Required with an amount. */
  readonly decimals?: number;
  /** Name of the payee, shown by the wallet. */
  readonly label?: string;
  /** Purpose of the payment, shown by the wallet. */
  readonly message?: string;
}

/**
 * Returns the payment as a Solana Pay transfer request.
 * @throws TypeError naming the malformed field
 * @see https://docs.solanapay.com/spec
 */
export function toSolanaPaymentUri(payment: SolanaPayment): string {
  const { address, mint, amount, decimals, label, message } = payment;
  if (!isPublicKey(address)) throw new TypeError("address: expected base58 of 32 bytes");
  if (mint !== undefined && !isPublicKey(mint)) {
    throw new TypeError("mint: expected base58 of 32 bytes");
  }
  checkAmount(amount);
  const fields: [string, string][] = [];
  if (amount !== undefined) fields.push(["amount", toDecimal(amount, decimals)]);
  if (mint !== undefined && mint !== NATIVE_SOL) fields.push(["spl-token", mint]);
  if (label !== undefined) fields.push(["label", label]);
  if (message !== undefined) fields.push(["message", message]);
  const query = fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return `solana:${address}${query && `?${query}`}`;
}

/** Reports whether the text is base58 of exactly 32 bytes. Each leading 1 is a zero byte, the rest is a number. */
function isPublicKey(text: string): boolean {
  if (text.length > 44) return false;
  let value = 0n;
  for (const character of text) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return false;
    value = value * 58n + BigInt(digit);
  }
  const zeros = text.length - text.replace(/^1+/, "").length;
  const rest = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  return zeros + rest === 32;
}

function checkAmount(amount: bigint | undefined): void {
  if (amount !== undefined && amount < 0n) {
    throw new TypeError(`amount: expected zero or more, got ${amount}`);
  }
}

/** Formats whole units without trailing zeros. The specification allows neither an exponent nor a leading point. */
function toDecimal(amount: bigint, decimals: number | undefined): string {
  if (decimals === undefined || !Number.isInteger(decimals) || decimals < 0 || decimals > 255) {
    throw new TypeError("decimals: expected the token's decimals, a whole number from 0 to 255");
  }
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
