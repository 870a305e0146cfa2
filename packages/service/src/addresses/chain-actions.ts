/**
 * Chains that an operator takes out of service, in two steps on record. A draining chain gets no new quotes or addresses,
 * from it or toward it, while its deposits are settled as before. A retired one is as if it were not configured.
 */
import type { Db } from "../db/schema.ts";
import { OperatingError } from "../core/errors.ts";

export type ChainState = "open" | "draining" | "retired";

interface ChainRecord {
  readonly chainId: number;
  readonly operator: string;
  readonly reason: string;
}

/** Returns the states of the chains that are not open. */
export async function readChainStates(
  db: Db,
): Promise<ReadonlyMap<number, Exclude<ChainState, "open">>> {
  const rows = await db
    .selectFrom("chain_actions")
    .distinctOn("chain_id")
    .select(["chain_id", "action"])
    .orderBy("chain_id")
    .orderBy("id", "desc")
    .execute();
  return new Map(
    rows.flatMap(({ chain_id: chainId, action }) => {
      if (action === "resume") return [];
      return [[chainId, action === "retire" ? "retired" : "draining"] as const];
    }),
  );
}

/** Returns the chains that are retired. */
export async function listRetiredChains(db: Db): Promise<ReadonlySet<number>> {
  const states = await readChainStates(db);
  return new Set([...states].flatMap(([chainId, state]) => (state === "retired" ? chainId : [])));
}

/** Starts or ends the draining of a chain. Returns false if it was so already. */
export async function setDraining(
  db: Db,
  draining: boolean,
  { chainId, operator, reason }: ChainRecord,
): Promise<boolean> {
  const state = (await readChainStates(db)).get(chainId) ?? "open";
  if (state === "retired") throw refusal(`Chain ${chainId} is retired.`);
  if ((state === "draining") === draining) return false;
  const action = draining ? "drain" : "resume";
  await db
    .insertInto("chain_actions")
    .values({ chain_id: chainId, action, operator, reason })
    .execute();
  return true;
}

/**
 * Retires a draining chain. Returns false if it is retired already.
 * @throws OperatingError VALIDATION_ERROR if it was not drained first.
 */
export async function retireChain(
  db: Db,
  { chainId, operator, reason }: ChainRecord,
): Promise<boolean> {
  const state = (await readChainStates(db)).get(chainId) ?? "open";
  if (state === "retired") return false;
  if (state === "open") throw refusal(`Chain ${chainId} is not draining: drain it first.`);
  await db
    .insertInto("chain_actions")
    .values({ chain_id: chainId, action: "retire", operator, reason })
    .execute();
  return true;
}

function refusal(message: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", message);
}
