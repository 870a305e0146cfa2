import { setGasPolicy, setRefundSolana } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import type { GasChoice } from "../values.ts";
import { withDatabase } from "../with-database.ts";

/** Changes who pays for the gas of an integrator's settlements, or names its refund authority on Solana. */
export async function run(
  call: Call,
  input: {
    readonly integrator: string;
    readonly gas: GasChoice | undefined;
    readonly refundSolana: string | undefined;
  },
): Promise<Result> {
  const { integrator, gas: choice, refundSolana } = input;
  if (choice === undefined && refundSolana === undefined) {
    throw new UsageError("Expected --gas or --refund-solana.");
  }
  const gas = choice === "default" ? null : choice;
  await withDatabase(call.readConfig(), async ({ db }) => {
    // The refund authority first, since only that change can be refused.
    if (refundSolana !== undefined) await setRefundSolana(db, { integrator, refundSolana });
    if (gas !== undefined) await setGasPolicy(db, { integrator, gas });
  });
  const lines = [
    ...(gas === undefined
      ? []
      : [`gas of ${integrator} is ${gas ?? "paid as the configuration says"}`]),
    ...(refundSolana === undefined
      ? []
      : [`deposits of ${integrator} on Solana go back to ${refundSolana}`]),
  ];
  const json = {
    integrator,
    ...(gas === undefined ? {} : { gas }),
    ...(refundSolana === undefined ? {} : { refundSolana }),
  };
  return { json, text: lines.join("\n") };
}
