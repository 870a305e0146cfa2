/**
 * Blocks of Solana's clusters, read through the adapter from a node that replays recorded answers. The expected values were
 * taken from the files by other means.
 */
import {
  getBlockAfter,
  listNativeTransfers,
  listTransfers,
} from "../../../test/support/read-block.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";
import { readAnswer } from "../../../test/recorded/recording.ts";
import {
  readRecordedBlock,
  type RecordedBlock,
  replayBlock,
} from "../../../test/recorded/solana-recording.ts";
import { createStillClock, silentLog } from "../../../test/support/doubles.ts";
import { solana } from "../../config/presets/index.ts";
import { toHex32, toSolanaAddress } from "../../core/hex.ts";
import type { ChainReader } from "../port/index.ts";
import { parseHistory, parseTransaction } from "./answers.ts";
import { fromBase58, toBase58, toSignature } from "./base58.ts";
import { createNode, HISTORY_PAGE } from "./node.ts";
import { createQuorum } from "./quorum.ts";
import { createReader } from "./reader.ts";

const TOKENS = solana.tokens
  .filter(({ address }) => address !== "native")
  .map(({ address }) => fromBase58(address));
const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const OWNER = "5p8qKVyKthA9DUb1rwQDzjcmTkaZdwN97J3LiaEywUjd";
const USDT = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB";

/** An account that no recorded transaction names. */
const OURS = toSolanaAddress(`0x${"0a".repeat(32)}`);
let node: MalformedNode;
/** Made for each read, because it keeps the blocks that it read. */
let connect: () => ChainReader;

beforeAll(async () => {
  node = await startMalformedNode();
  connect = () => {
    const clock = createStillClock();
    const genesisHash = toHex32(fromBase58(solana.genesis.hash));
    const options = { chainId: 1, required: 1, clock, log: silentLog };
    const one = createNode({ ...options, rpcUrl: node.rpcUrl, timeoutMs: 10_000, genesisHash });
    return createReader(createQuorum([one], options), {
      chainId: 1,
      findMintFacts: () => undefined,
      levels: { detectAt: "finalized", walkAt: "finalized" },
      accounts: { binding: OURS, escrow: OURS, delivery: OURS, treasury: OURS, feePayers: [] },
    });
  };
});
afterAll(() => node.stop());

/** Reads the recorded block as the scanner does: the block, its tokens' transfers, and its payments of SOL. */
async function scan(recorded: RecordedBlock) {
  node.answer(replayBlock(recorded, solana.genesis.hash));
  const reader = connect();
  const block = await getBlockAfter(reader, BigInt(recorded.parentSlot));
  if (!block) throw new Error("expected a block");
  return {
    block,
    transfers: await listTransfers(reader, block, TOKENS),
    payments: await listNativeTransfers(reader, block, async (payees) => new Set(payees)),
  };
}

describe("a recorded block", () => {
  test.each([
    ["of votes", "testnet-147078735", 147_078_735n],
    ["with accounts of lookup tables", "154808473", 154_808_473n],
    ["with a closed token account", "195545750", 195_545_750n],
    ["with a failed transaction", "241043141", 241_043_141n],
  ])("%s is read", async (_what, name, slot) => {
    const recorded = readRecordedBlock(name);
    const { block } = await scan(recorded);
    expect(block.number).toBe(slot);
    expect(toBase58(block.hash)).toBe(recorded.blockhash);
    expect(toBase58(block.parentHash)).toBe(recorded.previousBlockhash);
  });

  test("of votes pays nothing, although fees change balances", async () => {
    const recorded = readRecordedBlock("testnet-147078735");
    const { transfers, payments } = await scan(recorded);
    expect(recorded.transactions.length).toBe(25);
    expect([...transfers, ...payments]).toEqual([]);
  });

  test("lists the total that each owner received, by lookup tables too", async () => {
    const recorded = readRecordedBlock("154808473");
    const { transfers, payments } = await scan(recorded);
    const received = transfers.map(({ token, from, to, amount }) => [
      toBase58(token),
      toBase58(from),
      toBase58(to),
      amount,
    ]);
    const loser = "HaNqpJUQeH2t6SB3tDJAtKV52fJM9rV1mGZrRrqMRZo1";
    const pool = "5C1k9yV7y4CjMnKv8eGYDgWND8P89Pdfj79Trk2qmfGo";
    const other = "3qgS5KYBTFJ6Lt8GujDEQLcgfLPSnFZ5VFMrxoes7rXs";
    expect(received.toSorted((one, two) => Number(one[3]) - Number(two[3]))).toEqual([
      [USDC, loser, other, 11_143n],
      [USDT, pool, other, 11_149n],
      [USDC, loser, pool, 11_594n],
      [USDC, loser, "9RuqAN42PTUi9ya59k9suGATrkqzvb9gk2QABJtQzGP5", 53_517n],
      [USDC, loser, "9ou4qq7RhycWHGS8XkgQwUS1qyWHrbz7ZoCKdm9o23vy", 22_364_264n],
    ]);
    const [first] = recorded.transactions;
    const [id] = new Set(transfers.map(({ txHash }) => toSignature(txHash)));
    expect(id).toBe(first?.transaction.signatures[0]);
    expect(payments).toEqual([]);
  });

  test("pays SOL, but not for a token account of wrapped SOL", async () => {
    const { transfers, payments } = await scan(readRecordedBlock("195545750"));
    expect(transfers).toEqual([]);
    expect(payments).toMatchObject([{ amount: 129_096_023n, ordinal: 0 }]);
    expect(payments.map(({ to }) => toBase58(to))).toEqual([
      "DxCsN4jatqeTW2pj6fR55TrNqoCcoo8UNAy8xosheeVf",
    ]);
  });

  test("pays nothing with a failed transaction", async () => {
    const { transfers, payments } = await scan(readRecordedBlock("241043141"));
    expect([...transfers, ...payments]).toEqual([]);
  });

  test("is refused when token balances have no owner, as in 2021", async () => {
    const recorded = readRecordedBlock("100000000");
    await expect(scan(recorded)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    const mint = /"mint":"(\w+)"/g;
    const owned = JSON.stringify(recorded).replace(mint, `"mint":"$1","owner":"${OWNER}"`);
    expect((await scan(JSON.parse(owned))).block.number).toBe(100_000_000n);
  });
});

describe("a recorded transaction", () => {
  test("of a vote is parsed", () => {
    const answer = readAnswer("solana/testnet-147558327-transaction.json");
    expect(parseTransaction(answer)).toMatchObject({
      slot: 147_558_327n,
      time: 1_661_417_105n,
      succeeded: true,
      feePayer: OWNER,
      cost: 5_000n,
      memos: [],
      tokens: [],
    });
  });

  test("that pays a program is parsed with the changes of all owners", () => {
    const answer = readAnswer("solana/localnet-658-transaction.json");
    const [payer, vault] = [
      "37yGiHAnLvWZUNVwu9esp74YQFqxU1qHCbABkDvRddUQ",
      "9dcAyYG4bawApZocwZSyJBi9Mynf5EuKAJfifXdfkqik",
    ];
    const mint = "CRpcWQYbvZMrpgVJCZrsAASDmw5xX553EYomdMcjDhDT";
    expect(parseTransaction(answer)).toMatchObject({
      slot: 658n,
      succeeded: true,
      feePayer: payer,
      cost: 2_012_000n,
      sol: [
        { account: payer, change: -2_012_000n },
        { account: vault, change: 2_000_000n },
      ],
      tokens: [
        { owner: payer, mint, change: -12_000_000n },
        { owner: vault, mint, change: 12_000_000n },
      ],
    });
  });
});

test("a recorded page of a history is parsed", () => {
  const page = parseHistory(readAnswer("solana/83994671-history.json"));
  expect(page.length).toBe(HISTORY_PAGE);
  expect(page[0]).toMatchObject({ slot: 83_994_671n, succeeded: true, memo: null });
  expect(page.at(-1)).toMatchObject({ slot: 83_734_637n });
  expect(page.filter(({ succeeded }) => !succeeded).length).toBe(31);
});
