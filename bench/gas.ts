/**
 * Compares the gas of each transaction with the prototype of this design and with other projects. The contracts' gas
 * tests measure our figures: a separate transaction each, base cost and calldata included.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runForge } from "../packages/contracts/scripts/forge.ts";

interface Row {
  readonly what: string;
  /** Name of the measurement in the gas tests. */
  readonly measurement: string;
  /** Jobs in the transaction; figures are per job. */
  readonly jobs?: number;
  /** The prototype's figure for the same work. */
  readonly prototype?: number;
}

const ROWS: readonly Row[] = [
  { what: "deploy a wallet", measurement: "deploy", prototype: 69_978 },
  { what: "deploy, of 50", measurement: "deployMany of 50", jobs: 50 },
  {
    what: "deploy and settle ERC-20",
    measurement: "settle transfer, wallet missing",
    prototype: 98_682,
  },
  { what: "settle ERC-20, fee taken", measurement: "settle transfer, wallet deployed" },
  {
    what: "settle ERC-20, no fee",
    measurement: "settle transfer without fee, wallet deployed",
    prototype: 54_801,
  },
  {
    what: "settle native, fee taken",
    measurement: "settle native, wallet deployed",
    prototype: 52_086,
  },
  ...[1, 10, 50].map((jobs) => ({
    what: `first settlement, batch of ${jobs}`,
    measurement: `settleMany of ${jobs}, wallets missing`,
    jobs,
    prototype: { 1: 101_241, 10: 66_538, 50: 63_462 }[jobs] ?? 0,
  })),
  ...[1, 10, 50].map((jobs) => ({
    what: `repeated, batch of ${jobs}`,
    measurement: `settleMany of ${jobs}, wallets deployed`,
    jobs,
    prototype: { 1: 57_360, 10: 22_657, 50: 19_581 }[jobs] ?? 0,
  })),
  { what: "lock in the escrow, first", measurement: "settle escrow, wallet deployed, first" },
  { what: "lock in the escrow, repeated", measurement: "settle escrow, wallet deployed, repeated" },
  { what: "deliver, first of its hour", measurement: "deliver, first of its hour" },
  { what: "deliver, repeated", measurement: "deliver, repeated" },
  { what: "claim", measurement: "claim" },
  { what: "lock, batch of 20, repeated", measurement: "lockMany of 20", jobs: 20 },
  { what: "deliver, batch of 20, repeated", measurement: "deliverMany of 20", jobs: 20 },
  { what: "claim, batch of 20", measurement: "claimMany of 20", jobs: 20 },
  { what: "refund", measurement: "refund" },
];

/** Deployment of one deposit address in other projects. */
const PEERS: readonly (readonly [string, number, string])[] = [
  ["OpenZeppelin ERC-1167 clone (no native transfer with 2,300 gas)", 63_136, "measured"],
  ["OpenZeppelin ERC1967Proxy and one slot", 152_620, "measured"],
  ["ERC-4337 SimpleAccount 0.8", 161_832, "measured from npm artifacts"],
  ["BitGo forwarder, first deposit with deployment", 154_000, "BitGo documentation"],
  ["BitGo forwarder, later sweep", 63_662, "BitGo documentation"],
  ["Daimo createDepositAddress", 173_729, "measured"],
  ["Across CounterfactualDepositFactory.deploy", 201_576, "measured from npm artifacts"],
  ["Safe 1.5 createProxyWithNonce, 1 of 1", 249_016, "measured from npm artifacts"],
];

/** Measures and prints. Throws if the gas tests fail. */
export function benchGas(): void {
  const { status, stderr } = runForge(["test", "--match-contract", "^GasTest$"], "capture");
  if (status !== 0) throw new Error(`the gas tests failed: ${stderr.slice(-500)}`);
  const path = join(import.meta.dirname, "../packages/contracts/vectors/gas/GasTest.json");
  // CAST: written by forge: a name and a number of gas for each measurement.
  const measured = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, string>>;
  printTable(
    ["per job", "gas", "prototype", "ratio"],
    ROWS.map(({ what, measurement, jobs = 1, prototype }) => {
      const total = measured[measurement];
      if (total === undefined) throw new Error(`there is no measurement "${measurement}"`);
      const gas = Math.round(Number(total) / jobs);
      const ratio = prototype === undefined ? "" : (gas / prototype).toFixed(2);
      return [what, format(gas), prototype === undefined ? "" : format(prototype), ratio];
    }),
  );
  console.log("");
  printTable(
    ["others", "gas", "source"],
    PEERS.map(([who, gas, source]) => [who, format(gas), source]),
  );
}

const format = (gas: number): string => gas.toLocaleString("en-US");

function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of [head, ...rows]) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}
