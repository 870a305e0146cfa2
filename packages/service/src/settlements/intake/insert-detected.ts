/** Inserts the deposits of a set, with their events. */
import { keepAllFresh, listNotes } from "../../addresses/index.ts";
import type { Tx } from "../../db/schema.ts";
import { insertDeposits } from "../../deposits/index.ts";
import { appendEvents } from "../../events/index.ts";
import { RECHECK_MS } from "../../jobs/delays.ts";
import type { IntakeDeps } from "../deps.ts";
import { detected, type Recorded } from "./accept.ts";

/** Inserts deposits, all of one chain, and their events. Assumes the locks of the holdings. */
export async function insertDetected(
  tx: Tx,
  deps: IntakeDeps,
  found: readonly Pick<Recorded, "arrived" | "address" | "outcome">[],
): Promise<void> {
  const [first] = found;
  if (!first) return;
  const nowMs = deps.clock.now();
  const ids = await insertDeposits(
    tx,
    deps.random,
    found.map(({ arrived, address, outcome }) => ({
      arrived,
      owner: { addressId: address.id, integratorId: address.integratorId },
      outcome,
    })),
    { nowMs, recheckAtMs: nowMs + RECHECK_MS },
  );
  const addresses = [...new Map(found.map(({ address }) => [address.wallet, address])).values()];
  await keepAllFresh(tx, first.arrived.chainId, addresses, "paid");
  const notes = await listNotes(
    tx,
    addresses.map(({ id }) => id),
  );
  await appendEvents(
    tx,
    deps.random,
    found.map((one, place) =>
      detected(deps, { ...one, ids: ids[place] ?? [], notes: notes.get(one.address.id) }),
    ),
  );
}
