/** The scanner with a real database and a chain with reorgs. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type ChainMembers,
  createCountingRandom,
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
} from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { orderReread, orderSkip } from "./orders.ts";
import { lookAgain } from "./second-look.ts";
import { createScannerDeps, scanOnce } from "../../test/support/scanner.ts";
import { issueAddress } from "../addresses/index.ts";
import type { BlockRef, Transfer } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, toEvmAddress, toHex32, unpadAddress } from "../core/hex.ts";
import { listEvents } from "../events/index.ts";
import { createIntegrator } from "../integrators/index.ts";
import { auditChain, endBreach, listBreaches, readHalt } from "../ledger/index.ts";
import { ROUTE_AUDITS } from "../routes/index.ts";
import { REPAIRS } from "../roles/repairs.ts";
import type { ScannerDeps } from "./deps.ts";
import { createScan, type Pace } from "./scan.ts";

const USDC = toEvmAddress(`0x${"a0".repeat(20)}`);
const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);
const PAYER = toEvmAddress(`0x${"de".repeat(20)}`);

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

interface FakeBlock {
  readonly name: string;
  readonly pays: readonly string[];
}

/** Creates a chain of named blocks that supports reorgs and can hide its newest blocks. */
function createForkingChain(payee: () => Address) {
  let blocks: FakeBlock[] = [{ name: "genesis", pays: [] }];
  let visible = Infinity;
  let finalNumber = 0n;
  let finalName: string | undefined;
  let meanwhile: () => void = () => undefined;
  let between: () => void = () => undefined;
  let beforeRecord: () => Promise<void> = async () => undefined;
  let beforePush: () => Promise<void> = async () => undefined;
  let afterTip: () => Promise<void> = async () => undefined;
  let outflowsOf: (block: bigint) => readonly Address[] = () => [];
  const seen = () => blocks.slice(0, visible);
  const refOf = (number: number): BlockRef | null => {
    const block = seen()[number];
    if (!block) return null;
    const parent = blocks[number - 1]?.name ?? "nothing";
    return {
      number: BigInt(number),
      hash: toHex32(hashOf(block.name)),
      parentHash: toHex32(hashOf(parent)),
    };
  };
  let leftOut: string | null = null;
  let refused: string | null = null;
  let isPruned = false;
  const members: ChainMembers = {
    chainId: 2,
    addresses: { walletRoot: FACTORY, escrow: FACTORY, delivery: FACTORY },
    predictWallet: (commitment) => unpadAddress(commitment.userId),
    hashCommitment: (commitment) => toHex32(hashOf(JSON.stringify(commitment))),
    getBlock: async (number) => {
      const block = refOf(Number(number));
      await afterTip();
      return block;
    },
    getHead: async () => refOf(seen().length - 1) as BlockRef,
    getFinalNumber: async () => finalNumber,
    getFinalBlock: async () => {
      between();
      const named = finalName === undefined ? null : toHex32(hashOf(finalName));
      return { number: finalNumber, hash: named ?? refOf(Number(finalNumber))?.hash ?? null };
    },
    hasCode: async () => true,
    getTime: async () => 0n,
    findBalance: async () => {
      await beforeRecord();
      return 1_000n;
    },
    listOutflows: async (block) =>
      outflowsOf(block.number).map((wallet, index) => ({
        kind: "refunded",
        wallet,
        token: USDC,
        amount: 1_000n,
        txHash: hashOf(`refund ${block.number} ${index}`),
        logIndex: 50 + index,
      })),
    // No payment ever leaves the wallet.
    listTokenBalances: async (blockHash, holdings) => {
      if (isPruned) return null;
      const height = blocks.findIndex(({ name }) => toHex32(hashOf(name)) === blockHash);
      const paid = blocks.slice(0, height + 1).reduce((sum, { pays }) => sum + pays.length, 0);
      return holdings.map(() => 1_000n * BigInt(paid));
    },
    listTransfers: async (block): Promise<Transfer[]> => {
      const found = blocks.find(({ name }) => toHex32(hashOf(name)) === block.hash);
      if (!found) throw new OperatingError("RPC_UNAVAILABLE", "The node has no such block.");
      meanwhile();
      if (found.name === leftOut) return [];
      if (found.name === refused) throw new OperatingError("RPC_UNAVAILABLE", "Too many logs.");
      return found.pays.map((name, logIndex) => ({
        token: USDC,
        from: PAYER,
        to: payee(),
        amount: 1_000n,
        txHash: hashOf(name),
        logIndex,
        ordinal: 0,
      }));
    },
  };
  return {
    chain: createStrictChain(members),
    add: (name: string, ...pays: string[]) => void blocks.push({ name, pays }),
    replace: (from: number, ...branch: FakeBlock[]) => {
      blocks = [...blocks.slice(0, from), ...branch];
    },
    /** Drops the state of all blocks. */
    prune: () => {
      isPruned = true;
    },
    /** Leaves the logs of a block out. */
    leaveOut: (name: string | null) => {
      leftOut = name;
    },
    /** Refuses the logs of a block. */
    refuse: (name: string | null) => {
      refused = name;
    },
    pretendLength: (length: number) => {
      visible = length;
    },
    /** Sets the final block; with a name, the one of a server that is ahead of the others. */
    setFinal: (number: bigint, name?: string) => {
      finalNumber = number;
      finalName = name;
    },
    /** Sets the wallets that are refunded in each block. */
    refund: (wallets: (block: bigint) => readonly Address[]) => {
      outflowsOf = wallets;
    },
    /** Sets an action between the reads of the tip and of the next block. */
    betweenReads: (act: () => void) => {
      between = act;
    },
    /** Sets an action while a block is scanned. */
    during: (act: () => void) => {
      meanwhile = act;
    },
    /** Sets an action that runs once, before the deposits of a block are recorded. */
    beforeRecord: (act: () => Promise<void>) => {
      beforeRecord = once(act);
    },
    pushing: () => beforePush(),
    /** Sets an action that runs once, before the cursor moves to a recorded block. */
    beforePush: (act: () => Promise<void>) => {
      beforePush = once(act);
    },
    /** Sets an action that runs once, after the tip is read. */
    afterTip: (act: () => Promise<void>) => {
      afterTip = once(act);
    },
  };
}

function once(act: () => Promise<void>): () => Promise<void> {
  let isLeft = true;
  return async () => {
    const isNow = isLeft;
    isLeft = false;
    if (isNow) await act();
  };
}

async function openScanner() {
  const { db } = database;
  const random = createCountingRandom();
  const clock = createStillClock();
  let wallet: Address = PAYER;
  const forking = createForkingChain(() => wallet);
  const { chain } = forking;
  const { integratorId } = await createIntegrator(
    { db, random },
    { name: "acme", refundEvm: PAYER, maxFeeBps: 50, maxSlippageBps: 100 },
  );
  const address = await issueAddress(
    { db, random },
    {
      chain,
      integratorId,
      destination: {
        userId: `0x${"01".repeat(20)}`,
        destChain: 30,
        destWallet: PAYER,
        destToken: USDC,
      },
    },
  );
  wallet = address.wallet;
  let isRecorded = false;
  /** Runs a test's step between the record of a block and the move of the cursor. */
  const hooked = new Proxy(db, {
    get(target, name) {
      if (name !== "transaction" || !isRecorded) {
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      }
      isRecorded = false;
      return () => ({
        async execute(work: Parameters<ReturnType<typeof db.transaction>["execute"]>[0]) {
          await forking.pushing();
          return db.transaction().execute(work);
        },
      });
    },
  });
  const deps: ScannerDeps = {
    ...createScannerDeps({ db, chain, tokens: [USDC], startBlock: 0n, clock, random }),
    db: hooked,
    crashPoint: (name) => {
      isRecorded = name === "scan.arrived";
    },
  };
  const look = async () => {
    while (await lookAgain(deps)) {
      // Looks until no final block is left.
    }
  };
  /** Audits every wallet; returns the findings, and the ledger balance of the wallet. */
  const audit = async () => {
    const audited = { db, chain, chains: new Map(), routes: ROUTE_AUDITS, tokens: [USDC], clock };
    const { findings } = await auditChain({ ...audited, log: silentLog }, "all");
    const { rows } = await sql<{ amount: string }>`select coalesce(sum(amount), 0)::text as amount
      from ledger_lines where account = 'wallet' and owner = ${wallet}`.execute(db);
    return { findings, booked: rows[0]?.amount };
  };
  const poll = async () => {
    while (await scanOnce(deps)) {
      // Polls until no block is left.
    }
  };
  const deposits = async () =>
    (await db.selectFrom("deposits").selectAll().orderBy("block_number").execute()).map(
      (deposit) => [Number(deposit.block_number), deposit.tx_hash, deposit.orphaned_at === null],
    );
  const cursor = async () =>
    (await db.selectFrom("scanner_blocks").selectAll().orderBy("number", "desc").execute())[0];
  const events = async () => (await listEvents(db, integratorId, { limit: 500 })).items;
  /** Polls as another scanner that crashes after it recorded a block, before the cursor moves. */
  const pollAndCrash = async () => {
    const dies = () => {
      throw new Error("the process ends");
    };
    await expect(scanOnce({ ...deps, crashPoint: dies })).rejects.toThrow("the process ends");
  };
  /** Polls in sections of a few blocks until no block is left, as one process does. */
  const openScan = (change: Partial<ScannerDeps> = {}, pace: Partial<typeof SMALL> = {}) =>
    createScan({ ...deps, ...change }, { ...SMALL, ...pace });
  const pollInSections = async (change: Partial<ScannerDeps> = {}) => {
    const scan = openScan(change);
    while (await scan()) {
      // Polls until no block is left.
    }
  };
  return {
    ...forking,
    poll,
    look,
    openScan,
    pollInSections,
    pollAndCrash,
    deposits,
    cursor,
    events,
    audit,
    wallet,
  };
}

/** Ends a breach, as an operator does. */
async function end(id: string | undefined): Promise<void> {
  const clock = { now: () => 0, sleep: async () => undefined };
  const command = { id: id ?? "", operator: "ann", reason: "every node has the new blocks" };
  await endBreach({ db: database.db, clock, ...REPAIRS }, command);
}

describe("scanner", () => {
  test("records each transfer once under repeated polls [D4]", async () => {
    const { add, poll, deposits, events } = await openScanner();
    add("a", "pay 1");
    add("b");
    add("c", "pay 2", "pay 3");
    await poll();
    await poll();
    expect(await deposits()).toEqual([
      [1, hashOf("pay 1"), true],
      [3, hashOf("pay 2"), true],
      [3, hashOf("pay 3"), true],
    ]);
    expect((await events()).length).toBe(2);
  });

  test.each([1, 2, 8, 64])(
    "follows a reorg of depth %i: marks orphaned deposits and counts returned ones once [T44]",
    async (depth) => {
      const { add, replace, poll, deposits, events, cursor } = await openScanner();
      for (let i = 1; i <= 70; i++) add(`old ${i}`, ...(i === 70 ? ["stays", "goes"] : []));
      await poll();
      const from = 71 - depth;
      const branch = Array.from({ length: depth + 1 }, (_, i) => ({
        name: `new ${from + i}`,
        pays: i === 0 ? ["stays"] : [],
      }));
      replace(from, ...branch);
      await poll();
      expect(new Set(await deposits())).toEqual(
        new Set([
          [from, hashOf("stays"), true],
          [70, hashOf("goes"), false],
        ]),
      );
      expect((await events()).length).toBe(1);
      expect((await cursor())?.number).toBe(71n);
    },
  );

  test("skips a block by an operator's order, and reads it again by another [T146, T255]", async () => {
    const { add, setFinal, refuse, poll, look, deposits, cursor, audit } = await openScanner();
    const order = { chainId: 2, operator: "ann", reason: "no node answers for it" };
    add("a", "pay 1");
    add("unreadable", "pay 2");
    add("c", "pay 3");
    refuse("unreadable");
    await expect(poll()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    await expect(poll()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    expect((await cursor())?.number).toBeLessThan(2n);
    await orderSkip(database.db, { ...order, block: 2n });
    await poll();
    expect((await cursor())?.number).toBe(3n);
    const [first, third] = [
      [1, hashOf("pay 1"), true],
      [3, hashOf("pay 3"), true],
    ] as const;
    expect(await deposits()).toEqual([first, third]);
    add("d");
    setFinal(3n);
    await poll();
    // The second look passes that block too.
    await look();
    const looked = await database.db.selectFrom("scanner_finality").selectAll().execute();
    expect(looked).toMatchObject([{ number: 3n, looked_again: 3n }]);
    expect(await deposits()).toEqual([first, third]);
    // The comparison of balances finds the amount that was in the block.
    expect(await audit()).toEqual({ findings: [], booked: "3000" });
    refuse(null);
    await orderReread(database.db, { ...order, from: 1n, through: 3n });
    await look();
    expect(await deposits()).toEqual([first, [2, hashOf("pay 2"), true], third]);
    expect(await audit()).toEqual({ findings: [], booked: "3000" });
    const orders = await database.db.selectFrom("scanner_orders").selectAll().execute();
    expect(orders).toMatchObject([
      { kind: "skip", operator: "ann", next_block: null },
      { kind: "reread", reason: "no node answers for it", next_block: null },
    ]);
    await expect(database.db.deleteFrom("scanner_orders").execute()).rejects.toThrow("only added");
  });

  test("finds a deposit that a server left out of a new block, once the block is final [T47]", async () => {
    const { add, setFinal, leaveOut, poll, look, deposits } = await openScanner();
    add("old 1");
    add("old 2", "pay 2");
    leaveOut("old 2");
    await poll();
    expect(await deposits()).toEqual([]);
    leaveOut(null);
    await look();
    expect(await deposits()).toEqual([]);
    setFinal(2n);
    add("old 3");
    await poll();
    await look();
    expect(await deposits()).toHaveLength(1);
    await look();
    expect(await deposits()).toHaveLength(1);
  });

  test("credits nothing at the second look that no balance confirms [T02]", async () => {
    const { add, setFinal, leaveOut, prune, poll, look, deposits } = await openScanner();
    add("old 1");
    add("old 2", "pay 2");
    leaveOut("old 2");
    await poll();
    leaveOut(null);
    setFinal(2n);
    add("old 3");
    await poll();
    prune();
    await look();
    expect(await deposits()).toEqual([]);
  });

  test("changes nothing when the node is behind the cursor [T47]", async () => {
    const { add, pretendLength, poll, deposits, cursor } = await openScanner();
    for (let i = 1; i <= 10; i++) add(`block ${i}`, `pay ${i}`);
    await poll();
    pretendLength(4);
    await poll();
    expect((await cursor())?.number).toBe(10n);
    expect((await deposits()).every(([, , onChain]) => onChain)).toBe(true);
    pretendLength(Infinity);
    add("block 11", "pay 11");
    await poll();
    expect((await deposits()).length).toBe(11);
  });

  test("waits for a node that is behind the whole window [T51]", async () => {
    const { add, pretendLength, poll, deposits, cursor } = await openScanner();
    for (let i = 1; i <= 10; i++) add(`block ${i}`, `pay ${i}`);
    await poll();
    await database.db.deleteFrom("scanner_blocks").where("number", "<=", 8n).execute();
    pretendLength(4);
    await poll();
    expect((await cursor())?.number).toBe(10n);
    expect((await deposits()).every(([, , onChain]) => onChain)).toBe(true);
  });

  test("stops when every block of the window is orphaned [T45]", async () => {
    const { add, replace, poll, cursor } = await openScanner();
    for (let i = 1; i <= 6; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    await database.db.deleteFrom("scanner_blocks").where("number", "<=", 4n).execute();
    replace(2, ...[2, 3, 4, 5, 6, 7].map((i) => ({ name: `new ${i}`, pays: [] })));
    await expect(poll()).rejects.toThrow("Every block of the window was orphaned");
    expect((await cursor())?.number).toBe(5n);
  });

  test("stops and halts the chain when a final block is orphaned, and goes back to the fork once an operator has ended the breach [T45, T158]", async () => {
    const { add, replace, setFinal, poll, deposits, cursor } = await openScanner();
    const { db } = database;
    setFinal(5n);
    for (let i = 1; i <= 7; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    replace(3, ...[3, 4, 5, 6, 7, 8].map((i) => ({ name: `new ${i}`, pays: [`pay ${i}`] })));
    for (let again = 0; again < 2; again += 1) {
      await expect(poll()).rejects.toThrow("A final block was orphaned");
    }
    // Blocks above the final ones are removed as in any reorg.
    expect((await cursor())?.hash).toBe(hashOf("old 5"));
    expect((await deposits()).filter(([, , onChain]) => onChain)).toHaveLength(5);
    const [breach, ...others] = await listBreaches(db);
    expect(others).toEqual([]);
    expect(breach).toMatchObject({
      verdict: "final_block_replaced",
      subject: hashOf("old 3"),
      details: {
        first_replaced: "3",
        last_final: "5",
        fork: "2",
        scanned: hashOf("old 3"),
        on_chain: hashOf("new 3"),
      },
    });
    expect(await readHalt(db, 2)).toBe("all");
    await end(breach?.id);
    await poll();
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 8"));
    expect((await deposits()).filter(([, , onChain]) => onChain)).toHaveLength(8);
    expect(await readHalt(db, 2)).toBe("none");
    // The operator resolved this fork only: the next one stops the scanner again.
    replace(4, ...[4, 5, 6, 7, 8, 9].map((i) => ({ name: `newer ${i}`, pays: [] })));
    await expect(poll()).rejects.toThrow("A final block was orphaned");
  });

  test("scans from its first block again when an operator has ended the breach of a fork below the window [T45, T158]", async () => {
    const { add, replace, setFinal, poll, deposits, cursor } = await openScanner();
    const { db } = database;
    setFinal(6n);
    for (let i = 1; i <= 8; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    await db.deleteFrom("scanner_blocks").where("number", "<=", 4n).execute();
    replace(3, ...[3, 4, 5, 6, 7, 8, 9].map((i) => ({ name: `new ${i}`, pays: [`pay ${i}`] })));
    await expect(poll()).rejects.toThrow("A final block was orphaned");
    const [breach] = await listBreaches(db);
    expect(breach).toMatchObject({ verdict: "final_block_replaced", subject: hashOf("old 5") });
    await end(breach?.id);
    for (let again = 0; again < 4; again += 1) await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 9"));
    // Each payment counts once, wherever it was first.
    expect((await deposits()).filter(([, , onChain]) => onChain)).toHaveLength(9);
  });

  test("opens no breach when one answer names another final block, or the node is behind it [T45, T158]", async () => {
    const { add, replace, setFinal, poll, cursor, pretendLength } = await openScanner();
    setFinal(5n);
    for (let i = 1; i <= 5; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    replace(3, ...[3, 4, 5, 6].map((i) => ({ name: `new ${i}`, pays: [] })));
    setFinal(4n);
    await expect(poll()).rejects.toThrow("A final block was orphaned");
    expect(await listBreaches(database.db)).toEqual([]);
    replace(3, ...[3, 4, 5].map((i) => ({ name: `old ${i}`, pays: [`pay ${i}`] })));
    setFinal(5n);
    pretendLength(3);
    await poll();
    expect(await listBreaches(database.db)).toEqual([]);
    expect((await cursor())?.hash).toBe(hashOf("old 5"));
  });

  test("takes no block of an orphaned fork as final, whose server is behind the one that names the final block [T45]", async () => {
    const { add, replace, setFinal, poll, deposits, cursor } = await openScanner();
    for (let i = 1; i <= 5; i++) add(`old ${i}`, `pay ${i}`);
    setFinal(4n, "new 4");
    await poll();
    expect((await cursor())?.number).toBeLessThan(4n);
    replace(3, ...[3, 4, 5, 6].map((i) => ({ name: `new ${i}`, pays: [`pay ${i}`] })));
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 6"));
    expect((await deposits()).filter(([, , onChain]) => onChain)).toHaveLength(6);
  });

  test("asks again for the final block when a node named another one, and is behind meanwhile [T46]", async () => {
    const { add, setFinal, openScan, cursor } = await openScanner();
    for (let i = 1; i <= 5; i++) add(`old ${i}`);
    const onCaughtUp = vi.fn();
    const scan = openScan({ onCaughtUp }, { finalityBlocks: 1_000 });
    setFinal(4n, "a lie");
    while (await scan()) {
      // Polls until it waits.
    }
    expect(onCaughtUp).not.toHaveBeenCalled();
    expect((await cursor())?.number).toBeLessThan(4n);
    setFinal(4n);
    while (await scan()) {
      // Polls until no block is left.
    }
    expect(onCaughtUp).toHaveBeenCalled();
    expect((await cursor())?.number).toBe(5n);
  });

  test("recovers when a block is replaced and its height becomes final during its scan [T45]", async () => {
    const { add, replace, setFinal, during, poll, cursor } = await openScanner();
    for (let i = 1; i <= 5; i++) add(`old ${i}`);
    let left = 6;
    during(() => {
      left -= 1;
      if (left > 0) return;
      replace(5, ...[5, 6].map((i) => ({ name: `new ${i}`, pays: [] })));
      setFinal(6n);
    });
    await poll();
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 6"));
  });

  test("recovers from a reorg during an outage that is final by now [T44]", async () => {
    const { add, replace, setFinal, poll, deposits, cursor } = await openScanner();
    for (let i = 1; i <= 5; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    replace(3, ...[3, 4, 5, 6, 7].map((i) => ({ name: `new ${i}`, pays: [`pay ${i}`] })));
    setFinal(7n);
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 7"));
    expect((await deposits()).filter(([, , onChain]) => onChain)).toHaveLength(7);
  });

  test("records no outflows of foreign wallets", async () => {
    const { add, refund, poll, wallet } = await openScanner();
    add("block 1", "pay 1");
    add("block 2");
    refund((block) => (block === 2n ? [wallet, PAYER] : []));
    await poll();
    const rows = await database.db.selectFrom("outflows").select(["wallet", "kind"]).execute();
    expect(rows).toEqual([{ wallet, kind: "refunded" }]);
  });

  test("announces a refund in its block and when that block is final, not while it may be orphaned [T275]", async () => {
    const { add, replace, refund, setFinal, poll, wallet } = await openScanner();
    const seen = async () => {
      const rows = await database.db
        .selectFrom("events")
        .select(["type", "data"])
        .where("type", "like", "refund%")
        .orderBy("created_at")
        .execute();
      return rows.map(({ type, data }) => [type, Reflect.get(Object(data), "blockNumber")]);
    };
    for (let i = 1; i <= 3; i++) add(`block ${i}`, `pay ${i}`);
    refund((block) => (block >= 2n && block <= 3n ? [wallet] : []));
    await poll();
    const detected = [
      ["refund_detected", 2],
      ["refund_detected", 3],
    ];
    expect(await seen()).toEqual(detected);
    replace(3, { name: "other 3", pays: ["pay 3"] }, { name: "other 4", pays: [] });
    refund((block) => (block === 2n ? [wallet] : []));
    setFinal(1n);
    await poll();
    expect(await seen()).toEqual(detected);
    add("block 5");
    setFinal(4n);
    await poll();
    add("block 6");
    setFinal(5n);
    await poll();
    expect(await seen()).toEqual([...detected, ["refund_final", 2]]);
  });

  test("loses no deposit when a reorg happens between two reads [D3, T47]", async () => {
    const { add, replace, betweenReads, poll, deposits, cursor } = await openScanner();
    for (let i = 1; i <= 3; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    add("old 4");
    let isLeft = true;
    betweenReads(() => {
      if (isLeft) replace(3, { name: "new 3", pays: ["other"] }, { name: "new 4", pays: [] });
      isLeft = false;
    });
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 4"));
    expect((await deposits()).filter(([, , onChain]) => onChain).map(([, tx]) => tx)).toEqual(
      ["pay 1", "pay 2", "other"].map(hashOf),
    );
  });

  test("scans no block whose parent is not the cursor [D3]", async () => {
    const { add, replace, poll, deposits, cursor } = await openScanner();
    add("a", "pay 1");
    await poll();
    replace(1, { name: "b", pays: [] }, { name: "c", pays: ["pay 1"] });
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("c"));
    expect(await deposits()).toEqual([[2, hashOf("pay 1"), true]]);
  });
});

/** Sections that hold a few blocks. */
const SMALL: Pace = {
  blocksMin: 1,
  blocksMax: 4,
  finalBlocksMax: 7,
  finalMargin: 2n,
  finalityBlocks: 3,
  idlePolls: 1,
  behindMs: -Infinity,
};

describe("sections", () => {
  const PAID = [1, 5, 6, 7, 20, 31, 32, 33, 39, 40];

  async function openLongChain() {
    const scanner = await openScanner();
    for (let at = 1; at <= 40; at++) {
      scanner.add(`block ${at}`, ...(PAID.includes(at) ? [`pay ${at}`] : []));
    }
    scanner.setFinal(30n);
    return scanner;
  }

  const heightsOf = async ({ deposits }: { deposits: () => Promise<unknown[][]> }) =>
    (await deposits()).filter(([, , onChain]) => onChain).map(([height]) => height);

  test("record every deposit once, of final and of new blocks [D1, D4]", async () => {
    const scanner = await openLongChain();
    await scanner.pollInSections();
    await scanner.pollInSections();
    expect(await heightsOf(scanner)).toEqual(PAID);
    expect((await scanner.cursor())?.number).toBe(40n);
    expect(await scanner.events()).toHaveLength(PAID.length);
  });

  test("leave out final blocks in which nothing happened, and no other", async () => {
    const scanner = await openLongChain();
    await scanner.pollInSections();
    const rows = await database.db.selectFrom("scanner_blocks").select("number").execute();
    const heights = rows.map(({ number }) => Number(number)).sort((one, other) => one - other);
    expect(heights.filter((at) => at >= 30)).toEqual([30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]);
    expect(heights.length).toBeLessThan(25);
    for (const at of PAID) expect(heights).toContain(at);
  });

  test.each(["scan.arrived", "scan.pushed"])(
    "lose nothing when the process ends at each %s [T52, D1]",
    async (point) => {
      const scanner = await openLongChain();
      const crashPoint = (name: string) => {
        if (name === point) throw new Error("the process ends");
      };
      for (let lives = 0; lives < PAID.length + 1; lives++) {
        await scanner.pollInSections({ crashPoint }).catch(() => undefined);
        const number = (await scanner.cursor())?.number ?? 0n;
        const recorded = await heightsOf(scanner);
        // Nothing below the cursor is missing, whenever the process ended.
        expect(recorded).toEqual(expect.arrayContaining(PAID.filter((at) => BigInt(at) <= number)));
      }
      await scanner.pollInSections();
      expect(await heightsOf(scanner)).toEqual(PAID);
    },
  );

  test("follow a reorg of twenty blocks in their middle [T44]", async () => {
    const scanner = await openLongChain();
    scanner.setFinal(12n);
    await scanner.pollInSections();
    scanner.replace(
      21,
      ...Array.from({ length: 30 }, (_, index) => ({
        name: `new ${21 + index}`,
        pays: index === 25 ? ["pay 40", "pay new"] : [],
      })),
    );
    await scanner.pollInSections();
    expect(await heightsOf(scanner)).toEqual([1, 5, 6, 7, 20, 46, 46]);
    expect((await scanner.cursor())?.hash).toBe(hashOf("new 50"));
  });

  test("follow a reorg between the read of a section and its record [T44]", async () => {
    const scanner = await openLongChain();
    scanner.setFinal(12n);
    scanner.beforeRecord(async () => {
      scanner.replace(
        14,
        ...Array.from({ length: 30 }, (_, index) => ({
          name: `new ${14 + index}`,
          pays: index === 3 ? ["pay new"] : [],
        })),
      );
    });
    await scanner.pollInSections();
    expect(await heightsOf(scanner)).toEqual([1, 5, 6, 7, 17]);
    expect((await scanner.cursor())?.hash).toBe(hashOf("new 43"));
  });
});

describe("a scanner that wakes after it lost its role", () => {
  test("keeps the blocks and outflows of the other scanner", async () => {
    const { add, replace, refund, afterTip, poll, wallet, cursor } = await openScanner();
    for (let i = 1; i <= 3; i++) add(`old ${i}`, `pay ${i}`);
    await poll();
    replace(2, ...[2, 3, 4, 5].map((i) => ({ name: `new ${i}`, pays: [`pay ${i}`] })));
    refund((block) => (block === 4n ? [wallet] : []));
    afterTip(poll);
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("new 5"));
    expect(await database.db.selectFrom("outflows").select("wallet").execute()).toEqual([
      { wallet },
    ]);
  });

  test("does not move a deposit to a block that is not next", async () => {
    const { add, replace, beforeRecord, poll, deposits } = await openScanner();
    add("a");
    await poll();
    add("old 2", "pay");
    beforeRecord(async () => {
      replace(2, { name: "new 2", pays: ["pay"] }, { name: "new 3", pays: [] });
      await poll();
    });
    await poll();
    const [row] = await database.db.selectFrom("deposits").selectAll().execute();
    expect(row?.block_hash).toBe(hashOf("new 2"));
    expect(await deposits()).toEqual([[2, hashOf("pay"), true]]);
  });

  test("does not move the cursor to a block whose deposits the other scanner moved", async () => {
    const { add, replace, beforePush, poll, pollAndCrash, deposits, cursor } = await openScanner();
    add("a");
    await poll();
    add("b", "pay");
    beforePush(async () => {
      replace(2, { name: "c", pays: ["pay"] });
      await pollAndCrash();
      replace(2, { name: "b", pays: ["pay"] });
    });
    await poll();
    expect((await cursor())?.hash).toBe(hashOf("b"));
    expect(await deposits()).toEqual([[2, hashOf("pay"), true]]);
  });
});
