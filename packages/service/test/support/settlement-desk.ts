/** Settlements over a real PostgreSQL, with the chain's answers set by hand. */
import { sql } from "kysely";
import { onTestFinished } from "vitest";
import {
  type DepositAddress,
  getAddressById,
  issueAddress,
  type RouteSet,
} from "../../src/addresses/index.ts";
import type { Chain, Effect, FoundRefund, Held, Simulation } from "../../src/chains/port/index.ts";
import type { Commitment } from "../../src/core/commitment.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { NATIVE_TOKEN, toEvmAddress, toHex32, unpadAddress } from "../../src/core/hex.ts";
import { insertOutflows, type Minimums } from "../../src/deposits/index.ts";
import { listEvents } from "../../src/events/index.ts";
import { type FeeTerms, planTerms } from "../../src/fees/index.ts";
import { createIntegrator } from "../../src/integrators/index.ts";
import {
  createRouteBook,
  type DeliveryProgress,
  type Pair,
  type Reservation,
  type Route,
} from "../../src/routes/index.ts";
import { dueSettlements } from "../../src/settlements/store/due.ts";
import { createSettlementsPoll } from "../../src/settlements/advance.ts";
import { listSwaps } from "../../src/settlements/list.ts";
import type { SettlementDeps } from "../../src/settlements/index.ts";
import { acceptValue } from "../../src/settlements/intake/accept.ts";
import { createTestDatabase } from "./database.ts";
import {
  createCountingRandom,
  createSponsoredFees,
  createStillClock,
  createStrictChain,
  hashOf,
  LANE,
  silentLog,
  unseenMetrics,
} from "./doubles.ts";

export const USDC = toEvmAddress(`0x${"a0".repeat(20)}`);
export const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);
export const ROUTE = toEvmAddress(`0x${"0e".repeat(20)}`);
export const RECIPIENT = toEvmAddress(`0x${"de".repeat(20)}`);

/** Gas that a deployment adds where it is charged. */
export const DEPLOY_COST = 2n;

export type Desk = Awaited<ReturnType<typeof openDesk>>;

/** Returns the wallet's address, derived from the user id, so that each user has another. */
const walletOf = (commitment: Commitment) => unpadAddress(commitment.userId);

/** Opens a chain, a route and an integrator with answers that a test sets, on a database that is closed with the test. */
export async function openDesk() {
  const { db, drop } = await createTestDatabase();
  onTestFinished(drop);
  const random = createCountingRandom();
  const clock = createStillClock();
  const state = {
    balance: 0n,
    /** Base units to leave behind so that later arrivals cannot fail the sweep. */
    spare: undefined as bigint | undefined,
    /** Whether the failure on the chain was caused by a later arrival. */
    metMore: false,
    /** The part of the balance that may be swept, if not all. */
    held: null as Held | null,
    /** Whether the token's contract answers malformed data. */
    fails: false,
    hasCode: true,
    /** Contracts other than wallets. */
    codeAt: new Set<string>([USDC]),
    simulation: { ok: true, gas: 100_000n } as Simulation,
    /** Native coin of the lane; null for enough of it. A call costs 100. */
    laneBalance: null as bigint | null,
    /** Errors of the contracts whose states were read. */
    asked: [] as string[],
    /** Unix seconds of a standing announcement of a take-back. */
    announcedAt: null as bigint | null,
    reserves: "reserved" as Reservation,
    /** The most that the route takes of a balance; null without a limit. */
    capacity: null as bigint | null,
    /** Reason of NO_ROUTE with which the route refuses more than its capacity; null if the inventory does. */
    limit: null as string | null,
    delivery: { kind: "waiting" } as DeliveryProgress,
    swept: 0n,
    /** Block up to which the sweep took deposits; undefined if it took all. */
    upTo: undefined as bigint | undefined,
    /** Fee taken before the pool swap; undefined without one. */
    swapFee: undefined as bigint | undefined,
    /** Happens while a request reads a balance. */
    meanwhile: async () => {},
    /** Gas charge of the sweep in base units of the token; zero where it is sponsored. */
    gas: 0n,
    feeBps: 0,
    /** Terms of the planned sweeps, and of the recorded mined ones. */
    prepared: [] as FeeTerms[],
    recorded: [] as FeeTerms[],
    /** The amounts of the planned sweeps. */
    ordered: [] as Held[],
    minimums: { token: 100n, floor: undefined } as Minimums,
    /** Replaces `minimums` in a test that reads them from a configuration. */
    readMinimums: null as SettlementDeps["readMinimums"] | null,
    /** The newest refund of any wallet in a final block. */
    refund: null as FoundRefund | null,
    wokenDeliveries: 0,
    /** Settlements whose reservations the route released. */
    released: [] as string[],
    /** The effects of every transaction. */
    effects: [] as readonly Effect[],
    block: 100n,
    /** The hash of that block. */
    blockHash: toHex32(hashOf("block")),
    finalNumber: 50n,
    /** The part of a vault's balance that stood as long as a policy asks; null for nothing. */
    stood: null as bigint | null,
  };
  const receipt = (txHash: ReturnType<typeof hashOf>) => ({
    txHash,
    blockHash: state.blockHash,
    blockNumber: state.block,
    succeeded: !state.metMore,
    ...(state.metMore && { metMore: true as const }),
    gasCost: 0n,
    effects: state.effects,
  });
  const chain: Chain = createStrictChain({
    chainId: 2,
    addresses: { walletRoot: FACTORY, escrow: FACTORY, delivery: FACTORY },
    predictWallet: walletOf,
    hashCommitment: (commitment) => toHex32(hashOf(JSON.stringify(commitment))),
    coin: { token: NATIVE_TOKEN, decimals: 18 },
    getBalance: async (_token, owner) =>
      owner === LANE && state.laneBalance !== null ? state.laneBalance : state.balance,
    readHolding: async () => state.held ?? { amount: state.balance, spare: state.spare },
    findBalance: async () => {
      await state.meanwhile();
      return state.fails ? null : state.balance;
    },
    hasCode: async (address) => state.codeAt.has(address) || state.hasCode,
    simulate: async () => {
      if (state.laneBalance === null || state.laneBalance >= 100n) return state.simulation;
      const details = { reason: "gas", chainId: 2 };
      throw new OperatingError("INSUFFICIENT_BALANCE", "No gas.", { details });
    },
    buildRefund: (_commitment, token) => ({
      to: FACTORY,
      data: `0x2e${token.slice(2)}`,
      value: 0n,
    }),
    findRefund: async ({ fromBlock }) =>
      state.refund && state.refund.blockNumber >= fromBlock ? state.refund : null,
    buildDeploy: () => ({ to: FACTORY, data: "0xde", value: 0n }),
    isRefused: async ({ reason }) => {
      state.asked.push(reason);
      return !state.simulation.ok && state.simulation.reason === reason;
    },
    getAnnouncement: async () => state.announcedAt,
    getReceipt: async (txHash) => receipt(txHash),
    getFinalNumber: async () => state.finalNumber,
    getHead: async () => ({
      number: state.block,
      hash: state.blockHash,
      parentHash: state.blockHash,
    }),
    getTime: async () => BigInt(Math.floor(clock.now() / 1_000)),
  });
  const route: Route & { waitsForFinality: boolean; deliversBySweep: boolean; pair: Pair } = {
    kind: "SWIFT",
    pair: { srcChain: 2, srcToken: USDC, destChain: 30, destToken: USDC },
    contract: ROUTE,
    decimalsIn: 6,
    decimalsOut: 6,
    etaSeconds: 1,
    waitsForFinality: true,
    deliversBySweep: false,
    isPriced: false,
    gasSteps: [],
    readBridgeFee: async () => 0n,
    quote: async (amount) => ({ fair: amount, amountOut: amount, minOut: amount }),
    prepareSweep: async (_address, amount, fee, held) => {
      if (state.limit !== null && amount > (state.capacity ?? amount)) {
        throw new OperatingError("NO_ROUTE", "Too much.", { details: { reason: state.limit } });
      }
      state.prepared.push(fee);
      state.ordered.push({ amount, ...held });
      return { to: FACTORY, data: "0x5e", value: 0n };
    },
    readInventory: async () => ({ reserved: 0n, balance: 0n, capLeft: 0n, rate: 10n ** 18n }),
    readCapacity: async () => state.capacity,
    judgeInventory: () => state.reserves,
    reserves: null,
    reserve: async (_, { amount }) =>
      state.capacity !== null && amount > state.capacity ? "inventory_too_low" : state.reserves,
    release: async (_, settlementId) => void state.released.push(settlementId),
    readSweep: async () => ({
      amount: state.swept,
      minOut: 1n,
      logIndex: 50,
      deliveryId: null,
      ...(state.upTo !== undefined && { upTo: state.upTo }),
      ...(state.swapFee !== undefined && { swapFee: state.swapFee }),
    }),
    recordSweep: async (_tx, { fee }) => void state.recorded.push(fee),
    checkDelivery: async () => state.delivery,
  };
  const deps: SettlementDeps = {
    db,
    clock,
    random,
    log: silentLog,
    metrics: unseenMetrics,
    chains: new Map([[2, chain]]),
    routes: createRouteBook([route]),
    quotas: { addresses: 1_000, openSettlements: 1_000 },
    fees: {
      async plan({ amount, maxFeeBps, deploys }) {
        // Like sponsored gas: the chain is not queried.
        const gas = state.gas === 0n ? 0n : state.gas + ((await deploys()) ? DEPLOY_COST : 0n);
        return planTerms({ amount, maxFeeBps, serviceBps: state.feeBps, gas, bridge: 0n });
      },
      planWithout: (maxFeeBps) => createSponsoredFees(state.feeBps).planWithout(maxFeeBps),
    },
    displayAddress: (address) => address,
    readAddress: (id) => getAddressById(db, id),
    lanes: new Map([[2, { deploy: [LANE], settle: [LANE] }]]),
    readMinimums: async (...asked) => (await state.readMinimums?.(...asked)) ?? state.minimums,
    wakeEvents: () => undefined,
    wakeSettlements: () => undefined,
    wakeLanes: () => undefined,
    wakeDeliveries: () => void (state.wokenDeliveries += 1),
    pollMs: 500,
  };
  const { integratorId } = await createIntegrator(
    { db, random },
    { name: "acme", refundEvm: RECIPIENT, maxFeeBps: 50, maxSlippageBps: 100 },
  );
  /** Issues an address, of fixed routes where a set is given. */
  const issue = (userId: string, routeSet?: RouteSet): Promise<DepositAddress> =>
    issueAddress(
      { db, random },
      {
        chain,
        integratorId,
        destination: {
          userId: userId.padEnd(42, "0"),
          destChain: 30,
          destWallet: RECIPIENT,
          destToken: USDC,
        },
        ...(routeSet && { terms: { routes: "fixed" }, routeSet }),
      },
    );

  /** Makes the chain one whose wallets only the signer can derive. */
  function turnIntoVaults(): void {
    const { buildRefund } = chain.wallets;
    const readStood = async () => state.stood ?? "too_recent";
    Object.assign(chain, { kind: "svm", wallets: { kind: "vault", buildRefund, readStood } });
  }

  let transfers = 0;
  async function arrive(
    address: DepositAddress,
    args: {
      readonly amount: bigint;
      readonly block: bigint;
      readonly tx?: string;
      /** Number of such transfers in the transaction. */
      readonly times?: number;
    },
  ): Promise<void> {
    transfers += 1;
    await acceptValue(
      deps,
      {
        chainId: 2,
        wallet: address.wallet,
        token: USDC,
        blockNumber: args.block,
        blockHash: toHex32(hashOf(`block ${args.block}`)),
        transfers: Array.from({ length: args.times ?? 1 }, (_, ordinal) => ({
          token: USDC,
          from: RECIPIENT,
          to: address.wallet,
          amount: args.amount,
          txHash: hashOf(args.tx ?? `transfer ${transfers}`),
          logIndex: ordinal + 1,
          ordinal,
        })),
      },
      address,
      async () => undefined,
    );
  }

  /** Polls due settlements, after the longest delay. */
  async function poll(): Promise<void> {
    clock.advance(900_000);
    await createSettlementsPoll(deps, 2)();
  }

  /** Records an intent's transaction as mined and final, and wakes its settlement, as a lane does. */
  async function mine(
    intent: string,
    succeeded = true,
    transactionState: "mined" | "final" = "final",
  ): Promise<void> {
    const rows = await db
      .updateTable("transactions")
      .set({
        state: transactionState,
        nonce: sql<number>`coalesce(nonce,
          (select count(*)::int from transactions where nonce is not null))`,
        succeeded,
        mined_hash: hashOf(intent),
        mined_block_hash: state.blockHash,
        mined_block_number: state.block,
      })
      .where("intent", "like", `${intent}%`)
      .returning("settlement_id")
      .execute();
    const settlements = rows.flatMap(({ settlement_id: id }) => id ?? []);
    await dueSettlements.wake(db, "id", settlements, clock.now());
  }

  /** Records that the transaction of an intent took everything that a wallet held, as the scanner of its block does. */
  async function takeOut(address: DepositAddress, intent: string): Promise<void> {
    const taken = { wallet: address.wallet, token: USDC, amount: state.swept };
    const block = { number: state.block, hash: state.blockHash };
    await db
      .transaction()
      .execute((tx) =>
        insertOutflows(tx, 2, { ...block, parentHash: block.hash }, [
          { ...taken, kind: "swept", txHash: hashOf(intent), logIndex: 50 },
        ]),
      );
  }

  const display = (address: string) => address;
  const swaps = async () =>
    (await listSwaps(db, integratorId, { limit: 100, display })).items.toReversed();
  const events = async () => (await listEvents(db, integratorId, { limit: 500 })).items;
  const deposits = () => db.selectFrom("deposits").selectAll().orderBy("block_number").execute();
  return {
    db,
    deps,
    state,
    route,
    clock,
    issue,
    turnIntoVaults,
    arrive,
    poll,
    mine,
    takeOut,
    swaps,
    events,
    deposits,
    integratorId,
  };
}
