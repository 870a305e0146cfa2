import { toAddress } from "../../core/hex.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { listOpenTransactions } from "../../transactions/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists the transactions of the lanes that are not final. */
export async function run(
  call: Call,
  { chain: chainId, limit }: { readonly chain: number | undefined; readonly limit: number },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const open = await withDatabase(config, ({ db }) => listOpenTransactions(db, { chainId, limit }));
  const transactions = open.map((transaction) => ({
    ...transaction,
    lane: addressFormat.display(toAddress(transaction.lane)),
  }));
  const lines = transactions.map((transaction) =>
    [
      `chain ${transaction.chainId}`,
      transaction.lane,
      `nonce ${transaction.nonce ?? "-"}`,
      transaction.cancelled ? `${transaction.state}, cancelled` : transaction.state,
      transaction.intent,
      `${transaction.attempts} attempt(s)`,
      `since ${transaction.createdAt}`,
    ].join("  "),
  );
  return { json: { transactions }, text: lines.join("\n") || "no transaction is open" };
}
