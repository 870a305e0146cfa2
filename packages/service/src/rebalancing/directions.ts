/**
 * Directions in which treasuries refill inventories. Within a chain the treasury pays its `Delivery`. To another chain it pays a
 * deposit address of ours whose commitment pays the `Delivery` there, so that a move is a settlement like any other: swept
 * by a listed route, burned and minted by the bridge, followed through reorganisations, and in the ledger.
 *
 * Their commitments fix the routes, to those over a bridge: out of an inventory a move would only pay itself.
 *
 * The refund authority of these addresses is the treasury contract, which cannot call: without the attestors nobody refunds a
 * move, and with them it returns to where it came from.
 */
import { createHash } from "node:crypto";
import { predictWallet } from "@sluice/sdk/address";
import type { Chain } from "../chains/port/index.ts";
import { type Config, type EvmChain, listEvmChains, type RouteConfig } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import { type Address, type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { type Destination, issueAddress, rootOf, type RouteSet } from "../addresses/index.ts";
import type { Db } from "../db/schema.ts";
import { ensureOwnIntegrator, OWN_PREFIX } from "../integrators/index.ts";

/** A treasury's token, and the inventory that it refills. */
export interface Direction {
  /** Bridge chain id of the treasury. */
  readonly srcChain: number;
  readonly token: Address;
  /** The `Delivery` of the chain, or the deposit address that pays the one of the destination. */
  readonly to: Address;
  readonly destChain: number;
  readonly destToken: Address;
}

/** Returns whether a direction stays on its chain, where no settlement follows the move. */
export function isLocalTo({ srcChain, destChain }: Direction): boolean {
  return srcChain === destChain;
}

/** What moves may cost: a bridge that asks for more than a basis point uses its slower mode, or waits. */
const TERMS = { maxFeeBps: 1, maxSlippageBps: 0 } as const;

/** An EVM chain whose claims a treasury contract receives. */
type Funded = EvmChain & { readonly contracts: { readonly treasury: EvmAddress } };

/** Lists the directions of a configuration, those of a chain before those that lead to it. */
export function listDirections(config: Pick<Config, "chains" | "routes">): readonly Direction[] {
  const funded = listFunded(config);
  return listRefilled(config).flatMap(({ chain, token: destToken }) => {
    const { chainId: destChain } = chain;
    const local = funded
      .filter(({ chainId }) => chainId === destChain)
      .map(({ chainId, contracts: { delivery } }): Direction => {
        return { srcChain: chainId, token: destToken, to: delivery, destChain, destToken };
      });
    const bridges = listBridges(config, { destChain, destToken });
    const remote = bridges.flatMap(({ chainId: srcChain, token }) => {
      const source = funded.find(({ chainId }) => chainId === srcChain);
      if (!source) return [];
      const to = walletOf(source, chain, { destToken, routeSet: routeSetOf(config, bridges) });
      return [{ srcChain, token, to, destChain, destToken }];
    });
    return [...local, ...remote];
  });
}

/** Lists the inventories with a target, on the chains whose `Delivery` a treasury can pay. */
export function listRefilled({ chains }: Pick<Config, "chains">) {
  return listEvmChains({ chains }).flatMap((chain) =>
    chain.tokens.flatMap(({ address, symbol, decimals, inventoryMin, inventoryTarget }) =>
      inventoryTarget === undefined
        ? []
        : [
            {
              chain,
              token: address,
              symbol,
              decimals,
              min: inventoryMin ?? 0n,
              target: inventoryTarget,
            },
          ],
    ),
  );
}

function listFunded({ chains }: Pick<Config, "chains">): readonly Funded[] {
  // CAST: the filter keeps the chains with a treasury.
  return listEvmChains({ chains }).filter(
    ({ contracts }) => contracts.treasury !== undefined,
  ) as readonly Funded[];
}

/** Value that crosses chains as the same asset, and not out of another inventory. */
function isBridge({ fromInventory, pricedIn, chainId, destChain }: RouteConfig): boolean {
  return !fromInventory && pricedIn === null && chainId !== destChain;
}

/** Returns the deposit address on the chain of a treasury that pays a destination. */
function walletOf(
  { contracts }: Funded,
  destination: EvmChain,
  of: { readonly destToken: Address; readonly routeSet: RouteSet },
): EvmAddress {
  const { factory, treasury } = contracts;
  const fields = {
    ...TERMS,
    integrator: integratorOf(treasury),
    refundAuthority: treasury,
    routes: rootOf(of.routeSet),
    ...destinationOf(destination, of),
  };
  return toEvmAddress(predictWallet({ factory, commitment: fields }));
}

/** Returns the routes over a bridge as an address commits to them. */
function routeSetOf({ chains }: Pick<Config, "chains">, bridges: readonly RouteConfig[]): RouteSet {
  return bridges.flatMap(({ chainId, contract }) => {
    const source = listEvmChains({ chains }).find((chain) => chain.chainId === chainId);
    return source ? [{ chainId, evmChainId: source.evmChainId, route: contract }] : [];
  });
}

function listBridges(
  { routes }: Pick<Config, "routes">,
  { destChain, destToken }: { readonly destChain: number; readonly destToken: Address },
): readonly RouteConfig[] {
  return routes.filter(
    (route) => isBridge(route) && route.destChain === destChain && route.destToken === destToken,
  );
}

/** Returns the destination of an address. Its user is its set of routes: another set is another address. */
function destinationOf(
  { chainId, contracts }: EvmChain,
  { destToken, routeSet }: { readonly destToken: Address; readonly routeSet: RouteSet },
): Destination {
  const userId = rootOf(routeSet).slice(0, 42);
  return { userId, destChain: chainId, destWallet: contracts.delivery, destToken };
}

/** Returns the integrators to which the moves of the configured treasuries belong. */
export function listOwnIntegrators(config: Pick<Config, "chains">): ReadonlySet<string> {
  return new Set(listFunded(config).map(({ contracts }) => integratorOf(contracts.treasury)));
}

/** Returns the id of the integrator to which the moves of a treasury belong: the same in every database. */
export function integratorOf(treasury: Address): string {
  const hex = createHash("sha256").update(`sluice inventory of ${treasury}`).digest("hex");
  // Version 8 of RFC 9562: the other bits are ours.
  const id = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Stores the deposit address of a direction, so that the scanner recognises its moves. Does nothing if it is stored.
 */
export async function issueDirection(
  deps: { readonly db: Db; readonly random: Random },
  {
    config,
    chain,
    direction,
  }: {
    readonly config: Pick<Config, "chains" | "routes">;
    readonly chain: Chain;
    readonly direction: Direction;
  },
): Promise<void> {
  if (isLocalTo(direction)) return;
  const { srcChain, destChain, destToken } = direction;
  const source = listFunded(config).find(({ chainId }) => chainId === srcChain);
  const destination = listEvmChains(config).find(({ chainId }) => chainId === destChain);
  if (!source || !destination) return;
  const { treasury } = source.contracts;
  const integratorId = integratorOf(treasury);
  await ensureOwnIntegrator(deps.db, {
    id: integratorId,
    name: `${OWN_PREFIX}${treasury.slice(2, 10)}`,
    refundEvm: treasury,
    gas: "sponsored",
    ...TERMS,
  });
  const routeSet = routeSetOf(config, listBridges(config, direction));
  const { wallet } = await issueAddress(deps, {
    integratorId,
    chain,
    destination: destinationOf(destination, { destToken, routeSet }),
    terms: { routes: "fixed", unattended: false },
    routeSet,
  });
  assert(wallet === direction.to, "a direction leads to the address that is stored");
}
