/** The memo of a refund, whose bytes a third implementation computes too. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toAddress } from "../../core/hex.ts";
import { REFUND_REASONS, reasonOfNumber } from "../../core/refund-reason.ts";
import { buildMemo, parseMemo, type RefundMemo } from "./memos.ts";

const VAULT = toAddress(`0x${"a1".repeat(32)}`);

// CAST: written by packages/contracts/scripts/vectors.ts.
const { solanaRefunds } = JSON.parse(
  readFileSync(new URL("../../../../contracts/vectors/addresses.json", import.meta.url), "utf8"),
) as {
  readonly solanaRefunds: readonly {
    readonly name: string;
    readonly to: string;
    readonly token: string;
    readonly amount: string;
    readonly reason: number;
    readonly memo: string;
  }[];
};

test.each(solanaRefunds)("of a refund is the vector, $name", ({ to, token, ...vector }) => {
  const memo: RefundMemo = {
    kind: "refund",
    vault: VAULT,
    to: toAddress(to),
    token: toAddress(token),
    amount: BigInt(vector.amount),
    reason: reasonOfNumber(vector.reason),
  };
  expect(Buffer.from(buildMemo(memo, [VAULT]).data ?? []).toString()).toBe(vector.memo);
  expect(parseMemo(vector.memo, [VAULT])).toEqual(memo);
});

test("of a refund counts with a known reason only", () => {
  const [first] = solanaRefunds;
  for (const reason of ["5", "-1", "null", '"1"']) {
    const text = first?.memo.replace('"reason":0', `"reason":${reason}`) ?? "";
    expect(text).not.toBe(first?.memo);
    expect(parseMemo(text, [VAULT])).toBeNull();
  }
  expect(solanaRefunds.map(({ reason }) => reason).slice(0, 5)).toEqual([
    0,
    ...REFUND_REASONS.map((_, index) => index + 1),
  ]);
});
