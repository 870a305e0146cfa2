/** A full node with witnesses: liars of each kind, lag and dead nodes. */
import { describe, expect, test } from "vitest";
import { createKeepingLog, silentLog } from "../../test/support/doubles.ts";
import {
  createDeadNode,
  createHonestNode,
  createLiar,
  createQuickClock,
  FINAL,
  hashAt,
  HEAD,
  MINED,
  SECTION,
  TOKEN,
  LOCK,
  UNKNOWN_ID,
  WALLET,
} from "../../test/support/quorum-doubles.ts";
import { type Address, toTxHash } from "../core/hex.ts";
import type { BlockId, ScannedBlock, Section, Transfer } from "./port/index.ts";
import { type ChainAtBlocks, createQuorumChain } from "./quorum.ts";
import { createWitnessedChain, type WitnessedNode } from "./witnessed.ts";

/** Returns a node that confirms the transfers that its own sections show. */
function withReceipts(chain: ChainAtBlocks): WitnessedNode {
  return {
    ...chain,
    listBlocks: (numbers) => Promise.all(numbers.map((number) => chain.getBlock(number))),
    async listConfirmed(block, transfers) {
      const own = await chain.readSection({ ...SECTION, after: block.number - 1n, max: 1 });
      const shown = own?.blocks.flatMap((one) => one.transfers.map(keyOf)) ?? [];
      return transfers.filter((transfer) => shown.includes(keyOf(transfer)));
    },
  };
}

const keyOf = ({ txHash, logIndex, to, amount }: Transfer) => [txHash, logIndex, to, amount].join();

const honest = () => withReceipts(createHonestNode());
const behind = (blocks: bigint) =>
  withReceipts(createHonestNode({ head: HEAD - blocks, final: FINAL }));
const dead = () => withReceipts(createDeadNode());

function open(
  full: WitnessedNode,
  witnesses: readonly WitnessedNode[],
  { required = 2, log = silentLog, reads = [] as bigint[] } = {},
) {
  const counted: WitnessedNode = {
    ...full,
    readSection(request) {
      reads.push(request.after);
      return full.readSection(request);
    },
  };
  return createWitnessedChain(counted, {
    nodes: [
      { role: "full", chain: counted },
      ...witnesses.map((chain) => ({ role: "witness" as const, chain })),
    ],
    required,
    clock: createQuickClock(),
    log,
  });
}

/** Returns a full node whose sections have another form. */
function showing(change: (block: ScannedBlock) => ScannedBlock): WitnessedNode {
  return withReceipts(
    createLiar((answer, method) => {
      if (method !== "readSection" || answer === null) return answer;
      // CAST: the answer of an honest node.
      const section = answer as Section;
      const blocks = section.blocks.map(change);
      return { parentHash: blocks[0]?.parentHash ?? section.parentHash, blocks };
    }),
  );
}

const INVENTED = toTxHash(`0x${"ee".repeat(32)}`);

/** Adds a deposit to a block that it does not have. */
function withInvented(block: ScannedBlock): ScannedBlock {
  const [first] = block.transfers;
  if (!first) throw new Error("expected a transfer");
  return { ...block, transfers: [...block.transfers, { ...first, txHash: INVENTED }] };
}

const numbersOf = (section: Section | null) => section?.blocks.map(({ number }) => number);
const readNew = (chain: ChainAtBlocks) => chain.readSection({ ...SECTION, after: HEAD - 3n });
const BLOCKS = [HEAD - 2n, HEAD - 1n, HEAD];

describe("a section counts", () => {
  test("as the full node shows it when a witness confirms it, though another is dead [T49]", async () => {
    const section = await readNew(open(honest(), [honest(), dead()]));
    expect(section).toEqual(await readNew(createHonestNode()));
    expect(numbersOf(section)).toEqual(BLOCKS);
  });

  test("not without an answer of a witness [T49]", async () => {
    await expect(readNew(open(honest(), [dead(), dead()]))).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });

  test("up to where the witnesses are, whose lag costs the full node no second read [T47]", async () => {
    const view = { head: HEAD - 1n, final: FINAL };
    const reads: bigint[] = [];
    const late = [withReceipts(createHonestNode(view)), withReceipts(createHonestNode(view))];
    const chain = open(honest(), late, { reads });
    expect(numbersOf(await readNew(chain))).toEqual([HEAD - 2n, HEAD - 1n]);
    const next = { ...SECTION, after: HEAD - 1n };
    expect(await chain.readSection(next)).toBeNull();
    expect(await chain.readSection(next)).toBeNull();
    view.head = HEAD;
    expect(numbersOf(await chain.readSection(next))).toEqual([HEAD]);
    expect(reads).toEqual([HEAD - 3n]);
  });

  test("not while all witnesses lack its first block, and no error is thrown [T47]", async () => {
    expect(await readNew(open(honest(), [behind(3n), behind(9n)]))).toBeNull();
  });

  test("at its quorum: of three nodes all, if so configured", async () => {
    const chain = open(honest(), [honest(), behind(1n)], { required: 3 });
    expect(numbersOf(await readNew(chain))).toEqual([HEAD - 2n, HEAD - 1n]);
  });
});

test("held blocks that were orphaned meanwhile are read again [T44]", async () => {
  let isOrphan = true;
  let isLate = true;
  const full = withReceipts(
    createLiar((answer, method) => {
      if (method !== "readSection" || !isOrphan || answer === null) return answer;
      // CAST: the answer of an honest node.
      const section = answer as Section;
      return {
        ...section,
        blocks: section.blocks.map((block) => ({ ...block, hash: UNKNOWN_ID })),
      };
    }),
  );
  const witness: WitnessedNode = {
    ...honest(),
    listBlocks: (numbers) =>
      isLate ? Promise.resolve(numbers.map(() => null)) : honest().listBlocks(numbers),
  };
  const reads: bigint[] = [];
  const chain = open(full, [witness, witness], { reads });
  expect(await readNew(chain)).toBeNull();
  [isOrphan, isLate] = [false, false];
  await expect(readNew(chain)).rejects.toMatchObject({
    details: { reason: "block not confirmed" },
  });
  expect(numbersOf(await readNew(chain))).toEqual(BLOCKS);
  expect(reads).toHaveLength(2);
});

test("two full nodes must agree beside one witness of three [D5]", async () => {
  const options = { clock: createQuickClock(), log: silentLog };
  const openTwo = (second: WitnessedNode) => {
    const full = [honest(), second] as const;
    const witnesses = [honest(), dead(), dead()];
    return createWitnessedChain(createQuorumChain(full, { ...options, required: 2 }), {
      ...options,
      required: 3,
      nodes: [
        ...full.map((chain) => ({ role: "full" as const, chain })),
        ...witnesses.map((chain) => ({ role: "witness" as const, chain })),
      ],
    });
  };
  expect(numbersOf(await readNew(openTwo(honest())))).toEqual(BLOCKS);
  const hides = showing((block) => ({ ...block, transfers: [] }));
  await expect(readNew(openTwo(hides))).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
});

describe("a full node that lies", () => {
  test("about its fork is not believed, and the error names the block [T44]", async () => {
    const fork = showing((block) =>
      block.number < HEAD - 1n ? block : { ...block, hash: UNKNOWN_ID },
    );
    const chain = open(fork, [honest(), honest()]);
    expect(numbersOf(await readNew(chain))).toEqual([HEAD - 2n]);
    await expect(chain.readSection({ ...SECTION, after: HEAD - 2n })).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason: "block not confirmed", block: (HEAD - 1n).toString() },
    });
  });

  test("about a parent is not believed [T44]", async () => {
    const fork = showing((block) => ({ ...block, parentHash: UNKNOWN_ID }));
    await expect(readNew(open(fork, [honest(), honest()]))).rejects.toMatchObject({
      details: { reason: "block not confirmed" },
    });
  });

  test.each([false, true])(
    "invents no deposit: the section ends before it (final: %s) [T48]",
    async (isFinal) => {
      const liar = showing((block) => (block.number === FINAL - 1n ? withInvented(block) : block));
      const { log, lines } = createKeepingLog();
      const chain = open(liar, [honest(), honest()], { log });
      const request = { ...SECTION, isFinal, max: 3 };
      const section = await chain.readSection({ ...request, after: FINAL - 3n });
      expect(numbersOf(section)).toEqual([FINAL - 2n]);
      await expect(chain.readSection({ ...request, after: FINAL - 2n })).rejects.toMatchObject({
        code: "RPC_UNAVAILABLE",
        details: {
          reason: "transfer not confirmed",
          block: (FINAL - 1n).toString(),
          transactions: INVENTED,
        },
      });
      expect(lines).toMatchObject([{ msg: "a node answers otherwise than the others", node: 0 }]);
    },
  );

  test("changes no amount [T48]", async () => {
    const liar = showing((block) => ({
      ...block,
      transfers: block.transfers.map((transfer) => ({ ...transfer, amount: 1_000n })),
    }));
    await expect(readNew(open(liar, [honest(), honest()]))).rejects.toMatchObject({
      details: { reason: "transfer not confirmed", transactions: MINED },
    });
  });

  test("hides no block: the next section begins where it stopped [T48]", async () => {
    let hides = true;
    const liar = withReceipts(
      createLiar((answer, method) => (hides && method === "readSection" ? null : answer)),
    );
    const chain = open(liar, [honest(), honest()]);
    expect(await readNew(chain)).toBeNull();
    // The lag shows: the head is that of all nodes.
    expect((await chain.getHead()).number).toBe(HEAD);
    hides = false;
    expect(numbersOf(await readNew(chain))).toEqual(BLOCKS);
  });

  test("names no final height that the witnesses have not reached [T46]", async () => {
    const liar = withReceipts(
      createLiar((answer, method) =>
        method === "getFinalBlock" ? { number: HEAD, hash: hashAt(HEAD) } : answer,
      ),
    );
    expect(await open(liar, [honest(), honest()]).getFinalNumber()).toBe(FINAL);
  });

  test("invents no balance of native coin [T48]", async () => {
    const liar = withReceipts(
      createLiar((answer, method) => (method === "listNativeBalances" ? [1_000_000n] : answer)),
    );
    const { balances, getBlock } = open(liar, [honest(), honest()]);
    const block = await getBlock(FINAL);
    if (!block) throw new Error("expected the block");
    expect(await balances.confirmNativeBalances?.(block, [WALLET])).toEqual([FINAL]);
  });
});

describe("a witness that lies", () => {
  const liar = (): WitnessedNode => ({
    ...honest(),
    listBlocks: async (numbers) =>
      numbers.map((number) => ({ number, hash: UNKNOWN_ID, parentHash: UNKNOWN_ID })),
    listConfirmed: async () => [],
  });

  test("together with another denies a deposit, which does not count [T48]", async () => {
    const denies = (): WitnessedNode => ({ ...honest(), listConfirmed: async () => [] });
    await expect(readNew(open(honest(), [denies(), denies()]))).rejects.toMatchObject({
      details: { reason: "transfer not confirmed", transactions: MINED },
    });
  });

  test("alone changes nothing, and is logged by its position [T48]", async () => {
    const { log, lines } = createKeepingLog();
    const section = await readNew(open(honest(), [liar(), honest()], { log }));
    expect(numbersOf(section)).toEqual(BLOCKS);
    await createQuickClock().sleep();
    expect(lines).toMatchObject([{ msg: "a node answers otherwise than the others", node: 1 }]);
  });

  test("beside a dead one stops the scanner, and nothing is recorded [T49]", async () => {
    await expect(readNew(open(honest(), [liar(), dead()]))).rejects.toMatchObject({
      details: { reason: "block not confirmed" },
    });
  });
});

test("state for money is read from the full node only [D5]", async () => {
  const unasked = (): WitnessedNode => ({
    ...honest(),
    getBalance: () => Promise.reject(new Error("a witness was asked")),
    getReceipt: () => Promise.reject(new Error("a witness was asked")),
    getLock: () => Promise.reject(new Error("a witness was asked")),
  });
  const chain = open(honest(), [unasked(), unasked()]);
  expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
  expect(await chain.getReceipt(MINED)).toMatchObject({ blockNumber: HEAD });
  expect(await chain.getLock({ ...LOCK, commitment: UNKNOWN_ID }, "final")).toBeNull();
});

test("only transfers to our wallets are confirmed", async () => {
  const asked: BlockId[] = [];
  const witness: WitnessedNode = {
    ...honest(),
    async listConfirmed(block, transfers) {
      asked.push(block);
      return transfers;
    },
  };
  const chain = open(honest(), [witness, witness]);
  const none = { ...SECTION, choose: async () => new Set<Address>() };
  expect(numbersOf(await chain.readSection({ ...none, after: HEAD - 3n }))).toEqual(BLOCKS);
  expect(asked).toEqual([]);
});
