/**
 * The states of a delivery from inventory, after its lock was seen on the source chain:
 *
 *   locked -> delivered -> claiming -> claimed
 *    |  ^       |  ^           |
 *    |  |       v  +-----------+   (the claim failed; another is planned)
 *    |  |     locked               (the payout's block was orphaned)
 *    |  |
 *    +--+--> returning -> returned (payout window passed: the escrow returns the lock to the deposit address)
 *    +-----> taken_back            (the refund authority took it, after 72 hours and its notice)
 *
 * `locked`: the attestor is asked to sign the payout; the payout is sent; the reader looks for it. `delivered`: the payout was
 * seen; once it is final the attestor is asked to sign the claim. `claiming`: the claim is sent. `claimed`: the escrow has
 * released the lock to the treasury at a final block. `returning`: the return is sent. `returned`, `taken_back`: the escrow
 * reports it at a final block. After a restart every state checks the chain first.
 */
export const DELIVERY_STATES = [
  "locked",
  "delivered",
  "claiming",
  "claimed",
  "returning",
  "returned",
  "taken_back",
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Terminal states. */
export const ENDED_STATES = ["claimed", "returned", "taken_back"] as const;

const ALLOWED: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  locked: ["delivered", "returning", "returned", "taken_back"],
  delivered: ["claiming", "locked"],
  claiming: ["claimed", "delivered", "locked"],
  claimed: [],
  returning: ["returned", "taken_back", "locked"],
  returned: [],
  taken_back: [],
};

/** Returns whether a delivery may move from one state to another. */
export function mayMove(from: DeliveryState, to: DeliveryState): boolean {
  return ALLOWED[from].includes(to);
}
