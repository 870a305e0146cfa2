/** New blocks of several nodes as one chain, where honest nodes are seldom at the same block. */
import { describe, expect, test } from "vitest";
import {
  createDeadNode,
  createHonestNode,
  createLiar,
  FINAL,
  HEAD,
  quorumOf,
  SECTION,
  UNKNOWN_ID,
} from "../../test/support/quorum-doubles.ts";
import type { Section } from "./port/index.ts";
import type { ChainAtBlocks } from "./quorum.ts";

/** Returns a section of another fork. */
function withOtherParent(section: Section): Section {
  const [first, ...others] = section.blocks;
  if (!first) return section;
  return { parentHash: UNKNOWN_ID, blocks: [{ ...first, parentHash: UNKNOWN_ID }, ...others] };
}

describe("new blocks", () => {
  const read = (chain: ChainAtBlocks) => chain.readSection({ ...SECTION, after: HEAD - 3n });
  const numbersOf = (section: Section | null) => section?.blocks.map(({ number }) => number);
  const behind = () => createHonestNode({ head: HEAD - 2n, final: FINAL });

  test("are those that enough nodes have, each up to where they agree [T47]", async () => {
    const two = quorumOf([createHonestNode(), behind(), createHonestNode()]);
    expect(numbersOf(await read(two))).toEqual([HEAD - 2n, HEAD - 1n, HEAD]);
    const one = quorumOf([createHonestNode(), behind(), behind()]);
    expect(numbersOf(await read(one))).toEqual([HEAD - 2n]);
  });

  test("are none while one node alone claims to have them [T48]", async () => {
    const ahead = createHonestNode({ head: HEAD + 1n, final: FINAL });
    const chain = quorumOf([ahead, createHonestNode(), createHonestNode()]);
    expect(await chain.readSection({ ...SECTION, after: HEAD })).toBeNull();
  });

  test("are cut where a node leaves out a transfer that another shows [T48]", async () => {
    const liar = createLiar((answer, method) => {
      if (method !== "readSection") return answer;
      // CAST: the answer of an honest node.
      const section = answer as Section;
      return {
        ...section,
        blocks: section.blocks.map((block, at) => (at === 1 ? { ...block, transfers: [] } : block)),
      };
    });
    const chain = quorumOf([createHonestNode(), liar, createDeadNode()]);
    expect(numbersOf(await read(chain))).toEqual([HEAD - 2n]);
  });

  test("fail when the nodes are on different forks [T44]", async () => {
    const fork = createLiar((answer, method) =>
      // CAST: the answer of an honest node.
      method === "readSection" ? withOtherParent(answer as Section) : answer,
    );
    const chain = quorumOf([createHonestNode(), fork, createDeadNode()]);
    await expect(read(chain)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });
});
