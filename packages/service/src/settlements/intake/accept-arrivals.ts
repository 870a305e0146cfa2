/**
 * Records the arrivals of one block. The requests to nodes and the database transactions grow with the deposits that are
 * worth settling, not with the number of wallets that a stranger paid a little to: dust is decided by the balances that
 * the scanner has read for the whole block.
 *
 * Every arrival, or set of dust, is committed by itself: after an error the caller repeats only the others.
 */
import type { DepositAddress } from "../../addresses/index.ts";
import type { BalancesAtBlock, Chain } from "../../chains/port/index.ts";
import { isNative } from "../../core/hex.ts";
import {
  type ArrivedValue,
  gateBalance,
  type IgnoredReason,
  type Minimums,
} from "../../deposits/index.ts";
import { pairOf } from "../choose-route.ts";
import { chainOf, type IntakeDeps } from "../deps.ts";
import { readDeployed } from "../wallet-state.ts";
import { acceptArrival, acceptValue, type Premise } from "./accept.ts";
import { type Dust, recordDust } from "./dust.ts";
import { findNotBehind } from "./live-balance.ts";
import { openInSets } from "./open-in-sets.ts";

/** Arrivals whose state is read together. */
const READ_AT_ONCE = 100;

/** An arrival at an address of ours. */
export interface OurArrival {
  readonly arrived: ArrivedValue;
  readonly address: DepositAddress;
}

/** An arrival with the balance of its holding: of its block, or a newer one. */
interface Weighed extends OurArrival {
  readonly minimums: Minimums;
  readonly balance: bigint;
}

/** Records arrivals, all of the same block. Idempotent. */
export async function acceptArrivals(
  deps: IntakeDeps,
  arrivals: readonly OurArrival[],
  premise: Premise,
): Promise<void> {
  const [only] = arrivals;
  // The usual block, and the fewest round trips.
  if (only && arrivals.length === 1) return acceptValue(deps, only.arrived, only.address, premise);
  const minimums = await readMinimums(deps, arrivals);
  const dust: (OurArrival & Dust)[] = [];
  const rest: OurArrival[] = [];
  for (const arrival of arrivals) {
    const { arrived, address } = arrival;
    // A token contract that fails leaves the deposit to the re-check, like a balance of zero.
    const weighed = arrived.balance === undefined ? null : weigh(arrival, arrived.balance);
    const reason = weighed && findReason(deps, weighed);
    if (reason) dust.push({ arrived, address, reason });
    else rest.push(arrival);
  }
  rest.push(...(await recordDust(deps, dust, premise)));
  for (let from = 0; from < rest.length; from += READ_AT_ONCE) {
    await acceptRead(deps, rest.slice(from, from + READ_AT_ONCE), { premise, weigh });
  }

  function weigh({ arrived, address }: OurArrival, balance: bigint): Weighed {
    const none = { token: undefined, floor: undefined };
    return { arrived, address, balance, minimums: minimums.get(arrived.token) ?? none };
  }
}

/** Reads the minimums of each token of the arrivals. */
async function readMinimums(
  deps: IntakeDeps,
  arrivals: readonly OurArrival[],
): Promise<ReadonlyMap<string, Minimums>> {
  const tokens = new Map(arrivals.map(({ arrived }) => [arrived.token, arrived.chainId]));
  return new Map(
    await Promise.all(
      [...tokens].map(
        async ([token, chainId]) => [token, await deps.readMinimums(chainId, token)] as const,
      ),
    ),
  );
}

/** Returns the reason for which no settlement is created for a balance, or null. */
function findReason(
  deps: IntakeDeps,
  { arrived, address, balance, minimums }: Weighed,
): IgnoredReason | null {
  if (deps.routes.list(pairOf(arrived, address)).length === 0) return "no_adapter";
  const gate = gateBalance(balance, minimums);
  return gate.kind === "ignore" ? gate.reason : null;
}

/** Records arrivals by their live balances. */
async function acceptRead(
  deps: IntakeDeps,
  some: readonly OurArrival[],
  {
    premise,
    weigh,
  }: {
    readonly premise: Premise;
    readonly weigh: (arrival: OurArrival, balance: bigint) => Weighed;
  },
): Promise<void> {
  const [first] = some;
  if (!first) return;
  const chain = chainOf(deps, first.arrived);
  const balances = await readLive(chain, some);
  const weighed = some.map((one, index) => weigh(one, balances[index] ?? 0n));
  const judged = weighed.map((one) => ({ ...one, reason: findReason(deps, one) }));
  const isDust = (
    one: Weighed & { readonly reason: IgnoredReason | null },
  ): one is Weighed & Dust => one.reason !== null;
  const left = await recordDust(deps, judged.filter(isDust), premise);
  const rest: Weighed[] = [...judged.filter((one) => !isDust(one)), ...left];
  const deployed = await Promise.all(
    rest.map(({ arrived: { wallet } }) => readDeployed(chain, wallet)),
  );
  const found = rest.map((one, index) => ({ ...one, walletDeployed: deployed[index] ?? null }));
  for (const arrival of await openInSets(deps, found, premise)) {
    await acceptArrival(deps, arrival, premise);
  }
}

/** Reads the live balances of holdings, in order: zero where the token's contract fails. */
async function readLive(chain: Chain, some: readonly OurArrival[]): Promise<readonly bigint[]> {
  const { balances } = chain;
  const [first] = some;
  if (!first) return [];
  const together = balances.kind === "at_block" ? await readAtHead(chain, balances, some) : null;
  const found =
    together ??
    (await Promise.all(
      some.map(({ arrived }) => chain.findBalance(arrived.token, arrived.wallet)),
    ));
  return found.map((balance) => balance ?? 0n);
}

/** Reads balances in the newest block; null without the state of that block. */
async function readAtHead(
  chain: Chain,
  balances: BalancesAtBlock,
  some: readonly OurArrival[],
): Promise<readonly (bigint | null)[] | null> {
  const holdings = some.map(({ arrived }) => arrived);
  const [first] = holdings;
  if (!first) return [];
  const at = await findNotBehind(chain, { number: first.blockNumber, hash: first.blockHash });
  const tokens = holdings.filter(({ token }) => !isNative(token));
  const coins = holdings.filter(({ token }) => isNative(token));
  const [ofTokens, ofCoins] = await Promise.all([
    tokens.length === 0 ? [] : balances.listTokenBalances(at.hash, tokens),
    coins.length === 0
      ? []
      : balances.listNativeBalances(
          at,
          coins.map(({ wallet }) => wallet),
        ),
  ]);
  if (!ofTokens) return null;
  const read = new Map<ArrivedValue, bigint | null>([
    ...tokens.map((one, index) => [one, ofTokens[index] ?? null] as const),
    ...coins.map((one, index) => [one, ofCoins[index] ?? null] as const),
  ]);
  return holdings.map((one) => read.get(one) ?? null);
}
