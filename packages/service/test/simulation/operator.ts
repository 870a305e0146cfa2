/**
 * An operator who requests refunds of settlements on Solana in any state: there only an order moves the value in a vault.
 * Most requests are refused, since the settlement continues by itself.
 */
import { createSettlementDeps } from "../../src/roles/settlement-deps.ts";
import { refundSettlement } from "../../src/settlements/index.ts";
import type { SharedDatabase } from "./database.ts";
import type { Kernel } from "./kernel.ts";
import type { Process } from "./lives.ts";
import type { Dice } from "./random.ts";
import { laneOf, REFUND_AUTHORITY_SOLANA, SOLANA } from "./stage.ts";

/** Requests refunds every few seconds until `untilMs` of the run; accepted ones are marked. */
export function startOperator(stage: {
  readonly kernel: Kernel;
  readonly dice: Dice;
  readonly api: Process;
  readonly database: SharedDatabase;
  readonly untilMs: number;
  readonly guard: (work: Promise<unknown>) => void;
  readonly mark: (name: string) => void;
}): void {
  const { kernel, dice, api, database, untilMs, guard, mark } = stage;
  const lanes = { deploy: [], settle: [laneOf(SOLANA, "settle")] };
  const deps = createSettlementDeps(api.context, new Map([[SOLANA, lanes]]));

  async function refundOne(): Promise<void> {
    const rows = await database.query<{ id: string }>(
      `select id from settlements where chain_id = ${SOLANA} and status <> 'completed' order by created_at`,
    );
    if (rows.length === 0) return;
    const { id } = dice.pick(rows);
    const asked = { id, operator: "operator", reason: "a user asked for it" };
    try {
      const { changed } = await refundSettlement(deps, { ...asked, to: REFUND_AUTHORITY_SOLANA });
      if (changed) mark("refunded by an order on Solana");
    } catch (error) {
      // Refused, or a node does not answer: the operator gets the error.
      if (!(error instanceof Error && error.name === "OperatingError")) throw error;
    }
  }

  for (let atMs = 0; ;) {
    atMs += dice.between(1_000, 15_000);
    if (atMs > untilMs) return;
    kernel.schedule("an operator refunds", atMs, () => guard(refundOne()));
  }
}
