/** Reads the target of a pause from the options of its commands. */
import type { RouteKind } from "../../config/index.ts";
import { findChainById } from "../../core/chain-registry.ts";
import { type Address, isNativeName, nativeOf } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import { findIntegrator } from "../../integrators/index.ts";
import { ROUTE_MODULES } from "../../routes/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import type { PauseTarget } from "../../settlements/index.ts";
import { UsageError } from "../failure.ts";

export interface TargetInput {
  readonly integrator: string | undefined;
  /** Bridge chain id. */
  readonly chain: number | undefined;
  readonly token: string | undefined;
  readonly route: string | undefined;
}

/**
 * Returns the target that the options name.
 * @throws UsageError unless they name exactly one; OperatingError VALIDATION_ERROR for an unknown integrator.
 */
export async function readTarget(db: Db, input: TargetInput): Promise<PauseTarget> {
  const { integrator, chain: chainId, token, route } = input;
  if (integrator !== undefined) {
    if (chainId ?? token ?? route) throw new UsageError(EXPECTED);
    return { scope: "integrator", integratorId: await findIntegrator(db, integrator) };
  }
  if (chainId === undefined || (token !== undefined && route !== undefined)) {
    throw new UsageError(EXPECTED);
  }
  if (token !== undefined) return { scope: "token", chainId, token: parseToken(chainId, token) };
  if (route !== undefined) return { scope: "route", chainId, route: parseRoute(route) };
  return { scope: "chain", chainId };
}

const EXPECTED = "Expected --integrator, or --chain with at most one of --token and --route.";

/** Reads a token of a chain. @throws UsageError. */
export function parseToken(chainId: number, text: string): Address {
  const known = findChainById(chainId);
  if (!known) throw new UsageError("--chain: expected the bridge id of a chain, such as 2.");
  if (isNativeName(text)) return nativeOf(known.kind);
  const parsed = addressFormat.parse(text, known.kind);
  if (parsed.kind === "address") return parsed.address;
  throw new UsageError(`--token: expected ${parsed.expected}, or native.`);
}

/** Reads a kind of route. @throws UsageError. */
export function parseRoute(text: string): RouteKind {
  const kinds = ROUTE_MODULES.map(({ kind }) => kind);
  const known = kinds.find((kind) => kind === text);
  if (known) return known;
  throw new UsageError(`--route: expected ${kinds.join(", ")}.`);
}

/** Returns the name of a target for people. */
export function nameTarget(input: TargetInput): string {
  const { integrator, chain, token, route } = input;
  if (integrator !== undefined) return `integrator ${integrator}`;
  const part =
    token === undefined ? (route === undefined ? "" : `route ${route} of `) : `token ${token} of `;
  return `${part}chain ${chain}`;
}
