import { addressFormat } from "../../roles/address-format.ts";
import { toAddress } from "../../core/hex.ts";
import { listScreenings, type ScreeningFacts } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists the deposits that wait for the screening or are held by it, or all that were screened. */
export async function run(call: Call, { all }: { readonly all: boolean }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const listed = await withDatabase(config, ({ db }) => listScreenings(db, { all }));
  const deposits = listed.map((facts) => ({
    ...facts,
    wallet: show(facts.wallet),
    token: show(facts.token),
    sender: facts.sender === null ? null : show(facts.sender),
  }));
  return { json: { deposits }, text: deposits.map(format).join("\n") || "no deposit waits" };
}

const show = (address: string) => addressFormat.display(toAddress(address));

function format(facts: ScreeningFacts): string {
  const { depositId, verdict, source, detail, chainId, amount, token, wallet } = facts;
  return [
    depositId,
    `${verdict}${source === null ? "" : ` by ${source}`}${detail === null ? "" : ` (${detail})`}`,
    `${amount} of ${token} at ${wallet} on chain ${chainId}`,
    `from ${facts.sender ?? "an unknown sender"}`,
    `since ${facts.since}`,
  ].join("  ");
}
