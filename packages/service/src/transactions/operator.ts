/**
 * Gives up the call of a nonce, or fills a nonce that no transaction has, at an operator's request. Both are recorded with
 * operator and reason; the lane signs and sends at its next poll. The key never leaves the signer, whose policy allows
 * exactly a transfer of nothing from the lane to itself.
 */
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import type { Db, Tx } from "../db/schema.ts";
import { adoptNonce, fillCall, FILL_GAS, getNextNonce, lockLane } from "./nonces.ts";
import { insertFill, recordCancelled } from "./store.ts";

/** A request about one nonce of a lane. */
export interface NonceRequest {
  readonly chainId: number;
  readonly lane: Address;
  readonly nonce: number;
  readonly operator: string;
  readonly reason: string;
}

/** The result of a request; `changed` is false if it was so already, and nothing was recorded then. */
export interface NonceResult {
  readonly intent: string;
  readonly changed: boolean;
}

/**
 * Gives up the unmined call of a nonce: from now on the lane signs a transfer of nothing for it, at higher fees. Either may be
 * mined. If the call loses, its owner sees it fail and plans again.
 * @throws OperatingError VALIDATION_ERROR if no unmined transaction has the nonce.
 */
export async function cancelNonce(db: Db, request: NonceRequest): Promise<NonceResult> {
  return db.transaction().execute(async (tx) => {
    await lockKnownLane(tx, request);
    const row = await getAtNonce(tx, request);
    if (!row) throw refusal(`No transaction has nonce ${request.nonce}: fill it instead.`);
    if (row.state !== "assigned") {
      throw refusal(`The transaction of nonce ${request.nonce} is ${row.state}, not waiting.`);
    }
    if (row.cancelled) return { intent: row.intent, changed: false };
    await recordCancelled(tx, row.id);
    await recordAction(tx, "cancel", request);
    return { intent: row.intent, changed: true };
  });
}

/**
 * Fills a nonce that no transaction of the database has with a transfer of nothing, so that the nonces behind it can be mined.
 * @throws OperatingError VALIDATION_ERROR if a transaction has the nonce, or it is above the lane's next one.
 */
export async function fillNonce(
  db: Db,
  random: Random,
  request: NonceRequest,
): Promise<NonceResult> {
  const lane = { chainId: request.chainId, address: request.lane };
  return db.transaction().execute(async (tx) => {
    const nextNonce = await lockKnownLane(tx, request);
    const row = await getAtNonce(tx, request);
    if (row?.intent.startsWith("fill:")) return { intent: row.intent, changed: false };
    if (row) {
      throw refusal(`Nonce ${request.nonce} belongs to ${row.intent}: cancel it instead.`);
    }
    if (request.nonce > nextNonce) {
      throw refusal(`Expected a nonce up to ${nextNonce}, the lane's next; got ${request.nonce}.`);
    }
    const id = random.uuid();
    await insertFill(tx, lane, { id, nonce: request.nonce, call: fillCall(lane), gas: FILL_GAS });
    await adoptNonce(tx, lane, request.nonce + 1);
    await recordAction(tx, "fill", request);
    return { intent: `fill:${id}:1`, changed: true };
  });
}

async function lockKnownLane(tx: Tx, { chainId, lane }: NonceRequest): Promise<number> {
  const found = await getNextNonce(tx, { chainId, address: lane });
  if (found !== null) return lockLane(tx, { chainId, address: lane });
  throw refusal(`No lane of chain ${chainId} has the account ${lane}.`);
}

async function getAtNonce(tx: Tx, { chainId, lane, nonce }: NonceRequest) {
  return tx
    .selectFrom("transactions")
    .select(["id", "intent", "state", "cancelled"])
    .where("chain_id", "=", chainId)
    .where("lane", "=", lane)
    .where("nonce", "=", nonce)
    .forUpdate()
    .executeTakeFirst();
}

async function recordAction(
  tx: Tx,
  action: "cancel" | "fill",
  { chainId, lane, nonce, operator, reason }: NonceRequest,
): Promise<void> {
  await tx
    .insertInto("lane_actions")
    .values({ chain_id: chainId, lane, nonce, action, operator, reason })
    .execute();
}

function refusal(message: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", message);
}
