/**
 * Faults that only the auditor sees: a listed token that says for a while that wallets hold half of what they do, and
 * servers behind its URL that lag. The first must quarantine wallets and nothing else, the second must change nothing.
 */
import type { FakeNode } from "../fake-chain/node.ts";
import type { BlockId, TokenHolding } from "../../src/chains/port/index.ts";
import type { Db } from "../../src/db/schema.ts";
import { endBreach, listBreaches } from "../../src/ledger/index.ts";
import { REPAIRS } from "../../src/roles/repairs.ts";
import { Broken } from "./broken.ts";
import type { SharedDatabase } from "./database.ts";
import type { Dice } from "./random.ts";

/** Blocks by which a server lags at most. */
const LAG_BLOCKS_MAX = 40;

export interface AuditFaults {
  /** Whether the run has any. */
  readonly isOn: boolean;
  /** Returns the arguments of a read, with the newest final block replaced by one that a lagging server names. */
  lag(node: FakeNode, args: readonly unknown[]): Promise<readonly unknown[]>;
  /** Returns the answer of a read of final blocks, which a lagging server may give. */
  lagFinal(node: FakeNode, name: string, answer: unknown): Promise<unknown>;
  /** Returns the balances that a lying token names. */
  lie(holdings: readonly TokenHolding[], amounts: readonly (bigint | null)[] | null): unknown;
  /** Ends quarantines whose values agree again, as an operator does. */
  endHeld(db: Db): Promise<void>;
  /** Throws if a wallet was in quarantine about which no token lied, and whose tokens nobody destroyed. */
  check(database: SharedDatabase, isDestroyed: (subject: string) => boolean): Promise<void>;
}

/** Draws the faults of a seed: tokens lie in one seed of three, servers lag in one of four. */
export function createAuditFaults(
  dice: Dice,
  stage: {
    readonly isOff: boolean;
    readonly safetyMs: number;
    /** Virtual milliseconds since the start of the run. */
    readonly elapsedMs: () => number;
    readonly mark: (name: string) => void;
  },
): AuditFaults {
  const { safetyMs, elapsedMs, mark } = stage;
  const lies = !stage.isOff && dice.chance(1 / 3);
  const lagRate = !stage.isOff && dice.chance(1 / 4) ? dice.between(0.05, 0.5) : 0;
  const [from, until] = [dice.between(0, 0.3) * safetyMs, dice.between(0.5, 0.9) * safetyMs];
  const clock = { now: () => 0, sleep: async () => undefined };
  const lied = new Set<string>();
  const isLying = () => lies && elapsedMs() >= from && elapsedMs() < until;
  const lags = () => lagRate > 0 && elapsedMs() < safetyMs && dice.chance(lagRate);

  async function readOlder(node: FakeNode): Promise<BlockId> {
    const newest = await node.getFinalNumber();
    const back = BigInt(dice.int(LAG_BLOCKS_MAX));
    const block = await node.getBlock(newest > back ? newest - back : 0n);
    return (
      block ?? node.getBlock(0n).then((first) => first ?? Promise.reject(new Broken("no block")))
    );
  }

  return {
    isOn: lies || lagRate > 0,
    async lag(node, args) {
      if (node.kind !== "evm" || !args.includes("final") || !lags()) return args;
      mark("a lagging server answered the auditor");
      const older = await readOlder(node);
      return args.map((arg) => (arg === "final" ? older : arg));
    },
    async lagFinal(node, name, answer) {
      if (node.kind !== "evm" || !lags()) return answer;
      mark("a lagging server answered the auditor");
      const older = await readOlder(node);
      return name === "getFinalNumber" ? older.number : older;
    },
    lie(holdings, amounts) {
      if (!isLying() || amounts === null) return amounts;
      return amounts.map((amount, index) => {
        const holding = holdings[index];
        if (!holding || amount === null || amount < 2n) return amount;
        mark("a token lied to the auditor");
        lied.add(`${holding.wallet}:${holding.token}`);
        return amount / 2n;
      });
    },
    async endHeld(db) {
      for (const { id, holding, heldSince } of await listBreaches(db)) {
        if (!holding || heldSince === undefined) continue;
        mark("a quarantine was ended");
        const end = { id, operator: "operator", reason: "the token tells the truth again" };
        await endBreach({ db, clock, ...REPAIRS }, end);
      }
    },
    async check(database, isDestroyed) {
      const rows = await database.query<{ subject: string }>("select subject from breaches");
      const wrong = rows.find(({ subject }) => !lied.has(subject) && !isDestroyed(subject));
      if (wrong) throw new Broken(`a breach is found where nothing is wrong: ${wrong.subject}`);
    },
  };
}
