/** The doctor's checks of routes of the kind `FAST_MCTP`. Circle's contracts are checked with their chains. */
import type { BridgePair } from "../../chains/inspector.ts";
import { formatUnits } from "../../core/amounts.ts";
import { assert } from "../../core/assert.ts";
import { type Check, type Compared, judge } from "../../core/check.ts";
import { OperatingError } from "../../core/errors.ts";
import { padAddress, toEvmAddress } from "../../core/hex.ts";
import { describeRoute, getEvmChainConfig } from "../configured.ts";
import type { RoutePlace, ServiceCheckDeps } from "../module.ts";
import { listPoolTerms } from "../pool-terms.ts";
import { type BridgeFees, SHARE_DECIMALS } from "./bridge-attestations.ts";
import type { BridgeConfig } from "./config.ts";

type BridgeRoute = BridgeConfig;

/** Compares the constructor terms of a route's contract with the configuration. */
export async function compareTerms(
  place: RoutePlace,
  route: BridgeRoute,
): Promise<readonly Compared[]> {
  const { chain, inspector, display } = place;
  const { token, contract, swap } = route;
  if (swap) {
    const terms = await inspector.getSwapBridgePair(toEvmAddress(contract));
    return [
      ...(await listPoolTerms(place, { token, contract, swap, terms })),
      ...listBridgeTerms(place, route, terms),
    ];
  }
  const pair = await inspector.getBridgePair(toEvmAddress(contract));
  return [
    { name: "evmChainId", found: pair.evmChainId, expected: chain.evmChainId },
    { name: "factory", found: pair.factory, expected: chain.contracts.factory },
    { name: "token", found: display(pair.token), expected: display(token) },
    ...listBridgeTerms(place, route, pair),
  ];
}

function listBridgeTerms(
  { chain, config, display }: RoutePlace,
  { destChain, destToken }: BridgeRoute,
  pair: Omit<BridgePair, "token">,
): readonly Compared[] {
  const { cctp } = getEvmChainConfig(config, destChain);
  assert(chain.cctp && cctp, "both chains of a bridge route have bridge contracts");
  const { messenger } = chain.cctp;
  return [
    { name: "messenger", found: display(pair.messenger), expected: display(messenger) },
    { name: "destChain", found: pair.destChain, expected: destChain },
    { name: "destToken", found: pair.destToken, expected: padAddress(destToken) },
    { name: "destDomain", found: pair.destDomain, expected: cctp.domain },
  ];
}

/**
 * Checks that the attestation service quotes fees for a route. While it does not answer, nothing is burned and no burn is
 * minted.
 */
export function checkService(
  { config, attestations }: ServiceCheckDeps,
  route: BridgeRoute,
): readonly Check[] {
  const from = getEvmChainConfig(config, route.chainId).cctp;
  const to = getEvmChainConfig(config, route.destChain).cctp;
  if (!from || !to || !attestations) return [];
  return [
    {
      id: "bridge.service",
      subject: "bridge",
      item: describeRoute(config, route),
      needs: [],
      run: () => checkFees(() => attestations.getFees(from.domain, to.domain)),
    },
  ];
}

async function checkFees(read: () => Promise<BridgeFees>) {
  const expected = "fees from the attestation service";
  const advice =
    "Correct cctp.apiUrl, or wait until the service answers. Until then the route is not offered and burns are not minted.";
  try {
    const { fast, standard } = await read();
    const show = (share: bigint | null) =>
      share === null ? "not offered" : `${formatUnits(share, SHARE_DECIMALS)} basis points`;
    const found = `fast ${show(fast)}, standard ${show(standard)}`;
    return judge(fast !== null || standard !== null, {
      found,
      expected,
      advice,
      otherwise: "warning",
    });
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const found = `${error.message} (${String(error.details?.["reason"])})`;
    return judge(false, { found, expected, advice, otherwise: "warning" });
  }
}
