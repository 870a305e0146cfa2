/**
 * A server of the benchmark `api`, in a process of its own: the REST interface of the service, or one that does no more than
 * one statement for the same rows. Takes its kind and the URL of a database, and prints its own URL.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "pg";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { Secret } from "../packages/service/src/core/secret.ts";
import { createLog } from "../packages/service/src/telemetry/log.ts";
import { startApi } from "../packages/service/test/support/api.ts";

const CONNECTIONS = 8;
const BEFORE_ALL = "9999-01-01T00:00:00.000Z";
const SINCE_ALL = "2000-01-01T00:00:00.000Z";

/** For each path a statement with the integrator, the cursor and the rows, in the wire's names. */
const STATEMENTS: Readonly<Record<string, string>> = {
  "/swaps": `select settlements.id, status, chain_id as "chainId", token as "tokenAddress", amount, swap_tx_hash as "swapTxHash",
      error_code as error, retry_count as "retryCount", settlements.wallet as "walletAddress", addresses.user_id as "userId",
      dest_chain as "destChain", dest_wallet as "destWallet", dest_token as "destToken", settlements.created_at as "createdAt",
      updated_at as "updatedAt", 'completed' as phase, 'completed' as category, true as terminal
    from settlements join addresses on addresses.id = settlements.address_id
    where settlements.integrator_id = $1 and settlements.created_at < $2 order by settlements.created_at desc limit $3`,
  "/deposit-addresses": `select id, wallet as "walletAddress", user_id as "userId", dest_chain as "destChain",
      dest_wallet as "destWallet", dest_token as "destToken", chain_family as "chainType", created_at as "createdAt"
    from addresses where integrator_id = $1 and created_at < $2 order by created_at desc limit $3`,
  "/events": `select id, type, data, created_at as timestamp from events
    where integrator_id = $1 and created_at > $2 order by created_at limit $3`,
};

const [kind, database = "", integratorId = ""] = process.argv.slice(2);
process.stdout.write(`${kind === "bare" ? await startBare() : await startService()}\n`);

async function startService(): Promise<string> {
  const { db } = await openDatabase({ url: new Secret(database) }, { max: CONNECTIONS });
  const { url } = await startApi({ db, log: createLog({ level: "warn", role: "bench" }) });
  return url;
}

async function startBare(): Promise<string> {
  const pool = new Pool({ connectionString: database, max: CONNECTIONS });
  const answer = async (request: IncomingMessage) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
    const after = searchParams.get("cursor") ?? BEFORE_ALL;
    const cursor = pathname === "/events" ? (searchParams.get("since") ?? SINCE_ALL) : after;
    const values = [integratorId, cursor, Number(searchParams.get("limit"))];
    const text = STATEMENTS[pathname] ?? "";
    const { rows } = await pool.query({ name: pathname, text, values });
    return JSON.stringify({ items: rows, nextCursor: null });
  };
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    answer(request).then(
      (body) => response.end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  await promise;
  // CAST: a server that listens on a TCP port has such an address.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
