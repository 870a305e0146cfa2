/**
 * The expected results of a run, computed from the chains alone with separate arithmetic. Shares no code with the service:
 * reads the blocks of the fake chains, and compares them with the rows.
 */
import type { FakeBlock, FakeChain } from "../fake-chain/model.ts";
import { isNative, NATIVE_TOKEN } from "../../src/core/hex.ts";
import type { SharedDatabase } from "./database.ts";
import { readLost } from "./early.ts";
import { Broken } from "./broken.ts";
import { type Bridged, judgeBridge, readBridge } from "./oracle-bridge.ts";
import { judgeDestroyed } from "./oracle-destroyed.ts";
import { judgeSwaps, readSwaps, swapBefore } from "./oracle-swaps.ts";
import { destinationOf, type PaidAddress, SOLANA } from "./stage.ts";

const FEE_BPS = 10n;
const MAX_FEE_BPS = 50n;

/** The terms that a settlement's row names for its sweep. */
interface Terms {
  readonly fee_bps: number | null;
  readonly fee_flat: string | null;
  readonly fee_bridge: string | null;
}

/**
 * Returns the agreed fees of an amount: the service's fee and, where it is charged, the row's gas, limited by the cap. The
 * service's fee is reduced before the fees that others receive.
 */
function agreedFee(
  amount: bigint,
  terms: Terms | undefined,
  { isCharged, isCapped = true }: { readonly isCharged: boolean; readonly isCapped?: boolean },
): bigint {
  if (!terms || terms.fee_bps === null || terms.fee_flat === null || terms.fee_bridge === null)
    throw new Broken("T82: a sweep has no terms");
  const [bps, flat] = [BigInt(terms.fee_bps), BigInt(terms.fee_flat)];
  const bridge = BigInt(terms.fee_bridge);
  const mayShrink = isCharged || bridge > 0n;
  if ((mayShrink ? bps > FEE_BPS : bps !== FEE_BPS) || isCharged !== flat > 0n)
    throw new Broken(`T82: a sweep was planned on ${bps} basis points and ${flat}`);
  const fee = (amount * bps) / 10_000n + flat;
  if (isCapped && (fee + bridge) * 10_000n > amount * MAX_FEE_BPS)
    throw new Broken(`V7: a fee of ${fee} of ${amount} is above the cap`);
  return fee;
}

interface Movement {
  /** Position in the chain's order; a sweep that names its amount follows the deposits that it counted. */
  readonly block: Pick<FakeBlock, "number">;
  readonly position: number;
  readonly txHash: string;
  readonly amount: bigint;
  readonly isHidden: boolean;
}

interface Settled extends Movement {
  readonly deliveryId: string | null;
  /** Fee of a route that pays without a lock; null for a lock. */
  readonly fee: bigint | null;
  /** Output of a pool or bridge; null if it is the amount less the fee. */
  readonly cameOut: bigint | null;
}

type Placed = Pick<Movement, "block" | "position" | "amount">;

/** Deposits and outflows of one token in one wallet. */
interface History {
  readonly chainId: number;
  readonly wallet: string;
  readonly token: string;
  readonly inbound: Movement[];
  readonly settled: Settled[];
  readonly refunds: Placed[];
  /** Locks that were given back. */
  readonly returns: Placed[];
  /** Settlements that strangers executed. */
  readonly unattended: Placed[];
  /** Tokens that their issuer destroyed. */
  readonly destroyed: Pick<Movement, "block" | "amount">[];
}

export async function judge(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly PaidAddress[],
  { isCharged, fairs }: { readonly isCharged: boolean; readonly fairs: ReadonlySet<bigint> },
): Promise<readonly string[]> {
  const bridged = readBridge(chains);
  const swaps = readSwaps(chains);
  const wallets = new Map(addresses.map(({ address }) => [address.wallet as string, address]));
  const histories = new Map<string, History>();
  const received = new Map<string, bigint>();
  const owed = new Map<string, bigint>();
  const add = (to: Map<string, bigint>, key: string, amount: bigint) =>
    to.set(key, (to.get(key) ?? 0n) + amount);
  const historyOf = (chainId: number, wallet: string, token: string): History => {
    const key = `${chainId}:${wallet}:${token}`;
    const known = histories.get(key) ?? {
      chainId,
      wallet,
      token,
      inbound: [],
      settled: [],
      refunds: [],
      returns: [],
      unattended: [],
      destroyed: [],
    };
    histories.set(key, known);
    return known;
  };
  const locks = new Map<
    string,
    { amount: bigint; minOut: bigint; wallet: string; destChain: number }
  >();
  const ended = new Map<string, string[]>();
  const paid = new Map<string, bigint[]>();

  for (const [chainId, chain] of chains) {
    const { escrow, delivery, pool } = chain.contracts;
    const isSlots = chainId === SOLANA;
    for (const block of chain.branchOf(chain.head)) {
      for (const [
        place,
        { transaction, succeeded, logs, firstLog },
      ] of block.transactions.entries()) {
        if (!succeeded) continue;
        const { action } = transaction;
        const facts = { block, txHash: transaction.hash };
        const isHidden = action.kind === "hidden_transfer";
        if (isHidden || (action.kind === "transfer" && isNative(action.token))) {
          if (wallets.has(action.to)) {
            const token = isHidden ? NATIVE_TOKEN : action.token;
            historyOf(chainId, action.to, token).inbound.push({
              ...facts,
              position: isSlots ? place : firstLog,
              amount: action.amount,
              isHidden,
            });
          }
        }
        for (const [index, log] of logs.entries()) {
          // On Solana a transaction shows the increase of a balance, not the single transfers.
          const position = isSlots ? place : firstLog + index;
          if (log.kind === "transfer") {
            // The pool's output to a wallet is burned in the same transaction.
            const isPassing = log.from === pool?.account;
            if (wallets.has(log.to) && log.from !== escrow && !isPassing) {
              const { inbound } = historyOf(chainId, log.to, log.token);
              const before = isSlots ? inbound.at(-1) : undefined;
              const isSame = before?.txHash === transaction.hash;
              if (isSame) inbound.pop();
              inbound.push({
                ...facts,
                position,
                amount: log.amount + (isSame ? before.amount : 0n),
                isHidden: false,
              });
            }
            if (log.from === delivery)
              add(received, `${chainId}:${log.to}:${log.token}`, log.amount);
          } else if (log.kind === "returned") {
            const { amount } = log;
            historyOf(chainId, log.wallet, log.token).returns.push({ block, position, amount });
          } else if (log.kind === "destroyed") {
            const { amount } = log;
            historyOf(chainId, log.wallet, log.token).destroyed.push({ block, amount });
          } else if (log.kind === "effect") {
            const { effect } = log;
            if (effect.kind === "settled") {
              const locked = logs.find(
                (other) =>
                  other.kind === "effect" &&
                  other.effect.kind === "locked" &&
                  other.effect.wallet === effect.wallet &&
                  other.effect.token === effect.token,
              );
              const deliveryId =
                locked?.kind === "effect" && locked.effect.kind === "locked"
                  ? locked.effect.deliveryId
                  : null;
              historyOf(chainId, effect.wallet, effect.token).settled.push({
                ...facts,
                ...(isSlots
                  ? { block: { number: effect.upTo ?? -1n }, position: Infinity }
                  : { position }),
                amount: effect.amount,
                isHidden: false,
                deliveryId,
                fee: feeIn(isSlots ? logs : logs.slice(startOf(logs, index), index), effect),
                cameOut:
                  mintedFor(bridged, transaction.hash, effect) ??
                  swapBefore(logs.slice(0, index), effect)?.amountOut ??
                  null,
              });
            }
            if (effect.kind === "unattended") {
              const { amount } = effect;
              historyOf(chainId, effect.wallet, effect.token).unattended.push({
                block,
                position,
                amount,
              });
            }
            if (effect.kind === "refunded") {
              const { amount } = effect;
              historyOf(chainId, effect.wallet, effect.token).refunds.push({
                block,
                position,
                amount,
              });
            }
            if (effect.kind === "locked") {
              const { amount, minOut, wallet } = effect;
              const destChain = destinationOf(effect);
              locks.set(effect.deliveryId, { amount, minOut, wallet, destChain });
            }
            if (effect.kind === "claimed")
              ended.set(effect.deliveryId, [...(ended.get(effect.deliveryId) ?? []), "claimed"]);
            if (effect.kind === "delivered")
              paid.set(effect.deliveryId, [...(paid.get(effect.deliveryId) ?? []), effect.amount]);
          }
        }
      }
    }
    for (const [deliveryId, lock] of chain.head.state.locks) {
      if (lock.state === "returned" || lock.state === "taken_back")
        ended.set(deliveryId, [...(ended.get(deliveryId) ?? []), lock.state]);
    }
  }

  // Every lock was paid once and claimed, or returned or taken back and never paid.
  for (const [deliveryId, lock] of locks) {
    const ends = ended.get(deliveryId) ?? [];
    const payments = paid.get(deliveryId) ?? [];
    if (ends.length !== 1)
      throw new Broken(`a lock ends once: ${deliveryId} has ${ends.join(", ") || "no end"}`);
    if (payments.length !== (ends[0] === "claimed" ? 1 : 0)) {
      throw new Broken(`V6: ${deliveryId} is ${ends[0]} and was paid ${payments.length} times`);
    }
    const [amount] = payments;
    if (amount === undefined) continue;
    const [terms] = await database.query<Terms>(
      `select fee_bps, fee_flat::text, fee_bridge::text from settlements where delivery_id = $1`,
      [deliveryId],
    );
    // A fee may be planned for more than was locked, when a reorg lost a deposit meanwhile: the lock's minimum caps it.
    const afterFee = lock.amount - agreedFee(lock.amount, terms, { isCharged, isCapped: false });
    const wanted = afterFee > lock.minOut ? afterFee : lock.minOut;
    if (amount !== wanted || amount < lock.minOut) {
      throw new Broken(`V5: ${deliveryId} paid ${amount}, promised ${wanted}`);
    }
    if ((lock.amount - amount) * 10_000n > lock.amount * MAX_FEE_BPS) {
      throw new Broken(
        `V7: ${deliveryId} kept ${lock.amount - amount} of ${lock.amount}, above the cap`,
      );
    }
    const address = wallets.get(lock.wallet);
    if (address) add(owed, `${lock.destChain}:${address.destWallet}:${address.destToken}`, amount);
  }
  const lost = new Map((await readLost(database)).map((row) => [row.id, row]));
  for (const [deliveryId, [amount = 0n]] of paid) {
    if (locks.has(deliveryId)) continue;
    const loss = lost.get(deliveryId);
    if (!loss) throw new Broken(`V5: ${deliveryId} was paid and is not locked`);
    add(owed, `${loss.dest_chain}:${loss.dest_wallet}:${loss.dest_token}`, amount);
  }
  for (const key of new Set([...received.keys(), ...owed.keys()])) {
    if ((received.get(key) ?? 0n) !== (owed.get(key) ?? 0n)) {
      throw new Broken(
        `V2: ${key} received ${received.get(key)} of inventory, ${owed.get(key)} was owed`,
      );
    }
  }

  for (const history of histories.values())
    await compare(database, chains, { ...history, isCharged });
  await judgeBridge(database, chains, addresses, bridged);
  await compareOrphans(database, histories);
  await compareLanes(database, chains);
  await compareReservations(database);
  return judgeSwaps(database, chains, addresses, { swaps, bridged, fairs });
}

/** Checks that the rows of one holding agree with the chain. */
async function compare(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  history: History & { readonly isCharged: boolean },
): Promise<void> {
  const { chainId, wallet, token, inbound, settled, isCharged } = history;
  const { refunds, returns, destroyed, unattended } = history;
  const name = `${chainId} ${wallet} ${token}`;
  const isDestroyedIn = (number: bigint) => destroyed.some(({ block }) => block.number === number);
  const sum = (movements: readonly { readonly amount: bigint }[]) =>
    movements.reduce((total, { amount }) => total + amount, 0n);
  const balance = chains.get(chainId)?.head.state.balances.get(`${token}:${wallet}`) ?? 0n;
  if (
    sum(inbound) + sum(returns) - sum(settled) - sum(refunds) - sum(unattended) - sum(destroyed) !==
    balance
  )
    throw new Broken(`the oracle cannot count ${name}`);

  // D1, D2: the deposits are exactly the incoming transfers.
  const rows = await database.query<{
    tx_hash: string | null;
    log_index: number;
    amount: string;
    block_number: bigint;
    settlement_id: string | null;
  }>(
    `select tx_hash, log_index, amount::text, block_number, settlement_id from deposits
      where chain_id = $1 and wallet = $2 and token = $3 and orphaned_at is null`,
    [chainId, wallet, token],
  );
  const visible = inbound
    .filter(({ isHidden, block }) => !isHidden && !isDestroyedIn(block.number))
    .map((one) => `${one.txHash}:${one.position}:${one.amount}:${one.block.number}`);
  const known = rows
    .filter((row) => row.tx_hash !== null && !isDestroyedIn(BigInt(row.block_number)))
    .map((row) => `${row.tx_hash}:${row.log_index}:${row.amount}:${row.block_number}`);
  const [wanted, found] = [visible.toSorted().join("\n"), known.toSorted().join("\n")];
  if (wanted !== found)
    throw new Broken(`D1: deposits of ${name} are\n${found}\nand should be\n${wanted}`);
  const recorded = rows.map((row) => ({
    block: { number: BigInt(row.block_number) },
    amount: BigInt(row.amount),
  }));
  await judgeDestroyed(database, { ...history, recorded });
  const hidden = rows
    .filter((row) => row.tx_hash === null)
    .reduce((total, row) => total + BigInt(row.amount), 0n);
  const expected = sum(inbound.filter(({ isHidden }) => isHidden));
  if (hidden !== expected)
    throw new Broken(
      `D1: ${name} got ${expected} that only the balance shows, ${hidden} is recorded`,
    );

  // V4, V6: every sweep is one settlement's, with its amount.
  const settlements = await database.query<
    Terms & {
      id: string;
      status: string;
      swept_amount: string | null;
      swap_tx_hash: string | null;
      delivered_amount: string | null;
      delivery_id: string | null;
      planned_up_to: bigint | null;
    }
  >(
    `select id, status, planned_up_to, fee_bps, fee_flat::text, fee_bridge::text, swept_amount::text, swap_tx_hash, delivered_amount::text, delivery_id from settlements
      where chain_id = $1 and wallet = $2 and token = $3 and status = 'completed'`,
    [chainId, wallet, token],
  );
  const positionOf = (row: (typeof rows)[number]) => ({
    block: { number: BigInt(row.block_number) },
    position: row.log_index,
    amount: BigInt(row.amount),
  });
  const seen = rows.filter((row) => row.tx_hash !== null).map(positionOf);
  const noticed = rows.filter((row) => row.tx_hash === null).map(positionOf);
  const isClaimed = (deliveryId: string | null) =>
    deliveryId === null ||
    // CAST: 32 bytes in hex, as in rows and model.
    chains.get(chainId)?.head.state.locks.get(deliveryId as never)?.state === "claimed";
  /**
   * The last position whose deposits a sweep takes; a part on an EVM chain takes only the oldest before it, as far as the balance
   * that it left on the chain says.
   */
  const endOf = (sweep: (typeof settled)[number]): Position => {
    const isPart = settlements.some(
      ({ swap_tx_hash, planned_up_to }) => swap_tx_hash === sweep.txHash && planned_up_to !== null,
    );
    const chain = chains.get(chainId);
    if (!isPart || !chain || chainId === SOLANA) return sweep;
    const { number } = sweep.block;
    const after = chain.branchOf(chain.head)[Number(number)]?.state.balances;
    const isLater = (one: Position) => one.block.number === number && comes(sweep, one);
    const came = [...inbound, ...returns].filter(isLater);
    const went = [...settled, ...refunds, ...unattended].filter(isLater);
    const later = sum(came) - sum(went);
    // What the issuer destroyed counts as if it was there: it belonged to no sweep. What it destroyed in the block of its arrival
    // was never a deposit.
    const isAmongGone = ({ block }: Position) =>
      block.number <= number && isDestroyedIn(block.number);
    const credited = seen.filter(isAmongGone);
    const arrived = inbound.filter((one) => !one.isHidden && isAmongGone(one));
    const gone =
      sum(destroyed.filter(({ block }) => block.number <= number)) - sum(arrived) + sum(credited);
    const isBefore = (one: Position) => comes(one, sweep);
    // What only the balance shows counts from the block in which it was noticed.
    const unnoticed =
      sum(inbound.filter((one) => one.isHidden && isBefore(one))) - sum(noticed.filter(isBefore));
    let left = (after?.get(`${token}:${wallet}`) ?? 0n) - later + gone - unnoticed;
    const shown = inbound.filter(
      ({ isHidden, block }) => !isHidden && !isDestroyedIn(block.number),
    );
    const known = [...shown, ...credited, ...noticed].filter(isBefore);
    for (const one of known.toSorted((a, b) => (comes(a, b) ? 1 : -1))) {
      if (left <= 0n) break;
      left -= one.amount;
      if (left <= 0n) return { block: { number: one.block.number - 1n }, position: Infinity };
    }
    return left > 0n ? { block: { number: -1n }, position: Infinity } : sweep;
  };
  const lasting = settled.filter(({ deliveryId }) => isClaimed(deliveryId));
  for (const sweep of lasting) {
    const owners = settlements.filter((one) => one.swap_tx_hash === sweep.txHash);
    const [owner] = owners;
    if (owners.length !== 1 || !owner)
      throw new Broken(
        `V4: the sweep ${sweep.txHash} of ${name} belongs to ${owners.length} settlements`,
      );
    if (owner.swept_amount !== sweep.amount.toString())
      throw new Broken(
        `V6: ${owner.id} swept ${owner.swept_amount}, the chain says ${sweep.amount}`,
      );
    // CAST: 32 bytes in hex, as in rows and model.
    const lock = chains.get(chainId)?.head.state.locks.get(sweep.deliveryId as never);
    const fee = agreedFee(sweep.amount, owner, { isCharged, isCapped: lock === undefined });
    const least = lock?.minOut ?? 0n;
    if (sweep.fee !== null && sweep.fee !== fee)
      throw new Broken(`V7: a fee of ${sweep.fee} was taken, ${fee} is agreed`);
    const afterFee = sweep.amount - fee;
    const delivered = sweep.cameOut ?? (afterFee > least ? afterFee : least);
    if (owner.delivered_amount !== delivered.toString())
      throw new Broken(
        `V5: ${owner.id} delivered ${owner.delivered_amount}, the chain says ${delivered}`,
      );
    // Decision 17: a sweep takes the deposits before it in chain order.
    const end = endOf(sweep);
    const earlier = settled.slice(0, settled.indexOf(sweep)).map(endOf);
    for (const row of rows) {
      if (row.tx_hash === null) continue;
      const at = { block: { number: BigInt(row.block_number) }, position: row.log_index };
      const isIts = comes(at, end) && !earlier.some((other) => comes(at, other));
      if (isIts && row.settlement_id !== owner.id) {
        throw new Broken(
          `decision 17: a deposit of ${name} in block ${row.block_number} was swept by ${owner.id} and is with ${row.settlement_id}`,
        );
      }
    }
  }
  const isElsewhere = unattended.length > 0 || destroyed.length > 0;
  if (sum(refunds) === 0n && sum(returns) === 0n && !isElsewhere) {
    let taken = 0n;
    for (const sweep of settled) {
      taken += sweep.amount;
      // A hidden deposit may be recorded in a later block than its own.
      const credited = inbound.filter((one) => !one.isHidden && comes(one, endOf(sweep)));
      if (sum(credited) > taken)
        throw new Broken(`T170: a part of ${name} took credit for more than was swept`);
    }
  }
  // A delivery orphaned after the settlement had completed may have been too late to repeat, and a sweep that delivered may
  // have reverted in the end: then it took nothing, and its deposits were released.
  const undone = new Set(
    settlements.filter(({ swept_amount }) => swept_amount === "0").map(({ id }) => id),
  );
  const lastingOnes = settlements.filter(
    ({ id, delivery_id }) => isClaimed(delivery_id) && !undone.has(id),
  );
  const kept = rows.find(
    ({ settlement_id }) => settlement_id !== null && undone.has(settlement_id),
  );
  if (kept)
    throw new Broken(`V6: ${kept.settlement_id} took nothing and keeps a deposit of ${name}`);
  if (lastingOnes.length !== lasting.length) {
    throw new Broken(
      `V4: ${name} has ${lastingOnes.length} completed settlements and ${lasting.length} sweeps`,
    );
  }
}

/**
 * Returns where the logs of a sweep begin, given its own: after the sweep before it. An earlier one of the same wallet may have
 * burned the token that this one locks.
 */
function startOf(logs: FakeBlock["transactions"][number]["logs"], own: number): number {
  const isSweep = (log: (typeof logs)[number]) =>
    log.kind === "effect" && log.effect.kind === "settled";
  return logs.slice(0, own).findLastIndex(isSweep) + 1;
}

/** Returns the fee of a sweep: the last fee transfer before the log of the sweep. */
function feeIn(
  logs: FakeBlock["transactions"][number]["logs"],
  { wallet, token }: { readonly wallet: string; readonly token: string },
): bigint | null {
  for (const log of logs.toReversed()) {
    if (log.kind !== "effect") continue;
    const { effect } = log;
    if (effect.kind === "swapped" && effect.wallet === wallet && effect.tokenIn === token)
      return effect.fee;
    if (effect.kind !== "transferred" && effect.kind !== "burned") continue;
    if (effect.wallet === wallet && effect.token === token) return effect.fee;
  }
  return null;
}

/** Returns the amount minted for the burn of a sweep; null without a burn. */
function mintedFor(
  { burns, mints }: Bridged,
  txHash: string,
  { wallet, token }: { readonly wallet: string; readonly token: string },
): bigint | null {
  const burn = burns.find(
    (one) => one.txHash === txHash && one.wallet === wallet && one.deposited === token,
  );
  return burn ? (mints.get(burn.nonce)?.amount ?? 0n) : null;
}

type Position = { readonly block: { readonly number: bigint }; readonly position: number };

/** Returns whether one position of the chain is before another. */
function comes(one: Position, other: Position): boolean {
  if (one.block.number !== other.block.number) return one.block.number < other.block.number;
  return one.position < other.position;
}

/** Checks that no row names a holding without deposits. */
async function compareOrphans(
  database: SharedDatabase,
  histories: ReadonlyMap<string, History>,
): Promise<void> {
  const rows = await database.query<{ chain_id: number; wallet: string; token: string }>(
    `select distinct chain_id, wallet, token from deposits where orphaned_at is null`,
  );
  for (const row of rows) {
    if (!histories.has(`${row.chain_id}:${row.wallet}:${row.token}`))
      throw new Broken(`D2: a deposit to ${row.wallet} is not on the chain`);
  }
}

/** X3, X4: every used nonce of a lane is a transaction of ours, and every final one is on the chain. */
async function compareLanes(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
): Promise<void> {
  const rows = await database.query<{
    chain_id: number;
    lane: string;
    count: string;
    mined: string;
    next: number;
  }>(
    `select l.chain_id, l.address as lane, count(t.id)::text as count, count(t.mined_hash)::text as mined, l.next_nonce as next
      from lanes l left join transactions t on t.chain_id = l.chain_id and t.lane = l.address and t.nonce is not null
      group by l.chain_id, l.address, l.next_nonce`,
  );
  for (const row of rows) {
    const used = chains.get(row.chain_id)?.head.state.nonces.get(row.lane as never) ?? 0;
    if (row.chain_id === SOLANA) {
      // Without nonces: each of our transactions is mined once, or abandoned and never mined.
      if (used !== Number(row.mined))
        throw new Broken(`X4: ${row.lane} was mined ${used} times, ${row.mined} are known`);
      continue;
    }
    if (used !== Number(row.count) || used !== row.next) {
      throw new Broken(
        `X4: the chain used ${used} nonces of ${row.lane}, ${row.count} are known, the next is ${row.next}`,
      );
    }
  }
}

/** V2: no reservation is left when no settlement is open. */
async function compareReservations(database: SharedDatabase): Promise<void> {
  const [left] = await database.query<{ settlement_id: string; amount: string; status: string }>(
    `select settlement_id, r.amount::text, s.status from inventory_reservations r
      join settlements s on s.id = r.settlement_id`,
  );
  if (left)
    throw new Broken(`V2: ${left.amount} is set aside for ${left.settlement_id}, ${left.status}`);
}
