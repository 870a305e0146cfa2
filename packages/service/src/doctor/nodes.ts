/** Checks of a chain's nodes: the service's, and the attestor's, which is the second view. */
import type { NodeInspector } from "../chains/inspector.ts";
import { type ChainConfig, type EvmChain, isLocal, type NodesConfig } from "../config/index.ts";
import { chainOf, PRESETS } from "../config/presets/index.ts";
import { type Check, type Compared, judge, judgeSame, ok } from "../core/check.ts";
import { checkEvmAbilities } from "./node-abilities.ts";
import { type ChainNodes, type DoctorDeps, nameOf, type NodeOf, subjectOf } from "./facts.ts";

const HEAD_WARNING_S = 120n;
const HEAD_PROBLEM_S = 600n;
const FINALITY_WARNING_S = 3_600n;

/** Bridge ids of chains whose blocks are final at once: HyperEVM, Sonic and, among presets, Avalanche. */
const FINAL_AT_ONCE: readonly number[] = [
  47,
  52,
  ...PRESETS.filter(({ finality }) => finality.isInstant).map((preset) => chainOf(preset).chainId),
];

export interface NodeChecks {
  readonly all: readonly Check[];
  /** Passes when the service's node serves the configured chain. */
  readonly identified: Check;
}

/** The parts of the node checks that differ between chain families. */
export interface NodesOfFamily<Inspector extends NodeInspector> {
  readonly nodes: ChainNodes<Inspector>;
  /** Identity of the chain that a node serves: EVM chain id or genesis hash. */
  readonly identify: (inspector: Inspector) => Promise<Compared>;
  /** Seconds that the final block may be behind the head before a warning, and before a problem. */
  readonly finalityWarningS: bigint;
  /** Returns the family's further checks of a node. */
  readonly more?: (node: NodeOf<Inspector>, identified: Check) => readonly Check[];
}

/** Returns the checks of an EVM chain's nodes. */
export function checkEvmNodes(deps: DoctorDeps, chain: EvmChain): NodeChecks {
  return checkNodes(deps, chain, {
    nodes: deps.nodesOf(chain.chainId),
    identify: async (inspector) => ({
      name: "evmChainId",
      found: await inspector.getEvmChainId(),
      expected: chain.evmChainId,
    }),
    finalityWarningS: FINALITY_WARNING_S,
    more: (node, identified) => checkEvmAbilities(chain, node, identified),
  });
}

/** Returns the checks of a chain's nodes, of any family. */
export function checkNodes<Inspector extends NodeInspector>(
  deps: DoctorDeps,
  chain: ChainConfig,
  family: NodesOfFamily<Inspector>,
): NodeChecks {
  const { nodes } = family;
  const { service, attestor, areTheSame } = nodes;
  const ours = checkView(deps, {
    chain,
    family,
    inspectors: [service, ...nodes.furtherOfService],
    settings: chain.nodes.all,
    subject: subjectOf(chain),
    isOurs: true,
  });
  const subject = `attestor's node of chain ${chain.chainId}`;
  const theirs = checkView(deps, {
    chain,
    family,
    inspectors: [attestor, ...nodes.furtherOfAttestor],
    settings: deps.config.attestor.nodes.get(chain.chainId)?.all ?? chain.nodes.all,
    subject,
    isOurs: false,
  });
  const separate: Check = {
    id: "node.second-view",
    subject,
    needs: [],
    run: () =>
      judge(!areTheSame, {
        found: areTheSame ? "shared with the service" : "not shared with the service",
        expected: "a node that the service does not use",
        advice: `Set attestor.rpcUrls.${chain.chainId} to a node of another operator: a shared node is no second view, and its operator can deceive both keys.`,
        otherwise: "warning",
      }),
  };
  const agree: Check = {
    id: "node.agreement",
    subject,
    needs: [ours.first.final, theirs.first.final],
    run: () => compareFinalBlocks(service, attestor),
  };
  return {
    all: [...ours.all, checkQuorum(chain, ours.first.identified), ...theirs.all, separate, agree],
    identified: ours.first.identified,
  };
}

/**
 * Warns of a single node that reads state, alone or beside witnesses: the service then believes that node about balances,
 * locks and deliveries.
 */
function checkQuorum(chain: ChainConfig, identified: Check): Check {
  const { all, quorum } = chain.nodes;
  const witnesses = all.filter(({ role }) => role === "witness").length;
  const isOneBesideWitnesses = witnesses > 0 && all.length - witnesses === 1;
  return {
    id: "node.quorum",
    subject: subjectOf(chain),
    // Only the chain's identity tells a local test chain, where one node is enough.
    needs: [identified],
    run: () =>
      judge((quorum > 1 && !isOneBesideWitnesses) || isLocal(chain), {
        found: isOneBesideWitnesses
          ? `1 full node, ${witnesses} to witness its deposits`
          : `${quorum} of ${all.length}`,
        expected: "a quorum of at least 2 nodes",
        advice: isOneBesideWitnesses
          ? "List three full nodes of different operators in rpcUrls: the operator of the full node can hide deposits and deceive the settler."
          : "List three nodes of different operators in rpcUrls: the operator of a single node can deceive the service.",
        otherwise: "warning",
      }),
  };
}

/** Checks every node of a quorum by itself, and compares each further node with the first. */
function checkView<Inspector extends NodeInspector>(
  deps: DoctorDeps,
  view: {
    readonly chain: ChainConfig;
    readonly family: NodesOfFamily<Inspector>;
    readonly inspectors: readonly [Inspector, ...Inspector[]];
    /** Settings of the inspectors' nodes, in the same order. */
    readonly settings: NodesConfig["all"];
    readonly subject: string;
    readonly isOurs: boolean;
  },
) {
  const { inspectors, settings, subject, ...common } = view;
  const [inspector, ...others] = inspectors;
  const named = (index: number) => (others.length === 0 ? {} : { item: `rpcUrls[${index}]` });
  const first = checkNode(deps, {
    ...common,
    inspector,
    node: settings[0],
    subject,
    ...named(0),
  });
  const further = others.flatMap((other, index): readonly Check[] => {
    const name = { subject, ...named(index + 1) };
    const node = checkNode(deps, {
      ...common,
      inspector: other,
      node: settings[index + 1] ?? settings[0],
      ...name,
    });
    const agree: Check = {
      id: "node.agreement",
      ...name,
      needs: [first.final, node.final],
      run: () => compareFinalBlocks(inspector, other),
    };
    return [...node.all, agree];
  });
  return { first, all: [...first.all, ...further] };
}

interface Node<Inspector extends NodeInspector = NodeInspector> extends NodeOf<Inspector> {
  readonly chain: ChainConfig;
}

function checkNode<Inspector extends NodeInspector>(
  deps: DoctorDeps,
  node: Node<Inspector> & { readonly family: NodesOfFamily<Inspector> },
) {
  const { chain, inspector, family } = node;
  const name = nameOf(node);
  const answers: Check = {
    id: "node.answers",
    ...name,
    needs: [],
    async run() {
      const { number } = await inspector.getHead("latest");
      return ok(`head at block ${number}`, "an answer");
    },
  };
  const identified: Check = {
    id: "node.chain-id",
    ...name,
    needs: [answers],
    async run() {
      const identity = await family.identify(inspector);
      return judgeSame(
        [identity],
        `Configure the node of this chain, or correct ${identity.name}.`,
      );
    },
  };
  const head: Check = {
    id: "node.head",
    ...name,
    needs: [identified],
    async run() {
      const { timestamp } = await inspector.getHead("latest");
      const behindS = BigInt(Math.floor(deps.clock.now() / 1000)) - timestamp;
      const apartS = behindS < 0n ? -behindS : behindS;
      return judge(apartS <= HEAD_WARNING_S, {
        found: `${apartS} s ${behindS < 0n ? "ahead of" : "behind"} this machine's clock`,
        expected: `at most ${HEAD_WARNING_S} s`,
        advice: "Wait until the node has caught up; check its peers and this machine's clock.",
        // A local test chain mines only on demand, so an old head is no fault of the node.
        otherwise: apartS <= HEAD_PROBLEM_S || isLocal(chain) ? "warning" : "problem",
      });
    },
  };
  const final: Check = {
    id: "node.finality",
    ...name,
    needs: [identified],
    run: () => judgeFinality(deps, node, family.finalityWarningS),
  };
  const more = family.more?.(node, identified) ?? [];
  const push = checkPush(deps, node, identified);
  const stream = checkStream(deps, node, identified);
  return {
    all: [answers, identified, head, final, ...more, ...push, ...stream],
    identified,
    final,
  };
}

/** Checks the WebSocket of a node of the scanner, if it has one. */
function checkPush(deps: DoctorDeps, node: Node, identified: Check): readonly Check[] {
  const { wsUrl } = node.node;
  if (wsUrl === undefined || !node.isOurs) return [];
  return [
    {
      id: "node.push",
      ...nameOf(node),
      needs: [identified],
      async run() {
        const trial = await deps.tryPush(node.chain, wsUrl);
        const isSubscribed = trial.kind === "subscribed";
        return judge(isSubscribed, {
          found: isSubscribed
            ? `subscribed to new blocks in ${Math.round(trial.durationMs)} ms`
            : `no subscription: ${trial.reason}`,
          expected: "a subscription to new blocks",
          advice: "Correct wsUrl, or remove it: the node is polled meanwhile.",
          otherwise: "warning",
        });
      },
    },
  ];
}

/** Checks the stream of a node of the scanner, if it has one. */
function checkStream(deps: DoctorDeps, node: Node, identified: Check): readonly Check[] {
  const { grpcUrl: url, grpcToken: token } = node.node;
  if (url === undefined || !node.isOurs) return [];
  return [
    {
      id: "node.stream",
      ...nameOf(node),
      needs: [identified],
      async run() {
        const trial = await deps.tryStream(node.chain, { url, token });
        const isReceived = trial.kind === "received";
        return judge(isReceived, {
          found: isReceived
            ? `a block after ${Math.round(trial.durationMs)} ms`
            : `no block: ${trial.reason}`,
          expected: "blocks",
          advice:
            "Correct grpcUrl and grpcToken, or remove them: blocks are requested meanwhile. Some providers allow no subscription to all transactions.",
          otherwise: "warning",
        });
      },
    },
  ];
}

async function judgeFinality({ config }: DoctorDeps, { chain, inspector }: Node, warningS: bigint) {
  // Reads the head first: a block produced in between cannot hide an invented finality.
  const newest = await inspector.getHead("latest");
  const final = await inspector.getHead("final");
  const isInstant = isLocal(chain) || FINAL_AT_ONCE.includes(chain.chainId);
  if (final.number >= newest.number && !isInstant) {
    return judge(false, {
      found: "every block is final at once",
      expected: "a final block behind the head",
      advice: "Use a node that knows finality: this one invents it, and payouts rely on it.",
    });
  }
  const behindS = newest.timestamp - final.timestamp;
  return judge(behindS <= warningS, {
    found: `block ${final.number}, ${behindS} s behind the head`,
    expected: `at most ${warningS} s behind the head`,
    advice:
      "Check whether the chain or the node has stopped finalising: deliveries from inventory wait for finality, and their locks are returned after payoutWindowSeconds.",
    otherwise: behindS <= config.payoutWindowS ? "warning" : "problem",
  });
}

/** Compares the hashes of the newest block that both nodes call final. */
async function compareFinalBlocks(one: NodeInspector, other: NodeInspector) {
  const [ours, theirs] = await Promise.all([one.getHead("final"), other.getHead("final")]);
  const height = ours.number < theirs.number ? ours.number : theirs.number;
  const [found, expected] = await Promise.all([
    other.getBlockHash(height),
    one.getBlockHash(height),
  ]);
  const [name, none] = [`block ${height}`, "unknown"];
  return judgeSame(
    [{ name, found: found ?? none, expected: expected ?? none }],
    "Stop the service and find out which node is right: two final blocks at one height mean that one node lies.",
  );
}
