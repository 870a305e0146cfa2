/** The ledger and its auditor with a real service and chains: proved, tampered with, and restored from a backup. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditReport } from "../src/cli/audit.ts";
import { auditWorld } from "./support/audit.ts";
import { afterFee, deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let backups: string;

beforeAll(async () => {
  world = await openWorld();
  backups = mkdtempSync(join(tmpdir(), "sluice-test-"));
});
afterAll(async () => {
  await world.close();
  rmSync(backups, { recursive: true, force: true });
});

const audit = () => auditWorld(world);

/** Waits until an audit proves everything, which needs final blocks and made claims. */
async function expectProved(): Promise<AuditReport> {
  let report = await audit();
  await world.until("the ledger is proved", async () => {
    report = await audit();
    return report.ok && report.unsettled.every(({ place }) => place === "wallet");
  });
  return report;
}

test("the ledger matches the chains, and lists unsettled value with its reason", async () => {
  await expectDelivered(world, await deposit(world, 8n * USDC));
  const dust = await deposit(world, USDC / 2n);
  await world.deposits(dust.address, 1);
  await expectEmptyEscrow(world);
  const report = await expectProved();
  expect(report.breaches).toEqual([]);
  expect(report.unsettled).toEqual([
    {
      chainId: 2,
      token: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      wallet: dust.address.toLowerCase(),
      amount: String(USDC / 2n),
      place: "wallet",
      settlementId: null,
      reason: "below_token_min",
    },
  ]);
  expect(report.chains.every(({ block }) => block !== null)).toBe(true);
});

test("signs nothing on a restored older database until an operator ends the breaches [T116]", async () => {
  const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, to]);
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.stopService();
  const folder = world.databaseFolder();
  copy(folder, join(backups, "postgres"));
  await world.restartService({});
  const amount = 9n * USDC;
  await world.pay("ethereum", address, amount);
  const forgotten = await expectDelivered(world, { recipient, address, amount });
  await expectEmptyEscrow(world);

  await world.stopService();
  rmSync(folder, { recursive: true });
  copy(join(backups, "postgres"), folder);
  await world.restartService({});
  expect((await world.swapsOf(address)).map(({ id }) => id)).not.toContain(forgotten.id);
  const later = await deposit(world, 7n * USDC);
  await world.until("lanes are found behind the chains, and sweeps that nobody made", async () => {
    const { breaches } = await audit();
    const found = new Set(breaches.map(({ invariant }) => invariant));
    return found.has("V10") && found.has("V4");
  });
  await world.deposits(later.address, 1);
  expect(await world.balance("ethereum", later.address)).toBe(7n * USDC);
  expect(await world.countDeliveries("base", later.recipient)).toBe(0);

  await world.until("every breach is ended", async () => {
    const { breaches } = await audit();
    for (const { id } of breaches)
      await world.command("audit", "end", id, "--reason", "restored from the backup of tonight");
    return breaches.length === 0;
  });
  await expectDelivered(world, later);
  // Nothing delivered before the loss of the database was delivered again.
  expect(await world.countDeliveries("base", recipient)).toBe(1);
  expect(await world.balance("base", recipient)).toBe(afterFee(amount));
});
