/** Roles of nodes: combinations of full nodes and witnesses, of the service and of the attestor. */
import { describe, expect, test } from "vitest";
import { type NodesConfig, resolveAttestorNodes, resolveNodes } from "./nodes.ts";

const full = (count: number) =>
  Array.from({ length: count }, (_, index) => `https://full-${index}.example`);
const witnesses = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    url: `https://witness-${index}.example`,
    role: "witness" as const,
  }));

function resolve(read: (problems: string[]) => NodesConfig) {
  const problems: string[] = [];
  return { nodes: read(problems), problems };
}

describe("the service", () => {
  const resolveOf = (fullNodes: number, witnessNodes: number, quorum?: number) =>
    resolve((problems) =>
      resolveNodes(
        {
          rpcUrls: [...full(fullNodes), ...witnesses(witnessNodes)],
          ...(quorum !== undefined && { quorum }),
        },
        "chains[0]",
        problems,
      ),
    );

  test.each([
    [1, 1, undefined, 2],
    [1, 2, undefined, 2],
    [1, 2, 3, 3],
    [2, 3, undefined, 3],
  ])(
    "can have %i full nodes and %i witnesses with the quorum %s: %i nodes must agree",
    (fullNodes, witnessNodes, quorum, expected) => {
      const { nodes, problems } = resolveOf(fullNodes, witnessNodes, quorum);
      expect(problems).toEqual([]);
      expect(nodes.quorum).toBe(expected);
    },
  );

  test("is refused without a full node", () => {
    expect(resolveOf(0, 2).problems).toEqual([
      "chains[0].rpcUrls: expected a full node, a witness only confirms its answers",
    ]);
  });

  test("is refused with witnesses that would never be asked", () => {
    expect(resolveOf(2, 1).problems).toEqual([
      "chains[0].rpcUrls: expected fewer full nodes than the quorum of 2, or no witness: none would be asked",
    ]);
  });
});

describe("the attestor", () => {
  const resolveOf = (fullNodes: number, witnessNodes: number) =>
    resolve((problems) =>
      resolveAttestorNodes(
        [...full(fullNodes), ...witnesses(witnessNodes)],
        "attestor.rpcUrls.2",
        problems,
      ),
    ).problems;

  test("is refused with fewer full nodes than its quorum [D5]", () => {
    expect(resolveOf(1, 2)).toEqual([
      "attestor.rpcUrls.2: expected at least 2 full nodes, a majority: the attestor asks no witness",
    ]);
    expect(resolveOf(0, 1)).toHaveLength(1);
  });

  test("leaves out witnesses beside enough full nodes", () => {
    expect(resolveOf(2, 1)).toEqual([]);
  });
});
