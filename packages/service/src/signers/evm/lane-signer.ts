import { keccak256, serializeTransaction } from "viem";
import type { LanePurpose } from "../../config/index.ts";
import { assert } from "../../core/assert.ts";
import { toTxHash } from "../../core/hex.ts";
import type { LaneSigner } from "../port.ts";
import type { EvmKey } from "./key.ts";

/** Creates the signer of one lane on one EVM chain. It signs EIP-1559 transactions for that chain only. */
export function createEvmLaneSigner(options: {
  readonly key: EvmKey;
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 chain id, part of what is signed. */
  readonly evmChainId: number;
  readonly purpose: LanePurpose;
  /** Defaults to false. */
  readonly retired?: boolean;
}): LaneSigner {
  const { key, chainId, evmChainId, purpose, retired = false } = options;
  return {
    chainId,
    purpose,
    address: key.address,
    retired,

    async sign({ call, nonce, gas, fees }) {
      assert(Number.isSafeInteger(nonce) && nonce >= 0, "a nonce is a whole number from 0");
      const transaction = {
        type: "eip1559",
        chainId: evmChainId,
        nonce,
        gas,
        to: call.to,
        data: call.data,
        value: call.value,
        maxFeePerGas: fees.gasPriceMax,
        maxPriorityFeePerGas: fees.tipMax,
      } as const;
      const signature = await key.sign(keccak256(serializeTransaction(transaction)));
      const raw = serializeTransaction(transaction, signature);
      return { raw, hash: toTxHash(keccak256(raw)) };
    },
  };
}
