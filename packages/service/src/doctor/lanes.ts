/** Checks of the lanes' native coin on one chain. */
import type { EvmChain } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { toEvmAddress } from "../core/hex.ts";
import { type Check, type Finding, judge, once } from "../core/check.ts";
import type { KnownNonces } from "../transactions/index.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

/** Gas per transaction: above the need of one deployment, sweep, delivery or claim. */
const GAS_PER_TRANSACTION = 250_000n;
const TRANSACTIONS_WARNING = 50n;
const TRANSACTIONS_PROBLEM = 5n;
const COIN_DECIMALS = 18;

export function checkLanes(
  deps: DoctorDeps,
  chain: EvmChain,
  { identified, migrated }: { readonly identified: Check; readonly migrated: Check },
): readonly Check[] {
  const inspector = deps.nodesOf(chain.chainId).service;
  const costOfOne = once(async () => {
    const [fees, surcharge] = await Promise.all([
      inspector.suggestFees(),
      inspector.readSurcharge(),
    ]);
    return fees.gasPriceMax * GAS_PER_TRANSACTION + surcharge;
  });
  const lanes = deps.lanesOf(chain.chainId);
  const balances = lanes.map(({ name: item, address: account }) => ({
    id: "lane.balance",
    subject: subjectOf(chain),
    item,
    needs: [identified],
    async run() {
      const balance = await inspector.getCoinBalance(toEvmAddress(account));
      const cost = await costOfOne();
      return judgeLaneBalance(
        { balance, cost },
        {
          show: (wei) => `${formatUnits(wei, COIN_DECIMALS)} coins`,
          advice: `Send native coin to ${deps.display(account)}.`,
        },
      );
    },
  }));
  const known = lanes.map(({ name: item, address: account }) => ({
    id: "lane.known",
    subject: subjectOf(chain),
    item,
    needs: [identified, migrated],
    async run() {
      const address = toEvmAddress(account);
      // The chain first: the database has a transaction before the chain has it.
      const used = await inspector.getTransactionCount(address);
      return judgeNonces(used, await deps.getKnownNonces({ chainId: chain.chainId, address }));
    },
  }));
  return [...balances, ...known];
}

/**
 * Judges whether the database knows the transactions that a lane has made. A database that is empty, of another
 * installation or restored from a backup would sign for locks and deposits whose history it lacks.
 */
export function judgeNonces(used: number, known: KnownNonces | null): Finding {
  const expected = "every transaction of the lane in this database";
  const advice =
    "Check that database.url is this installation's database, and newer than the last transaction. Start nothing before.";
  if (known === null || used > known.next) {
    const stands = known === null ? "none" : `${known.next}`;
    return judge(used === 0, {
      found: `${used} transactions on the chain, ${stands} in the database`,
      expected,
      advice,
    });
  }
  const missing = known.first ?? known.next;
  return judge(missing === 0, {
    found: missing === 0 ? `${used} transactions on the chain` : `the first ${missing} are missing`,
    expected,
    advice: `${advice} If the account was used before it became a lane, this stays.`,
    otherwise: "warning",
  });
}

/** Judges a balance by the number of transactions it pays for at the current fee. */
export function judgeLaneBalance(
  { balance, cost }: { readonly balance: bigint; readonly cost: bigint },
  { show, advice }: { readonly show: (amount: bigint) => string; readonly advice: string },
): Finding {
  // On a chain without fees every balance is enough.
  const transactions = cost === 0n ? TRANSACTIONS_WARNING : balance / cost;
  return judge(transactions >= TRANSACTIONS_WARNING, {
    found: `${show(balance)}, enough for ${transactions} transactions`,
    expected: `${show(cost * TRANSACTIONS_WARNING)}, enough for ${TRANSACTIONS_WARNING} transactions at the current fee`,
    advice,
    otherwise: transactions >= TRANSACTIONS_PROBLEM ? "warning" : "problem",
  });
}
