/** Random operations in random order: the balance changes in the blocks must add up to the balances of the accounts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  type KeyPairSigner,
  lamports,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSolanaChain, type SolanaChain } from "./index.ts";
import type { CommitmentLevel } from "./ledger.ts";
import { connectWallet } from "./test-wallet.ts";

const LEVELS = ["processed", "confirmed", "finalized"] as const;
const RUNS = 8;
const START = 1_000_000_000_000n;

const place = fc.nat({ max: 3 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("pay"), from: place, to: place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("overpay"), from: place, to: place }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("tick"), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("skip"), count: fc.integer({ min: 1, max: 200 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("fork"),
      count: fc.integer({ min: 1, max: 7 }),
      replay: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart") }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Computes an account's balances from the blocks up to a commitment level. */
function balanceByBlocks(
  { chain }: SolanaChain,
  address: Address,
  commitment: CommitmentLevel,
): bigint {
  const { slot } = chain.ledger.tip(commitment);
  return chain.ledger
    .all()
    .filter((block) => block.slot <= slot)
    .flatMap((block) => block.transactions)
    .reduce((balance, { keys, meta }) => {
      const index = keys.findIndex((key) => key.pubkey === address);
      if (index === -1) return balance;
      expect(meta.preBalances[index]).toBe(balance);
      return meta.postBalances[index] ?? balance;
    }, 0n);
}

function expectLinked({ chain }: SolanaChain): void {
  const blocks = chain.ledger.all();
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1];
    if (!parent) continue;
    expect([block.parentSlot, block.previousBlockhash, block.height]).toEqual([
      parent.slot,
      parent.blockhash,
      parent.height + 1n,
    ]);
  }
}

async function walk(steps: readonly Step[], path: string): Promise<void> {
  const options = { path, lags: { confirmed: 2, finalized: 8 } };
  let chain = await createSolanaChain(options);
  try {
    let wallet = connectWallet(chain.url);
    const signers = await Promise.all(
      [1, 2, 3, 4].map((seed) =>
        createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(seed)),
      ),
    );
    const at = (index: number): KeyPairSigner => {
      const signer = signers[index];
      if (!signer) throw new Error("expected four signers");
      return signer;
    };
    for (const { address } of signers) await chain.airdrop({ to: address, amount: START });
    await chain.tick(8);
    let final = chain.chain.ledger.tip("finalized").slot;

    for (const [index, one] of steps.entries()) {
      if ("from" in one) {
        const amount = one.kind === "pay" ? lamports(1_000_000n + BigInt(index)) : START * 100n;
        await wallet.send(at(one.from), [
          getTransferSolInstruction({
            source: at(one.from),
            destination: at(one.to).address,
            amount,
          }),
        ]);
      } else if ("replay" in one) {
        // Final blocks are not removed, as on a real cluster.
        const { tip } = chain.chain.ledger;
        const blocks = Math.min(one.count, Number(tip().height - tip("finalized").height));
        await chain.fork({ blocks, replay: one.replay });
      } else if (one.kind === "tick") await chain.tick("count" in one ? one.count : 1);
      else if (one.kind === "skip") await chain.skipSlots("count" in one ? one.count : 1);
      else if (one.kind === "drop") await chain.dropNextSends(1);
      else {
        await chain.close();
        chain = await createSolanaChain(options);
        wallet = connectWallet(chain.url);
      }
      const now = chain.chain.ledger.tip("finalized").slot;
      expect(now).toBeGreaterThanOrEqual(final);
      final = now;
      expectLinked(chain);
      for (const level of LEVELS) {
        const { slot } = chain.chain.ledger.tip(level);
        for (const { address } of signers) {
          const held = chain.chain.bank.history.readAt(address, slot)?.lamports ?? 0n;
          expect(held).toBe(balanceByBlocks(chain, address, level));
        }
      }
      for (const { address } of signers) {
        const held = chain.chain.bank.read(address)?.lamports ?? 0n;
        expect(held).toBe(balanceByBlocks(chain, address, "processed"));
      }
    }
  } finally {
    await chain.close();
  }
}

test("blocks and balances agree at every commitment level across forks, skips, dropped sends and restarts", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-solana-walk-"));
  let runs = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
        runs += 1;
        return walk(steps, join(dir, `${runs}.chain`));
      }),
      { numRuns: RUNS },
    );
    expect(runs).toBe(RUNS);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
