/**
 * The auditor: compares rows with each other and with final chain state. Its queries are separate from the code that
 * wrote the rows, so that an error there is not repeated here.
 *
 * Each poll compares the wallets with recent movements and the next wallets of a round over all addresses, so its cost is
 * bounded and no wallet is skipped. A violated invariant opens a breach, which halts the chain until an operator ends
 * it.
 */
import { type Selectable, sql } from "kysely";
import type { BlockRef, FinalBalances } from "../chains/port/index.ts";
import { type Address, isNative, NATIVE_TOKEN, toAddress } from "../core/hex.ts";
import type { ChainKind } from "../core/chain-registry.ts";
import { formatStamp } from "../core/stamp.ts";
import type { AuditRoundsTable, Db } from "../db/schema.ts";
import { listBalances, listUnbalanced, postSurplus } from "./accounts.ts";
import { type Finding, recordFindings } from "./breaches.ts";
import type { AuditDeps } from "./audit-deps.ts";
import { auditEnded, auditSweeps, auditTransit } from "./audit-transit.ts";

/** Result of an audit of one chain. */
export interface Audit {
  /** The compared final block; null when none is scanned yet, or the node is on another branch. */
  readonly block: bigint | null;
  /** Wallets whose balances were compared. */
  readonly wallets: number;
  readonly findings: readonly Finding[];
}

const WALLETS_AT_ONCE = 500;

const RECENT_BLOCKS = 5_000n;

/** Settlements are audited again for this long after their last change. */
const RECENT_MS = 3_600_000;

/** Wait for the scanner, where the node chooses the block of the comparison. */
const SCANNER_WAIT_MS = 500;

const SCANNER_TRIES = 20;

const NOTHING: Audit = { block: null, wallets: 0, findings: [] };

/** Audits the next part of a chain or all of it, and opens a breach for each violation. */
export async function auditChain(deps: AuditDeps, scope: "next" | "all"): Promise<Audit> {
  const { db, chain, clock, log } = deps;
  const block = await findComparable(deps);
  if (!block) return NOTHING;
  const round = await getRound(db, chain.chainId);
  const sinceMs = scope === "all" || !round ? 0 : Date.parse(round.at) - RECENT_MS;
  const sinceBlock = scope === "all" || !round ? -1n : round.block_number - RECENT_BLOCKS;
  const findings: Finding[] = [
    ...(await auditSweeps(deps, block, sinceBlock)),
    ...(await auditEnded(deps, block, sinceMs)),
  ];
  for (const { auditDelivered } of deps.routes) {
    findings.push(...(await auditDelivered(deps, scope)));
  }
  for (const { auditHeld } of deps.routes) {
    if (auditHeld) findings.push(...(await auditHeld(deps, block)));
  }
  findings.push(...(await auditLanes(deps)));
  if (scope === "all") findings.push(...(await auditPostings(deps)));
  let last = scope === "all" ? "" : (round?.last_wallet ?? "");
  let wallets = 0;
  if (scope === "next") {
    const recent = await listRecentWallets(db, chain.chainId, block.number - RECENT_BLOCKS);
    findings.push(...(await auditWallets(deps, block, recent)));
  }
  do {
    const some = await listWalletsAfter(db, chain.kind, last);
    findings.push(...(await auditWallets(deps, block, some)));
    wallets += some.length;
    last = some.length < WALLETS_AT_ONCE ? "" : (some.at(-1) ?? "");
  } while (scope === "all" && last !== "");
  const distinct = [
    ...new Map(findings.map((one) => [`${one.invariant}:${one.subject}`, one])).values(),
  ];
  const opened = await recordFindings(db, distinct);
  if (opened.length > 0) log.error({ findings: opened }, "audit: invariants violated");
  await putRound(db, chain.chainId, block.number, clock.now(), last);
  return { block: block.number, wallets, findings: distinct };
}

/** Returns the newest final block that is scanned; null when there is none, or the scanner has another hash. */
async function findComparable({ db, chain }: AuditDeps): Promise<BlockRef | null> {
  const tip = await readTip(db, chain.chainId);
  if (tip < 0n) return null;
  const finalNumber = await chain.getFinalNumber();
  const block = await chain.getBlock(finalNumber < tip ? finalNumber : tip);
  return block && (await isScanned(db, chain.chainId, block)) ? block : null;
}

/** Returns whether the scanner processed exactly this block. */
async function isScanned(db: Db, chainId: number, block: BlockRef): Promise<boolean> {
  const { rows: seen } = await sql<{ hash: string }>`
    select hash from scanner_blocks where chain_id = ${chainId} and number = ${block.number}`.execute(
    db,
  );
  return seen[0]?.hash === block.hash;
}

/** V1: the ledger balance of each wallet equals its chain balance exactly. */
async function auditWallets(
  deps: AuditDeps,
  block: BlockRef,
  wallets: readonly Address[],
): Promise<Finding[]> {
  if (wallets.length === 0) return [];
  const findings: Finding[] = [];
  for (const held of await readHeld(deps, block, wallets)) {
    findings.push(...(await compareHeld(deps, held)));
  }
  return findings;
}

/** Compares the balances of wallets at one block. */
async function compareHeld(deps: AuditDeps, held: HeldAmounts): Promise<Finding[]> {
  const { db, chain, tokens, log } = deps;
  const { chainId } = chain;
  // At one block the chain never holds less than the ledger, even while more lines are being recorded.
  const args = { chainId, wallets: held.wallets, block: held.at };
  const known = await listBalances(db, { ...args, account: "wallet" });
  const transit = await listBalances(db, { ...args, account: "transit" });
  const findings = await auditTransit(deps, held.at, transit);
  for (const { token, wallet, amount } of held.amounts) {
    const booked = known.find((one) => one.owner === wallet && one.token === token)?.amount ?? 0n;
    if (amount < booked) {
      findings.push({
        chainId,
        invariant: "V1",
        subject: `${wallet}:${token}`,
        details: { block: `${held.at}`, ledger: `${booked}`, chain: `${amount}` },
        repair: {
          kind: "write_off",
          account: "wallet",
          owner: wallet,
          token,
          amount: `${booked - amount}`,
          block: `${held.at}`,
        },
      });
    } else if (amount > booked && (chain.balances.kind === "final" || !isNative(token))) {
      // On EVM chains unexplained native coin is a deposit, which the scanner finds by balance.
      const surplus = await postSurplus(db, {
        chainId,
        wallet,
        token,
        block: held.at,
        held: amount,
      });
      if (surplus > 0n) log.warn({ wallet, token, surplus }, "arrived without a transfer");
    }
  }
  if (tokens.length > 0 && held.amounts.length === 0) {
    log.warn({ block: held.at }, "audit skipped: node lacks the state of the final block");
  }
  return findings;
}

/** Balances of wallets at a fully recorded block, in base units. */
interface HeldAmounts {
  readonly at: bigint;
  readonly wallets: readonly Address[];
  readonly amounts: readonly { token: Address; wallet: Address; amount: bigint }[];
}

/** Returns the balances of the configured tokens. Unreadable balances are left out. */
async function readHeld(
  deps: AuditDeps,
  block: BlockRef,
  wallets: readonly Address[],
): Promise<readonly HeldAmounts[]> {
  const { chain, tokens } = deps;
  const { balances } = chain;
  if (balances.kind === "final") return readFinal(deps, balances, wallets);
  const holdings = tokens
    .filter((token) => !isNative(token))
    .flatMap((token) => wallets.map((wallet) => ({ token, wallet })));
  const amounts =
    holdings.length === 0 ? [] : await balances.listTokenBalances(block.hash, holdings);
  const held = holdings.flatMap((holding, index) => {
    const amount = amounts?.[index] ?? null;
    return amount === null ? [] : [{ ...holding, amount }];
  });
  if (!tokens.includes(NATIVE_TOKEN)) return [{ at: block.number, wallets, amounts: held }];
  const native = await balances.listNativeBalances(block, wallets);
  const coins = wallets.map((wallet, index) => ({
    token: NATIVE_TOKEN,
    wallet,
    amount: native[index] ?? 0n,
  }));
  return [{ at: block.number, wallets, amounts: [...held, ...coins] }];
}

/** Returns balances where the node chooses the block, once the scanner has reached it; none when it stays behind. */
async function readFinal(
  { db, chain, tokens, clock, log }: AuditDeps,
  balances: FinalBalances,
  wallets: readonly Address[],
): Promise<readonly HeldAmounts[]> {
  const holdings = tokens.flatMap((token) => wallets.map((wallet) => ({ token, wallet })));
  const held = await balances.listHoldings(holdings);
  const last = held.reduce((newest, { at }) => (at > newest ? at : newest), 0n);
  for (let tries = 0; !(await isReached({ db, chain }, last)); tries += 1) {
    if (tries === SCANNER_TRIES) {
      log.warn({ block: last }, "audit skipped: scanner behind");
      return [];
    }
    await clock.sleep(SCANNER_WAIT_MS);
  }
  return [...Map.groupBy(held, ({ at }) => at)].map(([at, amounts]) => ({
    at,
    wallets: [...new Set(amounts.map(({ wallet }) => wallet))],
    amounts,
  }));
}

/** Returns whether the chain is scanned up to a final height. The hash must match: scanned blocks may be orphaned. */
async function isReached(
  { db, chain }: Pick<AuditDeps, "db" | "chain">,
  number: bigint,
): Promise<boolean> {
  if ((await readTip(db, chain.chainId)) < number) return false;
  const block = await chain.getBlock(number);
  return block !== null && isScanned(db, chain.chainId, block);
}

/** Returns the newest scanned height; -1 before the first block. */
async function readTip(db: Db, chainId: number): Promise<bigint> {
  const { rows } = await sql<{ tip: bigint | null }>`
    select max(number) as tip from scanner_blocks where chain_id = ${chainId}`.execute(db);
  return rows[0]?.tip ?? -1n;
}

/** V10, T116, T117: no lane has used a nonce that the database has not assigned. */
async function auditLanes({ db, chain }: AuditDeps): Promise<Finding[]> {
  const { sequencing } = chain;
  const ofChain = db.selectFrom("lanes").where("chain_id", "=", chain.chainId);
  const lanes = await ofChain.select("address").orderBy("address").execute();
  const findings: Finding[] = [];
  for (const lane of lanes) {
    const address = toAddress(lane.address);
    if (sequencing.kind !== "nonce") continue;
    const used = await sequencing.getTransactionCount(address, "final");
    // Read after the chain: a nonce is assigned before the chain can use it.
    const { next_nonce: next } = await ofChain
      .select("next_nonce")
      .where("address", "=", address)
      .executeTakeFirstOrThrow();
    if (used > next) findings.push(nonceTaken(chain.chainId, address, next, used));
  }
  return findings;
}

/** Returns the finding of a lane whose on-chain nonce is ahead: an old database backup, or a leaked key. */
export function nonceTaken(
  chainId: number,
  lane: Address,
  nextNonce: number,
  used: number,
): Finding {
  return {
    chainId,
    invariant: "V10",
    subject: lane,
    details: { next_nonce: `${nextNonce}`, used_on_chain: `${used}` },
    repair: { kind: "adopt_nonce", lane, nonce: used },
  };
}

/** V3: the lines of every posting sum to zero. */
async function auditPostings({ db, chain }: AuditDeps): Promise<Finding[]> {
  const { chainId } = chain;
  return (await listUnbalanced(db, chainId)).map((posting) => ({
    chainId,
    invariant: "V3",
    subject: posting,
    details: { posting },
  }));
}

async function listRecentWallets(db: Db, chainId: number, fromBlock: bigint): Promise<Address[]> {
  const { rows } = await sql<{ wallet: string }>`
    select wallet from (
      select wallet, max(block_number) as newest from deposits
       where chain_id = ${chainId} and block_number >= ${fromBlock} group by wallet
      union all
      select wallet, max(block_number) from outflows
       where chain_id = ${chainId} and block_number >= ${fromBlock} group by wallet
    ) as moved group by wallet order by max(newest) desc, wallet limit ${WALLETS_AT_ONCE}`.execute(
    db,
  );
  return rows.map(({ wallet }) => toAddress(wallet));
}

async function listWalletsAfter(db: Db, family: ChainKind, last: string): Promise<Address[]> {
  const { rows } = await sql<{ wallet: string }>`
    select wallet from addresses where chain_family = ${family} and wallet > ${last}
     order by wallet limit ${WALLETS_AT_ONCE}`.execute(db);
  return rows.map(({ wallet }) => toAddress(wallet));
}

async function getRound(
  db: Db,
  chainId: number,
): Promise<Selectable<AuditRoundsTable> | undefined> {
  return db
    .selectFrom("audit_rounds")
    .selectAll()
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
}

async function putRound(
  db: Db,
  chainId: number,
  block: bigint,
  nowMs: number,
  lastWallet: string,
): Promise<void> {
  const round = { block_number: block, at: formatStamp(nowMs), last_wallet: lastWallet };
  await db
    .insertInto("audit_rounds")
    .values({ chain_id: chainId, ...round })
    .onConflict((conflict) => conflict.column("chain_id").doUpdateSet(round))
    .execute();
}
