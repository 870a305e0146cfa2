/** The routes over Circle's bridge, of USDC and of another token, against the suite of all routes. */
import { createEncodingChain } from "../../../test/support/encoding-chain.ts";
import { createStillClock, hashOf, LANE, silentLog } from "../../../test/support/doubles.ts";
import {
  type Arrival,
  behavesLikeRoute,
  receiptOfSweep,
  type RouteBench,
  type SuitePair,
} from "../../../test/support/route-suite.ts";
import { encodeBurnData, encodeSwapBurnData } from "../../chains/evm/route-data.ts";
import type { CctpBridge, Effect } from "../../chains/port/index.ts";
import type { Caps } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import { itemise } from "../../fees/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Pricing } from "../swift/pricing.ts";
import { SHARE_SCALE } from "./bridge-attestations.ts";
import { type BurnMessage, encodeBurnMessage, FINALITY, ZERO_WORD } from "./message.ts";
import { createTransfersPoll, type RelayDeps } from "./relay.ts";
import { createFastMctpRoute } from "./route.ts";
import { createSwapMctpRoute } from "./swap.ts";

const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC_THERE = addressOf("b0");
const HERE = { domain: 0, messenger: addressOf("31"), transmitter: addressOf("71") };
const THERE = { domain: 6, messenger: addressOf("32"), transmitter: addressOf("72") };
/** Shares of the burned amount: 1.3 basis points for fast, 0.5 for standard. */
const FEES = { fast: (13n * SHARE_SCALE) / 100_000n, standard: SHARE_SCALE / 20_000n };
const ALLOWANCE = 10n ** 15n;

/** The pool swap of another token before its burn. */
const USDC_HERE = addressOf("a9");
const WETH = addressOf("ee");
const RATE = 3_000n * 10n ** 18n;
const fairOf = (amountIn: bigint) => (amountIn * RATE * 10n ** 6n) / 10n ** 36n;
/** `UniswapSwap.minOut`, of 18 decimals in and 6 out. */
function minOutOfSwap(amountIn: bigint, { maxSlippageBps }: Pick<Caps, "maxSlippageBps">): bigint {
  if (maxSlippageBps >= 10_000) return 0n;
  return fairOf(amountIn) - (fairOf(amountIn) * BigInt(maxSlippageBps)) / 10_000n;
}
/** Returns the output of the pool swap, which is at the price in every bench. */
const maxFeeOf = (amountIn: bigint, bridge: bigint) => (bridge * fairOf(amountIn)) / amountIn;

/** With `swaps`, the bench deposits a token that a pool exchanges first. */
function openBench(db: Db, { token, contract }: SuitePair, swaps: boolean): RouteBench {
  const clock = createStillClock();
  let arrival: Arrival | null = null;
  let isAway = false;
  let sent: BurnMessage | null = null;
  const nonce = toHex32(hashOf(systemRandom.uuid()));
  const answer = async <Answer>(give: () => Answer): Promise<Answer> => {
    if (isAway) throw new OperatingError("RPC_UNAVAILABLE", "There was no answer.");
    return give();
  };
  const bridgeOf = (contracts: CctpBridge["contracts"]): CctpBridge => ({
    contracts,
    buildReceive: (message) => ({ to: contracts.transmitter, data: message, value: 0n }),
    encodeBurnData,
    encodeSwapBurnData,
    readBurnLimit: async () => 10n ** 30n,
    readContractHeight: () => Promise.reject(new Error("only the relay reads it")),
    findMint: (_, at) =>
      answer(() => {
        if (!arrival || at === "final") return null;
        const { to, token: minted, amount, txHash, isConfirmed } = arrival;
        const blockNumber = isConfirmed ? 98n : 100n;
        return { to, token: minted, amount, fee: 0n, txHash, blockNumber };
      }),
  });
  const source = createEncodingChain(2, {
    cctp: bridgeOf(HERE),
    // A pool of unlimited depth, at the price.
    quoteSwap: async ({ amountIn }) => fairOf(amountIn),
    readSwapLimits: async () => ({ least: 0n, capLeft: 2n ** 112n }),
  });
  const destination = createEncodingChain(30, {
    cctp: bridgeOf(THERE),
    getHead: async () => ({
      number: 100n,
      hash: toHex32(hashOf("head")),
      parentHash: toHex32(hashOf("before")),
    }),
    simulate: async () => ({ ok: true, gas: 100_000n }),
  });
  const attestations = {
    getMessages: () =>
      answer(() => {
        if (!sent) return [];
        const finalityThresholdExecuted = FINALITY.FAST;
        const message = encodeBurnMessage({ ...sent, nonce, finalityThresholdExecuted });
        return [{ attested: { message, attestation: "0x51" as const }, delayReason: null }];
      }),
    reattest: async () => undefined,
    getFees: () => answer(() => FEES),
    getFastAllowance: () => answer(() => ALLOWANCE),
  };
  const relay: RelayDeps = {
    db,
    chains: new Map([
      [2, source],
      [30, destination],
    ]),
    clock,
    random: systemRandom,
    log: silentLog,
    attestations,
    lanes: new Map([[30, [LANE]]]),
    deliveryConfirmations: new Map([[30, 3]]),
    onChanged: async () => undefined,
    onDelivered: async () => undefined,
    wakeSettlements: () => undefined,
    wakeLanes: () => undefined,
    pollMs: 500,
  };

  const pricing: Pricing = {
    readRate: async () => RATE,
    rateToleranceBps: 200,
    attestPrice: async (_, amount) => ({
      price: { rate: RATE, maxAmount: amount, deadline: BigInt(clock.now() / 1000) + 100n },
      signature: `0x${"51".repeat(65)}`,
      bounds: { min: RATE, max: RATE },
    }),
    findRateAt: async (_, { route }) => (route === contract ? RATE : null),
  };
  const bridge = {
    db,
    clock,
    random: systemRandom,
    source,
    destination,
    token,
    destToken: USDC_THERE,
    contract,
    attestations,
  };

  return {
    open: () =>
      swaps
        ? createSwapMctpRoute({
            ...bridge,
            quoter: addressOf("90"),
            weth: WETH,
            decimalsIn: 18,
            tokenOut: USDC_HERE,
            decimalsOut: 6,
            poolFee: 500,
            maxImpactBps: 100,
            slippageBps: 50,
            pricing,
          })
        : createFastMctpRoute({ ...bridge, decimals: 6 }),

    receiptOf(sweep) {
      const { address, amount, fee, wallet = address.wallet } = sweep;
      const { commitment } = address;
      const { service, gas } = itemise(amount, fee, commitment.maxFeeBps);
      const charged = service + gas;
      const amountIn = amount - charged;
      const burnedAmount = swaps ? fairOf(amountIn) : amountIn;
      const maxFee = swaps ? maxFeeOf(amountIn, fee.bridge) : fee.bridge;
      const swept = sweep.token ?? token;
      const burnToken = swaps ? USDC_HERE : swept;
      sent = {
        version: 1,
        sourceDomain: HERE.domain,
        destinationDomain: THERE.domain,
        nonce: ZERO_WORD,
        sender: padAddress(HERE.messenger),
        recipient: padAddress(THERE.messenger),
        destinationCaller: ZERO_WORD,
        minFinalityThreshold: FINALITY.FAST,
        finalityThresholdExecuted: 0,
        bodyVersion: 1,
        burnToken: padAddress(burnToken),
        mintRecipient: commitment.destWallet,
        amount: burnedAmount,
        messageSender: padAddress(contract),
        maxFee,
        feeExecuted: 0n,
        expirationBlock: 0n,
        hookData: padAddress(wallet),
      };
      const swapped: Effect = {
        kind: "swapped",
        wallet,
        to: contract,
        tokenIn: swept,
        tokenOut: USDC_HERE,
        amountIn,
        amountOut: burnedAmount,
        fee: charged,
      };
      const burned: Effect = {
        kind: "burned",
        wallet,
        token: burnToken,
        amount: burnedAmount,
        fee: swaps ? 0n : charged,
        maxFee,
        destDomain: THERE.domain,
        recipient: commitment.destWallet,
      };
      return receiptOfSweep(sweep, { token, contract, block: 7n }, [
        ...(swaps ? [swapped] : []),
        { kind: "message_sent", message: encodeBurnMessage(sent) },
        burned,
      ]);
    },

    show: (shown) => void (arrival = shown),
    setAway: (away) => void (isAway = away),
    async work() {
      clock.advance(60_000);
      await createTransfersPoll(relay, 30)();
    },
    findSource: (receipt) => receipt,
  };
}

/** Returns the least that `RouteFeeLib.cap` leaves of an amount. */
function leastLeft(amount: bigint, { maxFeeBps }: Pick<Caps, "maxFeeBps">): bigint {
  const cap = (amount * BigInt(maxFeeBps)) / 10_000n;
  return amount - (cap < amount - 1n ? cap : amount - 1n);
}

/** Returns the bridge's standard fee with a margin of a fifth, both rounded up. */
function slowestFeeOf(amount: bigint): bigint {
  const minimum = (amount * FEES.standard + SHARE_SCALE - 1n) / SHARE_SCALE;
  return (minimum * 12_000n + 9_999n) / 10_000n;
}

behavesLikeRoute("FAST_MCTP", {
  kind: "FAST_MCTP",
  // Circle waits for the finality it was paid for and mints its own USDC: no inventory is at risk.
  waitsForFinality: false,
  isPriced: false,
  hasInventory: false,
  routeData: [
    {
      type: "tuple",
      components: [
        { name: "bps", type: "uint16" },
        { name: "flat", type: "uint256" },
      ],
    },
    { name: "maxFee", type: "uint256" },
    { name: "minFinalityThreshold", type: "uint32" },
  ],

  // CctpRoute counts the bridge's maximum fee together with its own fee, up to RouteFeeLib.cap.
  leastByContract: leastLeft,
  slowestFeeOf,
  openBench: (db, pair) => openBench(db, pair, false),
});

behavesLikeRoute("FAST_MCTP of another token", {
  kind: "FAST_MCTP",
  waitsForFinality: false,
  isPriced: true,
  hasInventory: false,
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
        { name: "bps", type: "uint16" },
        { name: "flat", type: "uint256" },
      ],
    },
    { name: "minOut", type: "uint256" },
    { name: "deadline", type: "uint256" },
    { name: "maxFee", type: "uint256" },
    { name: "minFinalityThreshold", type: "uint32" },
  ],

  // The amount after the full cap, at the price less the full slippage, less one unit for rounding.
  leastByContract(amount, caps) {
    const least = minOutOfSwap(leastLeft(amount, caps), caps);
    return least > 0n ? least - 1n : 0n;
  },
  // SwapCctpRoute burns the pool's output, of which the bridge can keep up to `maxFee`.
  leastOfSweep({ address, amount, fee }) {
    const { service, gas } = itemise(amount, fee, address.commitment.maxFeeBps);
    const amountIn = amount - service - gas;
    return fairOf(amountIn) - maxFeeOf(amountIn, fee.bridge);
  },
  slowestFeeOf(amount) {
    const fair = fairOf(amount);
    return fair === 0n ? 0n : (slowestFeeOf(fair) * amount + fair - 1n) / fair;
  },
  openBench: (db, pair) => openBench(db, pair, true),
});
