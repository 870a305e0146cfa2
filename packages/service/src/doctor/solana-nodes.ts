/** Checks of Solana's nodes: those of every family, and the history, memos and block versions that a node may lack. */
import { feePayersOf, isLocal, type SolanaChain } from "../config/index.ts";
import type { SolanaInspector } from "../chains/inspector.ts";
import { toBase58 } from "../core/base58.ts";
import { OperatingError } from "../core/errors.ts";
import { type Check, judge, ok, skip } from "../core/check.ts";
import { judgeLatency } from "./node-abilities.ts";
import { type DoctorDeps, nameOf, type NodeOf } from "./facts.ts";
import { checkNodes, type NodeChecks } from "./nodes.ts";

const LATENCY_REQUESTS = 5;
/** About 13 seconds is normal while the cluster is healthy. */
const FINALITY_WARNING_S = 120n;
/** The cluster's target time per slot; the actual time is close to it. */
const SLOTS_PER_HOUR = 9_000n;
/** A lock can stay open for 72 hours, and its outcome is read from history after that. */
const HISTORY_MIN_HOURS = 96n;

export function checkSolanaNodes(deps: DoctorDeps, chain: SolanaChain): NodeChecks {
  return checkNodes(deps, chain, {
    nodes: deps.solanaNodesOf(chain.chainId),
    identify: async (inspector) => ({
      name: "genesisHash",
      found: toBase58(await inspector.getGenesisHash()),
      expected: toBase58(chain.genesisHash),
    }),
    finalityWarningS: FINALITY_WARNING_S,
    more: (node, identified) => [
      checkLatency(deps, node, identified),
      checkBlocks(node, identified),
      checkHistory(deps, chain, node, identified),
      checkMemos(chain, node, identified),
    ],
  });
}

/** Measures the duration of a small request, the median of several. */
function checkLatency(
  { clock }: DoctorDeps,
  node: NodeOf<SolanaInspector>,
  identified: Check,
): Check {
  return {
    id: "node.latency",
    ...nameOf(node),
    needs: [identified],
    async run() {
      const durations: number[] = [];
      for (let request = 0; request < LATENCY_REQUESTS; request++) {
        const startMs = clock.now();
        await node.inspector.getVersion();
        durations.push(clock.now() - startMs);
      }
      durations.sort((one, other) => one - other);
      return judgeLatency(durations[(LATENCY_REQUESTS - 1) / 2] ?? 0);
    },
  };
}

/** Checks that the newest final block can be read: one transaction of an unknown version makes a whole block unreadable. */
function checkBlocks(node: NodeOf<SolanaInspector>, identified: Check): Check {
  const { inspector } = node;
  return {
    id: "node.blocks",
    ...nameOf(node),
    needs: [identified],
    async run() {
      const count = await inspector.countTransactions();
      const version = await inspector.getVersion();
      // The text is an untrusted node's and may contain control characters.
      const shown = JSON.stringify(version.slice(0, 64));
      return ok(
        `${count} transactions in its newest final block; software ${shown}`,
        "a readable block",
      );
    },
  };
}

/** Checks that the node still has the blocks not yet scanned, and those of recent settlements. */
function checkHistory(
  { getScanned }: DoctorDeps,
  chain: SolanaChain,
  node: NodeOf<SolanaInspector>,
  identified: Check,
): Check {
  const { inspector, isOurs } = node;
  const startSlot = BigInt(chain.startSlot);

  async function findScanned(): Promise<bigint | null> {
    try {
      return await getScanned(chain.chainId);
    } catch (error) {
      // The database's own checks report a failure to read it. Then nothing counts as scanned.
      if (error instanceof OperatingError) return null;
      throw error;
    }
  }

  return {
    id: "node.history",
    ...nameOf(node),
    needs: [identified],
    async run() {
      const first = await inspector.getFirstSlot();
      const found = `its oldest block is at slot ${first}`;
      const expected = `blocks from slot ${startSlot} on, or those of the last ${HISTORY_MIN_HOURS} hours and all not yet scanned`;
      if (first <= startSlot) return ok(found, expected);
      const scanned = isOurs ? await findScanned() : startSlot;
      const next = scanned === null ? startSlot : scanned + 1n;
      if (isOurs && first > next) {
        return judge(false, {
          found: `${found}, and the scanner reads slot ${next} next`,
          expected,
          advice:
            "Use a node that has these blocks: the scanner stops rather than miss the deposits in them.",
        });
      }
      const { number: head } = await inspector.getHead("final");
      const hours = (head - first) / SLOTS_PER_HOUR;
      return judge(hours >= HISTORY_MIN_HOURS, {
        found: `${found}, about ${hours} hours ago`,
        expected,
        advice:
          "Use a node that keeps more history: the outcome of locks and deliveries is read from it.",
        otherwise: "warning",
      });
    },
  };
}

/** Checks that the node keeps memos in the history of accounts: locks and deliveries are found by them. */
function checkMemos(chain: SolanaChain, node: NodeOf<SolanaInspector>, identified: Check): Check {
  const { inspector } = node;
  return {
    id: "node.memos",
    ...nameOf(node),
    needs: [identified],
    async run() {
      const expected = "the memos of past transactions, and the transactions themselves";
      const memos = await inspector.findMemos([...feePayersOf(chain), chain.accounts.escrow]);
      const advice =
        "Use a node that keeps the history of accounts with memos: locks and deliveries are found by them.";
      switch (memos.kind) {
        case "none":
          if (isLocal(chain)) return skip("no memo written yet", expected);
          return judge(false, { found: "no history of any account", expected, advice });
        case "lost":
          return judge(false, { found: "a history without memos", expected, advice });
        case "kept": {
          const hasIt = await inspector.hasTransaction(memos.txHash);
          const shown = toBase58(memos.txHash);
          return judge(hasIt, {
            found: hasIt ? `the memo of ${shown}` : `the memo of ${shown}, but not the transaction`,
            expected,
            advice,
          });
        }
      }
    },
  };
}
