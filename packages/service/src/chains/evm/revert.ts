/** Distinguishes a revert from other node errors, and names it. */
import { decodeErrorResult, isHex } from "viem";
import { errorsAbi } from "@sluice/contracts/abi";
import type { NodeError } from "./rpc.ts";

/**
 * Returns the name of the contract's error, "reverted" for an unknown error, or null if the error is not a revert. Free text
 * is not passed on, because any token can write there.
 */
export function revertReasonOf(error: NodeError): string | null {
  const data = revertDataOf(error.data);
  if (data !== null) return nameOf(data);
  const aboutTheCall =
    error.code === 3 ||
    /\brevert|out ?of ?gas|OOG\b|gas required exceeds|invalid ?opcode|opcode ?not ?found|invalid ?jump|stack ?(under|over)flow/i.test(
      error.message,
    );
  return aboutTheCall ? "reverted" : null;
}

/** Returns whether the node reports that the sender cannot pay for the call. */
export function isLackOfFunds(error: NodeError): boolean {
  return /insufficient (funds|balance)|insufficientfunds|upfront cost exceeds|enough funds/i.test(
    error.message,
  );
}

/** Returns the revert data: nodes put it plain, after a word, or one level deeper. */
function revertDataOf(data: unknown): `0x${string}` | null {
  if (typeof data === "string") {
    const hex = data.replace(/^Reverted /, "");
    return isHex(hex) ? hex : null;
  }
  if (typeof data === "object" && data !== null && "data" in data) return revertDataOf(data.data);
  return null;
}

function nameOf(data: `0x${string}`): string {
  try {
    const name: string = decodeErrorResult({ abi: errorsAbi, data }).errorName;
    return name === "Error" || name === "Panic" ? "reverted" : name;
  } catch {
    // An error of a foreign contract, or no data.
    return "reverted";
  }
}
