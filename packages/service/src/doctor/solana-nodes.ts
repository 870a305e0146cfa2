/** Checks of the nodes of Solana: those of every family, and what a node may lack there alone. */
import { feePayersOf, isLocal, type SolanaChain } from "../config/index.ts";
import type { SolanaInspector } from "../chains/inspector.ts";
import { toBase58 } from "../core/base58.ts";
import { OperatingError } from "../core/errors.ts";
import { type Check, judge, ok, skip } from "../core/check.ts";
import { type DoctorDeps } from "./facts.ts";
import { checkNodes, type NodeChecks, type NodeOf } from "./nodes.ts";

/** Some 13 seconds, while the cluster is well. */
const FINALITY_WARNING_S = 120n;
/** What a slot takes, as the cluster means it: about as long as it does. */
const SLOTS_PER_HOUR = 9_000n;
/** A lock may be open for 72 hours, and what was made of it is looked for after that. */
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
      checkBlocks(node, identified),
      checkHistory(deps, chain, node, identified),
      checkMemos(chain, node, identified),
    ],
  });
}

function nameOf({ subject, item }: NodeOf<SolanaInspector>) {
  return item === undefined ? { subject } : { subject, item };
}

/** A block that holds one transaction of a version that is not understood cannot be read at all. */
function checkBlocks(node: NodeOf<SolanaInspector>, identified: Check): Check {
  const { inspector } = node;
  return {
    id: "node.blocks",
    ...nameOf(node),
    needs: [identified],
    async run() {
      const count = await inspector.countTransactions();
      const version = await inspector.getVersion();
      // A node may say anything here, control characters included.
      const shown = JSON.stringify(version.slice(0, 64));
      return ok(`${count} transactions in its newest final block; it is ${shown}`, "whole blocks");
    },
  };
}

/** What is not scanned yet must still be there, and what was settled in the last days too. */
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
      // A database that cannot be read is named by its own checks: then everything is still to be scanned.
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
      const found = `its oldest block is of slot ${first}`;
      const expected = `blocks from slot ${startSlot} on, or of the last ${HISTORY_MIN_HOURS} hours and from where the scanner is`;
      if (first <= startSlot) return ok(found, expected);
      const scanned = isOurs ? await findScanned() : startSlot;
      const next = scanned === null ? startSlot : scanned + 1n;
      if (isOurs && first > next) {
        return judge(false, {
          found: `${found}, and the scanner reads slot ${next} next`,
          expected,
          advice:
            "Use a node that has these blocks: the scanner stands still, as what was paid in them would never be seen.",
        });
      }
      const { number: head } = await inspector.getHead("final");
      const hours = (head - first) / SLOTS_PER_HOUR;
      return judge(hours >= HISTORY_MIN_HOURS, {
        found: `${found}, about ${hours} hours ago`,
        expected,
        advice:
          "Use a node that keeps more: what became of locks and deliveries is read from their history.",
        otherwise: "warning",
      });
    },
  };
}

/** What was done is read from memos: nodes show them with the history of an account, if they keep them. */
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
        "Use a node that keeps the history of accounts with its memos: locks and deliveries are found by them.";
      switch (memos.kind) {
        case "none":
          if (isLocal(chain)) return skip("nobody wrote a memo yet", expected);
          return judge(false, { found: "no history, of nobody", expected, advice });
        case "lost":
          return judge(false, { found: "a history without memos", expected, advice });
        case "kept": {
          const hasIt = await inspector.hasTransaction(memos.txHash);
          const shown = toBase58(memos.txHash);
          return judge(hasIt, {
            found: hasIt ? `the memo of ${shown}` : `the memo of ${shown}, not the transaction`,
            expected,
            advice,
          });
        }
      }
    },
  };
}
