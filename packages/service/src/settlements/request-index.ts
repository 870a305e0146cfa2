/**
 * Settling by request: a token that is not detected by itself, or a deposit that nobody noticed.
 *
 * A request decides about the live balance under the lock of the holding, as an arrival does. It records no deposit:
 * those that the scanner has seen or will see join the settlement by their place on the chain, so that the same value
 * counts once in whichever order the two come.
 */
import type { NotQueuedReason } from "@sluice/sdk/wire";
import type { DepositAddress } from "../addresses/index.ts";
import type { EvmAddress } from "../core/hex.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import { assignUnsettled, gateBalance } from "../deposits/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import { getActive, insertSettlement, lockHolding } from "./store.ts";

export type RequestResult =
  | { readonly queued: true; readonly settlementId: string }
  | { readonly queued: false; readonly reason: NotQueuedReason };

/**
 * Queues a settlement of everything that a wallet holds of a token.
 * @throws OperatingError RPC_UNAVAILABLE when the chain's node does not answer; then nothing was queued.
 */
export async function requestIndex(
  deps: SettlementDeps,
  request: {
    readonly chainId: number;
    readonly address: DepositAddress;
    readonly token: EvmAddress;
  },
): Promise<RequestResult> {
  const { chainId, address, token } = request;
  const { wallet, integratorId, id: addressId } = address;
  const holding = { chainId, wallet, token };
  // Before anything is asked of a node: most repeated requests end here.
  if (await getActive(deps.db, holding)) return { queued: false, reason: "already_queued" };
  const chain = chainOf(deps, holding);
  const exists = token === NATIVE_TOKEN || (await chain.hasCode(token));
  const balance = exists ? await chain.getBalance(token, wallet) : 0n;
  const gate = gateBalance(balance, await deps.readMinimums(chainId, token));
  if (gate.kind === "ignore") return { queued: false, reason: gate.reason };
  const walletDeployed = await chain.hasCode(wallet);

  const settlementId = await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, holding);
    if (await getActive(tx, holding)) return null;
    const amount = null;
    const settlement = { ...holding, integratorId, addressId, walletDeployed, amount };
    const id = await insertSettlement(tx, deps, settlement);
    await assignUnsettled(tx, holding, id);
    return id;
  });
  if (settlementId === null) return { queued: false, reason: "already_queued" };
  deps.log.info({ chainId, wallet, token, settlementId }, "a settlement was requested");
  deps.wakeEvents(integratorId);
  return { queued: true, settlementId };
}
