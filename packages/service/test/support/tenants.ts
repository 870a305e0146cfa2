/** Integrators with addresses, settlements and events, written as the service writes them, for tests that read. */
import { type Insertable, sql } from "kysely";
import type { SettlementStatus, StatusChangedData } from "@sluice/sdk/wire";
import { GOVERNED } from "../../src/core/commitment.ts";
import { Secret } from "../../src/core/secret.ts";
import type { AddressesTable, Db } from "../../src/db/schema.ts";
import { appendEvent, lockStamps } from "../../src/events/index.ts";
import { createIntegrator, createKey } from "../../src/integrators/index.ts";
import { systemRandom } from "../../src/roles/system-ports.ts";

export const PEPPER = new Secret("a pepper for tests, long enough");
export const USDC = `0x${"5".repeat(40)}`;
const REFUND = `0x${"7".repeat(40)}`;

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly keyId: string;
  readonly apiKey: string;
}

let count = 0;

/** Returns unique bytes, at least 4, such as those of an address. */
export function createHex(bytes: number): string {
  count += 1;
  return `0x${"ab".repeat(bytes - 4)}${count.toString(16).padStart(8, "0")}`;
}

export async function createTenant(db: Db, depositAddresses = true): Promise<Tenant> {
  count += 1;
  const deps = { db, random: systemRandom, pepper: PEPPER };
  const facts = { refundEvm: REFUND, maxFeeBps: 50, maxSlippageBps: 100 };
  const { integratorId, name } = await createIntegrator(deps, {
    ...facts,
    name: `tenant-${process.pid}-${count}`,
  });
  const key = await createKey(deps, { integrator: integratorId, depositAddresses });
  return { id: integratorId, name, ...key };
}

/** Inserts a deposit address, on EVM chains unless its row says otherwise. Returns its record id and wallet. */
export async function insertAddress(
  db: Db,
  tenant: Tenant,
  row: Partial<Insertable<AddressesTable>> = {},
) {
  const id = systemRandom.uuid();
  const wallet = row.wallet ?? createHex(20);
  await db.transaction().execute(async (tx) => {
    await lockStamps(tx, tenant.id);
    await tx
      .insertInto("addresses")
      .values({
        id,
        integrator_id: tenant.id,
        chain_family: "evm",
        user_id: createHex(20),
        dest_chain: 30,
        dest_wallet: createHex(20),
        dest_token: USDC,
        refund_authority: REFUND,
        max_fee_bps: 50,
        max_slippage_bps: 100,
        ...GOVERNED,
        version: 1,
        wallet_kind: 1,
        factory: USDC,
        commitment: createHex(32),
        ...row,
        wallet,
        created_at: sql<string>`next_stamp((select created_at from addresses
          where integrator_id = ${tenant.id} order by created_at desc limit 1))`,
      })
      .execute();
  });
  return { id, wallet };
}

/** Inserts a settlement of an address, in any status. */
export async function insertSettlement(
  db: Db,
  tenant: Tenant,
  address: { readonly id: string; readonly wallet: string },
  row: {
    readonly status?: SettlementStatus;
    readonly amount?: bigint | null;
    readonly swapTxHash?: string;
    readonly chainId?: number;
    readonly token?: string;
    readonly error?: {
      readonly code: string;
      readonly retryable: boolean;
      readonly details?: object;
    };
  } = {},
): Promise<string> {
  const id = systemRandom.uuid();
  const { status = "completed", error } = row;
  await db.transaction().execute(async (tx) => {
    await lockStamps(tx, tenant.id);
    await tx
      .insertInto("settlements")
      .values({
        id,
        integrator_id: tenant.id,
        address_id: address.id,
        chain_id: row.chainId ?? 2,
        wallet: address.wallet,
        token: row.token ?? USDC,
        status,
        step: "done",
        amount: row.amount === undefined ? 1_000_000n : row.amount,
        swap_tx_hash: row.swapTxHash ?? null,
        error_code: error?.code ?? null,
        error_message: error ? "It went wrong." : null,
        error_retryable: error?.retryable ?? null,
        error_details: error?.details ? JSON.stringify(error.details) : null,
        created_at: sql<string>`next_stamp((select created_at from settlements
          where integrator_id = ${tenant.id} order by created_at desc limit 1))`,
        updated_at: sql<string>`now()`,
      })
      .execute();
  });
  return id;
}

/** Appends one `deposit_detected`. The chain id tells events apart. */
export async function insertEvent(db: Db, tenant: Tenant, chainId = 2): Promise<void> {
  await db.transaction().execute((tx) =>
    appendEvent(tx, systemRandom, {
      integratorId: tenant.id,
      type: "deposit_detected",
      data: { walletAddress: USDC, chainId, tokenAddress: USDC, queued: true },
    }),
  );
}

/** Data of a `status_changed` of a failing settlement. */
export function statusChanged(queueItemId: string): StatusChangedData {
  return {
    queueItemId,
    chainId: 2,
    tokenAddress: USDC,
    walletAddress: USDC,
    status: "failed_swap",
    prevStatus: "swapping",
    phase: "swap",
    category: "retrying",
    terminal: false,
    retryCount: 1,
    txHash: null,
    error: {
      code: "RPC_UNAVAILABLE",
      message: "No node answers.",
      retryable: true,
      details: { reason: "fetch failed" },
    },
  };
}

/** Appends one `status_changed`. */
export async function insertStatusEvent(db: Db, tenant: Tenant, queueItemId: string) {
  await db.transaction().execute((tx) =>
    appendEvent(tx, systemRandom, {
      integratorId: tenant.id,
      type: "status_changed",
      data: statusChanged(queueItemId),
    }),
  );
}
