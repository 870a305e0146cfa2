/**
 * Recorded transactions of Solana's clusters through a stand-in of the published protocol: a block that was put together from
 * the stream has the digest of the same block from `getBlock`.
 */
import { startYellowstoneStandIn } from "@sluice/sandbox/yellowstone";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MalformedNode, startMalformedNode } from "../../../../test/evm/malformed-node.ts";
import {
  readRecordedBlock,
  type RecordedBlock,
  toAccountsDetail,
  toPlainJson,
} from "../../../../test/recorded/solana-recording.ts";
import { startWatchedStream } from "../../../../test/support/block-streams.ts";
import { decodeBlock, expectRead } from "../block-decoder.ts";
import { plainBody } from "../../../../test/support/bodies.ts";

const KEYS = {
  authority: "5p8qKVyKthA9DUb1rwQDzjcmTkaZdwN97J3LiaEywUjd",
  voteAccount: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
  payee: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  voteProgram: "Vote111111111111111111111111111111111111111",
} as const;

let node: MalformedNode;

beforeAll(async () => {
  node = await startMalformedNode();
});
afterAll(() => node.stop());

/** Returns a block as the stream and as `getBlock` bring it. */
async function readBoth(block: RecordedBlock, compress: boolean) {
  const parent = block.parentSlot;
  const slot = parent + 1;
  let newest = parent;
  node.answer(({ method }) => {
    if (method === "getSlot") return { result: newest };
    if (method === "getBlocks") return { result: newest === parent ? [] : [slot] };
    return { result: { ...block, transactions: block.transactions.map(toPlainJson) } };
  });
  const server = await startYellowstoneStandIn({ upstream: node.rpcUrl, compress });
  const stream = startWatchedStream({ url: server.url });
  await server.subscribed();
  newest = slot;
  await stream.reached(BigInt(slot));
  const streamed = await stream.find(BigInt(slot), 0);
  await stream.stop();
  await server.close();
  const requested = JSON.stringify({
    result: { ...block, transactions: block.transactions.map(toAccountsDetail) },
  });
  // CAST: the decoded answer of a node.
  const answer = decodeBlock(BigInt(slot), plainBody(requested)) as { result: unknown };
  return { streamed, requested: expectRead(answer.result) };
}

const NAMES = ["154808473", "195545750", "241043141", "testnet-147078735"];
/** A vote account's withdrawal: nodes mark it as a vote, because its only instruction is of the vote program. */
const WITHDRAWAL = {
  version: "legacy",
  transaction: {
    signatures: ["1".repeat(64)],
    message: {
      header: {
        numRequiredSignatures: 1,
        numReadonlySignedAccounts: 0,
        numReadonlyUnsignedAccounts: 1,
      },
      accountKeys: [KEYS.authority, KEYS.voteAccount, KEYS.payee, KEYS.voteProgram],
      recentBlockhash: KEYS.authority,
      instructions: [{ programIdIndex: 3, accounts: [1, 2, 0], data: "3" }],
    },
  },
  meta: {
    err: null,
    fee: 5_000,
    preBalances: [1_000_000, 90_000_000, 0, 1],
    postBalances: [995_000, 80_000_000, 10_000_000, 1],
    preTokenBalances: [],
    postTokenBalances: [],
  },
};

describe.each([false, true])("with compression %s", (compress) => {
  test.each(NAMES)("recorded block %s is the same from the stream", async (name) => {
    const { streamed, requested } = await readBoth(readRecordedBlock(name), compress);
    expect(streamed).toMatchObject({ kind: "block", read: requested });
  });

  test("a block of all recorded transactions is the same from the stream", async () => {
    const [first, ...others] = NAMES.map(readRecordedBlock);
    if (!first) throw new Error("there are recorded blocks");
    const transactions = [first, ...others].flatMap((block) => block.transactions);
    const { streamed, requested } = await readBoth({ ...first, transactions }, compress);
    expect(requested.block.count).toBe(28);
    expect(requested.block.transactions.length).toBeGreaterThan(1);
    expect(streamed).toMatchObject({ kind: "block", read: requested });
  });
});

test("a payment out of a vote account, which nodes mark as a vote, is in the stream", async () => {
  const block = readRecordedBlock("154808473");
  const transactions = [...block.transactions, WITHDRAWAL];
  const { streamed, requested } = await readBoth({ ...block, transactions }, false);
  const paid = { account: KEYS.payee, change: 10_000_000n };
  expect(requested.block.transactions.at(-1)?.sol).toContainEqual(paid);
  expect(streamed).toMatchObject({ kind: "block", read: requested });
});
