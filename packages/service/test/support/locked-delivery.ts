/** A locked delivery over a real PostgreSQL, for tests that set the state of the chains. */
import { expect } from "vitest";
import { BELIEVED_ATTESTOR, createStrictChain, hashOf, LANE, silentLog } from "./doubles.ts";
import { openDesk, RECIPIENT, USDC } from "./settlement-desk.ts";
import type {
  FoundDelivery,
  Lock,
  OpenLock,
  Payout,
  Receipt,
  Simulation,
} from "../../src/chains/port/index.ts";
import { assert } from "../../src/core/assert.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { padAddress, toHex32 } from "../../src/core/hex.ts";
import type { Db } from "../../src/db/schema.ts";
import { readAddressOf, recordDelivery } from "../../src/settlements/index.ts";
import type { DeliveryDeps } from "../../src/routes/swift/delivery-deps.ts";
import { createDeliveryPolls } from "../../src/routes/swift/deliver.ts";
import type { AttestationId } from "../../src/routes/swift/attestation-requests.ts";
import { answerAttestation } from "../../src/routes/swift/attestations.ts";
import { insertDelivery } from "../../src/routes/swift/store.ts";

export const ID = toHex32(hashOf("delivery"));

/** A settlement with a mined sweep, and its lock. */
export async function openLocked() {
  const desk = await openDesk();
  const { db, clock } = desk;
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  await desk.poll();
  await desk.mine("sweep:");
  const [swap] = await desk.swaps();
  assert(swap, "there is a settlement");
  const facts = {
    token: USDC,
    seq: 7n,
    minOut: 990n,
    delivery: padAddress(RECIPIENT),
  };
  const lockedAt = BigInt(Math.floor(clock.now() / 1000));
  await db.transaction().execute((tx) =>
    insertDelivery(
      tx,
      {
        ...facts,
        lockedAt,
        wallet: address.wallet,
        destChain: 30,
        id: ID,
        settlementId: swap.id,
        srcChain: 2,
        escrow: RECIPIENT,
        lockedAmount: 1_000n,
        destToken: USDC,
        destWallet: RECIPIENT,
        payAmount: 999n,
        feeService: 1n,
        feeGas: 0n,
      },
      clock.now(),
    ),
  );
  const lock: Lock = {
    ...facts,
    commitment: address.commitmentHash,
    amount: 1_000n,
    lockedAt,
    state: "locked",
  };
  const state = {
    lock,
    found: null as FoundDelivery | "unlocated" | null,
    /** The receipt that the destination has of any transaction. */
    receipt: null as Receipt | null,
    /** A payout that only a search finds, in parts of so many blocks at most. */
    hidden: null as FoundDelivery | null,
    partMax: 320n,
    head: 100n,
    /** The first and last block of each part that was searched. */
    searched: [] as (readonly [bigint, bigint])[],
    deliveredFinal: false,
    isLockFinal: true,
    /** Block of the lock, and the newest and the final block of its chain. Whether a reorg removed the lock. */
    lockBlock: 95n,
    sourceHead: 100n,
    sourceFinal: 90n,
    isLockGone: false,
    /** Time of the source's final block, in Unix seconds. */
    finalTime: lockedAt - 60n,
    /** How often the time of its final block was read. */
    timesRead: 0,
    /** Hash of the block that the destination has at any height; null if it has none. */
    blockHash: null as ReturnType<typeof hashOf> | null,
    /** Whether the lane was a relayer at the time of the lock. */
    wasRelayer: true,
    hinted: [] as unknown[],
    /** The way in which each claim was to end the lock. */
    ended: [] as Pick<OpenLock, "held" | "whole">[],
    /** The payouts that were sent. */
    paying: [] as Payout[],
    /** Results of the next simulations; later ones succeed. */
    simulations: [] as Simulation[],
  };
  const source = createStrictChain({
    chainId: 2,
    getLock: async (_id, at, hints) => {
      state.hinted.push(["lock", hints]);
      if (state.isLockGone) return null;
      if (typeof at === "object") return at.number >= state.lockBlock ? state.lock : null;
      return at === "final" && !state.isLockFinal ? null : state.lock;
    },
    getHead: async () => ({ number: state.sourceHead, hash: ID, parentHash: ID }),
    getFinalBlock: async () => ({ number: state.sourceFinal, hash: ID }),
    getBlock: async (number) => ({ number, hash: ID, parentHash: ID }),
    async getTime() {
      state.timesRead += 1;
      const { lockedAt: ofLock } = state.lock;
      return state.isLockFinal && state.finalTime < ofLock ? ofLock : state.finalTime;
    },
    wasListed: async (listing, at) => {
      expect(listing).toEqual({ role: "relayer", account: LANE, time: state.lock.lockedAt });
      expect(at).toBe(state.isLockFinal ? "final" : "latest");
      return state.wasRelayer;
    },
    buildClaim: (_claim, _signature, { held, whole }) => {
      state.ended.push({ held, ...(whole && { whole }) });
      return { to: RECIPIENT, data: "0xc1", value: 0n };
    },
    simulate: async () => state.simulations.shift() ?? { ok: true, gas: 7n },
  });
  const destination = createStrictChain({
    chainId: 30,
    findDelivery: async (_id, _at, hints) => {
      state.hinted.push(["delivery", hints]);
      return state.found;
    },
    getReceipt: async () => state.receipt,
    // One block per second.
    findBlockAt: async (timeS) => timeS,
    findIn: async (_lock, { from, to }) => {
      if (to - from >= state.partMax) {
        throw new OperatingError("RPC_UNAVAILABLE", "Too many blocks for one search.");
      }
      state.searched.push([from, to]);
      const { hidden } = state;
      return hidden && hidden.blockNumber >= from && hidden.blockNumber <= to ? hidden : null;
    },
    buildDeliver: (payout) => {
      state.paying.push(payout);
      return { to: RECIPIENT, data: "0xde", value: 0n };
    },
    simulate: async () => ({ ok: true, gas: 7n }),
    isDelivered: async () => state.deliveredFinal,
    isOrderOver: async (deadline) => deadline < BigInt(Math.floor(clock.now() / 1000)),
    getHead: async () => ({ number: state.head, hash: ID, parentHash: ID }),
    getBlock: async (number) =>
      state.blockHash && { number, hash: toHex32(state.blockHash), parentHash: ID },
  });
  const nothing = () => undefined;
  const chains = new Map([
    [2, source],
    [30, destination],
  ]);
  const deps: DeliveryDeps = {
    db,
    chains,
    endingChains: chains,
    clock,
    random: desk.deps.random,
    log: silentLog,
    attestors: BELIEVED_ATTESTOR,
    lanes: new Map(
      [2, 30].map((chainId) => [
        chainId,
        { deliver: [LANE], claims: { lanes: [LANE] }, returns: { lanes: [LANE] } },
      ]),
    ),
    deliveryConfirmations: new Map([[30, 1]]),
    early: new Map(),
    payoutWindowS: 3_600n,
    readAddress: (settlementId) => readAddressOf(db, settlementId),
    onChanged: async () => undefined,
    onDelivered: (tx, delivered) => recordDelivery(tx, delivered, clock.now()),
    onGivenBack: async () => undefined,
    wakeSettlements: nothing,
    wakeAttestor: nothing,
    wakeLanes: nothing,
    pollMs: 500,
  };
  const poll = async () => {
    clock.advance(60_000);
    await createDeliveryPolls(deps, 30).payouts();
    await createDeliveryPolls(deps, 30).claims();
  };
  const requests = async () =>
    (await db.selectFrom("attestations").select(["id", "request"]).orderBy("id").execute()).map(
      // CAST: our own JSON.
      ({ id, request }) => ({ id, ...(request as object) }),
    );
  return { desk, deps, clock, address, settlementId: swap.id, state, poll, requests };
}

/** The payout of the lock, as the destination shows it. */
export function payoutOf({ commitment }: Lock): FoundDelivery {
  return {
    deliveryId: ID,
    commitment,
    to: RECIPIENT,
    token: USDC,
    amount: 999n,
    txHash: hashOf("payout"),
    blockNumber: 90n,
  };
}

/** Answers all requests with a signature. */
export async function signAll(db: Db): Promise<void> {
  const open = await db.selectFrom("attestations").select("id").execute();
  for (const { id } of open) {
    const answer = { attestor: LANE, nowMs: 0, signature: "0x51", refusal: null } as const;
    // CAST: as it was inserted.
    await answerAttestation(db, { id: id as AttestationId, ...answer });
  }
}
