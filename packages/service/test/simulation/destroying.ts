/**
 * Issuers that destroy the tokens of a deposit address, as some can, without a transfer. The auditor must quarantine that
 * token in that wallet, everything else must go on, and an operator writes the amount off once nothing else is left.
 */
import type { FakeChain } from "../fake-chain/model.ts";
import type { Address } from "../../src/core/hex.ts";
import type { Db } from "../../src/db/schema.ts";
import { endBreach, listBreaches } from "../../src/ledger/index.ts";
import { REPAIRS } from "../../src/roles/repairs.ts";
import type { SharedDatabase } from "./database.ts";
import type { Kernel } from "./kernel.ts";
import type { Dice } from "./random.ts";
import { type PaidAddress, SOLANA, tokenOf } from "./stage.ts";

/** Time between two polls of a wallet by the issuer. */
const POLL_MS = 2_000;
const POLLS_MAX = 60;

export interface Destroying {
  /** Whether the run has any. */
  readonly isOn: boolean;
  /** Schedules the issuer's polls of the wallets. */
  start(addresses: readonly PaidAddress[]): void;
  /** Returns whether an issuer destroyed tokens of a breach's subject, on some branch of the chain. */
  isSubject(subject: string): boolean;
  /** Writes destroyed tokens off, as a patient operator does once only the quarantined holdings are left. */
  writeOff(db: Db, database: SharedDatabase): Promise<void>;
}

/** Draws the destructions of a seed: one in six. */
export function createDestroying(
  dice: Dice,
  world: {
    readonly kernel: Kernel;
    readonly chains: ReadonlyMap<number, FakeChain>;
    readonly isOff: boolean;
    /** Whether the operator waits until nothing else is left. */
    readonly isPatient: boolean;
    readonly untilMs: number;
    readonly submit: (
      chainId: number,
      action: {
        readonly kind: "destroy";
        readonly token: Address;
        readonly wallet: Address;
        readonly share: bigint;
      },
    ) => void;
    readonly mark: (name: string) => void;
  },
): Destroying {
  const { kernel, chains, untilMs, mark } = world;
  const isOn = !world.isOff && dice.chance(1 / 6);
  const subjects = new Set<string>();
  const clock = { now: () => 0, sleep: async () => undefined };

  function poll(paid: PaidAddress, polls: number): void {
    const { chainId } = paid;
    const { wallet } = paid.address;
    const token = tokenOf(chainId);
    const held = chains.get(chainId)?.head.state.balanceOf(token, wallet) ?? 0n;
    if (held > 0n) {
      mark("an issuer destroyed tokens");
      subjects.add(`${wallet}:${token}`);
      const share = dice.pick([1n, 1n, 2n, 3n]);
      return world.submit(chainId, { kind: "destroy", token, wallet, share });
    }
    if (polls < POLLS_MAX) kernel.schedule("an issuer polls", POLL_MS, () => poll(paid, polls + 1));
  }

  return {
    isOn,
    start(addresses) {
      const evm = addresses.filter(({ chainId }) => chainId !== SOLANA);
      if (!isOn || evm.length === 0) return;
      for (let i = 0; i <= dice.int(2); i++) {
        const paid = dice.pick(evm);
        kernel.schedule("an issuer polls", dice.between(0, untilMs), () => poll(paid, 0));
      }
    },
    isSubject: (subject) => subjects.has(subject),
    async writeOff(db, database) {
      if (!isOn || (world.isPatient && !(await isOnlyHeldLeft(database)))) return;
      for (const { id, subject, holding, heldSince } of await listBreaches(db)) {
        if (!holding || heldSince !== undefined || !subjects.has(subject)) continue;
        mark("destroyed tokens were written off");
        const end = { id, operator: "operator", reason: "the issuer destroyed the tokens" };
        await endBreach({ db, clock, ...REPAIRS }, end);
      }
    },
  };
}

/** Returns whether no settlement is open but those of quarantined tokens in quarantined wallets. */
async function isOnlyHeldLeft(database: SharedDatabase): Promise<boolean> {
  const rows = await database.query(
    `select s.id from settlements s
      where status not in ('completed', 'dead')
        and coalesce(error_code, '') not in ('NO_ROUTE', 'AMOUNT_TOO_SMALL', 'FEE_NOT_COVERED')
        and not exists (select from breaches b where b.chain_id = s.chain_id and b.wallet = s.wallet
                           and b.token = s.token and b.ended_at is null) limit 1`,
  );
  return rows.length === 0;
}

/** Returns the destroyed base units of each holding, as chain, wallet and token. */
export function listDestroyed(chains: ReadonlyMap<number, FakeChain>): ReadonlyMap<string, bigint> {
  const destroyed = new Map<string, bigint>();
  for (const [chainId, chain] of chains) {
    for (const { transactions } of chain.branchOf(chain.head)) {
      for (const log of transactions.flatMap(({ logs }) => logs)) {
        if (log.kind !== "destroyed") continue;
        const holding = `${chainId}:${log.wallet}:${log.token}`;
        destroyed.set(holding, (destroyed.get(holding) ?? 0n) + log.amount);
      }
    }
  }
  return destroyed;
}
