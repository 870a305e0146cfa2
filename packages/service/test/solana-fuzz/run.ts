/**
 * The Solana reader on a chain that skips, forks and drops, over nodes that hide blocks: credits less sweeps always equal
 * the balances of the vaults, to the unit. Where blocks are read before they are final, credits of orphaned blocks are
 * removed, and the sums are exact after every scan.
 */
import { getTransferSolInstruction } from "@solana-program/system";
import {
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import { createNoopSigner, type Instruction, lamports } from "@solana/kit";
import type { BlockRef, Chain } from "../../src/chains/port/index.ts";
import { toBase58 } from "../../src/chains/solana/base58.ts";
import { associatedAccountOf, TOKEN_PROGRAMS } from "../../src/chains/solana/derived-accounts.ts";
import { compileMessage, decodeTransaction } from "../../src/chains/solana/transaction.ts";
import { assert } from "../../src/core/assert.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { type Address, NATIVE_SOL, type TxHash } from "../../src/core/hex.ts";
import { type FaultyStream, openFaultyStream } from "./faulty-stream.ts";
import { type TamperingProxy, startTamperingProxy } from "../support/tampering-proxy.ts";
import { commitmentOf } from "../support/solana-svm.ts";
import { createQuickClock } from "../support/quorum-doubles.ts";
import { type SolanaWorld, startSolanaWorld } from "../support/solana-world.ts";

/**
 * The nodes: honest ones and one that hides at random, the same with one that always hides the same, or a liar alone, with
 * or without a stream that loses messages and connections.
 */
export type Nodes = "mixed" | "persistent" | "alone" | "streamed";

/** Commitment level of the blocks that are read. */
export type Level = "confirmed" | "finalized";

export interface FuzzResult {
  readonly deposits: number;
  readonly credits: number;
  readonly sweeps: number;
  readonly expired: number;
  readonly forks: number;
  readonly skips: number;
  /** Blocks that were read and later orphaned. */
  readonly orphans: number;
  /** Scans that failed and were repeated. */
  readonly retries: number;
  /** Blocks from a stream. */
  readonly streamed: number;
}

const VAULTS = 4;
const HIDDEN_EVERY = 7;
/** Most scans in a row while nodes give no answer. */
const TRIES_MAX = 20;
/** Blocks above the final one in the sandbox. */
const FINAL_LAG = 32;
const SOL_AMOUNT = 2_000_000n;

/** Runs the fuzz; throws when the sums are not exact. */
export async function runFuzz({
  seed,
  rounds,
  nodes,
  level = "finalized",
}: {
  readonly seed: number;
  readonly rounds: number;
  readonly nodes: Nodes;
  readonly level?: Level;
}): Promise<FuzzResult> {
  const random = createRandom(seed);
  const world = await startSolanaWorld();
  const liars = await Promise.all(
    [world.sandbox.url, world.sandbox.url].map((url) => startTamperingProxy(url)),
  );
  // A generator of its own, so that the chain's events do not depend on the number of requests.
  const hides = createRandom(seed + 1);
  for (const liar of liars) hide(liar, nodes === "persistent" ? () => false : hides);
  const [one = world.sandbox.url, other = world.sandbox.url] = liars.map(({ url }) => url);
  const { url } = world.sandbox;
  const clock = createQuickClock();
  const stream =
    nodes === "streamed" ? await openFaultyStream(url, level, createRandom(seed + 2)) : undefined;
  const seen = { seenAt: level, clock, streams: stream ? [stream.stream] : [] };
  const chain =
    nodes === "alone" || nodes === "streamed"
      ? world.connect([one], 1, seen)
      : world.connect([one, url, other, url, url], 3, seen);
  try {
    return await play({ world, chain, clock, level, random, rounds, stream });
  } finally {
    await stream?.close();
    await Promise.all(liars.map((liar) => liar.close()));
    await world.close();
  }
}

export type Random = (chance: number) => boolean;

async function play({
  world,
  chain,
  clock,
  level,
  random,
  rounds,
  stream,
}: {
  readonly world: SolanaWorld;
  readonly stream: FaultyStream | undefined;
  readonly chain: Chain;
  readonly clock: ReturnType<typeof createQuickClock>;
  readonly level: Level;
  readonly random: Random;
  readonly rounds: number;
}): Promise<FuzzResult> {
  const { sandbox, usdc, deployment } = world;
  const withFee = await world.createMint(
    { program: "token-2022", decimals: 6, hasTransferFee: true },
    { decimals: 6, transferFee: { basisPoints: 100, maximum: 10n ** 9n } },
  );
  const tokens = [usdc, withFee];
  const payer = deployment.facts.feePayer;
  for (const token of tokens) await world.give(token, payer, 10n ** 12n);
  const commitments = Array.from({ length: VAULTS }, (_, index) => commitmentOf(index + 1));
  const vaults = await Promise.all(commitments.map((commitment) => world.issue(commitment)));
  await world.finalize();

  const counts = {
    deposits: 0,
    credits: 0,
    sweeps: 0,
    expired: 0,
    forks: 0,
    skips: 0,
    orphans: 0,
    retries: 0,
  };
  const sums = new Map<string, bigint>();
  const add = (wallet: Address, token: Address, amount: bigint) =>
    sums.set(`${wallet}:${token}`, (sums.get(`${wallet}:${token}`) ?? 0n) + amount);
  const watched = new Set(vaults);
  /** The chain as an honest node reports it. */
  const truth = world.connect([sandbox.url], 1, { seenAt: level });
  let tip: BlockRef = await world.here.getHead();
  /** Blocks that were read, the newest last, each with its changes. */
  const walked: { readonly block: BlockRef; readonly changes: readonly Change[] }[] = [
    { block: tip, changes: [] },
  ];
  let finalSeen = tip.number;

  const walkNext = async (): Promise<boolean> => {
    const onChain = await chain.getBlock(tip.number);
    if (onChain === null && (await chain.getHead()).number < tip.number) return false;
    if (onChain?.hash !== tip.hash) {
      assert(tip.number > finalSeen, "what is final stays");
      for (const { wallet, token, amount } of walked.pop()?.changes ?? []) {
        add(wallet, token, -amount);
      }
      const below = walked.at(-1);
      assert(below, "there is a way back");
      counts.orphans += 1;
      tip = below.block;
      return true;
    }
    // One read, like the scanner's: the contents come with the block.
    const section = await chain.readSection({
      after: tip.number,
      max: 1,
      isFinal: false,
      isOld: false,
      tokens: [...tokens, NATIVE_SOL],
      choose: async () => watched,
    });
    const next = section?.blocks[0];
    if (!next) return false;
    const final = await chain.getFinalNumber();
    assert(level === "confirmed" || next.number <= final, "only what is final is walked");
    assert(level === "confirmed" || next.parentHash === tip.hash, "no block is passed over");
    if (next.parentHash !== tip.hash) return true;
    const { transfers, outflows } = next;
    const changes: readonly Change[] = [
      ...transfers
        .filter(({ to }) => watched.has(to))
        .map(({ to: wallet, token, amount }) => ({ wallet, token, amount })),
      ...outflows.map(({ wallet, token, amount }) => ({ wallet, token, amount: -amount })),
    ];
    for (const { wallet, token, amount } of changes) {
      if (amount > 0n) counts.credits += 1;
      add(wallet, token, amount);
    }
    walked.push({ block: next, changes });
    tip = next;
    if (final > finalSeen) finalSeen = final < tip.number ? final : tip.number;
    return true;
  };
  const assertExact = async () => {
    for (const vault of vaults) {
      for (const token of [NATIVE_SOL, ...tokens]) {
        const credited = sums.get(`${vault}:${token}`) ?? 0n;
        const held = await truth.findBalance(token, vault);
        assert(credited === held, `what was credited is there: ${credited}, ${held}`);
      }
    }
  };
  const scan = async () => {
    while (await walkNext()) {
      // More blocks may follow.
    }
    // Nothing happens between two scans here, so a scan that reached the tip is complete.
    if (tip.number === (await truth.getHead()).number) await assertExact();
  };
  const scanPatiently = async () => {
    clock.advance(1_000);
    await stream?.follow((await truth.getHead()).number);
    try {
      await scan();
      return true;
    } catch (error) {
      if (!(error instanceof OperatingError) || error.code !== "RPC_UNAVAILABLE") throw error;
      counts.retries += 1;
      return false;
    }
  };

  const post = async (instructions: readonly Instruction[]) => {
    const message = compileMessage({
      instructions,
      feePayer: payer,
      lifetime: await world.here.sequencing.getLifetime(),
      unitLimit: 300_000n + BigInt(counts.deposits),
      unitPrice: 1_000n,
    });
    await world.here.send(await deployment.sign(message));
  };
  const deposit = async (vault: Address) => {
    counts.deposits += 1;
    const sol = getTransferSolInstruction({
      source: createNoopSigner(toBase58(payer)),
      destination: toBase58(vault),
      amount: lamports(SOL_AMOUNT + BigInt(counts.deposits)),
    });
    const parts: Instruction[] = random(0.5) ? [sol] : [];
    for (const token of tokens) {
      if (random(0.4)) parts.push(...(await sendTokens(world, token, vault, 1_000n)));
    }
    // A failure shows every earlier step.
    if (random(0.1)) parts.push({ ...sol, data: Uint8Array.from(sol.data).fill(0xff, 4) });
    await post(parts.length > 0 ? parts : [sol]);
  };

  interface Sweep {
    readonly txHash: TxHash;
    readonly raw: `0x${string}`;
    readonly lastValidHeight: bigint;
  }
  const open = new Map<string, Sweep>();
  const follow = async (key: string, sweep: Sweep) => {
    const { txHash, raw, lastValidHeight } = sweep;
    const blockhash = decodeTransaction(raw).blockhash;
    const isExpired = await world.here.sequencing.isExpired({ blockhash, lastValidHeight });
    const receipt = await world.here.getReceipt(txHash);
    if (receipt === null && isExpired) {
      counts.expired += 1;
      open.delete(key);
    } else if (receipt === null) {
      await world.here.send(raw);
    } else if (receipt.blockNumber <= (await world.here.getFinalNumber())) {
      if (receipt.succeeded) counts.sweeps += 1;
      open.delete(key);
    }
  };
  const sweep = async (isLast: boolean) => {
    for (const [key, one] of open) await follow(key, one);
    for (const [index, vault] of vaults.entries()) {
      for (const token of [NATIVE_SOL, ...tokens]) {
        const key = `${vault}:${token}`;
        if (isLast || open.has(key) || !random(0.3)) continue;
        const held = await world.here.readHolding(token, vault);
        const commitment = commitments[index];
        if (held.amount === 0n || !commitment) continue;
        const call = world.here.wallets.buildRefund(commitment, token, { ...held, reason: null });
        const { raw, lastValidHeight } = await world.sign(call);
        open.set(key, { txHash: world.txHashOf(raw), raw, lastValidHeight });
        await world.here.send(raw);
      }
    }
  };

  /** Blocks above the newest final one. */
  let unfinal = FINAL_LAG;
  for (let round = 0; round < rounds; round += 1) {
    const vault = vaults[round % vaults.length];
    if (vault && random(0.75)) {
      if (random(0.1)) await sandbox.dropNextSends(1);
      await deposit(vault);
    }
    if (random(0.15)) {
      counts.skips += 1;
      await sandbox.skipSlots(random(0.2) ? 90 : 2);
    }
    const ticks = random(0.05) ? 160 : 1;
    await sandbox.tick(ticks);
    unfinal = Math.min(unfinal + ticks, FINAL_LAG);
    const depth = random(0.4) ? 2 : random(0.6) ? 5 : 20;
    // Final blocks are never replaced.
    if (random(0.08) && depth < unfinal) {
      counts.forks += 1;
      await sandbox.fork({ blocks: depth, replay: random(0.5) });
      // A node puts waiting transactions into the next block.
      await sandbox.tick();
      unfinal -= depth - 1;
    }
    if (round % 5 === 0) await sweep(false);
    if (round % 4 === 0 || random(0.3)) {
      for (let tries = 0; tries < TRIES_MAX && !(await scanPatiently()); tries += 1);
    }
  }
  for (let looks = 0; open.size > 0 && looks < 20; looks += 1) {
    await sandbox.tick(40);
    await sweep(true);
  }
  await sandbox.tick(40);
  // A node that seldom answers makes the scan slow, but never stops it.
  for (let looks = 0, before = tip; !(await scanPatiently());) {
    looks = tip === before ? looks + 1 : 0;
    before = tip;
    assert(looks < 1_000, "the scan comes to the tip");
  }
  assert(tip.hash === (await truth.getHead()).hash, "the scan is at the tip");
  for (const vault of vaults) {
    for (const token of [NATIVE_SOL, ...tokens]) {
      const credited = sums.get(`${vault}:${token}`) ?? 0n;
      const held = await world.here.getBalance(token, vault);
      assert(credited === held, `what was credited is final: ${credited}, ${held}`);
    }
  }
  return { ...counts, streamed: stream?.used() ?? 0 };
}

/** Returns the changes of wallet balances in a block. */
interface Change {
  readonly wallet: Address;
  readonly token: Address;
  readonly amount: bigint;
}

async function sendTokens(
  world: SolanaWorld,
  token: Address,
  to: Address,
  amount: bigint,
): Promise<Instruction[]> {
  const { feePayer, mintFactsOf } = world.deployment.facts;
  const { program } = mintFactsOf(token);
  const payer = createNoopSigner(toBase58(feePayer));
  const programAddress = TOKEN_PROGRAMS[program];
  const mint = toBase58(token);
  return [
    await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer,
      owner: toBase58(to),
      mint,
      tokenProgram: programAddress,
    }),
    getTransferCheckedInstruction(
      {
        source: toBase58(await associatedAccountOf(feePayer, token, program)),
        mint,
        destination: toBase58(await associatedAccountOf(to, token, program)),
        authority: payer,
        amount,
        decimals: 6,
      },
      { programAddress },
    ),
  ];
}

/** Hides blocks (random or fixed ones), reports slots as skipped that were not, and limits the request rate. */
function hide(liar: TamperingProxy, random: Random): void {
  const skipped = { error: { code: -32007, message: "Slot was skipped" } };
  const hidesAlways = (slot: unknown) => Number(slot) % HIDDEN_EVERY === 0;
  liar.tamper = ({ method, params }, said) => {
    const isPersistent = !random(1);
    if (random(0.05)) return 429;
    if (method === "getBlock") {
      const hides = isPersistent ? hidesAlways(params[0]) : random(0.3);
      return hides ? skipped : said;
    }
    if (method === "getBlocksWithLimit" && Array.isArray(said.result)) {
      const slots: readonly unknown[] = said.result;
      return { result: slots.filter((slot) => (isPersistent ? !hidesAlways(slot) : !random(0.3))) };
    }
    return said;
  };
}

/** Returns true with a probability; deterministic for a seed. */
function createRandom(seed: number): Random {
  let state = seed;
  return (chance) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff < chance;
  };
}
