/**
 * The life of a transfer by the bridge, after its burn was seen on the source chain:
 *
 *   burned -> attested -> delivered -> final
 *     ^          |  ^         |
 *     +----------+  +---------+
 *     (it ran out)  (the mint's block left the chain)
 *
 * `burned`: the attestation service is asked for the message. `attested`: the message is handed in on the destination,
 * by us or by anybody; our reader looks for the mint. `delivered`: the mint was seen, and is followed until it is final.
 * `final`: for good. From every state it may become `superseded`: the burn left its chain, and another one, of another
 * message, took its place. Restart: every state looks at the chain first.
 */
export const BRIDGE_TRANSFER_STATES = [
  "burned",
  "attested",
  "delivered",
  "final",
  "superseded",
] as const;
export type BridgeTransferState = (typeof BRIDGE_TRANSFER_STATES)[number];

/** States in which there is something to do. */
export const OPEN_STATES = ["burned", "attested", "delivered"] as const;

const ALLOWED: Readonly<Record<BridgeTransferState, readonly BridgeTransferState[]>> = {
  burned: ["attested", "superseded"],
  attested: ["delivered", "burned", "superseded"],
  delivered: ["final", "attested", "superseded"],
  final: ["superseded"],
  superseded: [],
};

/** Whether a transfer may go from one state to another. */
export function mayMove(from: BridgeTransferState, to: BridgeTransferState): boolean {
  return ALLOWED[from].includes(to);
}
