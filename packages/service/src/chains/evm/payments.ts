/** Simulates payments that contracts of the routes will make, before value is locked or burned for them. */
import { erc20Abi, parseAbi } from "viem";
import { encodeFunctionData } from "./abi.ts";
import { type Address, type EvmAddress, type Hex, isNative, toEvmAddress } from "../../core/hex.ts";
import type { CctpContracts, Payment, PaymentOutcome } from "../port/index.ts";
import { parseBytes, parseUintWord } from "./answers.ts";
import { findInView, toQuantity } from "./calls.ts";
import { isLackOfFunds, revertReasonOf } from "./revert.ts";
import type { Rpc } from "./rpc.ts";

/** Gas that `Delivery` gives a recipient of native coin, with the stipend of a call with value, and the cost of a transaction. */
const NATIVE_GAS = 100_000n + 2_300n + 21_000n;
const TOKEN_GAS = 2_000_000n;

/** An account that takes every payment: nobody has its key, and it has no code. */
const ANYBODY = toEvmAddress("0x000000000000000000000000000000000000dEaD");

const bridgeAbi = parseAbi([
  "function localMinter() view returns (address)",
  "function mint(address to, uint256 amount)",
]);

interface Payers {
  readonly delivery: EvmAddress;
  readonly cctp: CctpContracts | undefined;
}

/**
 * Returns the simulation of payments. A payment that fails counts as refused only if the same payment to another account
 * would succeed: a payer without the funds, or a paused token, is not the recipient's doing.
 */
export function createPaymentSimulation(
  rpc: Rpc,
  payers: Payers,
): (payment: Payment) => Promise<PaymentOutcome> {
  return async ({ payer, token, to, amount }) => {
    const from = payer === "delivery" ? payers.delivery : await findMinter(rpc, payers);
    if (from === null) return "accepted";
    const pay = (recipient: EvmAddress) =>
      succeeds(rpc, buildPayment({ payer, token, from, to: recipient, amount }));
    if (await pay(toEvmAddress(to))) return "accepted";
    return (await pay(ANYBODY)) ? "refused" : "accepted";
  };
}

/** Returns the account that mints the bridge's token; null on a chain without the bridge. */
async function findMinter(rpc: Rpc, { cctp }: Payers): Promise<EvmAddress | null> {
  if (!cctp) return null;
  const data = encodeFunctionData({ abi: bridgeAbi, functionName: "localMinter" });
  const view = { to: cctp.messenger, data, at: "latest" } as const;
  // The sandbox's messenger is its own minter.
  const minter = await findInView(rpc, view, parseUintWord);
  return minter === null
    ? cctp.messenger
    : toEvmAddress(`0x${minter.toString(16).padStart(40, "0")}`);
}

interface Request {
  readonly from: EvmAddress;
  readonly to: EvmAddress;
  readonly data: Hex;
  readonly value: Hex;
  readonly gas: Hex;
}

function buildPayment({
  payer,
  token,
  from,
  to,
  amount,
}: {
  readonly payer: Payment["payer"];
  readonly token: Address;
  readonly from: EvmAddress;
  readonly to: EvmAddress;
  readonly amount: bigint;
}): Request {
  if (isNative(token)) {
    return { from, to, data: "0x", value: toQuantity(amount), gas: toQuantity(NATIVE_GAS) };
  }
  const args = [to, amount] as const;
  const data =
    payer === "delivery"
      ? encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args })
      : encodeFunctionData({ abi: bridgeAbi, functionName: "mint", args });
  return { from, to: toEvmAddress(token), data, value: "0x0", gas: toQuantity(TOKEN_GAS) };
}

/** Returns whether a call succeeds. A token may return nothing, or true. Throws RPC_UNAVAILABLE without an answer about it. */
async function succeeds(rpc: Rpc, request: Request): Promise<boolean> {
  const answer = await rpc.call("eth_call", [request, "latest"]);
  if (!answer.ok) {
    if (revertReasonOf(answer) !== null || isLackOfFunds(answer)) return false;
    throw rpc.refusal("eth_call", answer);
  }
  const returned = rpc.read("eth_call", answer.result, parseBytes);
  if (request.data === "0x" || returned === "0x") return true;
  return BigInt(returned) === 1n;
}
