/** The way over Circle's bridge, held to what every route has to hold. */
import { createEncodingChain } from "../../../test/support/encoding-chain.ts";
import { createStillClock, hashOf, LANE, silentLog } from "../../../test/support/doubles.ts";
import {
  type Arrival,
  behavesLikeRoute,
  receiptOfSweep,
  type RouteBench,
  type SuitePair,
} from "../../../test/support/route-suite.ts";
import type { CctpBridge, Effect } from "../../chains/port.ts";
import { OperatingError } from "../../core/errors.ts";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import { itemise } from "../../fees/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import { SHARE_SCALE } from "./attestations.ts";
import { type BurnMessage, encodeBurnMessage, FINALITY, ZERO_WORD } from "./message.ts";
import { lookAtDueTransfers, type RelayDeps } from "./relay.ts";
import { createFastMctpRoute } from "./route.ts";

const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC_THERE = addressOf("b0");
const HERE = { domain: 0, messenger: addressOf("31"), transmitter: addressOf("71") };
const THERE = { domain: 6, messenger: addressOf("32"), transmitter: addressOf("72") };
/** Of what is burned: 1.3 basis points for the fast way, half a one for the slow way. */
const FEES = { fast: (13n * SHARE_SCALE) / 100_000n, standard: SHARE_SCALE / 20_000n };
const ALLOWANCE = 10n ** 15n;

function openBench(db: Db, { token, contract }: SuitePair): RouteBench {
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
    findMint: (_, at) =>
      answer(() => {
        if (!arrival || at === "final") return null;
        const { to, token: minted, amount, txHash, isConfirmed } = arrival;
        const blockNumber = isConfirmed ? 98n : 100n;
        return { to, token: minted, amount, fee: 0n, txHash, blockNumber };
      }),
  });
  const source = createEncodingChain(2, { cctp: bridgeOf(HERE) });
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
    wakeSettlements: () => undefined,
    wakeLanes: () => undefined,
    pollMs: 500,
  };

  return {
    open: () =>
      createFastMctpRoute({
        db,
        clock,
        random: systemRandom,
        source,
        destination,
        token,
        destToken: USDC_THERE,
        decimals: 6,
        contract,
        attestations,
      }),

    receiptOf(sweep) {
      const { address, amount, fee, wallet = address.wallet } = sweep;
      const { commitment } = address;
      const { service, gas } = itemise(amount, fee, commitment.maxFeeBps);
      const burnedAmount = amount - service - gas;
      const swept = sweep.token ?? token;
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
        burnToken: padAddress(swept),
        mintRecipient: commitment.destWallet,
        amount: burnedAmount,
        messageSender: padAddress(wallet),
        maxFee: fee.bridge,
        feeExecuted: 0n,
        expirationBlock: 0n,
        hookData: "0x",
      };
      const burned: Effect = {
        kind: "burned",
        wallet,
        token: swept,
        amount: burnedAmount,
        fee: service + gas,
        maxFee: fee.bridge,
        destDomain: THERE.domain,
        recipient: commitment.destWallet,
      };
      return receiptOfSweep(sweep, { token, contract, block: 7n }, [
        { kind: "message_sent", message: encodeBurnMessage(sent) },
        burned,
      ]);
    },

    show: (shown) => void (arrival = shown),
    setAway: (away) => void (isAway = away),
    async work() {
      clock.advance(60_000);
      await lookAtDueTransfers(relay, 30);
    },
    findSource: (receipt) => receipt,
  };
}

behavesLikeRoute("FAST_MCTP", {
  kind: "FAST_MCTP",
  // The bridge waits for the finality that it was paid for, and mints its own money: nothing leaves at our risk.
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

  // CctpRoute counts what the bridge may keep with its own fee, up to RouteFeeLib.cap.
  leastByContract(amount, { maxFeeBps }) {
    const cap = (amount * BigInt(maxFeeBps)) / 10_000n;
    return amount - (cap < amount - 1n ? cap : amount - 1n);
  },

  /** With the margin of a fifth, both rounded up. */
  slowestFeeOf(amount) {
    const minimum = (amount * FEES.standard + SHARE_SCALE - 1n) / SHARE_SCALE;
    return (minimum * 12_000n + 9_999n) / 10_000n;
  },

  openBench,
});
