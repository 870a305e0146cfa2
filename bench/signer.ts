/**
 * Measures how long a signer needs to read its journal when it starts, on journals of two lengths whose entries are of one
 * day, beside a bare reader that parses and hashes the same lines.
 *
 *     npm run bench -- signer [--entries 15000,60000]
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../packages/service/src/roles/system-ports.ts";
import { openGuard } from "../packages/service/src/signers/guard.ts";
import { type JournalEntry, openJournal } from "../packages/service/src/signers/journal.ts";
import { median } from "./median.ts";

const ROUNDS = 3;
const DAY_MS = 86_400_000;

export async function benchSigner(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { entries: { type: "string", default: "15000,60000" } },
  });
  const home = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  try {
    const rows = values.entries
      .split(",")
      .map(Number)
      .map((entries) => {
        const path = join(home, `${entries}.jsonl`);
        writeJournal(path, entries);
        const taken = Array.from({ length: ROUNDS }, () => ({
          guard: timeOf(() => openGuard({ journal: path, clock: systemClock }).close()),
          bare: timeOf(() => readBare(path)),
        }));
        return {
          entries,
          MiB: (statSync(path).size / 2 ** 20).toFixed(1),
          "start ms": median(taken.map(({ guard }) => guard)).toFixed(0),
          "bare ms": median(taken.map(({ bare }) => bare)).toFixed(0),
          ratio: median(taken.map(({ guard, bare }) => guard / bare)).toFixed(2),
        };
      });
    console.table(rows);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Writes a journal of calls, payouts and claims, in turn, all of the last day. */
function writeJournal(path: string, entries: number): void {
  const journal = openJournal(path, () => undefined);
  const startMs = Date.now() - DAY_MS / 2;
  for (let place = 0; place < entries; place += 1) {
    journal.append(entryOf(place), startMs + Math.floor((place * DAY_MS) / 4 / entries));
  }
  journal.close();
}

function entryOf(place: number): JournalEntry {
  const turn = Math.floor(place / 3);
  const deliveryId = wordOf(`delivery ${turn}`);
  switch (place % 3) {
    case 0:
      return {
        kind: "transaction",
        chainId: 2,
        lane: `0x${"11".repeat(20)}`,
        nonce: turn,
        method: "settleMany",
        to: `0x${"22".repeat(20)}`,
        dataHash: wordOf(`call ${turn}`),
        value: "0",
        gas: "500000",
        maxFeePerGas: "1000000000",
        maxPriorityFeePerGas: "1",
      };
    case 1:
      return {
        kind: "delivery",
        destChain: 30,
        deliveryId,
        commitment: wordOf(`commitment ${turn}`),
        amount: "1000000",
        deadline: "1800000000",
      };
    default:
      return {
        kind: "claim",
        srcChain: 2,
        deliveryId,
        paidAmount: "1000000",
        deadline: "1800000000",
      };
  }
}

function wordOf(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

function readBare(path: string): void {
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue;
    JSON.parse(line);
    createHash("sha256").update(line).digest("hex");
  }
}

/** Returns the milliseconds that work takes. */
function timeOf(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
