/** Events about refunds, for readers that ask for details. */
import { ExtendedEventItem } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { putNotes } from "../../addresses/index.ts";
import { toHex32 } from "../../core/hex.ts";
import { insertOutflows } from "../../deposits/index.ts";
import { listExtendedEvents } from "../../events/index.ts";
import { announceFinalRefunds, announceRefunds } from "./refunds.ts";

test("a refund is announced once, to its integrator, with the recipient; a sweep is not [T214]", async () => {
  const desk = await openDesk();
  const address = await desk.issue("0xa1");
  await putNotes(desk.db, [{ addressId: address.id, notes: { label: "Ann" } }]);
  const block = { number: 12n, hash: toHex32(hashOf("12")), parentHash: toHex32(hashOf("11")) };
  const outflow = { wallet: address.wallet, token: USDC, txHash: hashOf("refund") };
  const outflows = [
    { ...outflow, kind: "refunded" as const, amount: 7n, logIndex: 1 },
    { ...outflow, kind: "swept" as const, amount: 8n, logIndex: 2 },
  ];
  for (let times = 0; times < 2; times++) {
    await desk.db.transaction().execute(async (tx) => {
      const added = await insertOutflows(tx, 2, block, outflows);
      await announceRefunds(tx, desk.deps, 2, { ...block, isFinal: false }, added);
    });
  }
  const { items } = await listExtendedEvents(desk.db, desk.integratorId, { limit: 10 });
  expect(items.flatMap((event) => [...Value.Errors(ExtendedEventItem, event)])).toEqual([]);
  expect(items).toMatchObject([
    {
      type: "refund_detected",
      data: {
        walletAddress: address.wallet,
        chainId: 2,
        tokenAddress: USDC,
        amount: "7",
        txHash: hashOf("refund"),
        blockNumber: 12,
      },
      details: { depositAddressId: address.id, label: "Ann", refundTo: RECIPIENT },
    },
  ]);
  expect(await desk.events()).toEqual([]);
});

test("a refund is announced again when its block is final, and no other outflow is [T275]", async () => {
  const desk = await openDesk();
  const address = await desk.issue("0xa1");
  const blockOf = (number: bigint) => ({
    number,
    hash: toHex32(hashOf(`${number}`)),
    parentHash: toHex32(hashOf(`${number - 1n}`)),
  });
  const outflow = { wallet: address.wallet, token: USDC, amount: 7n };
  const types = async () => {
    const { items } = await listExtendedEvents(desk.db, desk.integratorId, { limit: 50 });
    return items.map(({ type, data }) => [type, "txHash" in data && data.txHash]);
  };
  await desk.db.transaction().execute(async (tx) => {
    for (const number of [11n, 12n, 13n]) {
      const txHash = hashOf(`in ${number}`);
      await insertOutflows(tx, 2, blockOf(number), [
        { ...outflow, kind: "refunded", txHash, logIndex: 1 },
        { ...outflow, kind: "swept", txHash, logIndex: 2 },
      ]);
    }
    await announceFinalRefunds(tx, desk.deps, 2, { after: 11n, through: 12n });
  });
  expect(await types()).toEqual([["refund_final", hashOf("in 12")]]);
  // The second look finds refunds of blocks that are final already.
  await desk.db.transaction().execute(async (tx) => {
    const found = { ...outflow, kind: "refunded" as const, txHash: hashOf("late"), logIndex: 3 };
    await announceRefunds(tx, desk.deps, 2, { number: 10n, isFinal: true }, [found]);
  });
  expect(await types()).toEqual([
    ["refund_final", hashOf("in 12")],
    ["refund_detected", hashOf("late")],
    ["refund_final", hashOf("late")],
  ]);
});
