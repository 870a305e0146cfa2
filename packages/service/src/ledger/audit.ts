/**
 * The auditor: compares rows with each other and with final chain state. Its queries are separate from the code that
 * wrote the rows, so that an error there is not repeated here.
 *
 * Each poll compares the wallets with recent movements, those in quarantine and the next wallets of a round over all
 * addresses, so its cost is bounded and no wallet is skipped. A violated invariant opens a breach, which quarantines a wallet
 * or halts the chain until an operator ends it.
 */
import { type Selectable, sql } from "kysely";
import type { BlockRef } from "../chains/port/index.ts";
import { type Address, toAddress } from "../core/hex.ts";
import type { ChainKind } from "../core/chain-registry.ts";
import { formatStamp } from "../core/stamp.ts";
import type { AuditRoundsTable, Db } from "../db/schema.ts";
import { listUnbalanced } from "./accounts.ts";
import {
  type Finding,
  listQuarantinedWallets,
  listBreaches,
  recordFindings,
  recordHeld,
  toFinding,
} from "./breaches.ts";
import type { AuditDeps } from "./audit-deps.ts";
import { auditFinal } from "./audit-final.ts";
import { auditEnded, auditSweeps } from "./audit-transit.ts";
import { auditWallets, type Compared, type ComparedBlocks } from "./audit-wallets.ts";
import type { Found } from "./map-at-once.ts";
import { findCertain, isScanned, readTip } from "./scanned.ts";

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

const NOTHING: Audit = { block: null, wallets: 0, findings: [] };

/** Audits the next part of a chain or all of it, and opens a breach for each violation. */
export async function auditChain(deps: AuditDeps, scope: "next" | "all"): Promise<Audit> {
  const { db, chain, clock } = deps;
  const { chainId } = chain;
  const openBefore = (await listBreaches(db, chainId)).map(({ id }) => id);
  const final = await auditFinal(deps);
  if (final.kind === "replaced") {
    // Every comparison below would be with blocks of another branch.
    await openBreaches(deps, [final.finding], openBefore);
    return { ...NOTHING, findings: [final.finding] };
  }
  if (final.kind === "agrees") await recordHeld(db, { chainId, ...final.held }, clock.now());
  const block = await findComparable(deps);
  if (!block) return NOTHING;
  const round = scope === "all" ? undefined : await getRound(db, chainId);
  const after = round?.last_wallet ?? "";
  const blocks = { newest: block, certain: await findCertain(deps, block) };
  const found = await auditParts(listParts(deps, { scope, blocks, round }));
  const compared = await auditRound(deps, { scope, blocks, after, found });
  const findings = [
    ...new Map(found.findings.map((one) => [`${one.invariant}:${one.subject}`, one])).values(),
  ];
  await openBreaches(deps, findings, openBefore);
  const short = new Set(findings.map(({ subject }) => subject));
  const subjects = compared.subjects.filter((subject) => !short.has(subject));
  await recordHeld(db, { chainId, verdict: "wallet_short", subjects }, clock.now());
  // Thrown only now, so that a question without an answer hides no finding of the others.
  if (found.error !== null) throw found.error;
  // Without balances nothing is proved: the age of the last audit shows it.
  if (!compared.isComplete) return { ...NOTHING, findings };
  await putRound(db, chainId, { block: block.number, nowMs: clock.now(), last: compared.last });
  return { block: block.number, wallets: compared.wallets, findings };
}

async function openBreaches(
  { db, log }: AuditDeps,
  findings: readonly Finding[],
  openBefore: readonly string[],
): Promise<void> {
  const opened = await recordFindings(db, findings, openBefore);
  if (opened.length > 0) log.error({ findings: opened }, "audit: invariants violated");
}

/** Findings of several parts, and the first error of a part that could not be audited. */
interface Sum {
  readonly findings: Finding[];
  error: unknown;
}

type Part = () => Promise<readonly Finding[] | Found>;

function listParts(
  deps: AuditDeps,
  {
    scope,
    blocks: { newest: block, certain },
    round,
  }: {
    readonly scope: "next" | "all";
    readonly blocks: ComparedBlocks;
    readonly round: Selectable<AuditRoundsTable> | undefined;
  },
): Part[] {
  const sinceMs = round ? Date.parse(round.at) - RECENT_MS : 0;
  const sinceBlock = round ? round.block_number - RECENT_BLOCKS : -1n;
  return [
    () => auditSweeps(deps, block, sinceBlock),
    () => auditEnded(deps, certain?.number ?? -1n, sinceMs),
    ...deps.routes.flatMap(({ auditDelivered, auditHeld }): Part[] => [
      () => auditDelivered(deps, scope),
      async () => (auditHeld ? auditHeld(deps, block) : []),
    ]),
    () => auditLanes(deps),
    async () => (scope === "all" ? auditPostings(deps) : []),
  ];
}

async function auditParts(parts: readonly Part[]): Promise<Sum> {
  const found: Sum = { findings: [], error: null };
  for (const part of parts) await auditPart(found, part);
  return found;
}

async function auditPart(found: Sum, part: Part): Promise<void> {
  try {
    const result = await part();
    if ("error" in result) found.error ??= result.error;
    found.findings.push(...("error" in result ? result.findings : result));
  } catch (error) {
    found.error ??= error;
  }
}

/** V1, V4: compares the wallets that are due. Adds to `found`. */
async function auditRound(
  deps: AuditDeps,
  {
    scope,
    blocks,
    after,
    found,
  }: {
    readonly scope: "next" | "all";
    readonly blocks: ComparedBlocks;
    readonly after: string;
    readonly found: Sum;
  },
): Promise<
  Pick<Compared, "subjects" | "isComplete"> & { readonly last: string; readonly wallets: number }
> {
  const { db, chain } = deps;
  const subjects: string[] = [];
  let isComplete = true;
  const audit = (wallets: readonly Address[]) =>
    auditPart(found, async () => {
      const compared: Compared = await auditWallets(deps, blocks, wallets);
      subjects.push(...compared.subjects);
      isComplete &&= compared.isComplete;
      return compared.findings;
    });
  if (scope === "next") {
    await audit(await listRecentWallets(db, chain.chainId, blocks.newest.number - RECENT_BLOCKS));
    await audit(await listQuarantinedWallets(db, chain.chainId, WALLETS_AT_ONCE));
  }
  let last = after;
  let wallets = 0;
  do {
    const some = await listWalletsAfter(db, chain.kind, last);
    await audit(some);
    wallets += some.length;
    last = some.length < WALLETS_AT_ONCE ? "" : (some.at(-1) ?? "");
  } while (scope === "all" && last !== "");
  return { last, wallets, subjects, isComplete };
}

/** Returns the newest final block that is scanned; null when there is none, or the scanner has another hash. */
async function findComparable({ db, chain }: AuditDeps): Promise<BlockRef | null> {
  const tip = await readTip(db, chain.chainId);
  if (tip < 0n) return null;
  const finalNumber = await chain.getFinalNumber();
  const block = await chain.getBlock(finalNumber < tip ? finalNumber : tip);
  return block && (await isScanned(db, chain.chainId, block)) ? block : null;
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
  return toFinding("nonce_taken", {
    chainId,
    subject: lane,
    details: { next_nonce: `${nextNonce}`, used_on_chain: `${used}` },
    repair: { kind: "adopt_nonce", lane, nonce: used },
  });
}

/** V3: the lines of every posting sum to zero. */
async function auditPostings({ db, chain }: AuditDeps): Promise<Finding[]> {
  const { chainId } = chain;
  return (await listUnbalanced(db, chainId)).map((posting) =>
    toFinding("posting_unbalanced", { chainId, subject: posting, details: { posting } }),
  );
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
  { block, nowMs, last }: { readonly block: bigint; readonly nowMs: number; readonly last: string },
): Promise<void> {
  const round = { block_number: block, at: formatStamp(nowMs), last_wallet: last };
  await db
    .insertInto("audit_rounds")
    .values({ chain_id: chainId, ...round })
    .onConflict((conflict) => conflict.column("chain_id").doUpdateSet(round))
    .execute();
}
