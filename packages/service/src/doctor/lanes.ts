/** Checks of the lanes' native coin on one chain. */
import type { EvmChain } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { toEvmAddress } from "../core/hex.ts";
import { type Check, type Finding, judge, once } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

/** Gas per transaction: above the need of one deployment, sweep, delivery or claim. */
const GAS_PER_TRANSACTION = 250_000n;
const TRANSACTIONS_WARNING = 50n;
const TRANSACTIONS_PROBLEM = 5n;
const COIN_DECIMALS = 18;

export function checkLanes(deps: DoctorDeps, chain: EvmChain, identified: Check): readonly Check[] {
  const inspector = deps.nodesOf(chain.chainId).service;
  const costOfOne = once(async () => {
    const [fees, surcharge] = await Promise.all([
      inspector.suggestFees(),
      inspector.readSurcharge(),
    ]);
    return fees.gasPriceMax * GAS_PER_TRANSACTION + surcharge;
  });
  return deps.lanesOf(chain.chainId).map(({ name: item, address: account }) => ({
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
