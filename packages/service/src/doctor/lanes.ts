/** Checks of what the lanes of one chain have for gas. */
import type { ChainConfig } from "../config/load.ts";
import { formatUnits } from "../core/amounts.ts";
import { type Check, judge, once } from "./check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

/** More than a deployment, a settlement, a delivery or a claim of one job needs. */
const GAS_PER_TRANSACTION = 250_000n;
const TRANSACTIONS_WARNING = 50n;
const TRANSACTIONS_PROBLEM = 5n;
const COIN_DECIMALS = 18;

export function checkLanes(
  deps: DoctorDeps,
  chain: ChainConfig,
  identified: Check,
): readonly Check[] {
  const inspector = deps.nodesOf(chain.chainId).service;
  const feePerGas = once(async () => (await inspector.suggestFees()).maxFeePerGas);
  return deps.lanesOf(chain.chainId).map(({ name: item, address: account }) => ({
    id: "lane.balance",
    subject: subjectOf(chain),
    item,
    needs: [identified],
    async look() {
      const balance = await inspector.getCoinBalance(account);
      const cost = (await feePerGas()) * GAS_PER_TRANSACTION;
      // A chain without fees has none to run out of.
      const transactions = cost === 0n ? TRANSACTIONS_WARNING : balance / cost;
      const needed = formatUnits(cost * TRANSACTIONS_WARNING, COIN_DECIMALS);
      return judge(transactions >= TRANSACTIONS_WARNING, {
        found: `${formatUnits(balance, COIN_DECIMALS)} coins, enough for ${transactions} transactions`,
        expected: `${needed} coins, enough for ${TRANSACTIONS_WARNING} transactions at the present fee`,
        advice: `Send native coin to ${deps.display(account)}.`,
        otherwise: transactions >= TRANSACTIONS_PROBLEM ? "warning" : "problem",
      });
    },
  }));
}
