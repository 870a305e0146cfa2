/** Compares the balances of wallets with the ledger. */
import type { BlockRef, FinalBalances } from "../chains/port/index.ts";
import { type Address, isNative, NATIVE_TOKEN } from "../core/hex.ts";
import { listBalances, postSurplus } from "./accounts.ts";
import type { AuditDeps } from "./audit-deps.ts";
import { auditTransit } from "./audit-transit.ts";
import { type Finding, toFinding } from "./breaches.ts";
import { isReached } from "./scanned.ts";

/** Wait for the scanner, where the node chooses the block of the comparison. */
const SCANNER_WAIT_MS = 500;

const SCANNER_TRIES = 20;

/** The blocks at which an audit compares. */
export interface ComparedBlocks {
  /** The newest final and scanned block. */
  readonly newest: BlockRef;
  /** The newest one at which no log can be missing because a node left it out; null before the first. */
  readonly certain: BlockRef | null;
}

/** Findings, and everything that was compared, as `wallet:token`. */
export interface Compared {
  readonly findings: readonly Finding[];
  readonly subjects: readonly string[];
  /** Whether everything could be compared: the node had the state, and no difference waits for the second look. */
  readonly isComplete: boolean;
}

/**
 * V1, V4: the ledger balance of each wallet equals its chain balance exactly, and its sweeps are recorded. Where they differ
 * at the newest block, the wallet is compared again at the newest block that was read twice: a node may have left out a log
 * of a newer one. Only that difference counts.
 */
export async function auditWallets(
  deps: AuditDeps,
  { newest, certain }: ComparedBlocks,
  wallets: readonly Address[],
): Promise<Compared> {
  const first = await compareAt(deps, newest, wallets);
  if (first.differing.length === 0 || certain?.number === newest.number) return judge(deps, first);
  if (!certain) return { findings: [], subjects: first.agreeing, isComplete: false };
  const again = await compareAt(deps, certain, first.differing);
  const judged = await judge(deps, again);
  return {
    findings: judged.findings,
    subjects: [...first.agreeing, ...judged.subjects],
    isComplete: first.hasState && judged.isComplete,
  };
}

/** Balance of a holding on the chain and in the ledger, in base units, after a block. */
interface Pair {
  readonly at: bigint;
  readonly wallet: Address;
  readonly token: Address;
  readonly amount: bigint;
  readonly booked: bigint;
}

/** A comparison of wallets. */
interface Comparison {
  readonly pairs: readonly Pair[];
  readonly unrecorded: readonly Finding[];
  readonly hasState: boolean;
  /** Wallets with a difference. */
  readonly differing: readonly Address[];
  /** Holdings of the other wallets, as `wallet:token`. */
  readonly agreeing: readonly string[];
}

/** Compares the balances of wallets at one block, and the sweeps up to it with the settlements. */
async function compareAt(
  deps: AuditDeps,
  block: BlockRef,
  wallets: readonly Address[],
): Promise<Comparison> {
  const { db, chain, log } = deps;
  const { chainId } = chain;
  const pairs: Pair[] = [];
  const unrecorded: Finding[] = [];
  let hasState = true;
  for (const held of wallets.length === 0 ? [] : await readHeld(deps, block, wallets)) {
    // At one block the chain never holds less than the ledger, even while more lines are being recorded.
    const args = { chainId, wallets: held.wallets, block: held.at };
    const known = await listBalances(db, { ...args, account: "wallet" });
    const transit = await listBalances(db, { ...args, account: "transit" });
    unrecorded.push(...(await auditTransit(deps, held.at, transit)));
    if (!held.hasState) {
      hasState = false;
      log.warn({ block: held.at }, "audit skipped: node lacks the state of the final block");
    }
    const bookedOf = new Map(known.map((row) => [`${row.owner}:${row.token}`, row.amount]));
    for (const one of held.amounts) {
      const booked = bookedOf.get(`${one.wallet}:${one.token}`) ?? 0n;
      pairs.push({ ...one, at: held.at, booked });
    }
  }
  const isDifferent = ({ token, amount, booked }: Pair) =>
    amount < booked || (amount > booked && isAdjusted(deps, token));
  const differing = new Set([
    ...pairs.filter(isDifferent).map(({ wallet }) => wallet),
    ...unrecorded.flatMap(({ holding }) => (holding ? [holding.wallet] : [])),
  ]);
  return {
    pairs,
    unrecorded,
    hasState,
    differing: [...differing],
    agreeing: pairs
      .filter(({ wallet }) => !differing.has(wallet))
      .map(({ wallet, token }) => `${wallet}:${token}`),
  };
}

/** Reports whether a surplus is an adjustment: on EVM chains unexplained native coin is a deposit, which the scanner finds. */
function isAdjusted({ chain }: AuditDeps, token: Address): boolean {
  return chain.balances.kind === "final" || !isNative(token);
}

/** Returns the findings of a comparison, and posts its surpluses. */
async function judge(
  deps: AuditDeps,
  { pairs, unrecorded, hasState }: Comparison,
): Promise<Compared> {
  const { db, log } = deps;
  const { chainId } = deps.chain;
  const findings = [...unrecorded];
  for (const { at, token, wallet, amount, booked } of pairs) {
    if (amount < booked) {
      findings.push(
        toFinding("wallet_short", {
          chainId,
          subject: `${wallet}:${token}`,
          details: { block: `${at}`, ledger: `${booked}`, chain: `${amount}` },
          holding: { wallet, token },
          repair: {
            kind: "write_off",
            account: "wallet",
            owner: wallet,
            token,
            amount: `${booked - amount}`,
            block: `${at}`,
          },
        }),
      );
    } else if (amount > booked && isAdjusted(deps, token)) {
      const surplus = await postSurplus(db, { chainId, wallet, token, block: at, held: amount });
      if (surplus > 0n) log.warn({ wallet, token, surplus }, "arrived without a transfer");
    }
  }
  const subjects = pairs.map(({ wallet, token }) => `${wallet}:${token}`);
  return { findings, subjects, isComplete: hasState };
}

/** Balances of wallets at a fully recorded block, in base units. */
interface HeldAmounts {
  readonly at: bigint;
  readonly wallets: readonly Address[];
  /** Whether the node had the state of the block. */
  readonly hasState: boolean;
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
  const hasState = amounts !== null;
  const at = block.number;
  if (!tokens.includes(NATIVE_TOKEN)) return [{ at, wallets, hasState, amounts: held }];
  const native = await balances.listNativeBalances(block, wallets);
  const coins = wallets.map((wallet, index) => ({
    token: NATIVE_TOKEN,
    wallet,
    amount: native[index] ?? 0n,
  }));
  return [{ at, wallets, hasState, amounts: [...held, ...coins] }];
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
    hasState: true,
    amounts,
  }));
}
