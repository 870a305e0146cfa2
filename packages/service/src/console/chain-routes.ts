/** One chain in the console: breaches, open transactions, changes of the contracts, and the actions that repair them. */
import type {
  ConsoleBreach,
  ConsoleChainFile,
  ConsoleChange,
  ConsoleScreening,
} from "@sluice/sdk/wire";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { readChainStates, setDraining } from "../addresses/index.ts";
import { invalid, parseBody } from "../api/index.ts";
import type { Config } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import { displayTxHash } from "../core/base58.ts";
import { OperatingError } from "../core/errors.ts";
import { isEvmAddress, toAddress, toEvmAddress, toTxHash } from "../core/hex.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { expectChange, readStanding, type ShownChange, showChange } from "../governance/index.ts";
import type { Rows } from "../health/index.ts";
import { type Breach, describeBreach, listBreaches } from "../ledger/index.ts";
import { orderReread, orderSkip } from "../scanner/index.ts";
import { decideScreening, listScreenings } from "../settlements/index.ts";
import { cancelNonce, fillNonce, listOpenTransactions } from "../transactions/index.ts";
import { type Access, paramsOf, readChainId, readId, trimReason } from "./access.ts";
import { assetOf, nameOf } from "./assets.ts";
import type { DescribeContext } from "./describe.ts";
import { readChainRows } from "./overview.ts";

/** Dependencies of the routes of chains. */
export interface ChainRoutesDeps extends DescribeContext {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly rows: Rows;
  readonly config: Pick<
    Config,
    "chains" | "routes" | "attestor" | "attestors" | "deployment" | "screening"
  >;
  /** Ends a breach and applies its repair; false without an open one. */
  readonly endBreach: (end: {
    readonly id: string;
    readonly operator: string;
    readonly reason: string;
  }) => Promise<boolean>;
}

const TRANSACTIONS_MAX = 100;
const strict = { additionalProperties: false } as const;
const reason = Type.String({ minLength: 1, maxLength: 500, description: "Why" });
const block = Type.String({ pattern: "^\\d{1,18}$", description: "The number of a block" });
const WithReason = Type.Object({ reason }, strict);
const Nonce = Type.Object(
  {
    lane: Type.String({ maxLength: 100, description: "The account of a lane" }),
    nonce: Type.Integer({ minimum: 0, maximum: 999_999_999, description: "A nonce of it" }),
    reason,
  },
  strict,
);
const Skip = Type.Object({ block, reason }, strict);
const Reread = Type.Object({ from: block, to: block, reason }, strict);
const Decision = Type.Object(
  {
    verdict: Type.Enum(["allow", "refuse"], { description: "allow or refuse" }),
    reason,
  },
  strict,
);

/** Adds the routes of chains. */
export function addChainRoutes(app: FastifyInstance, deps: ChainRoutesDeps, access: Access): void {
  const { db, clock, random, config } = deps;
  const { viewer, confirmed, operatorOf } = access;
  const chainOf = (text = ""): number => {
    const chainId = readChainId(text);
    if (deps.chains.some((chain) => chain.chainId === chainId)) return chainId;
    throw new OperatingError("NOT_FOUND", "There is no such chain.");
  };

  app.get("/api/chains/:id", viewer, async (request): Promise<ConsoleChainFile> => {
    const chainId = chainOf(paramsOf(request)["id"]);
    const [chains, breaches, transactions, standing, states] = await Promise.all([
      readChainRows(deps),
      listBreaches(db),
      listOpenTransactions(db, { chainId, limit: TRANSACTIONS_MAX }),
      readStanding({ db, config, clock }, chainId),
      readChainStates(db),
    ]);
    const chain = chains.find((one) => one.chainId === chainId);
    assert(chain, "every configured chain has its row");
    return {
      chain,
      state: states.get(chainId) ?? "open",
      breaches: breaches.filter((one) => one.chainId === chainId).map(toBreach),
      transactions: transactions.map(({ lane, hash, cancelled, ...one }) => ({
        ...one,
        lane: deps.display(toAddress(lane)),
        hash: hash === null ? null : displayTxHash(toTxHash(hash)),
        state: cancelled ? `${one.state}, cancelled` : one.state,
        isCancellable: one.nonce !== null && one.state === "assigned" && !cancelled,
      })),
      changes: standing
        .filter(({ state, isExpected }) => state === "pending" || !isExpected)
        .map((change) => toChange(showChange({ ...config, display: deps.display }, change))),
    };
  });
  app.post("/api/chains/:id/cancel-nonce", confirmed, async (request) => {
    const { changed } = await cancelNonce(db, readNonce(request));
    return { changed };
  });
  app.post("/api/chains/:id/fill-nonce", confirmed, async (request) => {
    const { changed } = await fillNonce(db, random, readNonce(request));
    return { changed };
  });
  app.post("/api/chains/:id/drain", confirmed, async (request) => ({
    changed: await setDraining(db, true, readRecord(request)),
  }));
  app.post("/api/chains/:id/resume", confirmed, async (request) => ({
    changed: await setDraining(db, false, readRecord(request)),
  }));
  app.post("/api/chains/:id/skip", confirmed, async (request) => {
    const { block: number, reason: why } = parseBody(Skip, request);
    const order = { operator: operatorOf(request), reason: trimReason(why) };
    const chainId = chainOf(paramsOf(request)["id"]);
    await orderSkip(db, { ...order, chainId, block: BigInt(number) });
    return {};
  });
  app.post("/api/chains/:id/reread", confirmed, async (request) => {
    const { from, to, reason: why } = parseBody(Reread, request);
    const order = { operator: operatorOf(request), reason: trimReason(why) };
    const [first, through] = [BigInt(from), BigInt(to)];
    if (through < first) throw invalid("to", "a block from the first on");
    const chainId = chainOf(paramsOf(request)["id"]);
    await orderReread(db, { ...order, chainId, from: first, through });
    return {};
  });
  app.post("/api/breaches/:id/end", confirmed, async (request) => {
    const { id = "" } = paramsOf(request);
    const { reason: why } = parseBody(WithReason, request);
    const end = { id, operator: operatorOf(request), reason: trimReason(why) };
    if (/^\d{1,18}$/.test(id) && (await deps.endBreach(end))) return {};
    throw new OperatingError("NOT_FOUND", "There is no such open breach.");
  });
  app.post("/api/changes/:id/expect", confirmed, async (request) => {
    const { id = "" } = paramsOf(request);
    const { reason: why } = parseBody(WithReason, request);
    const standing = await readStanding({ db, config, clock });
    const change = standing.find((one) => `${one.id}` === id);
    if (!change) throw new OperatingError("NOT_FOUND", "There is no such change.");
    const record = { operator: operatorOf(request), reason: trimReason(why), nowMs: clock.now() };
    return { changed: await expectChange(db, change.id, record) };
  });
  app.get("/api/screenings", viewer, async () => ({
    screenings: (await listScreenings(db, { all: false })).map((one): ConsoleScreening => {
      const { depositId, chainId, wallet, token, sender, verdict, detail, since } = one;
      const asset = assetOf(deps, chainId, toAddress(token));
      return {
        depositId,
        chain: nameOf(chainId),
        amount: asset.format(BigInt(one.amount)),
        wallet: deps.display(toAddress(wallet)),
        sender: sender === null ? null : deps.display(toAddress(sender)),
        verdict,
        detail,
        since,
      };
    }),
  }));
  app.post("/api/screenings/:id", confirmed, async (request) => {
    const { verdict, reason: why } = parseBody(Decision, request);
    const record = { operator: operatorOf(request), reason: trimReason(why), nowMs: clock.now() };
    const depositId = readId(paramsOf(request)["id"], "There is no such deposit.");
    if (config.screening === undefined) {
      throw new OperatingError("NOT_FOUND", "The configuration has no screening.");
    }
    return { changed: await decideScreening(db, { depositId, verdict, ...record }) };
  });

  function readRecord(request: Parameters<typeof operatorOf>[0]) {
    const { reason: why } = parseBody(WithReason, request);
    const chainId = chainOf(paramsOf(request)["id"]);
    return { chainId, operator: operatorOf(request), reason: trimReason(why) };
  }

  function readNonce(request: Parameters<typeof operatorOf>[0]) {
    const { lane, nonce, reason: why } = parseBody(Nonce, request);
    // Transactions of Solana have no nonces, and expire.
    if (!isEvmAddress(lane)) throw invalid("lane", "0x and 40 hex digits");
    const record = { operator: operatorOf(request), reason: trimReason(why) };
    const chainId = chainOf(paramsOf(request)["id"]);
    return { ...record, chainId, lane: toEvmAddress(lane), nonce };
  }
}

function toBreach(breach: Breach): ConsoleBreach {
  const { id, invariant, verdict, subject, details, foundAt, heldSince } = breach;
  return {
    id,
    name: `${invariant} ${(verdict ?? "unnamed").replaceAll("_", " ")}`,
    subject,
    facts: Object.entries(details),
    foundAt,
    heldSince: heldSince ?? null,
    ...describeBreach(breach),
  };
}

function toChange(shown: ShownChange): ConsoleChange {
  const { change, role, account, threshold, perDay, state, isExpected, executable } = shown;
  const parts = [role.replace("_", " "), account, threshold, perDay && `to ${perDay}`];
  return {
    id: change,
    text: parts.filter((part) => part !== null).join(" "),
    state: state.replace("_", " "),
    isExpected,
    executableFrom: executable?.from ?? null,
    txHash: shown.transaction,
  };
}
