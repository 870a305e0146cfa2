/**
 * Settles by request: for tokens that the scanner does not watch, and for deposits that it missed.
 *
 * A request compares the live balance with the minimums under the lock of the holding, as an arrival does. It records no
 * deposit: deposits that the scanner finds before or later join the settlement by their position on the chain, so the
 * same value counts once in either order.
 */
import type { NotQueuedReason } from "@sluice/sdk/wire";
import { type DepositAddress, isCommitted } from "../../addresses/index.ts";
import type { Chain } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Address, isNative } from "../../core/hex.ts";
import { remember } from "../../core/remember.ts";
import { QuotaExceeded } from "../../integrators/index.ts";
import type { Tx } from "../../db/schema.ts";
import {
  assignUnsettled,
  gateBalance,
  type GateResult,
  type Holding,
} from "../../deposits/index.ts";
import { pairOf } from "../choose-route.ts";
import { chainOf, type IntakeDeps } from "../deps.ts";
import { countSettlements, getActive, lockHolding } from "../store/read.ts";
import { readDeployed } from "../wallet-state.ts";
import { findUsedUpQuota } from "./quota.ts";
import { insertSettlement } from "../store/transition.ts";

export type RequestResult =
  | { readonly queued: true; readonly settlementId: string }
  | { readonly queued: false; readonly reason: NotQueuedReason };

/** A settlement that is asked for. */
interface IndexRequest {
  readonly chainId: number;
  readonly address: DepositAddress;
  readonly token: Address;
}

/** Live facts of a wallet. */
interface WalletFacts {
  readonly gate: GateResult;
  /** Null where wallets are not deployed, and where the gate does not pass. */
  readonly isDeployed: boolean | null;
}

/** How long an answer may rest on facts that were read for another, in milliseconds. */
const RECENT_MS = 2_000;

/**
 * Returns `requestIndex` for callers: repeated requests read a wallet once in two seconds, unless a settlement of it began
 * since.
 */
export function createIndexRequests(
  deps: IntakeDeps,
): (request: IndexRequest) => Promise<RequestResult> {
  const recently = { clock: deps.clock, forMs: RECENT_MS };
  // The number of settlements is an argument, so that nothing is remembered across one.
  const readFacts = remember(recently, (holding: Holding, _settlements: bigint) =>
    readWallet(deps, holding),
  );
  return (request) => requestIndex(deps, request, { readFacts });
}

/**
 * Queues a settlement of a wallet's whole balance of a token.
 * @throws OperatingError UNSUPPORTED_ROUTE when no route that the address commits to takes the token; RPC_UNAVAILABLE when
 *   the chain's node does not answer; QuotaExceeded. Nothing is queued then.
 */
export async function requestIndex(
  deps: IntakeDeps,
  request: IndexRequest,
  options: {
    /** Called in the transaction that queues the settlement. */
    readonly onQueued?: (tx: Tx, settlementId: string) => Promise<void>;
    /** Reads the facts of a wallet with a number of settlements. */
    readonly readFacts?: (holding: Holding, settlements: bigint) => Promise<WalletFacts>;
  } = {},
): Promise<RequestResult> {
  const { chainId, address, token } = request;
  const { wallet, integratorId, id: addressId } = address;
  const holding = { chainId, wallet, token };
  const { onQueued, readFacts = () => readWallet(deps, holding) } = options;
  const tryQueue = async (): Promise<RequestResult | "again"> => {
    // Checked before any node request: most repeated requests end here.
    if (await getActive(deps.db, holding)) return { queued: false, reason: "already_queued" };
    assertRouted(deps, holding, address);
    const before = await countSettlements(deps.db, holding);
    const { gate, isDeployed } = await readFacts(holding, before);
    if (gate.kind === "ignore") return { queued: false, reason: gate.reason };
    return deps.db.transaction().execute(async (tx) => {
      await lockHolding(tx, holding);
      if (await getActive(tx, holding)) return { queued: false, reason: "already_queued" };
      // A settlement began and ended since: the balance that was read may be swept already.
      if ((await countSettlements(tx, holding)) !== before) return "again";
      const limit = await findUsedUpQuota(tx, deps, { integratorId, chainId });
      if (limit !== null) throw new QuotaExceeded("openSettlements", limit);
      const settlement = {
        ...holding,
        integratorId,
        addressId,
        walletDeployed: isDeployed,
        amount: null,
      };
      const settlementId = await insertSettlement(tx, deps, settlement);
      await assignUnsettled(tx, holding, settlementId);
      await onQueued?.(tx, settlementId);
      return { queued: true, settlementId };
    });
  };
  let result = await tryQueue();
  while (result === "again") result = await tryQueue();
  if (!result.queued) return result;
  const { settlementId } = result;
  deps.log.info({ chainId, wallet, token, settlementId }, "settlement requested");
  deps.wakeEvents(integratorId);
  deps.wakeSettlements(chainId);
  return result;
}

/**
 * Throws UNSUPPORTED_ROUTE unless a configured route takes the token: a settlement without one would wait permanently, and
 * anybody can create tokens. A route that is paused counts, since its settlements end.
 */
function assertRouted(
  { routes }: Pick<IntakeDeps, "routes">,
  holding: { readonly chainId: number; readonly token: Address },
  address: DepositAddress,
): void {
  const { chainId } = holding;
  const { destChain } = address;
  const isTaken = routes
    .list(pairOf(holding, address))
    .some(({ contract }) => isCommitted(address, { chainId, contract }));
  if (isTaken) return;
  throw new OperatingError(
    "UNSUPPORTED_ROUTE",
    "No route delivers this token to the destination of the deposit address.",
    { details: { field: "tokenAddress", destChain } },
  );
}

/** Reads a wallet, and whether its balance is worth settling. */
async function readWallet(deps: IntakeDeps, holding: Holding): Promise<WalletFacts> {
  const { chainId, token, wallet } = holding;
  const chain = chainOf(deps, holding);
  const balance = await readBalance(chain, token, wallet);
  const gate = gateBalance(balance, await deps.readMinimums(chainId, token));
  return { gate, isDeployed: gate.kind === "pass" ? await readDeployed(chain, wallet) : null };
}

/** Returns the balance, zero where the contract gives none: anybody can request a token whose contract reverts. */
async function readBalance(chain: Chain, token: Address, wallet: Address): Promise<bigint> {
  const { wallets } = chain;
  if (wallets.kind === "contract" && !isNative(token) && !(await wallets.hasCode(token))) return 0n;
  return (await chain.findBalance(token, wallet)) ?? 0n;
}
