/**
 * Verifies the transfers of one block against balances. A token's log is a hint: the contract may log any transfer, keep a
 * part of it, or move nothing. The credited amount is the rise of the wallet's balance, read at the hashes of the block and
 * its parent, in one request each for all wallets.
 *
 * Invariant: the deposits of a wallet and token in a block never exceed the rise of that balance, plus sweeps and refunds in
 * the same block, minus locks that the escrow returned.
 */
import { listByWallets } from "../addresses/index.ts";
import type {
  BalancesAtBlock,
  BlockRef,
  Outflow,
  ScannedBlock,
  Transfer,
} from "../chains/port/index.ts";
import { isNative } from "../core/hex.ts";
import type { ArrivedTransfer, ArrivedValue, OpenValue } from "../deposits/index.ts";
import type { OurArrival } from "../settlements/index.ts";
import type { ScannerDeps } from "./deps.ts";

/** Returns what the logs of a block state to have arrived, and the addresses that it arrived at. */
export async function listStated(
  { db, chain }: Pick<ScannerDeps, "db" | "chain">,
  block: ScannedBlock,
): Promise<{
  readonly ours: Awaited<ReturnType<typeof listByWallets>>;
  readonly arrivals: ArrivedValue[];
}> {
  const { outflows } = block;
  // A lock that the escrow returns belongs to its settlement and is no new deposit.
  const transfers = block.transfers.filter((transfer) => !chain.isGivenBack(transfer, outflows));
  const ours = await listByWallets(
    db,
    transfers.map((transfer) => transfer.to),
  );
  const arrivals = groupByHolding(
    chain.chainId,
    block,
    transfers.filter(({ to }) => ours.has(to)),
  );
  return { ours, arrivals };
}

/** Pairs arrivals with their addresses. */
export function withAddresses(
  arrivals: readonly ArrivedValue[],
  ours: Awaited<ReturnType<typeof listByWallets>>,
): OurArrival[] {
  return arrivals.flatMap((arrived) => {
    const address = ours.get(arrived.wallet);
    return address ? [{ arrived, address }] : [];
  });
}

/** Groups the transfers of a block by wallet and token, in log order. */
export function groupByHolding(
  chainId: number,
  block: BlockRef,
  transfers: readonly Transfer[],
): ArrivedValue[] {
  const groups = Map.groupBy(transfers, ({ to, token }) => `${to}:${token}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    return [
      {
        chainId,
        wallet: first.to,
        token: first.token,
        blockNumber: block.number,
        blockHash: block.hash,
        transfers: group,
      },
    ];
  });
}

/**
 * Returns the arrivals with amounts that the balances confirm, and with these balances. Native coin needs no check: the value
 * of a successful transaction is a fact of the chain.
 */
export async function verifyArrivals(
  deps: ScannerDeps,
  block: BlockRef,
  {
    arrivals,
    outflows,
    withoutState = "credit",
  }: {
    readonly arrivals: readonly OpenValue[];
    /** The outflows of the block. */
    readonly outflows: readonly Outflow[];
    /** Whether logs are credited where the node has pruned the state that would confirm them. */
    readonly withoutState?: "credit" | "refuse";
  },
): Promise<ArrivedValue[]> {
  const stated = arrivals.filter(({ token }) => !isNative(token));
  const { balances } = deps.chain;
  // Chains without balances at a block (Solana) compute transfers from balances before and after each transaction.
  if (stated.length === 0 || balances.kind === "final") return [...arrivals];
  const changes = await readChanges(deps, balances, { block, stated, outflows });
  const verified = stated.flatMap(({ recordedAmount, ...arrived }, index) => {
    const { wallet, token } = arrived;
    const change = changes[index];
    if (change === undefined) {
      if (withoutState === "credit") return [arrived];
      deps.log.error({ wallet, token, block: block.number }, "cannot verify a transfer left out");
      return [];
    }
    // The recorded transfers were part of the rise.
    const risen = (change?.risen ?? 0n) - recordedAmount;
    const transfers = fitTransfers(arrived.transfers, risen);
    if (transfers !== arrived.transfers) {
      const facts = { wallet, token, block: block.number, stated: sumOf(arrived.transfers), risen };
      deps.log.warn(facts, "token log exceeds the rise of the balance");
    }
    return transfers.length > 0 ? [{ ...arrived, transfers, balance: change?.balance }] : [];
  });
  return [...verified, ...arrivals.filter(({ token }) => isNative(token))];
}

/** The balance of a holding at the end of a block, and its rise in that block, in base units. */
interface Change {
  readonly balance: bigint;
  readonly risen: bigint;
}

/**
 * Returns the change of each balance in the block: null if the token's `balanceOf` fails. Returns an empty list if the node
 * has pruned the state of the block or its parent, as after a long outage: then the logs are credited, and the live balance
 * is checked before anything is swept.
 */
async function readChanges(
  { log }: ScannerDeps,
  balances: BalancesAtBlock,
  {
    block,
    stated,
    outflows,
  }: {
    readonly block: BlockRef;
    readonly stated: readonly ArrivedValue[];
    readonly outflows: readonly Outflow[];
  },
): Promise<readonly (Change | null)[]> {
  const [after, before] = await Promise.all([
    balances.listTokenBalances(block.hash, stated),
    balances.listTokenBalances(block.parentHash, stated),
  ]);
  if (!before || !after) {
    log.warn({ block: block.number }, "node has pruned the block's state, crediting token logs");
    return [];
  }
  return stated.map((arrived, index) => {
    const [then, now] = [before[index] ?? null, after[index] ?? null];
    if (then === null || now === null) return null;
    const sent = sumOf(outflows.filter((one) => isOf(one, arrived)));
    return { balance: now, risen: now - then + sent };
  });
}

/** Returns whether an outflow is of a wallet and token. */
export function isOf(outflow: Outflow, { wallet, token }: ArrivedValue): boolean {
  return outflow.wallet === wallet && outflow.token === token;
}

/**
 * Returns the transfers if their sum does not exceed the rise; otherwise scales them so that their sum is exactly the rise,
 * and drops those of zero.
 */
export function fitTransfers(
  transfers: readonly ArrivedTransfer[],
  risen: bigint,
): readonly ArrivedTransfer[] {
  const stated = sumOf(transfers);
  if (stated <= risen) return transfers;
  if (risen <= 0n) return [];
  let sum = 0n;
  return transfers.flatMap((transfer) => {
    const shared = (sum * risen) / stated;
    sum += transfer.amount;
    const amount = (sum * risen) / stated - shared;
    return amount > 0n ? [{ ...transfer, amount }] : [];
  });
}

/** Returns the sum of amounts. */
export function sumOf(amounts: readonly { readonly amount: bigint }[]): bigint {
  return amounts.reduce((sum, { amount }) => sum + amount, 0n);
}
