/** Blocks from messages that arrive in any order, twice, too few or too many. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toHex32 } from "../../../core/hex.ts";
import type { BlockTransaction } from "../block-answer.ts";
import { createAssembler } from "./assembler.ts";
import type { Update } from "./messages.ts";

const SLOT = 7n;

function head(count: number, slot = SLOT): Update {
  const [hash, parentHash] = [toHex32(`0x${"aa".repeat(32)}`), toHex32(`0x${"bb".repeat(32)}`)];
  return {
    kind: "block",
    count,
    head: { slot, hash, parentHash, parentSlot: slot - 1n, height: slot, time: null },
  };
}

function place(index: number, slot = SLOT): Update {
  const transaction: BlockTransaction = {
    index,
    signature: `signature ${index}`,
    feePayer: "payer",
    signers: [],
    hasMemo: false,
    sol: [],
    tokens: [],
  };
  return { kind: "transaction", slot, index, transaction: index % 2 === 0 ? transaction : null };
}

/** Returns the blocks that messages complete. */
function assemble(updates: readonly Update[], bytes = 1) {
  const assembler = createAssembler();
  return updates.flatMap((update) => assembler.add(update, bytes) ?? []);
}

const WHOLE = [head(4), place(0), place(1), place(2), place(3)];

describe("a slot", () => {
  test("has one block, the same in every order of its messages", () => {
    const [block] = assemble(WHOLE);
    expect(block).toMatchObject({
      bytes: 5,
      block: { count: 4, transactions: [{ index: 0 }, { index: 2 }] },
    });
    const order = fc.shuffledSubarray(WHOLE, { minLength: WHOLE.length });
    fc.assert(
      fc.property(order, (updates) => {
        expect(assemble(updates)).toEqual([block]);
      }),
    );
  });

  test("has a block without a transaction", () => {
    expect(assemble([head(0)])).toMatchObject([{ block: { count: 0, transactions: [] } }]);
  });

  test("has no block while a message is missing", () => {
    const some = fc.shuffledSubarray(WHOLE, { maxLength: WHOLE.length - 1 });
    fc.assert(
      fc.property(some, (updates) => {
        expect(assemble(updates)).toEqual([]);
      }),
    );
  });

  test.each([
    ["a place is named twice", [place(1), ...WHOLE]],
    ["two heads are sent", [head(4), ...WHOLE]],
    ["a place is beyond the number", [head(2), place(0), place(2)]],
  ])("has no block when %s", (_, updates) => {
    expect(assemble(updates)).toEqual([]);
  });
});

describe("the memory of an assembler", () => {
  test("has the newest 64 slots", () => {
    const heads = Array.from({ length: 65 }, (_, slot) => head(1, BigInt(slot)));
    const rest = Array.from({ length: 65 }, (_, slot) => place(0, BigInt(slot)));
    const slots = assemble([...heads, ...rest.slice(1), ...rest.slice(0, 1)]).map(
      ({ block }) => block.slot,
    );
    expect(slots).toEqual(Array.from({ length: 64 }, (_, slot) => BigInt(slot + 1)));
  });

  test("has at most 128 MiB of messages", () => {
    const updates = [place(0), head(1, 8n), head(1), place(0, 8n)];
    expect(assemble(updates, 2 ** 27)).toEqual([]);
    expect(assemble(updates, 2 ** 25)).toHaveLength(2);
  });
});
