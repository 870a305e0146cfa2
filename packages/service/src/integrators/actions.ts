/** What people do by hand to keys and webhook endpoints, on record in the transaction of the change. */
import type { Db, Tx } from "../db/schema.ts";
import {
  type CreatedKey,
  createKey,
  type KeyDeps,
  type KeySettings,
  readOwner,
  revokeKey,
  rotateKey,
  setKey,
} from "./keys.ts";

/** A person, and why; commands may give no reason. */
export interface ByHand {
  readonly operator: string;
  readonly reason: string | null;
}

/** Records what somebody did to a key or an endpoint of an integrator. */
export async function recordIntegratorAction(
  tx: Tx,
  action: ByHand & {
    readonly integratorId: string;
    readonly action: string;
    /** The id of the key or the endpoint. */
    readonly subject: string;
    readonly detail?: string | undefined;
  },
): Promise<void> {
  const { integratorId, detail = null, ...rest } = action;
  await tx
    .insertInto("integrator_actions")
    .values({ ...rest, detail, integrator_id: integratorId })
    .execute();
}

/** `createKey`, on record. @throws OperatingError VALIDATION_ERROR naming the field. */
export async function createKeyByHand(
  deps: KeyDeps,
  args: Parameters<typeof createKey>[1],
  by: ByHand,
): Promise<CreatedKey> {
  return deps.db.transaction().execute(async (tx) => {
    const created = await createKey({ ...deps, db: tx }, args);
    await recordKeyAction(tx, "create key", created.keyId, by);
    return created;
  });
}

/** `rotateKey`, on record. @throws OperatingError VALIDATION_ERROR naming the field. */
export async function rotateKeyByHand(
  deps: KeyDeps,
  args: Parameters<typeof rotateKey>[1],
  by: ByHand,
): ReturnType<typeof rotateKey> {
  return deps.db.transaction().execute(async (tx) => {
    const rotated = await rotateKey({ ...deps, db: tx }, args);
    await recordKeyAction(tx, "rotate key", args.keyId, by, `successor ${rotated.keyId}`);
    return rotated;
  });
}

/** `setKey`, on record. @throws OperatingError VALIDATION_ERROR naming the field. */
export async function setKeyByHand(
  db: Db,
  args: KeySettings & { readonly keyId: string },
  by: ByHand,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await setKey(tx, args);
    await recordKeyAction(tx, "set key", args.keyId, by);
  });
}

/** `revokeKey`, on record. @throws OperatingError VALIDATION_ERROR naming the field. */
export async function revokeKeyByHand(
  db: Db,
  { keyId }: { readonly keyId: string },
  by: ByHand,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await revokeKey(tx, { keyId });
    await recordKeyAction(tx, "revoke key", keyId, by);
  });
}

async function recordKeyAction(
  tx: Tx,
  action: string,
  subject: string,
  by: ByHand,
  detail?: string,
): Promise<void> {
  const integratorId = await readOwner(tx, subject);
  await recordIntegratorAction(tx, { ...by, integratorId, action, subject, detail });
}
