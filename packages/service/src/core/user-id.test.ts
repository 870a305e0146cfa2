import { expect, test } from "vitest";
import { parseUserId } from "./user-id.ts";

const ONE = `0x${"0".repeat(39)}1`;

test.each([
  ["0x1", ONE],
  ["0x0", `0x${"0".repeat(40)}`],
  [ONE, ONE],
  [`0x${"0".repeat(300)}1`, ONE],
  [`0x${"0".repeat(24)}${"AB".repeat(20)}`, `0x${"ab".repeat(20)}`],
])("parses user id %s as %s", (text, userId) => {
  expect(parseUserId(text)).toBe(userId);
});

test.each(["", "1", "0x", "0X1", "0xg", "order-1", `0x1${"0".repeat(40)}`, "0x1\n"])(
  "refuses user id %j",
  (text) => {
    expect(parseUserId(text)).toBeUndefined();
  },
);
