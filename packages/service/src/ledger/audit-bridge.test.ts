/** What a bridge carried, against both chains: rows that were tampered with, and what waits, are named. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createDoctorDeps } from "../../test/support/doctor-doubles.ts";
import { createStillClock, createStrictChain, hashOf } from "../../test/support/doubles.ts";
import {
  createHex,
  createTenant,
  insertAddress,
  insertSettlement,
  USDC,
} from "../../test/support/tenants.ts";
import type { CctpBridge, FoundMint } from "../chains/port.ts";
import { toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import { formatAudit } from "../roles/audit-command.ts";
import { auditBridge } from "./audit-bridge.ts";
import { listUnsettled } from "./index.ts";

const MESSAGE = "0xb0";
const SWEPT = 10_000n;
const FEE = 10n;
const BURNED = SWEPT - FEE;
const BRIDGE_FEE = 2n;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

/** A transfer in a state, and chains that tell what its row tells. */
async function openTransfer(state: "burned" | "attested" | "final") {
  const { db } = database;
  const tenant = await createTenant(db);
  const address = await insertAddress(db, tenant);
  const row = await db
    .selectFrom("addresses")
    .selectAll()
    .where("id", "=", address.id)
    .executeTakeFirstOrThrow();
  const isFinal = state === "final";
  const settlementId = await insertSettlement(db, tenant, address, { status: "swapping" });
  await db
    .updateTable("settlements")
    .set({ swept_amount: SWEPT, swept_block: 7n, step: "deliver", sweep_final: true })
    .where("id", "=", settlementId)
    .execute();
  const id = crypto.randomUUID();
  const nonce = createHex(32);
  const mint: FoundMint = {
    to: toEvmAddress(row.dest_wallet),
    token: toEvmAddress(row.dest_token),
    amount: BURNED - BRIDGE_FEE,
    fee: BRIDGE_FEE,
    txHash: hashOf("mint"),
    blockNumber: 9n,
  };
  await db
    .insertInto("bridge_transfers")
    .values({
      id,
      settlement_id: settlementId,
      state: "burned",
      src_chain: 2,
      burn_tx_hash: createHex(32),
      burn_block: 7n,
      wallet: address.wallet,
      token: USDC,
      fee: FEE,
      burned_amount: BURNED,
      sent_message: MESSAGE,
      min_out: mint.amount,
      dest_chain: 30,
      dest_token: row.dest_token,
      dest_wallet: row.dest_wallet,
      next_check_at: formatStamp(Date.now()),
    })
    .execute();
  const attested = { nonce, attested_message: "0x01", attestation: "0x02" };
  const minted = {
    mint_tx_hash: mint.txHash,
    delivered_amount: mint.amount,
    bridge_fee: mint.fee,
  };
  const change = (set: object) =>
    db.updateTable("bridge_transfers").set(set).where("id", "=", id).execute();
  if (state !== "burned") await change({ state, ...attested, ...(isFinal ? minted : {}) });

  const onChain = { message: MESSAGE as typeof MESSAGE | "0xc0", mint: mint as FoundMint | null };
  const cctp: CctpBridge = {
    contracts: { domain: 6, messenger: toEvmAddress(USDC), transmitter: toEvmAddress(USDC) },
    buildReceive: () => {
      throw new Error("an auditor sends nothing");
    },
    findMint: async (of, at) => (of === toHex32(nonce) && at === "final" ? onChain.mint : null),
  };
  const chain = createStrictChain({
    chainId: 2,
    getReceipt: async (txHash) => ({
      txHash: toTxHash(txHash),
      blockHash: toHex32(hashOf("block")),
      blockNumber: 7n,
      succeeded: true,
      gasCost: 0n,
      effects: [{ kind: "message_sent", message: onChain.message }],
    }),
  });
  const destination = createStrictChain({ chainId: 30, cctp });
  const clock = createStillClock(Date.now());
  const audit = async (scope: "next" | "all" = "all") => {
    const deps = { db, chain, chains: new Map([[30, destination]]), clock };
    const findings = await auditBridge(deps, scope);
    return findings.filter(({ subject }) => subject === settlementId);
  };
  return { db, id, settlementId, wallet: address.wallet, mint, onChain, change, audit, clock };
}

describe("V5 a transfer that is final", () => {
  test("is as both chains say, and is looked at once", async () => {
    const { audit, change } = await openTransfer("final");
    expect(await audit("next")).toEqual([]);
    // It was looked at: what changes from here on is found when all is audited.
    await change({ delivered_amount: 1n });
    expect(await audit("next")).toEqual([]);
    expect(await audit()).toHaveLength(1);
  });

  test.each<[string, object]>([
    ["amount that arrived", { delivered_amount: BURNED - BRIDGE_FEE - 1n }],
    ["fee of the bridge", { bridge_fee: BRIDGE_FEE + 1n }],
    ["amount that was burned", { burned_amount: BURNED + 1n }],
    ["message", { sent_message: "0xb1" }],
    ["minimum", { min_out: BURNED }],
    ["nonce", { nonce: `0x${"0".repeat(64)}` }],
  ])("is a breach where somebody changed the %s of its row", async (_, set) => {
    const { settlementId, id, change, audit } = await openTransfer("final");
    await change(set);
    const found = await audit();
    expect(found).not.toEqual([]);
    for (const finding of found) {
      expect(finding).toMatchObject({
        invariant: "V5",
        chainId: 2,
        subject: settlementId,
        details: { transfer: id },
      });
    }
  });

  test("is a breach where another was minted to than the address commits to", async () => {
    const { onChain, mint, audit } = await openTransfer("final");
    onChain.mint = { ...mint, to: toEvmAddress(USDC) };
    expect(await audit()).toMatchObject([{ invariant: "V5" }]);
  });

  test("may be missing for an hour, as a node may be behind, and no longer", async () => {
    const { onChain, audit, clock } = await openTransfer("final");
    onChain.mint = null;
    expect(await audit("next")).toEqual([]);
    clock.advance(HOUR_MS + 60_000);
    expect(await audit("next")).toMatchObject([{ details: { on_chain: "no such mint" } }]);
  });
});

test.each(["burned", "attested"] as const)(
  "a transfer that is %s is named among what is not settled, with its settlement",
  async (state) => {
    const { db, settlementId, wallet } = await openTransfer(state);
    const unsettled = await listUnsettled(db);
    const named = unsettled.filter((one) => one.settlementId === settlementId);
    expect(named).toContainEqual({
      chainId: 2,
      token: USDC,
      wallet,
      amount: SWEPT.toString(),
      place: "in_flight",
      settlementId,
      reason: `swapping, bridge ${state}`,
    });
    const { config } = createDoctorDeps({});
    const text = formatAudit(config, { ok: true, breaches: [], chains: [], unsettled });
    expect(text).toContain(` in flight, swapping, bridge ${state} (${settlementId})`);
  },
);
