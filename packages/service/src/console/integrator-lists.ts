/** Addresses, deposits and refunds of one integrator in the console, a page at a time. */
import type { ConsoleIntegratorList, ConsoleTable } from "@sluice/sdk/wire";
import { listAddresses } from "../addresses/index.ts";
import { displayTxHash } from "../core/base58.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { listDeposits } from "../deposits/index.ts";
import { HEIGHTS_OF_DEPOSIT } from "../scanner/index.ts";
import { type AddressRefund, listRefundsOf, STATUS_OF_DEPOSIT } from "../settlements/index.ts";
import type { Position } from "./access.ts";
import { assetOf, nameOf } from "./assets.ts";
import type { DescribeContext } from "./describe.ts";

const PAGE_SIZE = 50;

/** Dependencies of the lists. */
export interface ListDeps extends DescribeContext {
  readonly db: Db;
  readonly parseAddress: (text: string) => Address | undefined;
}

type ReadList = (
  deps: ListDeps,
  integratorId: string,
  after: Position | undefined,
) => Promise<ConsoleTable>;

/** The lists by name; each begins with the time of its rows. */
export const INTEGRATOR_LISTS: Readonly<Record<ConsoleIntegratorList, ReadList>> = {
  async addresses(deps, integratorId, after) {
    const { items, nextCursor } = await listAddresses(deps.db, integratorId, {
      limit: PAGE_SIZE,
      cursor: after?.at,
      display: deps.display,
    });
    return {
      columns: ["Issued", "Address", "User", "Delivers", "To"],
      rows: items.map((one) => [
        one.createdAt,
        one.walletAddress,
        one.userId,
        describeToken(deps, Number(one.destChain), one.destToken),
        one.destWallet,
      ]),
      // Of addresses no two are issued at the same time.
      nextCursor: nextCursor === null ? null : `${nextCursor}_${items.at(-1)?.id ?? ""}`,
    };
  },

  async deposits(deps, integratorId, after) {
    const { items, nextCursor } = await listDeposits(deps.db, integratorId, {
      limit: PAGE_SIZE,
      cursor: after && { detectedAt: after.at, id: after.id },
      filter: {},
      display: deps.display,
      heights: HEIGHTS_OF_DEPOSIT,
      status: STATUS_OF_DEPOSIT,
    });
    return {
      columns: ["Detected", "Amount", "Chain", "Address", "Transaction", "State", "Outcome"],
      rows: items.map((one) => {
        const token = deps.parseAddress(one.tokenAddress);
        const asset = token && assetOf(deps, one.chainId, token);
        return [
          one.detectedAt,
          asset?.format(BigInt(one.amount)) ?? one.amount,
          nameOf(one.chainId),
          one.walletAddress,
          one.txHash ?? "by balance",
          one.finality,
          one.ignoredReason ?? one.outcome,
        ];
      }),
      nextCursor,
    };
  },

  async refunds(deps, integratorId, after) {
    const found = await listRefundsOf(deps.db, integratorId, {
      limit: PAGE_SIZE + 1,
      cursor: after,
      filter: {},
    });
    const items = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? items.at(-1) : undefined;
    return {
      columns: [
        "Requested",
        "Amount",
        "Chain",
        "Address",
        "To",
        "State",
        "Transaction",
        "By",
        "Reason",
      ],
      rows: items.map((one) => [
        one.requestedAt,
        assetOf(deps, one.chainId, one.token).format(one.amount),
        nameOf(one.chainId),
        deps.display(one.wallet),
        deps.display(one.authority),
        nameState(one),
        one.txHash === null ? "—" : displayTxHash(one.txHash),
        one.operator,
        one.reason,
      ]),
      nextCursor: last ? `${last.requestedAt}_${last.id}` : null,
    };
  },
};

function describeToken(deps: ListDeps, chainId: number, text: string): string {
  const token = deps.parseAddress(text);
  return token ? assetOf(deps, chainId, token).describe : `${text} on ${nameOf(chainId)}`;
}

function nameState({ state, succeeded }: AddressRefund): string {
  if (succeeded === null) return state ?? "requested";
  return succeeded ? "paid" : "failed";
}
