/** The scanner of a Solana cluster whose blocks pay no wallet, so that nothing is settled. */
import { createSolanaChain } from "../../src/chains/solana/solana-chain.ts";
import type { Clock } from "../../src/core/ports.ts";
import { type Address, NATIVE_SOL, toSolanaAddress } from "../../src/core/hex.ts";
import type { Db } from "../../src/db/schema.ts";
import { createScan, getTip, PACE, PACE_OF_SLOTS } from "../../src/scanner/index.ts";
import type { IntakeDeps } from "../../src/settlements/index.ts";
import { silentLog } from "../support/doubles.ts";
import { hashOfSlot } from "./solana-cluster.ts";

const SOLANA = 1;
const OURS = toSolanaAddress(`0x${"0a".repeat(32)}`);

/** Returns a scanner over nodes, of which more than half must agree. */
export function createSolanaScanner(args: {
  readonly db: Db;
  readonly urls: readonly string[];
  readonly level: "confirmed" | "finalized";
  readonly startBlock: bigint;
  readonly clock: Clock;
  readonly tokens?: readonly Address[];
}) {
  const { db, urls, level, startBlock, clock, tokens = [NATIVE_SOL] } = args;
  const chain = createSolanaChain({
    chainId: SOLANA,
    nodes: urls.map((rpcUrl) => ({ rpcUrl })),
    required: Math.floor(urls.length / 2) + 1,
    timeoutMs: 10_000,
    genesisHash: hashOfSlot(0),
    levels: { detectAt: level, walkAt: level },
    accounts: { binding: OURS, escrow: OURS, delivery: OURS, treasury: OURS, feePayers: [OURS] },
    // CAST: nothing is settled.
    commitments: {} as Parameters<typeof createSolanaChain>[0]["commitments"],
    mints: new Map(),
    vaultOf: async () => null,
    capLeftOf: async () => 0n,
    payoutWindowS: 0n,
    rentPerByte: 1n,
    unitPrice: { min: 0n, max: 0n },
    clock,
    log: silentLog,
  });
  const scan = createScan(
    {
      db,
      chain,
      tokens,
      traces: false,
      startBlock,
      // CAST: nothing is settled.
      settlements: {} as IntakeDeps,
      clock,
      crashPoint: () => undefined,
      log: silentLog,
      onScanned: () => undefined,
      onCaughtUp: () => undefined,
    },
    { ...PACE, ...PACE_OF_SLOTS },
  );
  return {
    scan,
    /** Returns the newest scanned slot; null before the first. */
    tip: async () => (await getTip(db, SOLANA))?.number ?? null,
  };
}
