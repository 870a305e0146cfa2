/** Where every base unit is, by kind of account. */
import type { ConsoleBooks } from "@sluice/sdk/wire";
import { toAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";
import { createTotals } from "../ledger/index.ts";
import { assetOf, nameOf } from "./assets.ts";
import type { DescribeContext } from "./describe.ts";

/** Answers are shared for this time. */
const KEPT_MS = 10_000;

/** Creates the reader of the books. */
export function createBooks(
  deps: DescribeContext & { readonly db: Db; readonly clock: Clock },
): () => Promise<ConsoleBooks> {
  const totals = createTotals(deps);
  let last: { readonly atMs: number; readonly books: Promise<ConsoleBooks> } | undefined;
  return () => {
    const nowMs = deps.clock.now();
    if (last && nowMs - last.atMs < KEPT_MS) return last.books;
    const own = { atMs: nowMs, books: readBooks(nowMs) };
    last = own;
    // A failure is not kept.
    own.books.catch(() => {
      if (last === own) last = undefined;
    });
    return own.books;
  };

  async function readBooks(nowMs: number): Promise<ConsoleBooks> {
    const found = await totals.read();
    return {
      at: formatStamp(nowMs),
      accounts: found.map(({ chainId, account, token, amount }) => {
        const asset = assetOf(deps, chainId, toAddress(token));
        const shown = asset.format(amount < 0n ? -amount : amount);
        return {
          chain: nameOf(chainId),
          account,
          amount: amount < 0n ? `-${shown}` : shown,
        };
      }),
    };
  }
}
