/**
 * Calldata for the factory of the source chain that needs no operator, from an address's public commitment alone: the refund,
 * and where the commitment allows it, a settlement that anybody announces and executes 72 hours later.
 */
import { COMMITMENT_TYPE, encodeCall, encodeCommitment, encodeLastList } from "./calls.ts";
import { type CommitmentFields, encodeAddressWord, NO_ROUTE_SET } from "./commitment.ts";
import { AddressInputError, encodeUint, type Hex, parseBytes } from "./encoding.ts";
import { proofOfRoute, rootOfRoutes, type RouteLeaf } from "./route-set.ts";

/** A maximum above every balance. */
const REFUND_ALL = 2n ** 256n - 1n;

/** A deposit address and a token in it. */
export interface DepositOf {
  readonly commitment: CommitmentFields;
  /** The token on the source chain; zero is the native coin. */
  readonly token: string;
}

/** Returns the call of the refund authority that takes the balance back. */
export function encodeRefund({
  commitment,
  token,
  maxAmount = REFUND_ALL,
}: DepositOf & {
  /** The most to refund, in base units; the whole balance by default. */
  readonly maxAmount?: bigint | undefined;
}): Hex {
  return encodeCall(`refund(${COMMITMENT_TYPE},address,uint256)`, [
    ...encodeCommitment(commitment),
    encodeAddressWord("token", token),
    encodeUint("maxAmount", maxAmount, 256),
  ]);
}

/** Returns the call by which anybody announces a settlement without the operator. */
export function encodeAnnounceSettlement({ commitment, token }: DepositOf): Hex {
  return encodeCall(`announceSettlement(${COMMITMENT_TYPE},address)`, [
    ...encodeCommitment(commitment),
    encodeAddressWord("token", token),
  ]);
}

/** Returns the call by which anybody settles the address 72 hours after the announcement. */
export function encodeSettleUnattended({
  commitment,
  token,
  leaf,
  routeSet,
}: DepositOf & {
  /** The route, and the chain on which it is called. */
  readonly leaf: RouteLeaf;
  /** The routes behind `commitment.routes`; required if that is not zero. */
  readonly routeSet?: readonly RouteLeaf[] | undefined;
}): Hex {
  const head = [
    ...encodeCommitment(commitment),
    encodeAddressWord("token", token),
    encodeAddressWord("route", leaf.route),
  ];
  const proof = proofFor(commitment, leaf, routeSet).map((node) => parseBytes("proof", node, 32));
  return encodeCall(`settleUnattended(${COMMITMENT_TYPE},address,address,bytes32[])`, [
    ...head,
    ...encodeLastList(head.length, proof),
  ]);
}

function proofFor(
  { routes = NO_ROUTE_SET }: CommitmentFields,
  leaf: RouteLeaf,
  routeSet: readonly RouteLeaf[] | undefined,
): readonly Hex[] {
  if (routes === NO_ROUTE_SET) return [];
  if (routeSet === undefined || rootOfRoutes(routeSet) !== routes.toLowerCase()) {
    throw new AddressInputError("routeSet", `the routes behind ${routes}`, routeSet);
  }
  return proofOfRoute(routeSet, leaf);
}
