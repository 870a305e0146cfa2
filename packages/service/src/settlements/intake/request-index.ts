/**
 * Settles by request: for tokens that the scanner does not watch, and for deposits that it missed.
 *
 * A request compares the live balance with the minimums under the lock of the holding, as an arrival does. It records no
 * deposit: deposits that the scanner finds before or later join the settlement by their position on the chain, so the
 * same value counts once in either order.
 */
import type { NotQueuedReason } from "@sluice/sdk/wire";
import type { DepositAddress } from "../../addresses/index.ts";
import type { Chain } from "../../chains/port/index.ts";
import type { Address } from "../../core/hex.ts";
import { isNative } from "../../core/hex.ts";
import type { Tx } from "../../db/schema.ts";
import { assignUnsettled, gateBalance } from "../../deposits/index.ts";
import { chainOf, type RequestDeps } from "../deps.ts";
import { countSettlements, getActive, lockHolding } from "../store/read.ts";
import { readDeployed } from "../wallet-state.ts";
import { insertSettlement } from "../store/transition.ts";

export type RequestResult =
  | { readonly queued: true; readonly settlementId: string }
  | { readonly queued: false; readonly reason: NotQueuedReason };

/**
 * Queues a settlement of a wallet's whole balance of a token.
 * @throws OperatingError RPC_UNAVAILABLE when the chain's node does not answer; nothing is queued then.
 */
export async function requestIndex(
  deps: RequestDeps,
  request: {
    readonly chainId: number;
    readonly address: DepositAddress;
    readonly token: Address;
  },
  /** Called in the transaction that queues the settlement. */
  onQueued: (tx: Tx, settlementId: string) => Promise<void> = async () => {},
): Promise<RequestResult> {
  const { chainId, address, token } = request;
  const { wallet, integratorId, id: addressId } = address;
  const holding = { chainId, wallet, token };
  const chain = chainOf(deps, holding);
  const tryQueue = async (): Promise<RequestResult | "again"> => {
    // Checked before any node request: most repeated requests end here.
    if (await getActive(deps.db, holding)) return { queued: false, reason: "already_queued" };
    const before = await countSettlements(deps.db, holding);
    const balance = await readBalance(chain, token, wallet);
    const gate = gateBalance(balance, await deps.readMinimums(chainId, token));
    if (gate.kind === "ignore") return { queued: false, reason: gate.reason };
    const walletDeployed = await readDeployed(chain, wallet);
    return deps.db.transaction().execute(async (tx) => {
      await lockHolding(tx, holding);
      if (await getActive(tx, holding)) return { queued: false, reason: "already_queued" };
      // A settlement began and ended since: the balance that was read may be swept already.
      if ((await countSettlements(tx, holding)) !== before) return "again";
      const settlement = { ...holding, integratorId, addressId, walletDeployed, amount: null };
      const settlementId = await insertSettlement(tx, deps, settlement);
      await assignUnsettled(tx, holding, settlementId);
      await onQueued(tx, settlementId);
      return { queued: true, settlementId };
    });
  };
  let result = await tryQueue();
  while (result === "again") result = await tryQueue();
  if (!result.queued) return result;
  const { settlementId } = result;
  deps.log.info({ chainId, wallet, token, settlementId }, "settlement requested");
  deps.wakeEvents(integratorId);
  return result;
}

/** Returns the balance, zero where the contract gives none: anybody can request a token whose contract reverts. */
async function readBalance(chain: Chain, token: Address, wallet: Address): Promise<bigint> {
  const { wallets } = chain;
  if (wallets.kind === "contract" && !isNative(token) && !(await wallets.hasCode(token))) return 0n;
  return (await chain.findBalance(token, wallet)) ?? 0n;
}
