/** Every kind of route that the file may have. A new one is a line in each of the lists. */
import { type Static, Type } from "typebox";
import { assert } from "../../core/assert.ts";
import type { Address } from "../../core/hex.ts";
import { FastMctpEntry, type FastMctpPair, fastMctp } from "./fast-mctp.ts";
import type { RouteForm } from "./form.ts";
import { MonoChainEntry, type MonoChainPair, monoChain } from "./mono-chain.ts";
import { SwiftEntry, type SwiftPair, swift } from "./swift.ts";

/** An entry of `routes`: one route, or a group of them. */
export const WrittenRoute = Type.Union([MonoChainEntry, SwiftEntry, FastMctpEntry]);
export type WrittenRoute = Static<typeof WrittenRoute>;

/** The groups of a file without routes, which need no inventory: every token at home, and USDC by the bridge. */
export const DEFAULT_GROUPS: readonly WrittenRoute[] = [
  { kind: "MONO_CHAIN" },
  { kind: "FAST_MCTP" },
];

/** A route without its contract. */
export type RoutePair = MonoChainPair | SwiftPair | FastMctpPair;

/** A route in use. */
export type RouteConfig = RoutePair & { readonly contract: Address };

const FORMS: readonly RouteForm<WrittenRoute, RoutePair>[] = [monoChain, swift, fastMctp];

/** Returns the form of a route's kind. */
export function formOf({ kind }: Pick<RoutePair, "kind">): RouteForm<WrittenRoute, RoutePair> {
  const form = FORMS.find((known) => known.kind === kind);
  assert(form, "every kind of route has its form");
  return form;
}
