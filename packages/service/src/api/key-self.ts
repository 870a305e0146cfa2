/** `GET /keys/self`: the rights, limits and use of the key of a request. */
import { KEY_LIMITS, KEY_SCOPES, type KeySelf } from "@sluice/sdk/wire";
import type { Db } from "../db/schema.ts";
import { type Principal, readKeyRecord, readKeyUsage } from "../integrators/index.ts";
import type { RateLimiter } from "./rate-limits.ts";

/** Describes a key to its holder. Counts nothing against its limits. */
export async function describeKey(
  { db, limiter }: { readonly db: Db; readonly limiter: RateLimiter },
  { principal, address }: { readonly principal: Principal; readonly address: string },
): Promise<KeySelf> {
  const { keyId, scopes, allowedNetworks } = principal;
  const [{ label, ...record }, usage, limits] = await Promise.all([
    readKeyRecord(db, keyId),
    readKeyUsage(db, keyId),
    Promise.all(KEY_LIMITS.map((name) => limiter.peek(name, keyId))),
  ]);
  return {
    id: keyId,
    integratorId: principal.integratorId,
    integratorName: principal.integratorName,
    ...(label === null ? {} : { label }),
    scopes: KEY_SCOPES.filter((scope) => scopes.has(scope)),
    depositAddresses: principal.depositAddresses,
    allowedNetworks: allowedNetworks && [...allowedNetworks],
    address,
    ...record,
    limits: KEY_LIMITS.map((name, index) => {
      const { limit = 0, remaining = 0, resetS = 0 } = limits[index] ?? {};
      return { name, limit, remaining, resetSeconds: resetS };
    }),
    usage: [...usage],
  };
}
