/**
 * The states of a bridge transfer, after its burn was seen on the source chain:
 *
 *   burned -> attested -> delivered -> final
 *     ^          |  ^         |
 *     +----------+  +---------+
 *      (expired)    (the mint's block was orphaned)
 *
 * `burned`: waits for the bridge attestation. `attested`: the message is relayed on the destination, by the service or by
 * anybody else; the reader looks for the mint. `delivered`: the mint was seen and is followed until it is final. `final`: the
 * mint is final. Every state may become `superseded`: the burn was orphaned, and one with another message replaced it, or
 * the sweep reverted in the end. After a restart every state checks the chain first.
 */
export const BRIDGE_TRANSFER_STATES = [
  "burned",
  "attested",
  "delivered",
  "final",
  "superseded",
] as const;
export type BridgeTransferState = (typeof BRIDGE_TRANSFER_STATES)[number];

/** States with work left. */
export const OPEN_STATES = ["burned", "attested", "delivered"] as const;

const ALLOWED: Readonly<Record<BridgeTransferState, readonly BridgeTransferState[]>> = {
  burned: ["attested", "superseded"],
  attested: ["delivered", "burned", "superseded"],
  delivered: ["final", "attested", "superseded"],
  final: ["superseded"],
  superseded: [],
};

/** Returns whether a transfer may move from one state to another. */
export function mayMove(from: BridgeTransferState, to: BridgeTransferState): boolean {
  return ALLOWED[from].includes(to);
}
