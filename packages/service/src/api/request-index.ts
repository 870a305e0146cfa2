/** `POST /request-index`. Checks run in this order: key, body, chain, address format, wallet, then the settlements. */
import { RequestIndexBody } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { type DepositAddress, listByWallets } from "../addresses/index.ts";
import type { AddressFormat } from "../chains/port/index.ts";
import { type ChainKind, findChainById } from "../core/chain-registry.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, isNativeName, nativeOf } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import type { Principal } from "../integrators/index.ts";

/** A validated request for a wallet of the integrator. */
export interface IndexRequest {
  readonly chainId: number;
  readonly address: DepositAddress;
  readonly token: Address;
}

/**
 * Reads a request.
 * @throws OperatingError VALIDATION_ERROR naming the field; UNSUPPORTED_CHAIN; NOT_FOUND for a wallet of nobody or of
 *   another integrator.
 */
export async function readIndexRequest(
  deps: {
    readonly db: Db;
    readonly format: AddressFormat;
    /** Bridge ids of the scanned chains. */
    readonly scanned: ReadonlySet<number>;
  },
  body: RequestIndexBody,
  principal: Principal,
): Promise<IndexRequest> {
  const known = findChainById(body.chain);
  if (!known || !deps.scanned.has(body.chain)) {
    const what = known ? `${known.name} is not enabled here` : "there is no such chain";
    throw new OperatingError("UNSUPPORTED_CHAIN", `chain: ${what}.`, {
      details: { field: "chain" },
    });
  }
  const { kind } = known;
  const wallet = parseAddress(deps.format, kind, "walletAddress", body.walletAddress);
  const token = isNativeName(body.tokenAddress)
    ? nativeOf(kind)
    : parseAddress(deps.format, kind, "tokenAddress", body.tokenAddress);
  const address = (await listByWallets(deps.db, [wallet])).get(wallet);
  if (address?.integratorId !== principal.integratorId) {
    throw new OperatingError("NOT_FOUND", "The wallet is not one of your deposit addresses.");
  }
  return { chainId: body.chain, address, token };
}

/** Validates the form of a body. */
export function parseIndexBody(body: unknown): RequestIndexBody {
  if (Value.Check(RequestIndexBody, body)) return body;
  const [first] = Value.Errors(RequestIndexBody, body);
  const missing = first?.keyword === "required" ? first.params.requiredProperties[0] : undefined;
  const field = missing ?? (first?.instancePath.replace(/^\//, "") || "body");
  throw new OperatingError("VALIDATION_ERROR", `${field}: ${EXPECTED[field] ?? EXPECTED_BODY}.`, {
    details: { field },
  });
}

const EXPECTED_BODY = "expected an object with walletAddress, tokenAddress and chain";
const EXPECTED: Readonly<Record<string, string>> = {
  walletAddress: "expected one of your deposit addresses",
  tokenAddress: 'expected a token\'s address, or "native"',
  chain: "expected a bridge chain id, a whole number",
};

function parseAddress(
  format: AddressFormat,
  kind: ChainKind,
  field: string,
  text: string,
): Address {
  const parsed = format.parse(text, kind);
  if (parsed.kind === "address") return parsed.address;
  throw new OperatingError("VALIDATION_ERROR", `${field}: expected ${parsed.expected}.`, {
    details: { field },
  });
}
