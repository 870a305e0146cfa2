/**
 * Signers of the fake chains: an account is its own key, and a signature contains the signed content. The signer of Solana
 * checks orders like the real one, but does not remember how long its signatures are valid: here the lane alone must
 * prevent a second signature of an order.
 */
import type { Fees } from "../../src/chains/port/index.ts";
import type { LanePurpose, RouteConfig } from "../../src/config/index.ts";
import {
  type Address,
  type EvmAddress,
  type Hex32,
  padAddress,
  toAddress,
} from "../../src/core/hex.ts";
import type { Order } from "../../src/chains/solana/orders.ts";
import type { AttestorSigner, LaneSigner } from "../../src/signers/port.ts";
import { decode, deliveryIdOf, hashCommitment, predictWallet } from "../fake-chain/codec.ts";
import { type Action, attestation, type FakeContracts } from "../fake-chain/contracts.ts";
import { hashOf, toRaw } from "../fake-chain/model.ts";
import { lockIdOf } from "../fake-chain/slots.ts";
import { SignerRefusal } from "../../src/signers/refusal.ts";

/** Names fees as an Ethereum transaction does. */
function formatFees({ gasPriceMax, tipMax }: Fees) {
  return { maxFeePerGas: gasPriceMax, maxPriorityFeePerGas: tipMax };
}

export function createFakeLaneSigner(lane: {
  readonly chainId: number;
  readonly purpose: LanePurpose;
  readonly address: Address;
}): LaneSigner {
  return {
    ...lane,
    retired: false,
    async sign({ call, nonce, gas, fees }) {
      const action = decode<Action>(call.data);
      const raw = toRaw({ from: lane.address, nonce, action, gas, ...formatFees(fees) });
      return { raw, hash: hashOf(raw) };
    },
  };
}

/** Creates signers for the contracts of the given chains. */
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

const DAY_MS = 86_400_000;
const BPS = 10_000n;

/** Creates the signer of Solana, which checks each order before it signs. It keeps its state for the whole run. */
export function createFakeCustody(options: {
  readonly contracts: FakeContracts;
  /** The configured routes; some begin on Solana. */
  readonly pairs: readonly RouteConfig[];
  readonly deliveryOf: (chainId: number) => Address;
  /** Daily cap of every token, in base units. */
  readonly dailyCap: bigint;
  readonly nowMs: () => number;
}) {
  const { contracts, pairs, deliveryOf, dailyCap, nowMs } = options;
  const { chainId, attestor, escrow, delivery } = contracts;
  /** Orders by id: an order that is signed again pays once. */
  const delivered = new Map<Hex32, { readonly amount: bigint; readonly atMs: number }>();
  const endings = new Map<Hex32, "claim" | "return">();

  const require = (holds: boolean, what: string) => {
    if (!holds) throw new SignerRefusal(what);
  };
  const requireInTime = (deadline: bigint) =>
    require(deadline * 1000n >= BigInt(Math.floor(nowMs())), `signature expired at ${deadline}`);

  function checkOrder(order: Order, purpose: LanePurpose): void {
    const wanted = order.kind === "deliver" ? "deliver" : "settle";
    require(purpose === wanted, `${order.kind} order in a lane for ${purpose}`);
    switch (order.kind) {
      case "lock": {
        const { commitment, token, amount, minOut } = order;
        const { destChain, destToken } = commitment;
        const isPair = pairs.some(
          (pair) =>
            pair.kind === "SWIFT" &&
            pair.chainId === chainId &&
            pair.token === token &&
            pair.destChain === destChain &&
            padAddress(pair.destToken) === destToken,
        );
        require(isPair, "lock of a pair without a route");
        require(order.delivery === padAddress(deliveryOf(destChain)), "delivery contract differs");
        const kept = BPS - BigInt(commitment.maxFeeBps);
        require(minOut > 0n && minOut >= (amount * kept) / BPS, "lock below the minimum");
        return;
      }
      case "claim": {
        const { deliveryId, paidAmount, deadline, signature } = order;
        const fields = ["claim", deliveryId, paidAmount, deadline] as const;
        require(signature ===
          attestation(attestor, escrow, chainId, ...fields), "not signed by the attestor");
        requireInTime(deadline);
        return end(deliveryId, "claim");
      }
      case "return": {
        const { deadline, signature } = order;
        const deliveryId = lockIdOf(contracts, order);
        const fields = ["return", deliveryId, deadline] as const;
        require(signature ===
          attestation(attestor, escrow, chainId, ...fields), "not signed by the attestor");
        requireInTime(deadline);
        return end(deliveryId, "return");
      }
      case "deliver": {
        const { commitment, srcChain, escrow: source, srcToken, seq, amount } = order.order;
        const { deadline } = order.order;
        const wallet = predictWallet(commitment);
        const id = deliveryIdOf({ srcChain, escrow: source, wallet, token: srcToken, seq });
        const fields = [id, hashCommitment(commitment), amount, deadline] as const;
        const signed = attestation(attestor, delivery, chainId, ...fields);
        require(order.signature === signed, "not signed by the attestor");
        require(commitment.destChain === chainId &&
          amount > 0n, "delivery to another chain, or of nothing");
        requireInTime(deadline);
        delivered.set(id, { amount, atMs: nowMs() });
        const recent = [...delivered.values()].filter(({ atMs }) => atMs > nowMs() - DAY_MS);
        const sum = recent.reduce((total, one) => total + one.amount, 0n);
        if (sum > dailyCap) delivered.delete(id);
        return require(sum <= dailyCap, "above the daily cap");
      }
      case "transfer": {
        const { commitment, token, amount, fee } = order;
        const isHere = commitment.destChain === chainId;
        require(isHere &&
          toAddress(commitment.destToken) === token, "transfer to another chain or token");
        const cap = (amount * BigInt(commitment.maxFeeBps)) / BPS;
        return require(fee <= cap && fee < amount, "fee above the committed cap");
      }
      case "refund":
        return require(order.amount > 0n, "refund of zero");
    }
  }

  function end(deliveryId: Hex32, ending: "claim" | "return"): void {
    const before = endings.get(deliveryId) ?? ending;
    require(before === ending, `${ending} of a lock that has a ${before}`);
    endings.set(deliveryId, ending);
  }

  return {
    laneSignerOf(lane: {
      readonly chainId: number;
      readonly purpose: LanePurpose;
      readonly address: Address;
    }): LaneSigner {
      return {
        ...lane,
        retired: false,
        async sign({ call, gas, fees, lifetime }) {
          if (!lifetime) throw new SignerRefusal("transaction without a lifetime");
          const order = decode<Order>(call.data);
          checkOrder(order, lane.purpose);
          const action: Action = { kind: "order", order };
          const raw = toRaw({
            from: lane.address,
            nonce: 0,
            action,
            gas,
            ...formatFees(fees),
            lifetime,
          });
          return { raw, hash: hashOf(raw) };
        },
      };
    },
  };
}
