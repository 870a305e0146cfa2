/**
 * The gas charge of a deposit, in the simulation's own arithmetic: decides which deposits must wait at the present gas
 * price, and which must not.
 */
import type { FakeChain } from "../fake-chain/model.ts";
import type { RouteConfig } from "../../src/config/index.ts";
import { type Address, isNative } from "../../src/core/hex.ts";
import { COIN_USD, ETHER, MAX_FEE_BPS, SOLANA, UNIT } from "./stage.ts";

/** One transaction: its gas on an EVM chain, and whether it pays a recipient. */
interface Step {
  readonly at: "source" | "destination";
  readonly gas: bigint;
  readonly pays: boolean;
}

/** Added to the first sweep. */
const DEPLOY = 45_000n;
export const STEPS = {
  MONO_CHAIN: [{ at: "source", gas: 88_000n, pays: true }],
  SWAP: [{ at: "source", gas: 312_000n, pays: false }],
  SWIFT: [
    { at: "source", gas: 146_000n, pays: false },
    { at: "destination", gas: 125_000n, pays: true },
    { at: "source", gas: 74_000n, pays: false },
  ],
  FAST_MCTP: [
    { at: "source", gas: 230_000n, pays: false },
    { at: "destination", gas: 220_000n, pays: false },
  ],
  SWAP_AND_BURN: [
    { at: "source", gas: 364_000n, pays: false },
    { at: "destination", gas: 220_000n, pays: false },
  ],
} as const satisfies Readonly<Record<string, readonly Step[]>>;

const TIP = 10n ** 9n;
const DOLLAR = 10n ** 18n;
const LAMPORTS_PER_COIN = 10n ** 9n;
/** Lamports of any transaction on Solana, and of the accounts that a payment may create: a token account and a marker. */
const LAMPORTS = 15_100n;
const RENT_LAMPORTS = (165n + 128n + 1n + 128n) * 6_960n;

/** A holding that a route would settle. */
export interface Waiting {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly balance: bigint;
}

/** Returns whether gas alone exceeds the fee cap of a holding by each of these routes, at the present gas price. */
export function isUncovered(
  chains: ReadonlyMap<number, FakeChain>,
  routes: readonly RouteConfig[],
  { chainId, wallet, token, balance }: Waiting,
): boolean {
  const source = chainOf(chains, chainId);
  const needsWallet = chainId !== SOLANA && !source.head.state.code.has(wallet);
  // The coins of all chains have one price; a token is worth a dollar.
  const usd = isNative(token) ? COIN_USD : DOLLAR;
  const coin = chainId === SOLANA ? LAMPORTS_PER_COIN : ETHER;
  const one = isNative(token) ? coin : UNIT;
  return routes.every((route) => {
    const wei = stepsOf(route)
      .map(({ at, ...step }) => {
        const there = at === "source" || route.kind === "MONO_CHAIN" ? chainId : route.destChain;
        return weiOf(chainOf(chains, there), step);
      })
      .reduce(
        (sum, cost) => sum + cost,
        needsWallet ? weiOf(source, { gas: DEPLOY, pays: false }) : 0n,
      );
    // Rounded up, against a cap that is rounded down.
    const needed = (wei * COIN_USD * one + ETHER * usd - 1n) / (ETHER * usd);
    return needed > (balance * BigInt(MAX_FEE_BPS)) / 10_000n;
  });
}

function stepsOf(route: RouteConfig): readonly Step[] {
  if (route.kind === "MONO_CHAIN") return route.pricedIn ? STEPS.SWAP : STEPS.MONO_CHAIN;
  if (route.kind === "FAST_MCTP") return route.pricedIn ? STEPS.SWAP_AND_BURN : STEPS.FAST_MCTP;
  return STEPS.SWIFT;
}

/** Returns the gas cost of one transaction, in wei or in lamports scaled to 18 decimals. */
function weiOf(
  { contracts, baseFee }: FakeChain,
  { gas, pays }: { readonly gas: bigint; readonly pays: boolean },
): bigint {
  if (contracts.chainId !== SOLANA) return gas * (baseFee + TIP);
  return (LAMPORTS + (pays ? RENT_LAMPORTS : 0n)) * (ETHER / LAMPORTS_PER_COIN);
}

function chainOf(chains: ReadonlyMap<number, FakeChain>, chainId: number): FakeChain {
  const chain = chains.get(chainId);
  if (!chain) throw new Error(`there is no chain ${chainId}`);
  return chain;
}
