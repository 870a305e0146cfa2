/** Payouts from inventory, of the same asset and of another, against the suite of all routes. */
import { createEncodingChain, CONTRACTS } from "../../../test/support/encoding-chain.ts";
import {
  BELIEVED_ATTESTOR,
  createCountingRandom,
  createStillClock,
  hashOf,
  LANE,
  silentLog,
  unseenMetrics,
} from "../../../test/support/doubles.ts";
import {
  type Arrival,
  behavesLikeRoute,
  receiptOfSweep,
  type RouteBench,
  type RouteUnderTest,
  type SuitePair,
} from "../../../test/support/route-suite.ts";
import type { Effect, FoundDelivery } from "../../chains/port/index.ts";
import type { Caps } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { NATIVE_TOKEN, padAddress, toHex32 } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import { pollAttestationRequests } from "./attest.ts";
import { readAddressOf } from "../../settlements/index.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { createDeliveryPolls } from "./deliver.ts";
import { createPricing } from "./pricing.ts";
import { createSwiftRoute } from "./route.ts";

const HERE = 2;
const THERE = 30;
const BPS = 10_000n;
const RATE_SCALE = 10n ** 18n;
const SEQ = 3n;
const FAR_AWAY = 10n ** 40n;

interface Scale {
  readonly decimalsIn: number;
  readonly decimalsOut: number;
  /** Only for a priced pair. */
  readonly rate?: bigint;
}

/** `SameAssetRoute.minOut`. */
function minOutOfSameAsset(amount: bigint, caps: Caps, { decimalsIn, decimalsOut }: Scale): bigint {
  const maxFeeBps = BigInt(caps.maxFeeBps);
  if (maxFeeBps >= BPS) return 0n;
  const whole = amount * 10n ** BigInt(decimalsOut);
  const unit = 10n ** BigInt(decimalsIn);
  const value = whole / unit;
  const exact = whole * (BPS - maxFeeBps);
  const least = exact / (BPS * unit) + (exact % (BPS * unit) > 0n ? 1n : 0n);
  return least < value ? least : value;
}

/** `PricedRoute.minOut`. */
function minOutOfPriced(amount: bigint, caps: Caps, rate: bigint, scale: Scale): bigint {
  const given = BigInt(caps.maxSlippageBps) + BigInt(caps.maxFeeBps);
  if (given >= BPS) return 0n;
  const fair =
    (amount * rate * 10n ** BigInt(scale.decimalsOut)) /
    (RATE_SCALE * 10n ** BigInt(scale.decimalsIn));
  return fair - (fair * given) / BPS;
}

function openBench(db: Db, { token, contract }: SuitePair, scale: Scale): RouteBench {
  const { decimalsIn, decimalsOut, rate } = scale;
  const clock = createStillClock();
  const random = createCountingRandom();
  let arrival: Arrival | null = null;
  let isAway = false;
  let commitment = toHex32(hashOf("no lock yet"));
  const leastOf = (amount: bigint, caps: Caps) =>
    rate === undefined
      ? minOutOfSameAsset(amount, caps, scale)
      : minOutOfPriced(amount, caps, rate, scale);
  const lock = () => ({
    commitment,
    delivery: padAddress(CONTRACTS.delivery),
    token,
    amount: 0n,
    minOut: 0n,
    seq: SEQ,
    lockedAt: BigInt(clock.now() / 1000),
    state: "locked" as const,
  });
  const source = createEncodingChain(HERE, {
    getLock: async () => lock(),
    getTime: async () => lock().lockedAt,
    wasListed: async () => true,
  });
  const destination = createEncodingChain(THERE, {
    async findDelivery({ deliveryId }): Promise<FoundDelivery | null> {
      if (isAway) throw new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
      if (!arrival) return null;
      const { to, token: paid, amount, txHash, isConfirmed } = arrival;
      const blockNumber = isConfirmed ? 98n : 100n;
      return { deliveryId, commitment, to, token: paid, amount, txHash, blockNumber };
    },
    isDelivered: async () => false,
    getHead: async () => ({
      number: 100n,
      hash: toHex32(hashOf("head")),
      parentHash: toHex32(hashOf("before")),
    }),
    getBalance: async () => FAR_AWAY,
    getDailyCapLeft: async () => FAR_AWAY,
  });
  const readRate = async () => rate ?? RATE_SCALE;
  const wake = () => undefined;
  const pair = {
    srcChain: HERE,
    srcToken: token,
    destChain: THERE,
    destToken: NATIVE_TOKEN,
    decimalsIn,
    decimalsOut,
    contract,
    readRate: rate === undefined ? null : readRate,
    fromInventory: true,
  };
  const chains = new Map([
    [HERE, source],
    [THERE, destination],
  ]);
  const deliveries: DeliveryDeps = {
    db,
    chains,
    endingChains: chains,
    clock,
    random,
    log: silentLog,
    attestors: BELIEVED_ATTESTOR,
    lanes: new Map(
      [HERE, THERE].map((chainId) => [
        chainId,
        { deliver: [LANE], claims: { lanes: [LANE] }, returns: { lanes: [LANE] } },
      ]),
    ),
    deliveryConfirmations: new Map([[THERE, 3]]),
    early: new Map(),
    payoutWindowS: 3_600n,
    readAddress: (settlementId) => readAddressOf(db, settlementId),
    onChanged: async () => undefined,
    onDelivered: async () => undefined,
    onGivenBack: async () => undefined,
    wakeSettlements: wake,
    wakeAttestor: wake,
    wakeLanes: wake,
    pollMs: 500,
  };
  const notAsked = async () => {
    throw new Error("nothing but prices is signed");
  };

  return {
    open: () =>
      createSwiftRoute({
        db,
        clock,
        source,
        destination,
        token,
        decimalsIn,
        destToken: NATIVE_TOKEN,
        decimalsOut,
        contract,
        pricing:
          rate === undefined
            ? null
            : createPricing({
                db,
                clock,
                attestors: BELIEVED_ATTESTOR,
                source,
                token,
                contract,
                readRate,
                rateToleranceBps: 200,
                onRefusedRate: () => undefined,
                wakeAttestor: wake,
              }),
      }),

    receiptOf(sweep) {
      const { address, amount, wallet = address.wallet } = sweep;
      const swept = sweep.token ?? token;
      ({ commitmentHash: commitment } = address);
      const facts = {
        commitment,
        delivery: padAddress(CONTRACTS.delivery),
        token: swept,
        amount,
        minOut: leastOf(amount, address.commitment),
        seq: SEQ,
      };
      const { escrow } = CONTRACTS;
      const deliveryId = source.deliveryIdOf(facts);
      const lockedAt = BigInt(clock.now() / 1000);
      const locked: Effect = { kind: "locked", escrow, deliveryId, wallet, lockedAt, ...facts };
      return receiptOfSweep(sweep, { token, contract, block: 7n }, [locked]);
    },

    show: (shown) => void (arrival = shown),
    setAway: (away) => void (isAway = away),

    async work() {
      clock.advance(15_000);
      await createDeliveryPolls(deliveries, THERE).payouts();
      await createDeliveryPolls(deliveries, THERE).claims();
      await pollAttestationRequests({
        db,
        // Reading locks throws here, so it retries them and signs none.
        chains: deliveries.chains,
        signer: {
          address: LANE,
          signDelivery: notAsked,
          signClaim: notAsked,
          signReturn: notAsked,
          signRefund: notAsked,
          signPrice: async () => `0x${"51".repeat(65)}`,
        },
        clock,
        crashPoint: () => undefined,
        log: silentLog,
        metrics: unseenMetrics,
        rateToleranceBps: 200,
        threshold: 1,
        pairs: [pair],
        wakeSettler: wake,
      });
    },

    findSource: (receipt) => receipt,
  };
}

function swift(
  name: string,
  scale: Scale,
  facts: Pick<RouteUnderTest, "isPriced" | "routeData" | "leastByContract">,
): void {
  behavesLikeRoute(name, {
    kind: "SWIFT",
    // A payout from inventory cannot be undone, so the lock must be final.
    waitsForFinality: true,
    hasInventory: true,
    openBench: (db, pair) => openBench(db, pair, scale),
    ...facts,
  });
}

for (const [decimalsIn, decimalsOut] of [
  [6, 6],
  [18, 6],
] as const) {
  const scale = { decimalsIn, decimalsOut };
  swift(`SWIFT of one asset, ${decimalsIn} to ${decimalsOut} decimals`, scale, {
    isPriced: false,
    // The relayer has no choice.
    routeData: [],
    leastByContract: (amount, caps) => minOutOfSameAsset(amount, caps, scale),
  });
}

for (const [decimalsIn, decimalsOut, rate] of [
  [6, 18, 333_333_333_333_333n],
  [18, 6, 3_000n * RATE_SCALE],
] as const) {
  const scale = { decimalsIn, decimalsOut, rate };
  swift(`SWIFT of a priced pair, ${decimalsIn} to ${decimalsOut} decimals`, scale, {
    isPriced: true,
    routeData: [
      {
        type: "tuple",
        components: [
          { name: "rate", type: "uint256" },
          { name: "maxAmount", type: "uint256" },
          { name: "deadline", type: "uint256" },
        ],
      },
      { name: "signature", type: "bytes" },
      {
        type: "tuple",
        components: [
          { name: "min", type: "uint256" },
          { name: "max", type: "uint256" },
        ],
      },
    ],
    leastByContract: (amount, caps) => minOutOfPriced(amount, caps, rate, scale),
  });
}
