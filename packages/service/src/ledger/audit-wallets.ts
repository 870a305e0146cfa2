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

/** Findings, and everything that was compared, as `wallet:token`. */
export interface Compared {
  readonly findings: readonly Finding[];
  readonly subjects: readonly string[];
  /** Whether the node had the state of the block. */
  readonly hasState: boolean;
}

/** V1: the ledger balance of each wallet equals its chain balance exactly. */
export async function auditWallets(
  deps: AuditDeps,
  block: BlockRef,
  wallets: readonly Address[],
): Promise<Compared> {
  const findings: Finding[] = [];
  const subjects: string[] = [];
  let hasState = true;
  if (wallets.length === 0) return { findings, subjects, hasState };
  for (const held of await readHeld(deps, block, wallets)) {
    findings.push(...(await compareHeld(deps, held)));
    hasState &&= held.hasState;
    subjects.push(...held.amounts.map(({ wallet, token }) => `${wallet}:${token}`));
  }
  return { findings, subjects, hasState };
}

/** Compares the balances of wallets at one block. */
async function compareHeld(deps: AuditDeps, held: HeldAmounts): Promise<Finding[]> {
  const { db, chain, log } = deps;
  const { chainId } = chain;
  // At one block the chain never holds less than the ledger, even while more lines are being recorded.
  const args = { chainId, wallets: held.wallets, block: held.at };
  const known = await listBalances(db, { ...args, account: "wallet" });
  const transit = await listBalances(db, { ...args, account: "transit" });
  const findings = await auditTransit(deps, held.at, transit);
  for (const { token, wallet, amount } of held.amounts) {
    const booked = known.find((one) => one.owner === wallet && one.token === token)?.amount ?? 0n;
    if (amount < booked) {
      findings.push(
        toFinding("wallet_short", {
          chainId,
          subject: `${wallet}:${token}`,
          details: { block: `${held.at}`, ledger: `${booked}`, chain: `${amount}` },
          holding: { wallet, token },
          repair: {
            kind: "write_off",
            account: "wallet",
            owner: wallet,
            token,
            amount: `${booked - amount}`,
            block: `${held.at}`,
          },
        }),
      );
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
  if (!held.hasState) {
    log.warn({ block: held.at }, "audit skipped: node lacks the state of the final block");
  }
  return findings;
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
