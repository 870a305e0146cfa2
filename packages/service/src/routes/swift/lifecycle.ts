/**
 * The life of a delivery from inventory, after its lock was seen on the source chain:
 *
 *   locked -> delivered -> claiming -> claimed
 *    |  ^       |  ^           |
 *    |  |       v  +-----------+   (the claim failed and is planned anew)
 *    |  |     locked               (the delivery's block left the chain)
 *    |  |
 *    +--+--> returning -> returned (too late to be paid: the escrow gives it back to the deposit address)
 *    +-----> taken_back            (the refund authority took it, 72 hours after the lock)
 *
 * `locked`: the attestor is asked for an order; the order is sent; our reader looks for the payment. `delivered`: the
 * payment was seen; once it is final the attestor is asked for the claim. `claiming`: the claim is sent. `claimed`: the
 * escrow has released the funds to the treasury, at a final block. `returning`: the return is sent. `returned`,
 * `taken_back`: the escrow says so at a final block. Restart: every state looks at the chain first.
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

/** States that are never left. */
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

/** Whether a delivery may go from one state to another. */
export function mayMove(from: DeliveryState, to: DeliveryState): boolean {
  return ALLOWED[from].includes(to);
}
