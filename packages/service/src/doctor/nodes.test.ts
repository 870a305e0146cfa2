import { describe, expect, test } from "vitest";
import {
  ABLE,
  createStrictInspector,
  createDoctorDeps,
  CHAIN,
} from "../../test/support/doctor-doubles.ts";
import type { SeenBlock } from "../chains/inspector.ts";
import type { ReadAt } from "../chains/port/index.ts";
import type { EvmChain } from "../config/index.ts";
import { toHex32 } from "../core/hex.ts";
import { checkEvmNodes } from "./nodes.ts";
import type { DoctorDeps } from "./facts.ts";
import { runChecks } from "./run.ts";
import { createNodesConfig } from "../../test/support/nodes.ts";

const NOW_S = 1_800_000_000;
const HASH = toHex32(`0x${"aa".repeat(32)}`);
const OTHER_HASH = toHex32(`0x${"bb".repeat(32)}`);
/** A public chain, where the exceptions for local test chains do not apply. */
const REAL: Partial<EvmChain> = { evmChainId: 1 };

interface Node {
  readonly evmChainId?: number;
  /** Seconds: the head behind the clock, and the final block behind the head. */
  readonly headBehindS?: number;
  readonly finalBehindS?: number;
  readonly finalBehindBlocks?: bigint;
  readonly finalHash?: typeof HASH;
  readonly latencyMs?: number;
}

function createNode(node: Node) {
  const { headBehindS = 5, finalBehindS = 900, finalBehindBlocks = 64n } = node;
  const headAt = BigInt(NOW_S - headBehindS);
  const blocks: Readonly<Record<ReadAt, SeenBlock>> = {
    latest: { number: 1_000n, hash: HASH, parentHash: HASH, timestamp: headAt },
    final: {
      number: 1_000n - finalBehindBlocks,
      hash: HASH,
      parentHash: HASH,
      timestamp: headAt - BigInt(finalBehindS),
    },
  };
  return createStrictInspector({
    ...ABLE,
    measureLatency: async () => node.latencyMs ?? 12,
    // A block each 12 seconds.
    getTimestamp: async (number) => headAt - (1_000n - number) * 12n,
    getEvmChainId: async () => node.evmChainId ?? 1,
    getHead: async (at) => blocks[at],
    getBlockHash: async () => node.finalHash ?? HASH,
  });
}

async function examine(args: {
  readonly service?: Node;
  readonly attestor?: Node;
  readonly chain?: Partial<EvmChain>;
  readonly furtherOfService?: readonly Node[];
  readonly furtherOfAttestor?: readonly Node[];
  readonly areTheSame?: boolean;
  readonly tryPush?: DoctorDeps["tryPush"];
  readonly tryStream?: DoctorDeps["tryStream"];
}) {
  const chain = { ...CHAIN, ...REAL, ...args.chain };
  const deps = createDoctorDeps({
    chain,
    nowMs: NOW_S * 1_000,
    nodes: {
      service: createNode(args.service ?? {}),
      attestor: createNode(args.attestor ?? {}),
      furtherOfService: (args.furtherOfService ?? []).map(createNode),
      furtherOfAttestor: (args.furtherOfAttestor ?? []).map(createNode),
      areTheSame: args.areTheSame ?? false,
    },
    ...(args.tryPush && { tryPush: args.tryPush }),
    ...(args.tryStream && { tryStream: args.tryStream }),
  });
  const results = await runChecks([checkEvmNodes(deps, chain).all]);
  return results.filter(({ status }) => status !== "ok");
}

describe("nodes", () => {
  test("have no findings when they are correct", async () => {
    expect(await examine({})).toEqual([]);
  });

  test.each<[number, string]>([
    [121, "warning"],
    [601, "problem"],
    [-121, "warning"],
    [-601, "problem"],
  ])("with a head %i s behind this clock are a %s", async (headBehindS, status) => {
    expect(await examine({ service: { headBehindS } })).toMatchObject([
      { id: "node.head", subject: "chain 2 (ethereum)", status },
    ]);
  });

  test("with a latency above a second are a warning", async () => {
    expect(await examine({ attestor: { latencyMs: 1_001 } })).toMatchObject([
      { id: "node.latency", subject: "attestor's node of chain 2", status: "warning" },
    ]);
  });

  test("accept an old head on a local test chain", async () => {
    const chain = { evmChainId: 900_002 };
    const node = { evmChainId: 900_002, headBehindS: 100_000 };
    const results = await examine({ chain, service: node, attestor: node });
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ["node.head", "warning"],
      ["node.head", "warning"],
    ]);
  });

  test("are a problem when the head is final, except where blocks are final at once", async () => {
    const node = { finalBehindBlocks: 0n, finalBehindS: 0 };
    expect(await examine({ attestor: node })).toMatchObject([
      {
        id: "node.finality",
        subject: "attestor's node of chain 2",
        status: "problem",
        found: "every block is final at once",
      },
      { id: "node.agreement", status: "skipped" },
    ]);
    const avalanche = { chainId: 6, name: "avalanche" };
    expect(await examine({ chain: avalanche, service: node, attestor: node })).toEqual([]);
  });

  test.each<[number, string]>([
    [3_601, "warning"],
    [43_201, "problem"],
  ])("with a final block %i s behind the head are a %s", async (finalBehindS, status) => {
    const [first] = await examine({ service: { finalBehindS } });
    expect(first).toMatchObject({ id: "node.finality", status });
  });

  test("are a problem when they disagree on a final block", async () => {
    expect(await examine({ attestor: { finalHash: OTHER_HASH } })).toMatchObject([
      {
        id: "node.agreement",
        status: "problem",
        found: `block 936 ${OTHER_HASH}`,
        expected: `block 936 ${HASH}`,
      },
    ]);
  });

  test("are checked one by one in a quorum, and named by their position in the list", async () => {
    const results = await examine({
      furtherOfService: [{ evmChainId: 5 }, { finalHash: OTHER_HASH }],
      furtherOfAttestor: [{ headBehindS: 121 }],
    });
    const ours = { subject: "chain 2 (ethereum)" };
    expect(results).toMatchObject([
      { ...ours, id: "node.chain-id", item: "rpcUrls[1]", status: "problem" },
      { ...ours, id: "node.head", item: "rpcUrls[1]", status: "skipped" },
      { ...ours, id: "node.finality", item: "rpcUrls[1]", status: "skipped" },
      ...["latency", "pace", "batches", "rate", "backfill", "log-range", "state", "receipts"].map(
        (name) => ({ ...ours, id: `node.${name}`, item: "rpcUrls[1]", status: "skipped" }),
      ),
      { ...ours, id: "node.agreement", item: "rpcUrls[1]", status: "skipped" },
      { ...ours, id: "node.agreement", item: "rpcUrls[2]", found: `block 936 ${OTHER_HASH}` },
      { subject: "attestor's node of chain 2", id: "node.head", item: "rpcUrls[1]" },
    ]);
  });

  test("are a warning when there is only one, except on a local test chain", async () => {
    const nodes = createNodesConfig(["http://127.0.0.1:1"], 1);
    expect(await examine({ chain: { nodes } })).toMatchObject([
      { id: "node.quorum", status: "warning", found: "1 of 1" },
    ]);
    const local = { evmChainId: 900_002 };
    expect(await examine({ chain: { nodes, ...local }, service: local, attestor: local })).toEqual(
      [],
    );
  });

  test("are a warning when one full node has only witnesses beside it", async () => {
    const [full] = createNodesConfig(["http://127.0.0.1:1"], 1).all;
    const witness = { ...full, role: "witness" } as const;
    const examineOf = (...all: readonly [typeof full, ...(typeof full)[]]) =>
      examine({ chain: { nodes: { all, quorum: 2 } } });
    expect(await examineOf(full, witness, witness)).toMatchObject([
      { id: "node.quorum", status: "warning", found: "1 full node, 2 to witness its deposits" },
    ]);
    expect(await examineOf(full, full, full)).toEqual([]);
  });

  test("are a warning when their WebSocket gives no subscription", async () => {
    const [node] = createNodesConfig(["http://127.0.0.1:1"], 1).all;
    const all = [{ ...node, wsUrl: "ws://127.0.0.1:1" }] as const;
    const chain = { nodes: { all, quorum: 2 } };
    const subscribed = { kind: "subscribed", durationMs: 12.3 } as const;
    expect(await examine({ chain, tryPush: async () => subscribed })).toEqual([]);
    const failed = { kind: "failed", reason: "HTTP status 404" } as const;
    expect(await examine({ chain, tryPush: async () => failed })).toMatchObject([
      { id: "node.push", status: "warning", found: "no subscription: HTTP status 404" },
    ]);
  });

  test("are a warning when their stream brings no block", async () => {
    const [node] = createNodesConfig(["http://127.0.0.1:1"], 1).all;
    const all = [{ ...node, grpcUrl: "http://127.0.0.1:2", grpcToken: "canary" }] as const;
    const chain = { nodes: { all, quorum: 2 } };
    const received = { kind: "received", durationMs: 12.3 } as const;
    expect(await examine({ chain, tryStream: async () => received })).toEqual([]);
    const failed = { kind: "failed", reason: "gRPC status 16" } as const;
    expect(await examine({ chain, tryStream: async () => failed })).toMatchObject([
      { id: "node.stream", status: "warning", found: "no block: gRPC status 16" },
    ]);
  });

  test("are a warning when the attestor shares the service's node", async () => {
    expect(await examine({ areTheSame: true })).toMatchObject([
      { id: "node.second-view", status: "warning" },
    ]);
  });
});
