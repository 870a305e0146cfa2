/**
 * Signers of the fake chains: an account is its own key, and a signature contains the signed content. The signer of Solana
 * checks orders like the real one, but does not remember how long its signatures are valid: here the lane alone must
 * prevent a second signature of an order.
 */
import type { Fees, Payout } from "../../src/chains/port/index.ts";
import type { LanePurpose, RouteConfig } from "../../src/config/index.ts";
import { assertNever } from "../../src/core/assert.ts";
import { OperatingError } from "../../src/core/errors.ts";
import {
  type Address,
  type EvmAddress,
  type Hex,
  type Hex32,
  padAddress,
  toAddress,
} from "../../src/core/hex.ts";
import type { Order } from "../../src/chains/solana/orders.ts";
import type {
  AttestedMessage,
  AttestorSet,
  AttestorSigner,
  LaneSigner,
  CountedPayout,
} from "../../src/signers/port.ts";
import { decode, deliveryIdOfPayout, hashCommitment } from "../fake-chain/codec.ts";
import {
  type Action,
  attestation,
  fieldsOfRefund,
  type FakeContracts,
  isAttested,
} from "../fake-chain/contracts.ts";
import { hashOf, toRaw } from "../fake-chain/model.ts";
import { lockIdOf } from "../fake-chain/slots.ts";
import type { AttestorPlan } from "./attestors.ts";
import {
  createEarlyMemory,
  type EarlyBounds,
  type EarlyMemory,
} from "../../src/signers/early-memory.ts";
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

/** Returns the contract that verifies a message, and the fields that are signed. */
function describeMessage(message: AttestedMessage, { factory, escrow, delivery }: FakeContracts) {
  switch (message.kind) {
    case "delivery": {
      const { order } = message;
      const fields = [deliveryIdOfPayout(delivery, order), order.amount, order.windowStart];
      return { contract: delivery, fields };
    }
    case "claim": {
      const { deliveryId, paidAmount, deadline } = message.order;
      return { contract: escrow, fields: ["claim", deliveryId, paidAmount, deadline] };
    }
    case "return": {
      const { deliveryId, deadline } = message.order;
      return { contract: escrow, fields: ["return", deliveryId, deadline] };
    }
    case "price": {
      const { wallet, token, route, rate, maxAmount, deadline } = message.order;
      return { contract: route, fields: ["price", wallet, token, rate, maxAmount, deadline] };
    }
    case "refund":
      return { contract: factory, fields: fieldsOfRefund(message.order) };
    default:
      return assertNever(message);
  }
}

/** Creates the attestors for the contracts of the given chains, and the settler's count of their signatures. */
export function createFakeAttestors(
  chains: ReadonlyMap<number, FakeContracts>,
  { threshold, accounts, silent }: Pick<AttestorPlan, "threshold" | "accounts" | "silent">,
  {
    boundsOf,
    nowMs,
    mark,
  }: {
    /** Returns the bounds of early payouts for locks of a chain. */
    readonly boundsOf: (srcChain: number) => EarlyBounds;
    readonly nowMs: () => number;
    readonly mark: (name: string) => void;
  },
): {
  signerOf(address: EvmAddress): AttestorSigner;
  readonly set: AttestorSet;
} {
  /** The memories of the attestors' signers, which survive the processes that use them. */
  const memories = new Map<EvmAddress, EarlyMemory>();
  const memoryOf = (address: EvmAddress): EarlyMemory => {
    const memory = memories.get(address) ?? createEarlyMemory();
    memories.set(address, memory);
    return memory;
  };
  const signed = new Map<EvmAddress, Set<Hex32>>();
  const signedBy = (address: EvmAddress): Set<Hex32> => {
    const ids = signed.get(address) ?? new Set();
    signed.set(address, ids);
    return ids;
  };
  /** By attestor and destination. */
  const readTo = new Map<string, bigint>();
  const contractsOf = (chainId: number): FakeContracts => {
    const contracts = chains.get(chainId);
    if (!contracts) throw new Error(`chain ${chainId} is not simulated`);
    return contracts;
  };
  const toCounted = (
    destChain: number,
    order: Payout,
    { worth, nowMs: signedAtMs }: { readonly worth: bigint; readonly nowMs: number },
  ): CountedPayout => {
    const contracts = contractsOf(destChain);
    const { srcChain, escrow, srcToken: token, lockedAmount: amount, minOut, seq } = order;
    return {
      deliveryId: deliveryIdOfPayout(contracts.delivery, order),
      srcChain,
      destChain,
      escrow,
      lock: {
        commitment: hashCommitment(order.commitment),
        delivery: padAddress(contracts.delivery),
        token,
        amount,
        minOut,
        seq,
      },
      worth,
      deadline: order.windowStart + contracts.payoutWindowS,
      signedAtMs,
    };
  };
  const sign = (address: EvmAddress, message: AttestedMessage): Hex => {
    const { chainId } = message;
    const contracts = contractsOf(chainId);
    const { contract, fields } = describeMessage(message, contracts);
    return attestation(address, contract, chainId, ...fields);
  };
  return {
    set: {
      threshold,
      accounts,
      recover: (message, signature) =>
        accounts.find((address) => sign(address, message) === signature) ?? null,
    },
    signerOf: (address) => ({
      address,
      early: {
        list: async () => memoryOf(address).list(boundsOf),
        cover: async (deliveryId) => void memoryOf(address).forget(deliveryId),
        listOthers: async (ids) =>
          ids.filter((id) => !signedBy(address).has(id) && !memoryOf(address).has(id)),
        async countOther(payout) {
          memoryOf(address).remember(payout);
          mark("counted a payout of other attestors");
        },
        getReadTo: async (destChain) => readTo.get(`${address} ${destChain}`) ?? null,
        recordReadTo: async (destChain, block) => void readTo.set(`${address} ${destChain}`, block),
      },
      async signDelivery(chainId, order, worth) {
        if (address === silent) {
          throw new OperatingError("RPC_UNAVAILABLE", "The signer does not answer.");
        }
        const { delivery } = contractsOf(chainId);
        signedBy(address).add(deliveryIdOfPayout(delivery, order));
        if (worth !== undefined) {
          const early = toCounted(chainId, order, { worth, nowMs: nowMs() });
          memoryOf(address).check(early, boundsOf);
          memoryOf(address).remember(early);
          mark("signed before the lock was final");
        }
        return sign(address, { kind: "delivery", chainId, order });
      },
      signClaim: async (chainId, order) => sign(address, { kind: "claim", chainId, order }),
      signReturn: async (chainId, order) => sign(address, { kind: "return", chainId, order }),
      signPrice: async (chainId, order) => sign(address, { kind: "price", chainId, order }),
      signRefund: async (chainId, order) => sign(address, { kind: "refund", chainId, order }),
    }),
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
  const { chainId, escrow, delivery } = contracts;
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
        const { commitment, token, amount, minOut, lockedAt } = order;
        const { destChain, destToken } = commitment;
        require(lockedAt * 1000n <= BigInt(Math.floor(nowMs())), "lock time in the future");
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
        require(minOut > 0n && minOut * BPS >= amount * kept, "lock below the minimum");
        return;
      }
      case "claim": {
        const { deliveryId, paidAmount, deadline, signature } = order;
        const fields = ["claim", deliveryId, paidAmount, deadline] as const;
        require(isAttested(contracts, escrow, signature, fields), "not signed by the attestors");
        requireInTime(deadline);
        return end(deliveryId, "claim");
      }
      case "return": {
        const { deadline, signature } = order;
        const deliveryId = lockIdOf(contracts, order);
        const fields = ["return", deliveryId, deadline] as const;
        require(isAttested(contracts, escrow, signature, fields), "not signed by the attestors");
        requireInTime(deadline);
        return end(deliveryId, "return");
      }
      case "deliver": {
        const { commitment, minOut, windowStart, amount } = order.order;
        const id = deliveryIdOfPayout(delivery, order.order);
        const fields = [id, amount, windowStart] as const;
        const isSigned = isAttested(contracts, delivery, order.signature, fields);
        require(isSigned, "not signed by the attestors");
        require(commitment.destChain === chainId &&
          amount > 0n &&
          amount >= minOut, "delivery to another chain, or of too little");
        requireInTime(windowStart + contracts.payoutWindowS);
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
