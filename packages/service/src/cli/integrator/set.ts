import {
  setAddressTerms,
  setGasPolicy,
  setLimits,
  setRefundSolana,
} from "../../integrators/index.ts";
import type { RouteTerms } from "../../core/commitment.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import type { GasChoice, QuotaChoice } from "../values.ts";
import { withDatabase } from "../with-database.ts";

/** Changes the settings of an integrator. Those of addresses apply to addresses issued from now on. */
export async function run(
  call: Call,
  input: {
    readonly integrator: string;
    readonly gas: GasChoice | undefined;
    readonly refundSolana: string | undefined;
    readonly routes: RouteTerms | undefined;
    readonly unattended: boolean | undefined;
    readonly maxAddresses: QuotaChoice | undefined;
    readonly maxOpenSettlements: QuotaChoice | undefined;
    readonly weight: number | undefined;
  },
): Promise<Result> {
  const { integrator, gas: choice, refundSolana, routes, unattended } = input;
  const maxAddresses = toQuota(input.maxAddresses);
  const maxOpenSettlements = toQuota(input.maxOpenSettlements);
  const { weight } = input;
  const limits = { addresses: maxAddresses, openSettlements: maxOpenSettlements, weight };
  const given = [choice, refundSolana, routes, unattended, ...Object.values(limits)];
  if (given.every((value) => value === undefined)) throw new UsageError(EXPECTED);
  const gas = choice === "default" ? null : choice;
  await withDatabase(call.readConfig(), async ({ db }) => {
    // The refund authority first, since only that change can be refused.
    if (refundSolana !== undefined) await setRefundSolana(db, { integrator, refundSolana });
    if (gas !== undefined) await setGasPolicy(db, { integrator, gas });
    await setAddressTerms(db, { integrator, terms: { routes, unattended } });
    await setLimits(db, { integrator, limits });
  });
  const lines = [
    ...(gas === undefined
      ? []
      : [`gas of ${integrator} is ${gas ?? "paid as the configuration says"}`]),
    ...(refundSolana === undefined
      ? []
      : [`deposits of ${integrator} on Solana go back to ${refundSolana}`]),
    ...(routes === undefined ? [] : [`new addresses of ${integrator} have ${routes} routes`]),
    ...(unattended === undefined
      ? []
      : [`new addresses of ${integrator} ${describeUnattended(unattended)}`]),
    ...describeLimit(`deposit addresses of ${integrator}`, maxAddresses),
    ...describeLimit(`settlements in progress of ${integrator} on a chain`, maxOpenSettlements),
    ...(weight === undefined ? [] : [`${integrator} has ${weight} turn(s) per round of a queue`]),
  ];
  const json = {
    integrator,
    ...(gas === undefined ? {} : { gas }),
    ...(refundSolana === undefined ? {} : { refundSolana }),
    ...(routes === undefined ? {} : { routes }),
    ...(unattended === undefined ? {} : { unattended }),
    ...(maxAddresses === undefined ? {} : { maxAddresses }),
    ...(maxOpenSettlements === undefined ? {} : { maxOpenSettlements }),
    ...(weight === undefined ? {} : { weight }),
  };
  return { json, text: lines.join("\n") };
}

const EXPECTED =
  "Expected --gas, --refund-solana, --routes, --unattended, --max-addresses, --max-open-settlements or --weight.";

/** Returns null, which restores the configuration's quota, for `default`. */
function toQuota(choice: QuotaChoice | undefined): number | null | undefined {
  return choice === "default" ? null : choice;
}

function describeLimit(subject: string, limit: number | null | undefined): readonly string[] {
  if (limit === undefined) return [];
  return [`${subject}: ${limit === null ? "as the configuration says" : `at most ${limit}`}`];
}

function describeUnattended(unattended: boolean): string {
  return unattended
    ? "can be settled by anybody 72 hours after an announcement"
    : "are settled by the operator only";
}
