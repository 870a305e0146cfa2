/** The transfer on one chain, held to what every route has to hold. */
import { createEncodingChain } from "../../../test/support/encoding-chain.ts";
import { hashOf } from "../../../test/support/doubles.ts";
import { type Arrival, behavesLikeRoute } from "../../../test/support/route-suite.ts";
import type { Effect } from "../../chains/port.ts";
import { OperatingError } from "../../core/errors.ts";
import { toHex32 } from "../../core/hex.ts";
import { createMonoChainRoute } from "./route.ts";

const SWEPT_BLOCK = 7n;

behavesLikeRoute("MONO_CHAIN", {
  kind: "MONO_CHAIN",
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
  ],

  // TransferRoute sends the amount less what RouteFeeLib.cap lets it charge at most.
  leastByContract(amount, { maxFeeBps }) {
    const cap = (amount * BigInt(maxFeeBps)) / 10_000n;
    return amount - (cap < amount - 1n ? cap : amount - 1n);
  },

  openBench(_db, { token, contract }) {
    let arrival: Arrival | null = null;
    let isAway = false;
    const chain = createEncodingChain(2, {
      async getHead() {
        if (isAway) throw new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
        const number = arrival?.isConfirmed ? SWEPT_BLOCK + 2n : SWEPT_BLOCK;
        return { number, hash: toHex32(hashOf("head")), parentHash: toHex32(hashOf("before")) };
      },
    });
    return {
      open: () =>
        createMonoChainRoute({ chain, token, decimals: 6, contract, deliveryConfirmations: 3 }),
      receiptOf(sweep) {
        const { address, amount, wallet = address.wallet } = sweep;
        const settled: Effect = {
          kind: "settled",
          wallet,
          token: sweep.token ?? token,
          route: sweep.contract ?? contract,
          amount,
          logIndex: 4,
        };
        return {
          txHash: hashOf("sweep"),
          blockHash: toHex32(hashOf("block")),
          blockNumber: SWEPT_BLOCK,
          succeeded: true,
          gasCost: 0n,
          effects: [settled],
        };
      },
      show: (shown) => void (arrival = shown),
      setAway: (away) => void (isAway = away),
      work: async () => undefined,
      // The sweep itself delivers.
      findSource(receipt) {
        if (!arrival) return null;
        const [settled] = receipt.effects;
        if (settled?.kind !== "settled") throw new Error("the receipt shows the sweep");
        const { wallet, amount } = settled;
        const { to, token: arrived, amount: paid } = arrival;
        const transferred: Effect = {
          kind: "transferred",
          wallet,
          token: arrived,
          to,
          amount: paid,
          fee: amount - paid,
        };
        return { ...receipt, effects: [transferred, settled] };
      },
    };
  },
});
