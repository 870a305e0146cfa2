import { describe, expect, test } from "vitest";
import { CHAIN, USDC } from "../../test/support/doctor-doubles.ts";
import { predictWallet } from "../chains/evm/commitment.ts";
import type { EvmChain, RouteConfig } from "../config/index.ts";
import { rootOf } from "../addresses/index.ts";
import { type Address, padAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { integratorOf, listDirections, listOwnIntegrators } from "./directions.ts";

const TREASURY = toEvmAddress(`0x${"7e".repeat(20)}`);
const DELIVERY = toEvmAddress(`0x${"d0".repeat(20)}`);
const BRIDGE = toEvmAddress(`0x${"b1".repeat(20)}`);

function chainOf(chainId: number, more: { target?: bigint; treasury?: Address } = {}): EvmChain {
  return {
    ...CHAIN,
    chainId,
    contracts: {
      ...CHAIN.contracts,
      delivery: DELIVERY,
      treasury: "treasury" in more ? undefined : TREASURY,
    },
    tokens: CHAIN.tokens.map((token) => ({ ...token, inventoryTarget: more.target })),
  };
}

function route(chainId: number, destChain: number, more: Partial<RouteConfig> = {}): RouteConfig {
  return {
    kind: "FAST_MCTP",
    chainId,
    token: USDC,
    destChain,
    destToken: USDC,
    contract: BRIDGE,
    pricedIn: null,
    fromInventory: false,
    ...more,
  };
}

const named = (config: Parameters<typeof listDirections>[0]) =>
  listDirections(config).map(({ srcChain, destChain }) => `${srcChain} to ${destChain}`);

describe("directions", () => {
  test("fill inventories with a target: from their own chain, and over bridges [T310]", () => {
    const chains = [chainOf(2, { target: 5n }), chainOf(30)];
    const bridges = [route(30, 2), route(2, 30)];
    expect(named({ chains, routes: bridges })).toEqual(["2 to 2", "30 to 2"]);
    expect(listDirections({ chains, routes: [] })).toEqual([
      { srcChain: 2, token: USDC, to: DELIVERY, destChain: 2, destToken: USDC },
    ]);
  });

  test("use no route out of another inventory, none through a pool, and no chain without a treasury", () => {
    const chains = [chainOf(2, { target: 5n }), chainOf(30)];
    const others = [
      route(30, 2, { fromInventory: true }),
      route(30, 2, { pricedIn: { chainId: 2, token: USDC } }),
      route(2, 2),
    ];
    expect(named({ chains, routes: others })).toEqual(["2 to 2"]);
    const without = [chainOf(2, { target: 5n }), { ...chainOf(30), contracts: CHAIN.contracts }];
    expect(named({ chains: without, routes: [route(30, 2)] })).toEqual(["2 to 2"]);
  });

  test("lead to an address that commits to the delivery, to bridges, and to the treasury's refund [T310]", () => {
    const chains = [chainOf(2, { target: 5n }), chainOf(30)];
    const [, remote] = listDirections({ chains, routes: [route(30, 2)] });
    const routes = rootOf([{ chainId: 30, evmChainId: CHAIN.evmChainId, route: BRIDGE }]);
    const wallet = predictWallet(CHAIN.contracts.factory, {
      integrator: toHex32(`0x${integratorOf(TREASURY).replaceAll("-", "").padStart(64, "0")}`),
      userId: toHex32(`0x${routes.slice(2, 42).padStart(64, "0")}`),
      destChain: 2,
      destWallet: padAddress(DELIVERY),
      destToken: padAddress(USDC),
      refundAuthority: padAddress(TREASURY),
      maxFeeBps: 1,
      maxSlippageBps: 0,
      routes,
      flags: 0,
    });
    expect(remote?.to).toBe(wallet);
    const changed = [route(30, 2, { contract: DELIVERY })];
    expect(listDirections({ chains, routes: changed })[1]?.to).not.toBe(wallet);
  });

  test("belong to an integrator whose id follows from the treasury", () => {
    const id = integratorOf(TREASURY);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(integratorOf(DELIVERY)).not.toBe(id);
    expect([...listOwnIntegrators({ chains: [chainOf(2), chainOf(30)] })]).toEqual([id]);
  });
});
