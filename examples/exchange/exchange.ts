/**
 * The backend of an exchange: gives every customer a deposit address, and credits what was delivered exactly once,
 * whatever happens to webhooks, to this process or on the chains.
 */
import { DatabaseSync } from "node:sqlite";
import {
  createSluiceClient,
  connectStream,
  ExtendedStreamEvent,
  type SluiceClientOptions,
  toCaip10,
  toEvmPaymentUri,
  verifyDepositAddress,
  WebhookEndpointWithSecret,
} from "@sluice/sdk";
import fastify from "fastify";
import { Value } from "typebox/value";
import { verifySignature } from "./signature.ts";

export interface ExchangeOptions {
  /** URLs and key of the service. */
  readonly service: SluiceClientOptions;
  /** File of the database. */
  readonly database: string;
  readonly port: number;
  /** The chain on which customers pay, and its factory. From your configuration, never from a quote. */
  readonly source: { chain: string; evmChainId: number; token: string; factory: `0x${string}` };
  /** Your wallet, and the token that it receives. */
  readonly destination: { chain: string; chainId: number; token: string; wallet: string };
}

export type Exchange = Awaited<ReturnType<typeof openExchange>>;

const SCHEMA = `
  create table if not exists customers (user_id text primary key, address text not null);
  create table if not exists events (id text primary key);
  create table if not exists pending (deposit text primary key, user_id text not null, settlement text, amount text not null);
  create table if not exists credits (settlement text primary key, user_id text not null, amount text not null, tx text not null);
  create table if not exists refunds (tx text, address text, token text, user_id text not null, amount text not null,
    primary key (tx, address, token));
  create table if not exists settings (name text primary key, value text not null)`;

/** Opens the database and the server. Call `reconcile` from time to time: lost webhooks are found only there. */
export async function openExchange(options: ExchangeOptions) {
  const { service, source, destination } = options;
  const client = createSluiceClient(service);
  const db = new DatabaseSync(options.database);
  db.exec(`pragma journal_mode = wal; ${SCHEMA}`);

  const readSetting = (name: string) =>
    db.prepare("select value from settings where name = ?").get(name)?.["value"]?.toString();
  const writeSetting = (name: string, value: string) =>
    db.prepare("insert or replace into settings values (?, ?)").run(name, value);

  function inTransaction<T>(work: () => T): T {
    db.exec("begin immediate");
    try {
      const result = work();
      db.exec("commit");
      return result;
    } catch (error) {
      db.exec("rollback");
      throw error;
    }
  }

  // begin: address
  /** Returns the deposit address of a customer, which never changes. */
  async function issueAddress(customer: number) {
    // 20 bytes of your own that name the customer.
    const userId = `0x${customer.toString(16).padStart(40, "0")}`;
    const { quotes } = await client.quote({
      amountIn64: "100000000",
      fromChain: source.chain,
      fromToken: source.token,
      toChain: destination.chain,
      toToken: destination.token,
      slippageBps: "auto",
      destinationAddress: destination.wallet,
      payDeposit: true,
      payUserId: userId,
    });
    const quote = quotes.find((one) => one.payDepositAddress !== null);
    if (!quote?.payDepositAddress || !quote.payDepositCommitment) throw new Error("no address");
    const address = quote.payDepositAddress;
    // Nobody between the service and you can replace the address: it commits to your own wallet.
    const checked = verifyDepositAddress({
      address,
      commitment: quote.payDepositCommitment,
      factory: source.factory,
      expected: {
        userId,
        destChain: destination.chainId,
        destWallet: destination.wallet,
        destToken: destination.token,
      },
    });
    if (checked.kind !== "ok") throw new Error(`${checked.field} is ${checked.actual}`);
    db.prepare("insert or ignore into customers values (?, ?)").run(userId, address);
    const { evmChainId, token } = source;
    return {
      address,
      account: toCaip10({ evmChainId, address }),
      uri: toEvmPaymentUri({ address, evmChainId, token }),
      minimum: quote.minDeposit,
    };
  }
  // end: address

  // begin: apply
  /** Records an event. Any event may come again and late, so each effect has its own key. */
  function apply(id: string, event: ExtendedStreamEvent): void {
    const isNew = db.prepare("insert or ignore into events values (?)").run(id).changes === 1;
    if (!isNew || !event.details) return;
    const { userId } = event.details;
    if (event.type === "deposit_detected") {
      const insert = db.prepare("insert or replace into pending values (?, ?, ?, ?)");
      for (const deposit of event.details.deposits) {
        insert.run(deposit.id, userId, event.details.settlementId, deposit.amount);
      }
    } else if (event.type === "refund_final") {
      const { txHash, walletAddress, tokenAddress, amount } = event.data;
      db.prepare("insert or ignore into refunds values (?, ?, ?, ?, ?)").run(
        txHash,
        walletAddress,
        tokenAddress,
        userId,
        amount,
      );
    } else if (event.type === "status_changed" && event.data.status === "completed") {
      const { settlementId, deliveredAmount, deliveryTxHash } = event.details;
      if (deliveredAmount === null) throw new Error(`${settlementId} has no delivered amount`);
      db.prepare("insert or ignore into credits values (?, ?, ?, ?)").run(
        settlementId,
        userId,
        deliveredAmount,
        deliveryTxHash,
      );
    }
  }
  // end: apply

  // begin: reconcile
  /** Reads the events that no webhook brought. The cursor moves in the transaction of the events' effects. */
  async function replay(): Promise<void> {
    for (;;) {
      const since = readSetting("cursor");
      const page = await client.listExtendedEvents({ limit: 200, ...(since ? { since } : {}) });
      const last = page.items.at(-1);
      if (!last) return;
      inTransaction(() => {
        for (const { id, ...event } of page.items) apply(id, event);
        // Two replays may overlap; the cursor never goes back.
        if (last.timestamp > (readSetting("cursor") ?? "")) writeSetting("cursor", last.timestamp);
      });
    }
  }

  /** Compares every credit with the service's own record. Returns one line for each difference. */
  async function reconcile(): Promise<readonly string[]> {
    await replay();
    const credits = new Map(
      db
        .prepare("select settlement, amount from credits")
        .all()
        .map((row) => [String(row["settlement"]), String(row["amount"])]),
    );
    const differences: string[] = [];
    for await (const { id } of client.iterateSwaps({ status: "completed", limit: 100 })) {
      const { deliveredAmount, destWallet } = await client.getSettlement(id);
      if (destWallet.toLowerCase() !== destination.wallet.toLowerCase()) continue;
      const credited = credits.get(id);
      credits.delete(id);
      if (credited !== deliveredAmount) {
        differences.push(`${id}: delivered ${deliveredAmount}, credited ${credited}`);
      }
    }
    return [...differences, ...[...credits.keys()].map((id) => `${id}: credited, not completed`)];
  }
  // end: reconcile

  const sum = (statement: string, userId: string): string =>
    db
      .prepare(statement)
      .all(userId)
      .reduce((total, row) => total + BigInt(String(row["amount"])), 0n)
      .toString();

  /** Returns a customer's amounts, in base units. Only `balance` is the customer's money. */
  function readCustomer(customer: number) {
    const userId = `0x${customer.toString(16).padStart(40, "0")}`;
    return {
      balance: sum("select amount from credits where user_id = ?", userId),
      refunded: sum("select amount from refunds where user_id = ?", userId),
      detected: sum("select amount from pending where user_id = ?", userId),
    };
  }

  // begin: server
  const app = fastify();
  const idOf = (params: unknown): number => {
    const { id } = Object(params);
    if (!/^[1-9]\d{0,8}$/.test(id)) throw new Error("id: expected a customer's number");
    return Number(id);
  };
  app.post("/customers/:id/address", ({ params }) => issueAddress(idOf(params)));
  app.get("/customers/:id", ({ params }) => readCustomer(idOf(params)));
  // Signatures are over the bytes, so the body must not be parsed before.
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_, body, done) =>
    done(null, body),
  );
  app.post("/hooks", async ({ headers, body }, reply) => {
    const publicKey = readSetting("publicKey");
    const text = String(body);
    if (!publicKey || !verifySignature(publicKey, headers, text)) return reply.code(401).send();
    const event: unknown = JSON.parse(text);
    // Types that this version does not know are accepted, so that they are not sent again.
    if (Value.Check(ExtendedStreamEvent, event)) {
      inTransaction(() => apply(String(headers["webhook-id"]), event));
    }
    return reply.code(204).send();
  });
  const url = await app.listen({ host: "127.0.0.1", port: options.port });
  // end: server

  // begin: endpoint
  /** Creates the webhook endpoint once, and keeps the key that verifies its signatures. */
  async function registerWebhook(): Promise<void> {
    if (readSetting("publicKey") !== undefined) return;
    const response = await fetch(`${service.baseUrl}/webhooks`, {
      method: "POST",
      headers: { "x-api-key": service.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ url: `${url}/hooks`, extended: true }),
    });
    if (!response.ok) throw new Error(`webhooks: ${response.status} ${await response.text()}`);
    const { secrets } = Value.Parse(WebhookEndpointWithSecret, await response.json());
    writeSetting("publicKey", secrets[0]?.publicKey ?? "");
  }
  // end: endpoint

  // begin: stream
  /** Without webhooks: each event of the stream starts a replay. Returns the function that ends it. */
  function followStream(onError: (error: unknown) => void): () => void {
    const wake = () => void replay().catch(onError);
    const { baseUrl, apiKey } = service;
    const stream = connectStream({ baseUrl, apiKey, onConnected: wake, onEvent: wake, onError });
    return () => stream.close();
  }
  // end: stream

  async function close(): Promise<void> {
    await app.close();
    db.close();
  }
  return { url, issueAddress, readCustomer, reconcile, registerWebhook, followStream, close };
}
