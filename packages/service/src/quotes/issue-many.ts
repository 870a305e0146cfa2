/** `POST /addresses`: issues many deposit addresses without quotes, all or none. */
import type { AddressesRequest, AddressesResponse, AddressRequest } from "@sluice/sdk/wire";
import { issueAddresses, listIssued, type WantedAddress } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { KeyHolder } from "../integrators/index.ts";
import { listRouteSet } from "../routes/index.ts";
import { listLoops, loop, parseWallet } from "./destination.ts";
import { invalid } from "./invalid.ts";
import type { QuoteDeps } from "./quote.ts";
import {
  assertOpen,
  chainOf,
  parseDestination,
  parsePayUserId,
  parseSource,
  parseTerms,
  parseToken,
  unsupported,
} from "./request.ts";

/**
 * Issues the addresses of a request and returns them in its order. Issued ones are returned again with their notes changed.
 * @throws OperatingError as `quote` and `issueAddresses` do, with the index of the address in `details.field`; FORBIDDEN
 *   if the key gets no deposit addresses.
 */
export async function issueMany(
  deps: QuoteDeps,
  { addresses: asked }: AddressesRequest,
  { integratorId, keyId, depositAddresses }: KeyHolder,
): Promise<AddressesResponse> {
  if (!depositAddresses) {
    throw new OperatingError("FORBIDDEN", "The API key gets no deposit addresses.", {
      details: { reason: "deposit_addresses" },
    });
  }
  // Every address counts, issued ones too: their answers are stored under idempotency keys.
  await deps.admitNewAddress?.(keyId, asked.length);
  const opened = new Set<string>();
  const wanted: WantedAddress[] = [];
  for (const [index, one] of asked.entries()) {
    try {
      wanted.push(await parseWanted(deps, one, opened));
    } catch (thrown) {
      throw nameFault(thrown, index);
    }
  }
  refuseRepeated(wanted);
  const loops = new Set(
    await listLoops(
      deps.db,
      wanted.map(({ destination }) => destination.destWallet),
    ),
  );
  const looped = wanted.findIndex(({ destination }) => loops.has(destination.destWallet));
  if (looped !== -1) throw nameFault(loop(), looped);
  const issued = await issueAddresses(deps, { integratorId, wanted, nameFault });
  const ids = issued.map(({ id }) => id);
  return { addresses: [...(await listIssued(deps.db, { ids, display: deps.format.display }))] };
}

/** Parses one address. Pairs of chains that were found open are remembered in `opened`. */
async function parseWanted(
  deps: QuoteDeps,
  asked: AddressRequest,
  opened: Set<string>,
): Promise<WantedAddress> {
  const source = parseSource(deps, asked.fromChain);
  const destination = parseDestination(deps, asked.toChain);
  const pair = `${source.chainId}:${destination.chainId}`;
  if (!opened.has(pair)) {
    await assertOpen(deps, source, destination);
    opened.add(pair);
  }
  const { address: destToken } = parseToken(deps, "toToken", asked.toToken, destination);
  const to = { destChain: destination.chainId, destToken };
  if (!deps.routes.listTo(to).some((route) => route.pair.srcChain === source.chainId)) {
    throw unsupported("No route delivers from this chain to this token.", {
      fromChain: source.name,
      toChain: destination.name,
    });
  }
  return {
    chain: chainOf(deps, source.chainId),
    destination: {
      userId: parsePayUserId(asked.payUserId),
      destWallet: parseWallet(deps, destination, asked.destinationAddress),
      ...to,
    },
    terms: parseTerms(asked),
    routeSet: listRouteSet(deps.routes, deps.evmChainIds, to),
    notes: { label: asked.payLabel, metadata: asked.payMetadata },
  };
}

/** Refuses a request that asks for an address twice: of two labels only one could stay. */
function refuseRepeated(wanted: readonly WantedAddress[]): void {
  const first = new Map<string, number>();
  for (const [index, { chain, destination, terms }] of wanted.entries()) {
    const { userId, destChain, destWallet, destToken } = destination;
    const parts = [chain.kind, userId, destChain, destWallet, destToken];
    const key = JSON.stringify([...parts, terms?.routes ?? null, terms?.unattended ?? null]);
    const before = first.get(key);
    if (before !== undefined) {
      const expected = `another user or destination than that of addresses.${before}`;
      throw nameFault(invalid("payUserId", expected), index);
    }
    first.set(key, index);
  }
}

/** Returns an error about one of the addresses, with its index before the field. */
function nameFault(thrown: unknown, index: number): unknown {
  if (!(thrown instanceof OperatingError)) return thrown;
  const { code, message, details } = thrown;
  const place = `addresses.${index}`;
  const field = details?.["field"];
  const text =
    typeof field === "string" && message.startsWith(field)
      ? `${place}.${message}`
      : `${place}: ${message}`;
  return new OperatingError(code, text, {
    details: { ...details, index, field: typeof field === "string" ? `${place}.${field}` : place },
    cause: thrown,
  });
}
