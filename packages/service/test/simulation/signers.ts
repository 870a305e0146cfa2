/** Keys of the fake chain: an account is its own key, and a signature says what was signed. */
import type { LanePurpose } from "../../src/config/load.ts";
import type { EvmAddress } from "../../src/core/hex.ts";
import type { AttestorSigner, LaneSigner } from "../../src/signers/port.ts";
import {
  decode,
  deliveryIdOf,
  hashCommitment,
  predictWallet,
} from "../../src/chains/fake/codec.ts";
import { type Action, attestation, type FakeContracts } from "../../src/chains/fake/contracts.ts";
import { hashOf, toRaw } from "../../src/chains/fake/model.ts";

export function createFakeLaneSigner(lane: {
  readonly chainId: number;
  readonly purpose: LanePurpose;
  readonly address: EvmAddress;
}): LaneSigner {
  return {
    ...lane,
    retired: false,
    async sign({ call, nonce, gas, fees }) {
      const action = decode<Action>(call.data);
      const raw = toRaw({ from: lane.address, nonce, action, gas, ...fees });
      return { raw, hash: hashOf(raw) };
    },
  };
}

/** Signs towards the contracts of the given chains. */
export function createFakeAttestorSigner(
  address: EvmAddress,
  chains: ReadonlyMap<number, FakeContracts>,
): AttestorSigner {
  const contractsOf = (chainId: number) => {
    const contracts = chains.get(chainId);
    if (!contracts) throw new Error(`chain ${chainId} is not simulated`);
    return contracts;
  };
  return {
    address,
    async signDelivery(destChain, order) {
      const { delivery } = contractsOf(destChain);
      const { commitment, srcChain, escrow, srcToken, seq, amount, deadline } = order;
      const wallet = predictWallet(commitment);
      const deliveryId = deliveryIdOf({ srcChain, escrow, wallet, token: srcToken, seq });
      return attestation(
        address,
        delivery,
        destChain,
        deliveryId,
        hashCommitment(commitment),
        amount,
        deadline,
      );
    },
    async signClaim(srcChain, { deliveryId, paidAmount, deadline }) {
      const { escrow } = contractsOf(srcChain);
      return attestation(address, escrow, srcChain, "claim", deliveryId, paidAmount, deadline);
    },
    async signReturn(srcChain, { deliveryId, deadline }) {
      const { escrow } = contractsOf(srcChain);
      return attestation(address, escrow, srcChain, "return", deliveryId, deadline);
    },
    async signPrice(srcChain, { wallet, token, route, rate, maxAmount, deadline }) {
      const fields = ["price", wallet, token, rate, maxAmount, deadline] as const;
      return attestation(address, route, srcChain, ...fields);
    },
  };
}
