/**
 * `sluice rescue`: the calls that move a deposit without the operator. It reads a file with the address's public commitment,
 * and no configuration, database or node.
 */
import { readFileSync } from "node:fs";
import {
  AddressInputError,
  encodeAnnounceSettlement,
  encodeAnnounceTakeBack,
  encodeCancelTakeBack,
  encodeRefund,
  encodeSettleUnattended,
  encodeTakeBack,
  type LockFields,
  UNATTENDED,
  verifyDepositAddress,
} from "@sluice/sdk/address";
import { PayDepositCommitment } from "@sluice/sdk/wire";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { unpadAddress, toHex32 } from "../core/hex.ts";
import type { Call, Result } from "./command.ts";
import { UsageError } from "./failure.ts";

/** A line of `addresses export` and an answer of `GET /deposit-addresses/{id}`; the rest of them is not needed. */
const AddressFile = Type.Object({
  walletAddress: Type.String(),
  payDepositCommitment: PayDepositCommitment,
});

/** One transaction of a rescue. */
export interface RescueCall {
  readonly name: string;
  /** The only valid sender; null for anybody. */
  readonly from: string | null;
  readonly to: string;
  readonly data: string;
  readonly when: string;
}

interface Input {
  readonly file: string;
  readonly token: string;
  /** Base units of a refund; the whole balance if undefined. */
  readonly amount: bigint | undefined;
  readonly route: string | undefined;
  readonly evmChainId: number | undefined;
  readonly escrow: string | undefined;
  readonly lock: string | undefined;
}

/** Prints the calls of a rescue. */
export async function run(_call: Call, input: Input): Promise<Result> {
  const { address, calls } = planRescue(readFileSync(input.file, "utf8"), input);
  return { json: { address, calls }, text: formatRescue(address, calls) };
}

/** Returns the calls that the given facts allow. @throws UsageError for a file that is not of one EVM address. */
export function planRescue(
  text: string,
  input: Omit<Input, "file">,
): { readonly address: string; readonly calls: readonly RescueCall[] } {
  const { walletAddress, payDepositCommitment: commitment } = parseFile(text);
  try {
    const { factory } = commitment;
    // The address must be the file's own, or the calls would act on another one.
    const verified = verifyDepositAddress({ address: walletAddress, commitment, factory });
    if (verified.kind !== "ok") {
      throw new UsageError(
        `The file is not of one address: ${verified.field} is ${verified.actual}, expected ${verified.expected}.`,
      );
    }
    return {
      address: verified.address,
      calls: [...listFactoryCalls(commitment, input), ...listEscrowCalls(commitment, input)],
    };
  } catch (error) {
    if (error instanceof AddressInputError) throw new UsageError(error.message);
    throw error;
  }
}

function parseFile(text: string) {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new UsageError("file: expected JSON, such as one line of `sluice addresses export`.");
  }
  if (!Value.Check(AddressFile, json)) {
    throw new UsageError(
      "file: expected walletAddress and payDepositCommitment, as one line of `sluice addresses export` has them.",
    );
  }
  if (json.payDepositCommitment.binding !== undefined) {
    throw new UsageError(
      "file: expected an EVM address; on Solana only the signer moves deposits.",
    );
  }
  return json;
}

function authorityOf({ refundAuthority }: PayDepositCommitment): string {
  return unpadAddress(toHex32(refundAuthority), "evm");
}

function listFactoryCalls(
  commitment: PayDepositCommitment,
  { token, amount, route, evmChainId }: Omit<Input, "file">,
): readonly RescueCall[] {
  const { factory: to, routeSet } = commitment;
  const of = { commitment, token };
  const refund = {
    name: "refund",
    from: authorityOf(commitment),
    to,
    data: encodeRefund({ ...of, maxAmount: amount }),
    when: amount === undefined ? "at any time" : `at any time; at most ${amount} base units`,
  };
  if (commitment.flags !== UNATTENDED) return [refund];
  const announce = {
    name: "announce the settlement",
    from: null,
    to,
    data: encodeAnnounceSettlement(of),
    when: "while the address holds the token",
  };
  const settlements = listRoutes(routeSet, { route, evmChainId }).map((leaf) => ({
    name: routeSet ? `settle on EVM chain ${leaf.evmChainId} through ${leaf.route}` : "settle",
    from: null,
    to,
    data: encodeSettleUnattended({ ...of, leaf, routeSet }),
    when: "72 hours after the announcement and within 14 days from then, unless settled or refunded since",
  }));
  return [refund, announce, ...settlements];
}

/**
 * Returns the routes to try. The commitment itself names them if they are fixed; which of them takes the token, only the
 * contracts say: they refuse the others. An address that leaves its routes to the owner names none.
 */
function listRoutes(
  routeSet: PayDepositCommitment["routeSet"],
  { route, evmChainId }: Pick<Input, "route" | "evmChainId">,
) {
  if (routeSet === undefined) {
    return route === undefined ? [] : [{ evmChainId: evmChainId ?? 0, route }];
  }
  if (route === undefined) {
    const found = routeSet.filter((leaf) => (evmChainId ?? leaf.evmChainId) === leaf.evmChainId);
    if (found.length > 0) return found;
    throw new UsageError("--evm-chain-id: expected a chain of the address's set of routes.");
  }
  if (evmChainId !== undefined) return [{ evmChainId, route }];
  throw new UsageError("--evm-chain-id: expected, since the address commits its routes by chain.");
}

function listEscrowCalls(
  commitment: PayDepositCommitment,
  { token, escrow, lock }: Omit<Input, "file">,
): readonly RescueCall[] {
  if (escrow === undefined) return [];
  const of = { commitment, token };
  const sent = { from: authorityOf(commitment), to: escrow };
  const announce = {
    ...sent,
    name: "announce the take-back",
    data: encodeAnnounceTakeBack(of),
    when: "at any time",
  };
  const cancel = {
    ...sent,
    name: "cancel the take-back",
    data: encodeCancelTakeBack(of),
    when: "while it is announced",
  };
  if (lock === undefined) return [announce, cancel];
  const takeBack = {
    ...sent,
    name: "take the lock back",
    data: encodeTakeBack({ commitment, lock: parseLock(lock, { commitment, token }) }),
    when: "72 hours after the lock and 24 hours after the announcement",
  };
  return [announce, takeBack, cancel];
}

/** Reads the fields of the event `Locked` that the commitment does not have. */
function parseLock(
  text: string,
  { commitment, token }: { readonly commitment: PayDepositCommitment; readonly token: string },
): LockFields {
  const [, delivery, ...numbers] = /^(0x[0-9a-fA-F]{64}),(\d+),(\d+),(\d+)$/.exec(text) ?? [];
  const [amount, minOut, seq] = numbers.map(BigInt);
  if (delivery === undefined || amount === undefined || minOut === undefined || seq === undefined) {
    throw new UsageError(
      "--lock: expected delivery,amount,minOut,seq, as the event `Locked` has them.",
    );
  }
  return { commitment: commitment.commitment, delivery, token, amount, minOut, seq };
}

/** Formats the calls for people. */
export function formatRescue(address: string, calls: readonly RescueCall[]): string {
  return [
    `Calls for the deposit address ${address}, each with value 0:`,
    ...calls.flatMap(({ name, from, to, data, when }) => [
      "",
      `${name}: ${when}`,
      `  from   ${from ?? "anybody"}`,
      `  to     ${to}`,
      `  data   ${data}`,
    ]),
  ].join("\n");
}
