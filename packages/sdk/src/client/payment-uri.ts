/** Payment requests that wallets open, for a deposit address. The wallet fills in what is here, and the payer confirms. */

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const NATIVE = `0x${"0".repeat(40)}`;

/** A payment on an EVM chain. */
export interface EvmPayment {
  /** The deposit address. */
  readonly address: string;
  /** EIP-155 chain id: 1 for Ethereum. Not the bridge's number. */
  readonly evmChainId: number;
  /** The token's contract; the zero address, or none, for the native coin. */
  readonly token?: string;
  /** Base units. Without it the payer chooses. */
  readonly amount?: bigint;
}

/**
 * The payment as a URI of ERC-681.
 * @throws TypeError naming the field that is malformed
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
  /** The token's mint; none for SOL. */
  readonly mint?: string;
  /** Base units. Without it the payer chooses. */
  readonly amount?: bigint;
  /** Of the token; needed with an amount. 9 for SOL. */
  readonly decimals?: number;
  /** Who asks, for the wallet to show. */
  readonly label?: string;
  readonly message?: string;
}

/**
 * The payment as a transfer request of Solana Pay.
 * @throws TypeError naming the field that is malformed
 * @see https://docs.solanapay.com/spec
 */
export function toSolanaPaymentUri(payment: SolanaPayment): string {
  const { address, mint, amount, decimals, label, message } = payment;
  if (!SOLANA_ADDRESS.test(address)) throw new TypeError("address: expected base58 of 32 bytes");
  if (mint !== undefined && !SOLANA_ADDRESS.test(mint)) {
    throw new TypeError("mint: expected base58 of 32 bytes");
  }
  checkAmount(amount);
  const fields: [string, string][] = [];
  if (amount !== undefined) fields.push(["amount", toDecimal(amount, decimals)]);
  if (mint !== undefined) fields.push(["spl-token", mint]);
  if (label !== undefined) fields.push(["label", label]);
  if (message !== undefined) fields.push(["message", message]);
  const query = fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return `solana:${address}${query && `?${query}`}`;
}

function checkAmount(amount: bigint | undefined): void {
  if (amount !== undefined && amount < 0n) throw new TypeError("amount: expected zero or more");
}

/** Whole units, without zeros that say nothing: the specification allows neither exponents nor a leading point. */
function toDecimal(amount: bigint, decimals: number | undefined): string {
  if (decimals === undefined || !Number.isInteger(decimals) || decimals < 0 || decimals > 255) {
    throw new TypeError("decimals: expected the token's, a whole number from 0 to 255");
  }
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
