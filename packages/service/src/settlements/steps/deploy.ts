/**
 * Deploys the wallet: `pending_deploy -> deploying -> pending_swap`, by the transaction of its first sweep. A sweep that
 * cannot be planned now does not keep the wallet from being deployed by a transaction of its own. Does not wait for the
 * deposit's finality, since the wallet does not depend on it. A deployment by anybody else counts as well.
 */
import { assertDerived, type DepositAddress } from "../../addresses/index.ts";
import type { Chain, ContractWallets } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { TxHash } from "../../core/hex.ts";
import {
  failureOf,
  getByIntent,
  type IntentName,
  planCall,
  submitIntent,
} from "../../transactions/index.ts";
import { listRoutes, takeFirst } from "../choose-route.ts";
import { chainOf, lanesOf, type SettlementDeps } from "../deps.ts";
import { recordEmpty } from "../empty.ts";
import { fail } from "../fail.ts";
import { findOpenRefund } from "../operator/refunds.ts";
import { planFee } from "../plan-fee.ts";
import { isScreened } from "../screening/rows.ts";
import { ConcurrentChange, type StepResult } from "../step.ts";
import { assertNotQuarantined, planMost } from "./sweep.ts";
import { transition } from "../store/transition.ts";
import type { Settlement } from "../types.ts";
import { assertWorthwhile } from "../worthwhile.ts";

/** Plans the deployment, or follows the one that was sent. */
export async function stepDeploy(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Promise<StepResult> {
  const chain = chainOf(deps, settlement);
  if (settlement.status === "deploying") return followDeployment(deps, settlement);
  const wallets = walletsOf(chain);
  if (await wallets.hasCode(settlement.wallet)) return recordReady(deps, settlement, null);

  assertDerived(chain, address);
  // An open refund may be signed again until it is over, and would take the balance of this sweep.
  if (await findOpenRefund(deps.db, settlement)) return "wait";
  // A requested token may have no route: the deployment would be paid for nothing.
  const routes = await listRoutes(deps, settlement, address);
  const balance = await chain.getBalance(settlement.token, settlement.wallet);
  if (balance === 0n) return recordEmpty(deps, settlement);
  await assertNotQuarantined(deps, settlement);
  if (deps.screens && !(await isScreened(deps, settlement))) return "wait";
  await assertWorthwhile(deps, settlement, balance);
  // A deposit that does not cover its fees waits before gas is spent on it.
  await takeFirst(routes, (route) =>
    planFee(deps, settlement, { address, route, amount: balance }),
  );
  try {
    const held = { amount: balance };
    return await takeFirst(routes, (route) => planMost(deps, { settlement, address, route, held }));
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const facts = { err: error, settlementId: settlement.id, code: error.code };
    deps.log.info(facts, "first sweep not possible now, deploying the wallet");
  }
  const call = wallets.buildDeploy(address.commitment);
  const { deploy: lanes } = lanesOf(deps, settlement);
  const { lane, gas } = await planCall(
    { db: deps.db, chain },
    { lanes, call, what: "Deploying the wallet" },
  );
  const number = settlement.deploysSent + 1;
  await deps.db.transaction().execute(async (tx) => {
    await submitIntent(tx, deps.random, {
      chainId: settlement.chainId,
      lane,
      intent: intentOf(settlement, number),
      settlementId: settlement.id,
      call,
      gas,
    });
    const nextCheckAtMs = deps.clock.now() + deps.pollMs;
    const change = { deploysSent: number, nextCheckAtMs, retryAtMs: null };
    const moved = await transition(tx, deps, settlement, { trigger: "deploy_planned", change });
    if (!moved) throw new ConcurrentChange();
  });
  deps.wakeEvents(settlement.integratorId);
  deps.wakeLanes(settlement.chainId, lane);
  return "wait";
}

async function followDeployment(deps: SettlementDeps, settlement: Settlement): Promise<StepResult> {
  const sent = await getByIntent(deps.db, intentOf(settlement, settlement.deploysSent));
  const deployed = await walletsOf(chainOf(deps, settlement)).hasCode(settlement.wallet);
  if (sent?.mined && deployed) {
    return recordReady(deps, settlement, sent.mined.succeeded ? sent.mined.txHash : null);
  }
  const failure = failureOf(sent);
  if (failure) {
    const { txHash } = failure;
    const error = new OperatingError("TX_REVERTED", "The deployment transaction reverted.", {
      details: txHash === null ? { reason: "signer refused" } : { txHash },
    });
    await fail(deps, settlement, error);
  }
  return "wait";
}

async function recordReady(
  deps: SettlementDeps,
  settlement: Settlement,
  txHash: TxHash | null,
): Promise<StepResult> {
  await deps.db.transaction().execute((tx) =>
    transition(tx, deps, settlement, {
      trigger: "wallet_ready",
      txHash,
      change: {
        step: "sweep",
        retryAtMs: null,
        nextCheckAtMs: deps.clock.now(),
        ...(txHash ? { deployTxHash: txHash } : {}),
      },
    }),
  );
  deps.wakeEvents(settlement.integratorId);
  return "again";
}

function walletsOf({ wallets }: Chain): ContractWallets {
  assert(wallets.kind === "contract", "only contract wallets have a deployment step");
  return wallets;
}

function intentOf(settlement: Settlement, number: number): IntentName {
  return `deploy:${settlement.id}:${number}`;
}
