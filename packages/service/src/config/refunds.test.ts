import { expect, test } from "vitest";
import { toBase58 } from "../core/base58.ts";
import { REFUND_REASONS } from "../core/refund-reason.ts";
import { padAddress, toEvmAddress } from "../core/hex.ts";
import { allowsRefund, refundPolicyOf, resolveRefunds } from "./refunds.ts";

const ONE = toEvmAddress(`0x${"a1".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"b2".repeat(20)}`);

test("nothing is refunded by default [T192]", () => {
  const policies = resolveRefunds(undefined, []);
  const policy = refundPolicyOf(policies, padAddress(ONE));
  expect(REFUND_REASONS.filter((reason) => allowsRefund(policy, reason))).toEqual([]);
});

test("the entry of an authority replaces the whole default, in any spelling of its address", () => {
  const problems: string[] = [];
  const policies = resolveRefunds(
    {
      belowMinimum: true,
      dead: { afterSeconds: 3_600 },
      byAuthority: { [`0x${"A1".repeat(20)}`]: { expired: { afterSeconds: 86_400 } } },
    },
    problems,
  );
  expect(problems).toEqual([]);
  expect(refundPolicyOf(policies, padAddress(OTHER))).toEqual({
    belowMinimum: true,
    unlisted: false,
    deadAfterS: 3_600n,
    expiredAfterS: null,
    automatic: null,
  });
  const own = refundPolicyOf(policies, padAddress(ONE));
  expect(REFUND_REASONS.filter((reason) => allowsRefund(own, reason))).toEqual(["expired"]);
  expect(own.expiredAfterS).toBe(86_400n);
});

test("refunds are made by themselves only for the reasons beside, and ten times above their gas [T275]", () => {
  const problems: string[] = [];
  const automatic = { afterSeconds: 3_600 };
  const policies = resolveRefunds(
    { belowMinimum: true, byAuthority: { [ONE]: { unlisted: true, automatic } } },
    problems,
  );
  expect(refundPolicyOf(policies, padAddress(OTHER)).automatic).toBeNull();
  expect(refundPolicyOf(policies, padAddress(ONE))).toMatchObject({
    belowMinimum: false,
    automatic: { afterMs: 3_600_000, timesGas: 10n },
  });
  expect(problems).toEqual([]);
  resolveRefunds({ automatic, byAuthority: { [ONE]: { automatic } } }, problems);
  expect(problems).toEqual([
    "refunds.automatic: expected a reason beside it that allows refunds",
    `refunds.byAuthority.${ONE}.automatic: expected a reason beside it that allows refunds`,
  ]);
});

test("an authority on Solana is named in base58, as everywhere", () => {
  const problems: string[] = [];
  const text = "So11111111111111111111111111111111111111112";
  const policies = resolveRefunds({ byAuthority: { [text]: { unlisted: true } } }, problems);
  expect(problems).toEqual([]);
  const [authority] = policies.byAuthority.keys();
  expect(authority).toMatch(/^0x[0-9a-f]{64}$/);
  expect(authority && toBase58(authority)).toBe(text);
  resolveRefunds({ byAuthority: { So1111111111111111111111111111111111111111: {} } }, problems);
  expect(problems).toHaveLength(1);
});

test("an authority under two spellings is a problem", () => {
  const problems: string[] = [];
  const byAuthority = { [ONE]: {}, [`0x${"A1".repeat(20)}`]: { unlisted: true } };
  resolveRefunds({ byAuthority }, problems);
  expect(problems).toEqual([
    `refunds.byAuthority: expected each refund authority once, got 0x${"A1".repeat(20)}`,
  ]);
});
