/** `sluice addresses refund`: refunds value in a deposit address that no settlement takes. */
import { type ChainConfig, type Config } from "../../config/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { displayTxHash, parseSolanaAddress } from "../../core/base58.ts";
import { findChainById } from "../../core/chain-registry.ts";
import type { Address } from "../../core/hex.ts";
import { isEvmAddress, isNativeName, nativeOf, toEvmAddress } from "../../core/hex.ts";
import {
  type AddressRefund,
  findLastRefund,
  readUnsent,
  refundAddress,
  type SettlementDeps,
  type UnsentState,
} from "../../settlements/index.ts";
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
  /** The reason that attestors are asked to sign; null on Solana, where the signer pays. */
  readonly policyReason: string | null;
  /** `pending` until the refund is final or has failed; `refused` by attestors; `lapsed` unsigned or unsent. */
  readonly outcome: "pending" | "refunded" | "failed" | "refused" | "lapsed";
  /** The attestors' word for a refusal; null without one. */
  readonly refusal: string | null;
  /** Null until a transaction is signed; while the refund is pending, another may replace it. */
  readonly txHash: string | null;
  /** False if the refund was requested before; then nothing was changed or recorded. */
  readonly changed: boolean;
}

const POLL_MS = 500;

/** Refunds value in a deposit address that no settlement takes. */
export async function run(
  call: Call,
  { wait, ...asked }: Omit<Asked, "waitMs"> & { readonly wait: number },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const shown = await refundAddressCommand(config, { ...asked, waitMs: wait * 1_000 });
  return {
    json: shown,
    text: formatAddressRefund(shown),
    failed: shown.outcome !== "refunded" && shown.outcome !== "pending",
  };
}

interface Asked {
  readonly address: string;
  readonly token: string;
  readonly to: string;
  readonly reason: string;
  /** Bridge chain id; needed where an address is of several chains. */
  readonly chain?: number | undefined;
  /** How long to wait until the refund is final or failed; after that it is shown as pending. */
  readonly waitMs: number;
}

/**
 * Queues the refund, or finds the open one, and waits until it is final or failed.
 * @throws UsageError for an argument that the configuration does not know, and as `refundAddress`.
 */
export async function refundAddressCommand(config: Config, asked: Asked): Promise<ShownRefund> {
  const chain = findChain(config, asked);
  const wallet = parseAddress(chain, "address", asked.address);
  const to = parseAddress(chain, "--to", asked.to);
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
    let shown = await show(deps, refund, { token, changed });
    while (shown.outcome === "pending" && deps.clock.now() < until) {
      await deps.clock.sleep(POLL_MS);
      const now = await findLastRefund(deps.db, refund);
      if (now?.id === refund.id) shown = await show(deps, now, { token, changed });
    }
    return shown;
  });
}

/** An EVM address is the same on every EVM chain, so that the command must name one if there are several. */
function findChain({ chains }: Config, { address, chain: chainId }: Asked): ChainConfig {
  const kind = address.startsWith("0x") ? "evm" : "svm";
  const family = chains.filter((chain) => chain.kind === kind);
  const named = family.filter((chain) => chainId === undefined || chain.chainId === chainId);
  const [found, ...others] = named;
  if (found && others.length === 0) return found;
  const names = family.map((chain) => nameOf(chain)).join(", ");
  if (family.length === 0) {
    throw new UsageError(
      `${kind === "evm" ? "No EVM chain" : "Solana"} is not configured, got the address "${address}".`,
    );
  }
  throw new UsageError(`--chain: expected one of the address's chains (${names}).`);
}

function nameOf({ chainId }: ChainConfig): string {
  return findChainById(chainId)?.name ?? String(chainId);
}

function parseAddress({ kind }: ChainConfig, what: string, text: string): Address {
  const parsed = addressFormat.parse(text, kind);
  if (parsed.kind === "address") return parsed.address;
  throw new UsageError(`${what}: expected ${parsed.expected}, got "${text}".`);
}

/** A token as amounts of it are shown. */
interface ShownToken {
  readonly symbol: string;
  readonly address: Address;
  readonly decimals: number;
}

/**
 * Finds the token in the configuration. Solana's signer moves only configured tokens, with or without a route; an EVM
 * address refunds any token, whose amount is shown in base units then.
 */
function findToken({ kind, tokens }: ChainConfig, text: string): ShownToken {
  const address = readToken(kind, text);
  const found = tokens.find((token) => token.symbol === text || token.address === address);
  if (found) return found;
  if (kind === "evm" && address) return { symbol: "base units", address, decimals: 0 };
  const symbols = tokens.map(({ symbol }) => symbol).join(", ");
  throw new UsageError(
    `token: expected a token of the chain in the configuration (${symbols}), got "${text}". A listed token can be refunded without a route.`,
  );
}

function readToken(kind: ChainConfig["kind"], text: string): Address | null {
  if (isNativeName(text)) return nativeOf(kind);
  if (kind === "evm") return isEvmAddress(text) ? toEvmAddress(text) : null;
  return parseSolanaAddress(text) ?? null;
}

async function show(
  deps: SettlementDeps,
  refund: AddressRefund,
  { token, changed }: { readonly token: ShownToken; readonly changed: boolean },
): Promise<ShownRefund> {
  const { display } = addressFormat;
  const unsent = await readUnsent(deps, refund);
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
    policyReason: refund.attested?.reason ?? null,
    outcome: outcomeOf(refund, unsent),
    refusal: unsent?.kind === "refused" ? unsent.refusal : null,
    txHash: refund.txHash && displayTxHash(refund.txHash),
    changed,
  };
}

function outcomeOf(
  { state, succeeded }: AddressRefund,
  unsent: UnsentState | null,
): ShownRefund["outcome"] {
  if (unsent) return unsent.kind === "asked" ? "pending" : unsent.kind;
  if (state === "abandoned") return "failed";
  if (state !== "final") return "pending";
  return succeeded ? "refunded" : "failed";
}

const BY_AUTHORITY =
  "The refund authority can take it by itself: `sluice rescue` prints its transaction.";

function describeUnsigned({ policyReason, intent }: ShownRefund): string {
  return policyReason === null
    ? `The settler has not signed ${intent} yet; does it run?`
    : `The attestors are asked to sign it as ${policyReason}; then the settler sends ${intent}.`;
}

/** Formats a refund for people. */
export function formatAddressRefund(refund: ShownRefund): string {
  const { outcome, address, amountUnits, symbol, refundTo, txHash, changed } = refund;
  const what = `${amountUnits} ${symbol} of ${address}`;
  const before = changed ? "" : " (it was requested before)";
  const by = txHash === null ? "" : ` in ${txHash}`;
  switch (outcome) {
    case "refunded":
      return `${what} were refunded to ${refundTo}${by}, which is final${before}.`;
    case "failed":
      return `The refund of ${what} failed${by}${before}: nothing was paid. Remove the cause, then run this command again.`;
    case "refused":
      return `The attestors refused the refund of ${what} as ${refund.policyReason} (${refund.refusal})${before}: nothing was paid. ${BY_AUTHORITY}`;
    case "lapsed":
      return `The refund of ${what} was not signed and sent in time${before}: nothing was paid. Do the attestors and the settler run? Run this command again. ${BY_AUTHORITY}`;
    case "pending":
      return [
        `${what} will be refunded to ${refundTo}, and to nobody else${before}.`,
        txHash === null
          ? describeUnsigned(refund)
          : `It was sent as ${txHash}, and is not final yet.`,
        "Run the same command again to see its progress; it requests no second refund meanwhile.",
      ].join("\n");
  }
}
