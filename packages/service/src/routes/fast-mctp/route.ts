import type { BurnFacts, CctpBridge, Chain, Effect, Receipt } from "../../chains/port.ts";
import { assert } from "../../core/assert.ts";
import { fromErrorObject } from "../../core/errors.ts";
import { type Address, type Hex, padAddress } from "../../core/hex.ts";
import type { Clock, Random } from "../../core/ports.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type { Db } from "../../db/schema.ts";
import { type FeeTerms, itemise, leastAfterFees } from "../../fees/index.ts";
import type { Route } from "../port.ts";
import { WITHOUT_INVENTORY } from "../without-inventory.ts";
import type { Attestations } from "./attestations.ts";
import {
  type BurnMessage,
  FINALITY,
  listDifferences,
  parseBurnMessage,
  ZERO_WORD,
} from "./message.ts";
import * as store from "./store.ts";
import { type BridgeTerms, chooseSpeed, maxFeeOf } from "./terms.ts";

/** Circle's own figures: seconds after the burn, and about a quarter of an hour where a source has to be final first. */
const FAST_SECONDS = 60;
const STANDARD_SECONDS = 1_200;

/** For how long fees and allowance are taken as they were. */
const TERMS_AGE_MAX_MS = 15_000;

/**
 * `FAST_MCTP`: USDC is burned on the source chain, and Circle's CCTP v2 mints it to the committed wallet on the
 * destination. No inventory, and nothing at our own risk: the burn names its recipient. The destination leg is followed
 * by the worker in `relay.ts`.
 */
export function createFastMctpRoute(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly source: Chain;
  readonly destination: Chain;
  readonly token: Address;
  readonly destToken: Address;
  /** Of both tokens: the bridge mints as many base units as it burned. */
  readonly decimals: number;
  readonly contract: Address;
  readonly attestations: Attestations;
}): Route {
  const { db, clock, random, source, destination, token, destToken, decimals } = options;
  const { contract, attestations } = options;
  const from = bridgeOf(source).contracts;
  const to = bridgeOf(destination).contracts;
  const readOnce = keepFor(TERMS_AGE_MAX_MS, clock, () => readBridge(attestations, from, to));

  /** What a sweep burns, and how that goes. */
  async function planBurn(amount: bigint, fee: FeeTerms, maxFeeBps: number) {
    const { service, gas, bridge: maxFee } = itemise(amount, fee, maxFeeBps);
    const burned = amount - service - gas;
    return { burned, maxFee, ...chooseSpeed(burned, maxFee, await readOnce()) };
  }

  /** The burn of a wallet in a receipt; null where the receipt does not show all of it. */
  function readBurn(receipt: Receipt, { wallet }: DepositAddress) {
    const settled = receipt.effects.find(
      (effect): effect is Effect & { kind: "settled" } =>
        effect.kind === "settled" &&
        effect.wallet === wallet &&
        effect.token === token &&
        effect.route === contract,
    );
    const burned = receipt.effects.find(
      (effect): effect is Effect & { kind: "burned" } =>
        effect.kind === "burned" && effect.wallet === wallet && effect.token === token,
    );
    if (!settled || !burned) return null;
    const sent = findMessage(receipt, burned);
    return sent ? { settled, burned, ...sent } : null;
  }

  /** What the message of a burn must say, whoever asked for the burn. */
  function expectedOf(address: DepositAddress, burned: BurnFacts): Partial<BurnMessage> {
    return {
      sourceDomain: from.domain,
      destinationDomain: to.domain,
      sender: padAddress(from.messenger),
      recipient: padAddress(to.messenger),
      // Anybody may hand it in.
      destinationCaller: ZERO_WORD,
      burnToken: padAddress(token),
      mintRecipient: address.commitment.destWallet,
      amount: burned.amount,
      messageSender: padAddress(address.wallet),
      maxFee: burned.maxFee,
      hookData: "0x",
    };
  }

  return {
    kind: "FAST_MCTP",
    pair: {
      srcChain: source.chainId,
      srcToken: token,
      destChain: destination.chainId,
      destToken,
    },
    contract,
    decimalsIn: decimals,
    decimalsOut: decimals,
    etaSeconds: FAST_SECONDS,
    waitsForFinality: false,
    deliversBySweep: false,
    isPriced: false,

    readBridgeFee: async (amount, room) => maxFeeOf(amount, room, await readOnce()),

    async quote(amount, { maxFeeBps }, fee) {
      const { burned, expectedFee, minFinalityThreshold } = await planBurn(amount, fee, maxFeeBps);
      const isFast = minFinalityThreshold < FINALITY.STANDARD;
      return {
        fair: amount,
        amountOut: burned - expectedFee,
        minOut: leastAfterFees(amount, maxFeeBps),
        etaSeconds: isFast ? FAST_SECONDS : STANDARD_SECONDS,
      };
    },

    async prepareSweep({ commitment }, amount, fee) {
      const { maxFee, minFinalityThreshold } = await planBurn(amount, fee, commitment.maxFeeBps);
      const { bps, flat } = fee;
      const routeData = source.encodeBurnData({ fee: { bps, flat }, maxFee, minFinalityThreshold });
      return source.buildSettle({ commitment, token, route: contract, routeData, amount });
    },

    // The bridge mints: there is nothing to set aside.
    ...WITHOUT_INVENTORY,

    async readSweep(receipt, address) {
      const burn = readBurn(receipt, address);
      if (!burn) return null;
      const { settled, burned, message } = burn;
      const unlike = listDifferences(message, expectedOf(address, burned));
      assert(unlike.length === 0, `the burn is that of the commitment (${unlike.join(", ")})`);
      assert(settled.amount === burned.amount + burned.fee, "what left the wallet was burned");
      return {
        amount: settled.amount,
        minOut: leastAfterFees(settled.amount, address.commitment.maxFeeBps),
        logIndex: settled.logIndex,
        deliveryId: null,
      };
    },

    async recordSweep(tx, { settlementId, address, sweep, receipt }) {
      const burn = readBurn(receipt, address);
      assert(burn, "a sweep by the bridge burns");
      await store.recordBurn(
        tx,
        { random, nowMs: clock.now() },
        {
          settlementId,
          srcChain: source.chainId,
          txHash: receipt.txHash,
          block: receipt.blockNumber,
          wallet: address.wallet,
          token,
          fee: burn.burned.fee,
          amount: burn.burned.amount,
          message: burn.bytes,
          minOut: sweep.minOut,
          destChain: destination.chainId,
          destToken,
          destWallet: address.destWallet,
        },
      );
    },

    async lookForDelivery({ settlementId }) {
      const transfer = await store.findOfSettlement(db, settlementId);
      assert(transfer !== null, "a recorded burn has its transfer");
      const { mint, state, trouble } = transfer;
      if (mint && (state === "delivered" || state === "final")) {
        return { kind: "delivered", txHash: mint.txHash, amount: mint.amount };
      }
      return trouble ? { kind: "troubled", error: fromErrorObject(trouble) } : { kind: "waiting" };
    },
  };
}

/** The message that a burn sent: the one of this wallet and amount, of those that the transaction sent. */
function findMessage(
  receipt: Receipt,
  { wallet, amount }: BurnFacts,
): { readonly bytes: Hex; readonly message: BurnMessage } | null {
  for (const effect of receipt.effects) {
    if (effect.kind !== "message_sent") continue;
    const message = parseOther(effect.message);
    if (message?.messageSender === padAddress(wallet) && message.amount === amount) {
      return { bytes: effect.message, message };
    }
  }
  return null;
}

/** Others of the same transaction may send messages that are no burns. */
function parseOther(bytes: Hex): BurnMessage | null {
  try {
    return parseBurnMessage(bytes);
  } catch {
    return null;
  }
}

async function readBridge(
  attestations: Attestations,
  from: { readonly domain: number },
  to: { readonly domain: number },
): Promise<BridgeTerms> {
  const fees = await attestations.getFees(from.domain, to.domain);
  // Where fast is not offered nothing is asked about it.
  const allowance = fees.fast === null ? 0n : await attestations.getFastAllowance();
  return { fees, allowance };
}

/** The same answer for a while; a failure is forgotten at once. */
function keepFor<T>(ageMaxMs: number, clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly atMs: number; readonly value: Promise<T> } | undefined;
  return () => {
    const nowMs = clock.now();
    if (kept && nowMs - kept.atMs < ageMaxMs) return kept.value;
    const value = read();
    const reading = { atMs: nowMs, value };
    kept = reading;
    value.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return value;
  };
}

function bridgeOf(chain: Chain): CctpBridge {
  assert(chain.cctp !== null, "the configuration names the bridge on both chains of a route");
  return chain.cctp;
}
