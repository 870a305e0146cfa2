/** Audit of bridge transfers against both chains: reports altered rows and unsettled transfers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import { createDoctorDeps } from "../../../test/support/doctor-doubles.ts";
import {
  createStillClock,
  createStrictChain,
  silentLog,
  hashOf,
} from "../../../test/support/doubles.ts";
import {
  createHex,
  createTenant,
  insertAddress,
  insertSettlement,
  USDC,
} from "../../../test/support/tenants.ts";
import type { CctpBridge, FoundMint, PoolSwapFacts } from "../../chains/port/index.ts";
import { toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import { formatAudit } from "../../cli/audit.ts";
import { listUnsettled } from "../../ledger/index.ts";
import { ROUTE_AUDITS } from "../index.ts";
import { bridgeAudit } from "./audit.ts";

const WETH = toEvmAddress(`0x${"ee".repeat(20)}`);
const ROUTE = toEvmAddress(`0x${"cc".repeat(20)}`);
const MESSAGE = "0xb0";
const SWEPT = 10_000n;
const FEE = 10n;
const BURNED = SWEPT - FEE;
const BRIDGE_FEE = 2n;
const HOUR_MS = 3_600_000;
const FINAL = { number: 12n, hash: toHex32(hashOf("final")) };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

/** A bridge transfer in a given state, and chains that agree with its row. */
async function openTransfer(state: "burned" | "attested" | "final", swaps = false) {
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
      ...(swaps && { token_in: WETH, amount_in: SWEPT - FEE }),
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

  const swapped: PoolSwapFacts = {
    wallet: toEvmAddress(address.wallet),
    to: ROUTE,
    tokenIn: WETH,
    tokenOut: toEvmAddress(USDC),
    amountIn: SWEPT - FEE,
    amountOut: BURNED,
    fee: FEE,
  };
  const onChain = {
    message: MESSAGE as typeof MESSAGE | "0xc0",
    mint: mint as FoundMint | null,
    swapped,
  };
  const cctp: CctpBridge = {
    contracts: { domain: 6, messenger: toEvmAddress(USDC), transmitter: toEvmAddress(USDC) },
    buildReceive: () => {
      throw new Error("an auditor sends nothing");
    },
    encodeBurnData: () => {
      throw new Error("an auditor burns nothing");
    },
    encodeSwapBurnData: () => {
      throw new Error("an auditor burns nothing");
    },
    readBurnLimit: () => Promise.reject(new Error("an auditor burns nothing")),
    readContractHeight: () => Promise.reject(new Error("only the relay reads it")),
    findMint: async (of, at) => {
      // A server that lags has no such block, instead of an older state.
      expect(at).toMatchObject(FINAL);
      return of === toHex32(nonce) ? onChain.mint : null;
    },
  };
  const chain = createStrictChain({
    chainId: 2,
    getReceipt: async (txHash) => ({
      txHash: toTxHash(txHash),
      blockHash: toHex32(hashOf("block")),
      blockNumber: 7n,
      succeeded: true,
      gasCost: 0n,
      effects: [
        ...(swaps ? [{ kind: "swapped" as const, ...onChain.swapped }] : []),
        { kind: "message_sent", message: onChain.message },
        {
          kind: "settled",
          wallet: toEvmAddress(address.wallet),
          token: WETH,
          route: ROUTE,
          amount: SWEPT,
          logIndex: 1,
        },
      ],
    }),
  });
  const destination = createStrictChain({
    chainId: 30,
    cctp,
    getFinalBlock: async () => FINAL,
  });
  const clock = createStillClock(Date.now());
  const audit = async (scope: "next" | "all" = "all") => {
    const deps = { db, chain, chains: new Map([[30, destination]]), clock, log: silentLog };
    const { findings, error } = await bridgeAudit.auditDelivered(deps, scope);
    expect(error).toBeNull();
    return findings.filter(({ subject }) => subject === settlementId);
  };
  return { db, id, settlementId, wallet: address.wallet, mint, onChain, change, audit, clock };
}

describe("the audit of a final bridge transfer [V5]", () => {
  test("passes when the row matches both chains, and does not repeat", async () => {
    const { audit, change } = await openTransfer("final");
    expect(await audit("next")).toEqual([]);
    // Already audited: later changes are found only by a full audit.
    await change({ delivered_amount: 1n });
    expect(await audit("next")).toEqual([]);
    expect(await audit()).toHaveLength(1);
  });

  test.each<[string, object]>([
    ["delivered amount", { delivered_amount: BURNED - BRIDGE_FEE - 1n }],
    ["bridge fee", { bridge_fee: BRIDGE_FEE + 1n }],
    ["burned amount", { burned_amount: BURNED + 1n }],
    ["message", { sent_message: "0xb1" }],
    ["minimum", { min_out: BURNED }],
    ["nonce", { nonce: `0x${"0".repeat(64)}` }],
  ])("reports a breach when the row has another %s", async (_, set) => {
    const { settlementId, id, change, audit, clock } = await openTransfer("final");
    await change(set);
    clock.advance(2 * HOUR_MS);
    const found = await audit();
    expect(found).not.toEqual([]);
    for (const finding of found) {
      expect(finding).toMatchObject({
        invariant: "V5",
        verdict: "bridge_differs",
        chainId: 2,
        subject: settlementId,
        details: { transfer: id },
      });
    }
  });

  test("reports a breach when the mint went to another recipient than committed", async () => {
    const { onChain, mint, audit } = await openTransfer("final");
    onChain.mint = { ...mint, to: toEvmAddress(USDC) };
    expect(await audit()).toMatchObject([{ invariant: "V5" }]);
  });

  test("tolerates a missing mint for one hour, then reports a breach", async () => {
    const { onChain, audit, clock } = await openTransfer("final");
    onChain.mint = null;
    for (const scope of ["next", "all"] as const) expect(await audit(scope)).toEqual([]);
    clock.advance(HOUR_MS + 60_000);
    expect(await audit("next")).toMatchObject([{ details: { on_chain: "no such mint" } }]);
  });
});

describe("the audit of a bridge transfer after a pool swap [V5]", () => {
  test("passes when the row matches the chain", async () => {
    const { audit } = await openTransfer("final", true);
    expect(await audit()).toEqual([]);
  });

  test.each<[string, object]>([
    ["pool's input amount", { amount_in: SWEPT - FEE - 1n }],
    ["pool's input token", { token_in: USDC }],
    ["fee", { fee: FEE + 1n }],
  ])("reports a breach when the row of the pool swap has another %s", async (_, set) => {
    const { change, audit } = await openTransfer("final", true);
    await change(set);
    expect(await audit()).toMatchObject([
      { invariant: "V5", details: { on_chain: "no such swap" } },
    ]);
  });

  test.each<[string, Partial<PoolSwapFacts>]>([
    ["gave another amount than was burned", { amountOut: BURNED - 1n }],
    ["gave it to another recipient", { to: WETH }],
    ["is of another wallet", { wallet: WETH }],
    ["gave another token", { tokenOut: WETH }],
  ])("reports a breach when the pool swap on the chain %s", async (_, change) => {
    const { onChain, audit } = await openTransfer("final", true);
    onChain.swapped = { ...onChain.swapped, ...change };
    expect(await audit()).toMatchObject([{ details: { on_chain: "no such swap" } }]);
  });

  test("finds postings in both tokens through the pool's account, reversed when the burn is superseded", async () => {
    const { db, id, change } = await openTransfer("attested", true);
    const lines = async () => {
      const rows = await db
        .selectFrom("ledger_lines")
        .select(["chain_id", "account", "token", (eb) => eb.fn.sum<string>("amount").as("sum")])
        .where("ref", "=", id)
        .groupBy(["chain_id", "account", "token"])
        .having((eb) => eb(eb.fn.sum("amount"), "<>", "0"))
        .orderBy("chain_id")
        .orderBy("account")
        .orderBy("token")
        .execute();
      return rows.map(({ chain_id, account, token, sum }) => {
        const name = token === WETH ? "weth" : "usdc";
        return `${account} of ${chain_id}: ${BigInt(sum)} ${name}`;
      });
    };
    expect(await lines()).toEqual([]);
    const mint = { mint_tx_hash: createHex(32), delivered_amount: BURNED - BRIDGE_FEE };
    await change({ state: "delivered", ...mint, bridge_fee: BRIDGE_FEE });
    const posted = [
      `bridge of 2: ${BURNED} usdc`,
      `fees of 2: ${FEE} weth`,
      `in_flight of 2: ${-SWEPT} weth`,
      `swapped of 2: ${-BURNED} usdc`,
      `swapped of 2: ${SWEPT - FEE} weth`,
      `bridge of 30: ${-BURNED} usdc`,
      `delivered of 30: ${BURNED - BRIDGE_FEE} usdc`,
      `fees of 30: ${BRIDGE_FEE} usdc`,
    ];
    expect(await lines()).toEqual(posted);
    // The same message may cost more in another block.
    await change({ amount_in: SWEPT - FEE + 5n });
    expect(await lines()).toEqual(
      posted.map((line) =>
        line
          .replace(`in_flight of 2: ${-SWEPT}`, `in_flight of 2: ${-SWEPT - 5n}`)
          .replace(`swapped of 2: ${SWEPT - FEE} weth`, `swapped of 2: ${SWEPT - FEE + 5n} weth`),
      ),
    );
    await change({ state: "superseded" });
    expect(await lines()).toEqual([]);
  });
});

test.each(["burned", "attested"] as const)(
  "a bridge transfer that is %s is listed as unsettled, with its settlement",
  async (state) => {
    const { db, settlementId, wallet } = await openTransfer(state);
    const unsettled = await listUnsettled(db, ROUTE_AUDITS);
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
