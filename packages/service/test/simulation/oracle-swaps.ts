/**
 * Expected results of pool swaps, computed from the chains alone: at the market price of the time of signature, never below
 * the committed minimum, and to the unit between wallet, pool, fee and recipient. Shares no code with the service.
 */
import type { Action, FakeLog, RouteTerms } from "../fake-chain/contracts.ts";
import { predictWallet } from "../fake-chain/codec.ts";
import type { FakeChain } from "../fake-chain/model.ts";
import { NATIVE_TOKEN } from "../../src/core/hex.ts";
import { Broken } from "./broken.ts";
import type { SharedDatabase } from "./database.ts";
import type { Bridged } from "./oracle-bridge.ts";
import type { PaidAddress } from "./stage.ts";

const MAX_FEE_BPS = 50n;
const MAX_SLIPPAGE_BPS = 100n;
const ONE = 10n ** 18n;

interface Swap {
  readonly chainId: number;
  readonly txHash: string;
  readonly wallet: string;
  readonly to: string;
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly fee: bigint;
  /** Price that the attestor signed. */
  readonly rate: bigint;
  /** Minimum output of the call. */
  readonly insisted: bigint;
  /** The wallet's balance in each of the blocks before, the newest last: the pool was asked about one of them. */
  readonly held: readonly bigint[];
}

/** Blocks between the query of a pool and the swap, at most. */
const QUERIED_BLOCKS = 16;

export function readSwaps(chains: ReadonlyMap<number, FakeChain>): readonly Swap[] {
  return [...chains].flatMap(([chainId, chain]) =>
    chain.branchOf(chain.head).flatMap(({ transactions }, at, branch) =>
      transactions.flatMap(({ transaction, logs }) =>
        logs.flatMap((log): Swap[] => {
          if (log.kind !== "effect" || log.effect.kind !== "swapped") return [];
          const { kind: _, ...facts } = log.effect;
          const terms = findTerms(transaction.action, facts.wallet, facts.tokenIn);
          if (!terms || !("price" in terms)) throw new Broken("the oracle cannot read a swap");
          const place = { chainId, txHash: transaction.hash };
          const held = branch
            .slice(Math.max(0, at - QUERIED_BLOCKS), at)
            .map(({ state }) => state.balanceOf(facts.tokenIn, facts.wallet))
            .filter((balance) => balance > 0n);
          return [{ ...place, ...facts, rate: terms.price.rate, insisted: terms.minOut, held }];
        }),
      ),
    ),
  );
}

/** Returns the terms of the relayer's call for a wallet's token. */
function findTerms(action: Action, wallet: string, token: string): RouteTerms | null {
  if (action.kind === "many") {
    for (const job of action.jobs) {
      const terms = findTerms(job, wallet, token);
      if (terms) return terms;
    }
  }
  const isIts =
    action.kind === "settle" &&
    action.token === token &&
    predictWallet(action.commitment) === wallet;
  return isIts ? action.terms : null;
}

/** Returns the pool swap of a wallet's token that ended at a position in the logs of its transaction. */
export function swapBefore(
  logs: readonly FakeLog[],
  { wallet, token }: { readonly wallet: string; readonly token: string },
) {
  for (const log of logs.toReversed()) {
    if (log.kind !== "effect" || log.effect.kind !== "swapped") continue;
    if (log.effect.wallet === wallet && log.effect.tokenIn === token) return log.effect;
  }
  return null;
}

/** Checks that every pool swap was fair and paid the right account, as pools and ledger show. Returns counts of states. */
export async function judgeSwaps(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly PaidAddress[],
  given: {
    readonly swaps: readonly Swap[];
    readonly bridged: Bridged;
    /** Price of the coin at any time, in dollars times 1e18. */
    readonly fairs: ReadonlySet<bigint>;
  },
): Promise<readonly string[]> {
  const { swaps, bridged, fairs } = given;
  const met = new Set<string>();
  const wallets = new Map(addresses.map(({ address }) => [address.wallet as string, address]));
  for (const swap of swaps) {
    const { chainId, wallet, tokenIn, tokenOut, amountIn, amountOut, fee, rate } = swap;
    const name = `${amountIn} of ${tokenIn} swapped for ${amountOut} in ${swap.txHash} of ${wallet}`;
    const address = wallets.get(wallet);
    if (!address) throw new Broken(`V5: ${name} is nobody's`);
    const isCoin = tokenIn === NATIVE_TOKEN;
    // The token is worth a dollar.
    const isMarket = isCoin
      ? fairs.has(rate)
      : [...fairs].some((fair) => rate === (ONE * ONE) / fair);
    if (!isMarket) throw new Broken(`T56: ${name} at ${rate}, which it never was worth`);
    const [scale, other] = isCoin ? [10n ** 18n, 10n ** 6n] : [10n ** 6n, 10n ** 18n];
    const fair = (amountIn * rate * other) / (ONE * scale);
    if (amountOut < (fair * (10_000n - MAX_SLIPPAGE_BPS)) / 10_000n)
      throw new Broken(`T69: ${name}, and ${fair} was fair`);
    if (amountOut < swap.insisted) throw new Broken(`T69: ${name}, below ${swap.insisted}`);
    // Beyond that the pool's own answer decides. More may have arrived since it was queried, which the price still covers.
    const newest = swap.held.at(-1) ?? amountIn;
    const least = swap.held.reduce((one, other) => (one < other ? one : other), newest);
    if (swap.insisted * 100n * newest < fair * 85n * least)
      throw new Broken(`T69: of ${name} no more than ${swap.insisted} was insisted on`);
    if (fee * 10_000n > (amountIn + fee) * MAX_FEE_BPS) throw new Broken(`V7: ${name} cost ${fee}`);
    if (address.destChain === chainId) {
      if (swap.to !== address.destWallet || tokenOut !== address.destToken)
        throw new Broken(`V5: ${name} went to ${swap.to} in ${tokenOut}`);
      met.add(isCoin ? "swapped coin for a token" : "swapped a token for coin");
      continue;
    }
    const burns = bridged.burns.filter(
      (one) => one.txHash === swap.txHash && one.wallet === wallet && one.deposited === tokenIn,
    );
    // The output stays with the route, which burns it.
    const routes = chains.get(chainId)?.contracts.routes ?? [];
    const [, route] = [...routes].find(([contract]) => contract === swap.to) ?? [];
    if (route?.kind !== "swap_cctp" || burns.length !== 1 || burns[0]?.amount !== amountOut)
      throw new Broken(`V5: ${name} was burned as ${burns.map(({ amount }) => amount).join()}`);
    met.add("swapped coin before the bridge");
  }
  await comparePools(database, chains, swaps);
  const byStrangers = await compareRecipients(database, chains, addresses);
  if (byStrangers > 0n) met.add("settled by a stranger");
  return [...met];
}

/** Checks that inputs and outputs of pools match their balances and the ledger. */
async function comparePools(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  swaps: readonly Swap[],
): Promise<void> {
  const lines = await database.query<{ chain_id: number; token: string; amount: string }>(
    `select chain_id, token, sum(amount)::text as amount from ledger_lines where account = 'swapped' group by 1, 2`,
  );
  for (const [chainId, chain] of chains) {
    const { pool } = chain.contracts;
    if (!pool) continue;
    for (const token of [NATIVE_TOKEN, pool.token]) {
      const ofChain = swaps.filter((swap) => swap.chainId === chainId);
      const took = ofChain.reduce(
        (sum, swap) =>
          sum +
          (swap.tokenIn === token ? swap.amountIn : 0n) -
          (swap.tokenOut === token ? swap.amountOut : 0n),
        0n,
      );
      const [first] = chain.branchOf(chain.head);
      const held = chain.head.state.balanceOf(token, pool.account);
      const before = first?.state.balanceOf(token, pool.account) ?? 0n;
      if (held - before !== took)
        throw new Broken(`V2: the pool of ${chainId} took ${took} of ${token}, it has ${held}`);
      const line = lines.find((one) => one.chain_id === chainId && one.token === token);
      if (BigInt(line?.amount ?? 0) !== took)
        throw new Broken(
          `V3: the pool of ${chainId} took ${took} of ${token}, the ledger says ${line?.amount}`,
        );
    }
  }
}

/** Returns the amount of a wallet's settlements by strangers, each of which must pay it whole. */
function sumUnattended(
  chain: FakeChain | undefined,
  to: { readonly wallet: string; readonly destWallet: string; readonly destToken: string },
): bigint {
  let sum = 0n;
  for (const { transactions } of chain?.branchOf(chain.head) ?? []) {
    for (const { logs } of transactions) {
      for (const [index, log] of logs.entries()) {
        if (log.kind !== "effect" || log.effect.kind !== "unattended") continue;
        const { wallet, token, amount } = log.effect;
        if (wallet !== to.wallet) continue;
        const paid = logs
          .slice(0, index)
          .some(
            (one) =>
              one.kind === "effect" &&
              one.effect.kind === "transferred" &&
              one.effect.wallet === wallet &&
              one.effect.to === to.destWallet &&
              one.effect.amount === amount &&
              one.effect.fee === 0n,
          );
        if (!paid || token !== to.destToken)
          throw new Broken(`T123: ${amount} of ${wallet} did not reach ${to.destWallet} whole`);
        sum += amount;
      }
    }
  }
  return sum;
}

/** Checks that each recipient holds the amounts of its settlements, by any route. Returns the sum of those by strangers. */
async function compareRecipients(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly PaidAddress[],
): Promise<bigint> {
  const rows = await database.query<{ wallet: string; amount: string }>(
    // A settlement whose lock was returned had shown a delivery that was orphaned too late to be repeated.
    `select wallet, sum(delivered_amount)::text as amount from settlements s where status = 'completed'
      and not exists (select from deliveries d where d.id = s.delivery_id and d.state = 'returned') group by 1`,
  );
  const lost = await database.query<{ wallet: string; amount: string }>(
    `select d.wallet, sum(d.delivered_amount)::text as amount from early_losses l
      join deliveries d on d.id = l.delivery_id join settlements s on s.id = d.settlement_id
      where l.recovered_at is null and (s.status <> 'completed' or s.delivery_id is distinct from d.id) group by 1`,
  );
  let strangers = 0n;
  for (const { wallet, destChain, destWallet, destToken } of addresses.map(
    ({ address }) => address,
  )) {
    const byOthers = sumUnattended(chains.get(destChain), { wallet, destWallet, destToken });
    strangers += byOthers;
    const own = BigInt(rows.find((row) => row.wallet === wallet)?.amount ?? 0);
    const lostTo = BigInt(lost.find((row) => row.wallet === wallet)?.amount ?? 0);
    const said = own + byOthers + lostTo;
    const has = chains.get(destChain)?.head.state.balanceOf(destToken, destWallet) ?? 0n;
    if (said !== has)
      throw new Broken(`V2: ${destWallet} has ${has} of ${destToken}, it was told ${said}`);
  }
  return strangers;
}
