/** `sluice governance cancel`: the transaction that ends a change of the contracts. It signs and sends nothing. */
import { buildWithdrawal } from "../../chains/evm/governance.ts";
import { readStanding, showChange } from "../../governance/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { systemClock } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { withDatabase } from "../with-database.ts";
import { findChange, formatChange } from "./changes.ts";

/** Prints the transaction that cancels a scheduled change or removes what is in force. */
export async function run(call: Call, given: { readonly change: string }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const clock = systemClock;
  const change = await withDatabase(config, async ({ db }) =>
    findChange(await readStanding({ db, config, clock }), given.change),
  );
  const withdrawal = buildWithdrawal(change);
  if (!withdrawal) {
    throw new UsageError(
      `change: ${change.role} ${change.state.replace("_", " ")} cannot be cancelled or removed; the owner can schedule another.`,
    );
  }
  const { call: made, by } = withdrawal;
  const transaction = { from: by, to: addressFormat.display(made.to), value: "0", data: made.data };
  const shown = showChange({ ...config, display: addressFormat.display }, change);
  return {
    json: { change: shown, transaction },
    text: [
      formatChange(shown, clock.now()),
      "",
      `Send from the ${by}, on chain ${change.chainId}, with value 0:`,
      `  to     ${transaction.to}`,
      `  data   ${transaction.data}`,
    ].join("\n"),
  };
}
