/** The treasury on Solana and the ledger, once everything is claimed. */
import { expect } from "vitest";
import type { SolanaSandbox } from "./solana-sandbox.ts";

export interface Claimed {
  /** The treasury's balance before. */
  readonly lamportsBefore: bigint;
  /** Total of the locked deposits. */
  readonly brought: { readonly usdc: bigint; readonly wsol: bigint; readonly lamports: bigint };
  /** Least number of vaults that the audit must cover. */
  readonly walletsMin: number;
}

/** Waits until every lock is claimed to the treasury, and expects the ledger to match the chains. */
export async function expectClaimedAndProved(
  world: SolanaSandbox,
  { lamportsBefore, brought, walletsMin }: Claimed,
): Promise<void> {
  const treasuryHas = async (token: string, amount: bigint) =>
    (await world.solanaBalance(world.treasury, token)) === amount;
  await world.until(
    "the treasury has what was locked",
    async () =>
      (await treasuryHas(world.mintOf("USDC"), brought.usdc)) &&
      (await treasuryHas(world.mintOf("WSOL"), brought.wsol)),
  );
  expect(await world.solanaBalance(world.treasury)).toBe(lamportsBefore + brought.lamports);
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
  expect(report.ok).toBe(true);
  const audited = report.chains.find(({ chainId }) => chainId === 1);
  expect(audited?.block).not.toBeNull();
  expect(audited?.wallets).toBeGreaterThanOrEqual(walletsMin);
}
