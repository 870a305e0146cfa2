import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type JournalEntry, openJournal, verifyJournal } from "./journal.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-journal-"));
  path = join(folder, "signers", "attestor.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const entryOf = (number: number): JournalEntry => ({
  kind: "return",
  srcChain: 2,
  deliveryId: `0x${number.toString(16).padStart(64, "0")}`,
  deadline: "1800000000",
});

function write(count: number): void {
  const journal = openJournal(path, () => undefined);
  const from = journal.head().count;
  for (let number = from; number < from + count; number += 1)
    journal.append(entryOf(number), number);
  journal.close();
}

function readEntries(): JournalEntry[] {
  const entries: JournalEntry[] = [];
  openJournal(path, (entry) => entries.push(entry)).close();
  return entries;
}

describe("a journal", () => {
  test("reads back all entries after it is opened again", () => {
    write(3);
    write(2);
    expect(readEntries()).toEqual([0, 1, 2, 3, 4].map(entryOf));
    expect(verifyJournal(path).count).toBe(5);
  });

  test("is readable by its owner only", () => {
    write(1);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(join(folder, "signers")).mode & 0o077).toBe(0);
  });

  test("is read whole when it is longer than one read", () => {
    write(6_000);
    expect(statSync(path).size).toBeGreaterThan(1_048_576);
    expect(readEntries()).toHaveLength(6_000);
  });

  test("drops an entry half written by a crash and continues after the last whole one", () => {
    write(2);
    const line = readFileSync(path, "utf8").split("\n")[1] ?? "";
    appendFileSync(path, line.slice(0, 40));
    expect(verifyJournal(path).count).toBe(2);
    write(1);
    expect(readEntries()).toEqual([0, 1, 2].map(entryOf));
  });

  test.each([
    [
      "an amount is changed",
      (lines: string[]) => [lines[0], lines[1]?.replace("1800000000", "1800000001"), lines[2]],
      2,
    ],
    ["a line is removed", (lines: string[]) => [lines[0], lines[2]], 2],
    ["two lines are exchanged", (lines: string[]) => [lines[0], lines[2], lines[1]], 2],
    ["the beginning is cut off", (lines: string[]) => [lines[1], lines[2]], 1],
    ["a line is repeated", (lines: string[]) => [lines[0], lines[0], lines[1]], 2],
    ["a line is not JSON", (lines: string[]) => [lines[0], "nonsense", lines[2]], 2],
  ])("is refused with the number of the line when %s", (_what, change, line) => {
    write(3);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    writeFileSync(path, `${change(lines).join("\n")}\n`);
    const message = `hash chain is broken at line ${line}`;
    expect(() => verifyJournal(path)).toThrow(message);
    expect(() => openJournal(path, () => undefined)).toThrow(message);
  });

  test("refuses to append after another process wrote to it", () => {
    const one = openJournal(path, () => undefined);
    const other = openJournal(path, () => undefined);
    one.append(entryOf(0), 0);
    expect(() => other.append(entryOf(1), 1)).toThrow("another process wrote to it");
    expect(readEntries()).toEqual([entryOf(0)]);
    one.close();
    other.close();
  });
});

describe("a journal on a full disk", () => {
  /** Appends until the file size limit is reached, as on a full disk; prints the count and the error code. */
  const script = `
    const { openJournal } = await import(${JSON.stringify(join(import.meta.dirname, "journal.ts"))});
    process.on("SIGXFSZ", () => undefined);
    const journal = openJournal(process.argv[1], () => undefined);
    const entry = (n) => ({ kind: "return", srcChain: 2, deliveryId: "0x" + String(n).padStart(64, "0"), deadline: "1" });
    let done = 0;
    for (let n = 0; n < 50; n += 1) {
      try { journal.append(entry(n), n); done += 1; } catch (error) { console.log(done, error.code); break; }
    }
  `;

  test("keeps no half line, and the next signer continues after the last whole one", () => {
    const run = spawnSync(
      "bash",
      [
        "-c",
        'ulimit -f 4; exec "$0" --input-type=module -e "$1" "$2"',
        process.execPath,
        script,
        path,
      ],
      { encoding: "utf8" },
    );
    const [done, code] = run.stdout.trim().split(" ");
    expect(code).toBe("EFBIG");
    expect(Number(done)).toBeGreaterThan(3);
    expect(verifyJournal(path).count).toBe(Number(done));
    write(1);
    expect(verifyJournal(path).count).toBe(Number(done) + 1);
  });
});
