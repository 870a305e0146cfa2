/** `sluice addresses refund`: refunds value in a deposit address on Solana that no settlement takes. */
import {
  type ChainConfig,
  type Config,
  listSolanaChains,
  type TokenConfig,
} from "../../config/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { displayTxHash, parseSolanaAddress } from "../../core/base58.ts";
import type { Address } from "../../core/hex.ts";
import { isNativeName, NATIVE_SOL } from "../../core/hex.ts";
import { type AddressRefund, findLastRefund, refundAddress } from "../../settlements/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withSettlements } from "../with-settlements.ts";

/** A refund as the command prints it. Amounts are in whole units for people, and in base units. */
export interface ShownRefund {
  readonly refundId: string;
  readonly chainId: number;
  readonly address: string;
  readonly token: string;
  readonly symbol: string;
  /** Base units. */
  readonly amount: string;
  readonly amountUnits: string;
  readonly refundTo: string;
  readonly intent: string;
  /** `pending` until the refund is final or has failed. */
  readonly outcome: "pending" | "refunded" | "failed";
  /** Null until a transaction is signed; while the refund is pending, another may replace it. */
  readonly txHash: string | null;
  /** False if the refund was requested before; then nothing was changed or recorded. */
  readonly changed: boolean;
}

const POLL_MS = 500;

/** Refunds, on Solana, value in a deposit address that no settlement takes. */
export async function run(
  call: Call,
  { wait, ...asked }: Omit<Asked, "waitMs"> & { readonly wait: number },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const shown = await refundAddressCommand(config, { ...asked, waitMs: wait * 1_000 });
  return {
    json: shown,
    text: formatAddressRefund(shown),
    failed: shown.outcome === "failed",
  };
}

interface Asked {
  readonly address: string;
  readonly token: string;
  readonly to: string;
  readonly reason: string;
  /** How long to wait until the refund is final or failed; after that it is shown as pending. */
  readonly waitMs: number;
}

/**
 * Queues the refund, or finds the open one, and waits until it is final or failed.
 * @throws UsageError for an argument that the configuration does not know, and as `refundAddress`.
 */
export async function refundAddressCommand(config: Config, asked: Asked): Promise<ShownRefund> {
  const chain = findSolana(config);
  const wallet = parseAddress("address", asked.address);
  const to = parseAddress("--to", asked.to);
  const token = findToken(chain, asked.token);
  const request = {
    chainId: chain.chainId,
    wallet,
    token: token.address,
    to,
    reason: parseReason(asked.reason),
    operator: nameOperator(),
  };
  return withSettlements(config, async (deps) => {
    const { refund, changed } = await refundAddress(deps, request);
    const until = deps.clock.now() + asked.waitMs;
    let shown = show(refund, token, changed);
    while (shown.outcome === "pending" && deps.clock.now() < until) {
      await deps.clock.sleep(POLL_MS);
      const now = await findLastRefund(deps.db, refund);
      if (now?.id === refund.id) shown = show(now, token, changed);
    }
    return shown;
  });
}

function findSolana(config: Config): ChainConfig {
  const [chain] = listSolanaChains(config);
  if (chain) return chain;
  throw new UsageError(
    "Solana is not configured; on EVM chains the refund authority takes its deposits itself.",
  );
}

function parseAddress(what: string, text: string): Address {
  const parsed = addressFormat.parse(text, "svm");
  if (parsed.kind === "address") return parsed.address;
  const elsewhere =
    what === "address" && text.startsWith("0x")
      ? "; on EVM chains the refund authority takes its deposits itself"
      : "";
  throw new UsageError(`${what}: expected ${parsed.expected}${elsewhere}, got "${text}".`);
}

/** Finds the token in the configuration: the signer moves only configured tokens, with or without a route. */
function findToken({ tokens }: ChainConfig, text: string): TokenConfig {
  const address = isNativeName(text) ? NATIVE_SOL : parseSolanaAddress(text);
  const found = tokens.find((token) => token.symbol === text || token.address === address);
  if (found) return found;
  const symbols = tokens.map(({ symbol }) => symbol).join(", ");
  throw new UsageError(
    `token: expected a token of the chain in the configuration (${symbols}), got "${text}". A listed token can be refunded without a route.`,
  );
}

function show(refund: AddressRefund, token: TokenConfig, changed: boolean): ShownRefund {
  const { display } = addressFormat;
  return {
    refundId: refund.id,
    chainId: refund.chainId,
    address: display(refund.wallet),
    token: display(refund.token),
    symbol: token.symbol,
    amount: refund.amount.toString(),
    amountUnits: formatUnits(refund.amount, token.decimals),
    refundTo: display(refund.authority),
    intent: refund.intent,
    outcome: outcomeOf(refund),
    txHash: refund.txHash && displayTxHash(refund.txHash),
    changed,
  };
}

function outcomeOf({ state, succeeded }: AddressRefund): ShownRefund["outcome"] {
  if (state === "abandoned") return "failed";
  if (state !== "final") return "pending";
  return succeeded ? "refunded" : "failed";
}

/** Formats a refund for people. */
export function formatAddressRefund(refund: ShownRefund): string {
  const { outcome, address, amountUnits, symbol, refundTo, txHash, changed, intent } = refund;
  const what = `${amountUnits} ${symbol} of ${address}`;
  const before = changed ? "" : " (it was requested before)";
  const by = txHash === null ? "" : ` in ${txHash}`;
  switch (outcome) {
    case "refunded":
      return `${what} were refunded to ${refundTo}${by}, which is final${before}.`;
    case "failed":
      return `The refund of ${what} failed${by}${before}: nothing was paid. Remove the cause, then run this command again.`;
    case "pending":
      return [
        `${what} will be refunded to ${refundTo}, and to nobody else${before}.`,
        txHash === null
          ? `The settler has not signed ${intent} yet; does it run?`
          : `It was sent as ${txHash}, and is not final yet.`,
        "Run the same command again to see its progress; it requests no second refund meanwhile.",
      ].join("\n");
  }
}
