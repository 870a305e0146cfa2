import { describe, expect, test } from "vitest";
import { PROFILE_NAMES, profileOf, REFUSALS, refusalOf } from "./profiles.ts";
import { renderError, renderMessage } from "./refusal.ts";

describe("the table of refusals", () => {
  test("ids are unique and begin with the provider", () => {
    const ids = REFUSALS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9-]+\.[a-z-]+$/.test(id))).toEqual([]);
  });

  test.each(REFUSALS)("$id has a source and a value for each placeholder", (refusal) => {
    expect(refusal.source).toMatch(/^https:\/\//);
    expect(renderMessage(refusal, refusal.sample)).not.toMatch(/[{}]/);
    expect(JSON.stringify(renderError(refusal, refusal.sample))).not.toMatch(/\{[a-zA-Z]+\}/);
  });

  test("a sample renders the text that was seen", () => {
    const { sample, ...refusal } = refusalOf("quicknode.range");
    expect(renderMessage({ sample, ...refusal }, sample)).toBe(
      "eth_getLogs is limited to a 10,000 range",
    );
    const infura = refusalOf("infura.results");
    expect(renderError(infura, infura.sample)).toEqual({
      code: -32005,
      message:
        "query returned more than 10000 results. Try with this block range [0xBDE5F8, 0x102DBCC].",
      data: { from: "0xBDE5F8", limit: 10_000, to: "0x102DBCC" },
    });
  });

  test("a placeholder without a value is an error that names it", () => {
    expect(() => renderMessage(refusalOf("infura.range"), { limit: 1 })).toThrow("{range}");
  });
});

test.each(PROFILE_NAMES)("%s has a refusal of the right kind for each limit", (name) => {
  const { words } = profileOf(name);
  expect(refusalOf(words.range).kind).toBe("range");
  expect(refusalOf(words.results).kind).toBe("results");
  expect(refusalOf(words.size).kind).toBe("size");
  expect(["rate", "timeout"]).toContain(refusalOf(words.rate).kind);
  expect(refusalOf(words.quota).kind).toBe("quota");
  expect(refusalOf(words.batch).kind).toBe("batch");
  expect(refusalOf(words.method).kind).toBe("method");
  expect(refusalOf(words.address).kind).toBe("address");
  expect(refusalOf(words.unknownBlock).kind).toBe("behind");
  expect(refusalOf(words.pruned).kind).toBe("pruned");
});
