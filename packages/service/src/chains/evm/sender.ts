/** Sends to an EVM chain through one node. */
import { keccak256 } from "viem";
import { OperatingError } from "../../core/errors.ts";
import { type EvmAddress, toEvmAddress } from "../../core/hex.ts";
import type {
  Call,
  ChainSender,
  GasHint,
  NonceSequencing,
  Receipt,
  Simulation,
} from "../port/index.ts";
import { parseIndex, parseQuantity, parseReceipt, parseTxHash } from "./answers.ts";
import { blockParameterOf, toQuantity } from "./calls.ts";
import { decodeEffects, type Emitters } from "./effects.ts";
import { suggestFees } from "./fees.ts";
import { getNativeBalance, getTaggedBlock } from "./reader.ts";
import { isLackOfFunds, revertReasonOf } from "./revert.ts";
import { type NodeAnswer, type NodeError, readAnswer, type Rpc } from "./rpc.ts";
import { classifyRefusal } from "./refusals.ts";
import { readCallSurcharge, readUsualSurcharge } from "./surcharge.ts";

/** Minimum margin on a gas estimate. Small calls vary by more than a quarter, for example on the first use of a storage slot. */
const GAS_MARGIN_MIN = 30_000n;
/** Difference that a call may have from the estimate of another that costs about as much: half of the least margin. */
const LIKE_SLACK = GAS_MARGIN_MIN / 2n;
/** Estimates are used for other calls for so long: on some rollups they contain the price of layer 1, which moves. */
const LIKE_MS = 60_000;
const LIKES_MAX = 1_000;

/** Returns the chain's sending over a node. All but `send` throw RPC_UNAVAILABLE without a usable answer. */
export function createSender(rpc: Rpc, emitters: Emitters): ChainSender {
  /** Receipts by their answer: the members of a batch ask for the same one, and share its answer. */
  const parsed = new WeakMap<object, Receipt>();
  const estimates = createEstimates();
  return {
    isOrderOver: async (deadline) => (await getTaggedBlock(rpc, "finalized")).timestamp > deadline,
    suggestFees: () => suggestFees(rpc),
    readSurcharge: () => readUsualSurcharge(rpc),
    simulate: (from, call, hint) =>
      simulate({ rpc, estimates }, { from: toEvmAddress(from), call, hint }),

    async send(raw) {
      let answer: NodeAnswer;
      try {
        answer = await rpc.call("eth_sendRawTransaction", [raw]);
      } catch (error) {
        // Without an answer the node may still have accepted the transaction.
        if (error instanceof OperatingError) return "unknown";
        throw error;
      }
      if (!answer.ok) return classifyRefusal(answer.message);
      return isHashOf(answer.result, raw) ? "accepted" : "unknown";
    },

    async getReceipt(txHash) {
      const method = "eth_getTransactionReceipt";
      return readAnswer(rpc, method, await rpc.share(method, [txHash]), (result) => {
        const known = typeof result === "object" && result !== null && parsed.get(result);
        if (known && known.txHash === txHash) return known;
        const receipt = parseReceipt(result);
        if (receipt === null) return null;
        const isOfTransaction = (part: { txHash: string; blockHash: string }) =>
          part.txHash === txHash && part.blockHash === receipt.blockHash;
        if (![receipt, ...receipt.logs].every(isOfTransaction)) {
          throw new TypeError("the receipt is of another transaction");
        }
        const { blockHash, blockNumber, succeeded, gasCost, logs } = receipt;
        const effects = succeeded ? decodeEffects(logs, emitters) : [];
        const parsedOnce = { txHash, blockHash, blockNumber, succeeded, gasCost, effects };
        if (typeof result === "object" && result !== null) parsed.set(result, parsedOnce);
        return parsedOnce;
      });
    },
  };
}

/** Transactions are mined in nonce order and never expire. */
export function createNonceSequencing(rpc: Rpc): NonceSequencing {
  return {
    kind: "nonce",
    getTransactionCount: (sender, at = "latest") =>
      rpc.ask("eth_getTransactionCount", [sender, blockParameterOf(at)], parseIndex),
  };
}

type Estimates = ReturnType<typeof createEstimates>;

/** Remembers estimates of calls for others that cost about as much. */
function createEstimates() {
  /** The oldest first. */
  const known = new Map<string, { readonly gas: bigint; readonly atMs: number }>();
  return {
    find(like: string): bigint | undefined {
      const found = known.get(like);
      return found && performance.now() - found.atMs < LIKE_MS ? found.gas : undefined;
    },
    put(like: string, gas: bigint): void {
      known.delete(like);
      known.set(like, { gas, atMs: performance.now() });
      const [oldest] = known.keys();
      if (known.size > LIKES_MAX && oldest !== undefined) known.delete(oldest);
    },
  };
}

/**
 * Simulates the call on the newest block. A call within a limit that is known costs the node one execution, and an estimate
 * ten. Throws INSUFFICIENT_BALANCE with reason "gas" if the sender cannot pay at the
 * suggested fees: nodes simulate a call of an empty account but refuse its transaction.
 */
async function simulate(
  { rpc, estimates }: { readonly rpc: Rpc; readonly estimates: Estimates },
  args: { readonly from: EvmAddress; readonly call: Call; readonly hint: GasHint | undefined },
): Promise<Simulation> {
  const { from, call, hint } = args;
  const { to, data, value } = call;
  const request = { from, to, data, value: toQuantity(value) };
  const known = await findLimit();
  if (known !== null) return pay(known);
  const estimated = await rpc.call("eth_estimateGas", [request]);
  if (!estimated.ok) {
    // Some nodes tell only by a call why it reverts.
    const called = await rpc.call("eth_call", [request, "latest"]);
    if (!called.ok) return readFailure(rpc, "eth_call", called);
    return readFailure(rpc, "eth_estimateGas", estimated);
  }
  const estimate = rpc.read("eth_estimateGas", estimated.result, parseQuantity);
  if (hint && "like" in hint) estimates.put(hint.like, estimate);
  return pay(withMargin(estimate));

  /** Returns the limit of a hint if the call succeeds within it, and otherwise null. */
  async function findLimit(): Promise<bigint | null> {
    if (!hint) return null;
    const isGiven = "gas" in hint;
    const expected = isGiven ? hint.gas : estimates.find(hint.like);
    if (expected === undefined) return null;
    const most = isGiven ? expected : expected + LIKE_SLACK;
    const called = await rpc.call("eth_call", [{ ...request, gas: toQuantity(most) }, "latest"]);
    if (!called.ok) return null;
    return isGiven ? expected : withMargin(expected);
  }

  /** Checks that the sender can pay for the call. */
  async function pay(gas: bigint): Promise<Simulation> {
    const [balance, fees, surcharge] = await Promise.all([
      getNativeBalance(rpc, from),
      suggestFees(rpc),
      readCallSurcharge(rpc, { data, gas }),
    ]);
    if (balance < value + gas * fees.gasPriceMax + surcharge) throw lackOfGas(rpc);
    return { ok: true, gas };
  }
}

function readFailure(rpc: Rpc, method: string, error: NodeError): Simulation {
  if (isLackOfFunds(error) && error.data === undefined) throw lackOfGas(rpc);
  const reason = revertReasonOf(error);
  if (reason !== null) return { ok: false, reason };
  throw rpc.refusal(method, error);
}

function lackOfGas(rpc: Rpc): OperatingError {
  return new OperatingError(
    "INSUFFICIENT_BALANCE",
    "The balance of the sender does not cover the gas.",
    {
      details: { reason: "gas", chainId: rpc.chainId },
    },
  );
}

/** Adds a quarter, because state may change before the transaction is mined. */
function withMargin(estimate: bigint): bigint {
  const quarter = estimate / 4n;
  return estimate + (quarter > GAS_MARGIN_MIN ? quarter : GAS_MARGIN_MIN);
}

function isHashOf(result: unknown, raw: `0x${string}`): boolean {
  try {
    return parseTxHash(result) === keccak256(raw);
  } catch {
    // Not a hash: the transaction may still have been accepted.
    return false;
  }
}
