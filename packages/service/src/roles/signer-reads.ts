/** The reads by which the signers of lanes judge an order, with the readers of their own process. */
import type { Chains } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import type { Prices } from "../prices/index.ts";
import { createEarlyRules, findPayable, getChain, judgeRefundReason } from "../routes/index.ts";
import type { ReadLock } from "../signers/payout-policy.ts";
import { SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import type { CheckRefund } from "../signers/solana/lane-signer.ts";
import type { Log } from "../telemetry/log.ts";
import { createBelowMinimum } from "./settlement-deps.ts";

/** What a signer asks of the chains before it signs. */
export interface SignerReads {
  readonly readLock: ReadLock;
  readonly checkRefund: CheckRefund;
}

/** Creates the reads. The readers are asked for at each read: they may be created after the signers. */
export function createSignerReads(
  config: Config,
  getReaders: () => { readonly chains: Chains; readonly prices: Prices; readonly log: Log },
): SignerReads {
  const pairs = config.routes.map(({ chainId, token, destChain, destToken }) => {
    return { srcChain: chainId, srcToken: token, destChain, destToken };
  });
  return {
    async readLock(srcChain, facts, { hints, paid }) {
      const { chains, prices } = getReaders();
      const rules = createEarlyRules(config.chains, prices).get(srcChain);
      const source = getChain(chains, srcChain);
      const payable = await findPayable(source, facts, { hints, rules, paid });
      return payable?.lock ?? null;
    },
    async checkRefund({ chainId, amount: maxAmount, ...refund }) {
      const readers = getReaders();
      const chain = getChain(readers.chains, chainId);
      const isBelowMinimum = createBelowMinimum({ config, ...readers });
      const terms = { policies: config.refunds, isBelowMinimum };
      const verdict = await judgeRefundReason({ chain, pairs, terms }, { ...refund, maxAmount });
      if (verdict.kind === "wait") throw new SignerWaits("the refunded balance is not final yet");
      if (verdict.kind === "sign") return;
      throw new SignerRefusal(`refund as ${refund.reason}: ${verdict.reason}`);
    },
  };
}
