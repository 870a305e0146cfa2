/** Finds what a viewer pasted: an id, an address, a user or a transaction. */
import type {
  Deposit,
  DepositAddress,
  DepositAddressPage,
  DepositPage,
  SwapPage,
} from "@sluice/sdk/wire";
import { type Api, Refusal } from "./api.ts";
import type { Place } from "./place.ts";

/** What a text can be. */
export type Kind = "id" | "account" | "transaction" | "user";

const FORMS: readonly (readonly [Kind, RegExp])[] = [
  ["id", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ["transaction", /^0x[0-9a-f]{64}$/i],
  ["transaction", /^[1-9A-HJ-NP-Za-km-z]{80,90}$/],
  ["account", /^0x[0-9a-f]{40}$/i],
  ["account", /^[1-9A-HJ-NP-Za-km-z]{32,44}$/],
  ["user", /^0x[0-9a-f]{1,39}$/i],
];

/** Returns what a text can be by its form; null for a text that names nothing. */
export function kindOf(text: string): Kind | null {
  return FORMS.find(([, form]) => form.test(text))?.[0] ?? null;
}

const settlement = (id: string): Place => ({ view: "settlement", filters: { id } });

/** Returns the place of what a text names; null if nothing of this key has that name. @throws Refusal. */
export async function find(api: Api, text: string): Promise<Place | null> {
  switch (kindOf(text)) {
    case "id":
      return findId(api, text);
    case "account":
      return findAccount(api, text);
    case "user":
      return { view: "settlements", filters: { userId: text } };
    case "transaction":
      return findTransaction(api, text);
    case null:
      return null;
  }
}

async function findId(api: Api, id: string): Promise<Place | null> {
  if (await exists(api.read(`swaps/${id}`))) return settlement(id);
  const deposit = await exists(api.read<Deposit>(`deposits/${id}`));
  if (deposit) return placeOf(deposit);
  const address = await exists(api.read<DepositAddress>(`deposit-addresses/${id}`));
  return address && { view: "settlements", filters: { walletAddress: address.walletAddress } };
}

/** An account is a deposit address, or else may be a user. */
async function findAccount(api: Api, account: string): Promise<Place> {
  const own = { walletAddress: account };
  const { items } = await api.read<DepositAddressPage>("deposit-addresses", { ...own, limit: "1" });
  const filters = items.length > 0 || !account.startsWith("0x") ? own : { userId: account };
  return { view: "settlements", filters };
}

async function findTransaction(api: Api, txHash: string): Promise<Place | null> {
  const swaps = await api.read<SwapPage>("swaps", { txHash, limit: "2" });
  const [swap] = swaps.items;
  if (swap) {
    return swaps.items.length === 1
      ? settlement(swap.id)
      : { view: "settlements", filters: { txHash } };
  }
  const deposits = await api.read<DepositPage>("deposits", { txHash, limit: "2" });
  const [deposit] = deposits.items;
  if (!deposit) return null;
  return deposits.items.length === 1 ? placeOf(deposit) : { view: "deposits", filters: { txHash } };
}

function placeOf({ queueItemId, walletAddress }: Deposit): Place {
  return queueItemId === null
    ? { view: "deposits", filters: { walletAddress } }
    : settlement(queueItemId);
}

/** Returns an answer; null if there is no such object of this key. */
async function exists<Body>(asked: Promise<Body>): Promise<Body | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}
