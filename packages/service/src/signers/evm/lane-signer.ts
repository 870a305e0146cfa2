import { keccak256 } from "viem";
import { assert } from "../../core/assert.ts";
import { toEvmAddress, toTxHash } from "../../core/hex.ts";
import type { Secret } from "../../core/secret.ts";
import type { LaneSigner } from "../port.ts";
import { accountOf } from "./account.ts";

/**
 * A sender account on one EVM chain. Signs EIP-1559 transactions for that chain and no other. The key stays in the
 * closure. Throws CONFIG_MISSING when the key is malformed.
 */
export function createEvmLaneSigner(options: {
  readonly key: Secret;
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 chain id, part of what is signed. */
  readonly evmChainId: number;
}): LaneSigner {
  const { key, chainId, evmChainId } = options;
  const account = accountOf(key, `a lane of chain ${chainId}`);
  return {
    chainId,
    address: toEvmAddress(account.address),

    async sign({ call, nonce, gas, fees }) {
      assert(Number.isSafeInteger(nonce) && nonce >= 0, "a nonce is a whole number from 0");
      const raw = await account.signTransaction({
        type: "eip1559",
        chainId: evmChainId,
        nonce,
        gas,
        to: call.to,
        data: call.data,
        value: call.value,
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      });
      return { raw, hash: toTxHash(keccak256(raw)) };
    },
  };
}
