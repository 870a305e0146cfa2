/** Take-backs by a refund authority on a real node. */
import { encodeAnnounceTakeBack, encodeCancelTakeBack, encodeTakeBack } from "@sluice/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HERE, openWorld, THERE, unknownLock, type World } from "../../../test/evm/world.ts";
import type { Commitment } from "../../core/commitment.ts";
import { padAddress, toEvmAddress } from "../../core/hex.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

/** A commitment whose refund authority is the test's own account. */
function commitmentOfOurs(destChain: number): Commitment {
  const authority = toEvmAddress(world.wallet.account.address);
  return { ...world.commitmentTo(destChain), refundAuthority: padAddress(authority) };
}

test("an announcement stands from its block until it is cancelled", async () => {
  const { wallets } = world.here;
  const commitment = commitmentOfOurs(THERE);
  const wallet = world.here.predictWallet(commitment);
  const token = world.usdc;
  expect(await wallets.getAnnouncement(wallet, token)).toBeNull();
  const announce = wallets.buildTakeBack({ kind: "announce", commitment, token });
  await world.mined(await world.wallet.sendTransaction(announce));
  expect(await wallets.getAnnouncement(wallet, token)).toBe(await world.here.getTime("latest"));
  expect(await wallets.getAnnouncement(wallet, world.here.addresses.escrow)).toBeNull();
  const cancel = wallets.buildTakeBack({ kind: "cancel", commitment, token });
  await world.mined(await world.wallet.sendTransaction(cancel));
  expect(await wallets.getAnnouncement(wallet, token)).toBeNull();
});

test("only the refund authority can announce", async () => {
  const commitment = { ...world.commitmentTo(THERE), refundAuthority: padAddress(world.usdc) };
  const step = { kind: "announce", commitment, token: world.usdc } as const;
  const call = world.here.wallets.buildTakeBack(step);
  expect(await world.here.simulate(world.lane.address, call)).toEqual({
    ok: false,
    reason: "NotRefundAuthority",
  });
});

test("the SDK encodes the same calls", () => {
  const { buildTakeBack } = world.here.wallets;
  const commitment = commitmentOfOurs(HERE);
  const of = { commitment, token: world.usdc };
  const lock = { ...unknownLock(), amount: 2n ** 255n, minOut: 5n, seq: 2n ** 64n - 1n };
  expect(encodeAnnounceTakeBack(of)).toBe(buildTakeBack({ kind: "announce", ...of }).data);
  expect(encodeCancelTakeBack(of)).toBe(buildTakeBack({ kind: "cancel", ...of }).data);
  expect(encodeTakeBack({ commitment, lock })).toBe(
    buildTakeBack({ kind: "take_back", commitment, lock }).data,
  );
});
