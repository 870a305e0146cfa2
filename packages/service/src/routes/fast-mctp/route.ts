import { proveRoute } from "../../addresses/index.ts";
import { assert } from "../../core/assert.ts";
import type { Address } from "../../core/hex.ts";
import { type FeeTerms, type GasStep, itemise, leastAfterFees } from "../../fees/index.ts";
import type { Route } from "../port.ts";
import { WITHOUT_INVENTORY } from "../without-inventory.ts";
import { type BurnsOptions, bridgeOf, createBurns, MINT_GAS } from "./burns.ts";
import { assertBurnable, chooseSpeed, etaOf, FAST_SECONDS, maxFeeOf } from "./terms.ts";

/**
 * Gas of burn and mint. Higher than on the sandbox: Circle's contracts and its token are behind proxies and count burned and
 * minted amounts.
 */
export const BRIDGE_GAS: readonly GasStep[] = [{ on: "source", gas: 230_000n }, MINT_GAS];

/**
 * `FAST_MCTP`: burns USDC on the source chain; Circle's CCTP v2 mints it to the committed wallet on the destination. It uses
 * no inventory and carries no risk for the operator, because the burn names its recipient. The worker in `relay.ts` follows
 * the destination leg.
 */
export function createFastMctpRoute(
  options: BurnsOptions & {
    readonly token: Address;
    readonly destToken: Address;
    /** Of both tokens: the bridge mints one base unit per burned unit. */
    readonly decimals: number;
  },
): Route {
  const { source, destination, token, destToken, decimals, contract } = options;
  const cctp = bridgeOf(source);
  const burns = createBurns(options, { deposited: token, burned: token, minted: destToken });

  /** Returns the amount that a sweep burns, and the terms of the burn. */
  async function planBurn(amount: bigint, fee: FeeTerms, maxFeeBps: number) {
    const { service, gas, bridge: maxFee } = itemise(amount, fee, maxFeeBps);
    const burned = amount - service - gas;
    return { burned, maxFee, ...chooseSpeed(burned, maxFee, await burns.readTerms()) };
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
    payer: "bridge",
    isPriced: false,
    gasSteps: BRIDGE_GAS,

    readBridgeFee: async (amount, room) => maxFeeOf(amount, room, await burns.readTerms()),

    async quote(amount, { maxFeeBps }, fee) {
      const { burned, expectedFee, minFinalityThreshold } = await planBurn(amount, fee, maxFeeBps);
      return {
        fair: amount,
        amountOut: burned - expectedFee,
        minOut: leastAfterFees(amount, maxFeeBps),
        etaSeconds: etaOf(minFinalityThreshold),
      };
    },

    async prepareSweep(address, amount, fee, { asOf } = {}) {
      const { commitment } = address;
      const { burned, maxFee, minFinalityThreshold } = await planBurn(
        amount,
        fee,
        commitment.maxFeeBps,
      );
      assertBurnable(burned, await burns.readLimit());
      const { bps, flat } = fee;
      const routeData = cctp.encodeBurnData({
        fee: { bps, flat },
        maxFee,
        minFinalityThreshold,
      });
      const proof = proveRoute(address, { chainId: source.chainId, contract });
      const settled = { commitment, token, route: contract, routeData, proof, amount, asOf };
      return source.buildSettle(settled);
    },

    // The bridge mints, so no inventory is reserved.
    ...WITHOUT_INVENTORY,

    // Before fees: a little less than could be swept.
    readCapacity: () => burns.readLimit(),

    async readSweep(receipt, address) {
      const burn = burns.read(receipt, address);
      if (!burn) return null;
      const { burned } = burn;
      const { amount, logIndex } = burn.settled;
      assert(
        amount === burned.amount + burned.fee,
        "the burn and its fee add up to the swept amount",
      );
      const minOut = leastAfterFees(amount, address.commitment.maxFeeBps);
      return { amount, minOut, logIndex, deliveryId: null };
    },

    async recordSweep(tx, { settlementId, address, sweep: { minOut }, receipt }) {
      const burn = burns.read(receipt, address);
      assert(burn, "a sweep through the bridge burns");
      const { fee } = burn.burned;
      const recorded = { settlementId, address, receipt, burn, minOut, fee, swapped: null };
      await burns.record(tx, recorded);
    },

    checkDelivery: ({ settlementId }) => burns.checkMint(settlementId),
  };
}
