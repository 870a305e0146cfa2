/**
 * The life of a delivery from inventory, after its lock was seen on the source chain:
 *
 *   locked -> delivered -> claiming -> claimed
 *               |  ^           |
 *               v  +-----------+   (the claim failed and is planned anew)
 *             locked               (the delivery's block left the chain)
 *
 * `locked`: the attestor is asked for an order; the order is sent; our reader looks for the payment. `delivered`: the
 * payment was seen; once it is final the attestor is asked for the claim. `claiming`: the claim is sent. `claimed`: the
 * escrow has released the funds to the treasury, at a final block. Restart: every state looks at the chain first.
 */
export const DELIVERY_STATES = ["locked", "delivered", "claiming", "claimed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const ALLOWED: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  locked: ["delivered"],
  delivered: ["claiming", "locked"],
  claiming: ["claimed", "delivered", "locked"],
  claimed: [],
};

/** Whether a delivery may go from one state to another. */
export function mayMove(from: DeliveryState, to: DeliveryState): boolean {
  return ALLOWED[from].includes(to);
}
