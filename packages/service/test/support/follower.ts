/** The scanner over any EVM nodes, with a database of its own and one deposit address: for load and for requests. */
import { sql } from "kysely";
import { issueAddress } from "../../src/addresses/index.ts";
import { createEvmChain } from "../../src/chains/evm/evm-chain.ts";
import { type ChainAtBlocks, createQuorumChain } from "../../src/chains/quorum.ts";
import { createWitnessedChain, type WitnessedNode } from "../../src/chains/witnessed.ts";
import { type Address, padAddress, toEvmAddress } from "../../src/core/hex.ts";
import type { Clock } from "../../src/core/ports.ts";
import type { Db } from "../../src/db/schema.ts";
import { createIntegrator } from "../../src/integrators/index.ts";
import { systemClock, systemRandom } from "../../src/roles/system-ports.ts";
import type { Route } from "../../src/routes/index.ts";
import { createMonoChainRoute } from "../../src/routes/mono-chain/route.ts";
import { createScan, PACE, type Pace } from "../../src/scanner/index.ts";
import { silentLog } from "./doubles.ts";
import { createScannerDeps } from "./scanner.ts";

/** Contracts that the nodes need not have: nothing is settled. */
const CONTRACT = toEvmAddress(`0x${"0f".repeat(20)}`);
const CHAIN_ID = 2;

export interface FollowerOptions {
  readonly db: Db;
  readonly rpcUrls: readonly [string, ...string[]];
  /** Nodes that only confirm the reads of the others. */
  readonly witnessUrls?: readonly string[];
  /** Number of nodes that must agree; by default all. */
  readonly required?: number;
  readonly evmChainId: number;
  /** Listed tokens. */
  readonly tokens: readonly Address[];
  readonly startBlock: bigint;
  readonly pace?: Pace;
  /** Smallest deposit of each token, in base units. */
  readonly tokenMinimum?: bigint;
  readonly log?: typeof silentLog;
  /** Called after each database transaction that moved the cursor, with the newest height. */
  readonly onScanned?: (newest: bigint) => void;
}

/** The scanner of one chain, which a test or measurement polls. */
export type Follower = Awaited<ReturnType<typeof createFollower>>;

/** Creates an address, then the scanner. Each call returns a scanner without memory, as a new process has. */
export async function createFollower(options: FollowerOptions) {
  const { db, tokens, startBlock, log = silentLog, evmChainId } = options;
  const chain = openChain(options);
  let heights = 0;
  const deps = createScannerDeps({
    db,
    chain,
    tokens,
    startBlock,
    clock: systemClock,
    random: systemRandom,
    log,
    onScanned(count, newest) {
      heights += count;
      options.onScanned?.(newest);
    },
    onCaughtUp: () => undefined,
    ...(options.tokenMinimum !== undefined && {
      tokenMinimum: options.tokenMinimum,
      routes: tokens.map((token) => createRoute(chain, token)),
    }),
  });
  const scan = createScan(deps, options.pace ?? PACE);
  return {
    chain,
    evmChainId,
    scan,
    /** Heights scanned so far. */
    heights: () => heights,
    async height(): Promise<bigint> {
      const row = await db
        .selectFrom("scanner_blocks")
        .select((eb) => eb.fn.max("number").as("number"))
        .executeTakeFirst();
      return row?.number ?? startBlock - 1n;
    },
    /** Returns the height and amount of each deposit that is not orphaned, in order. */
    async deposits(): Promise<(readonly [bigint, bigint])[]> {
      const rows = await db
        .selectFrom("deposits")
        .select(["block_number", "amount"])
        .where("orphaned_at", "is", null)
        .orderBy("block_number")
        .orderBy("amount")
        .execute();
      return rows.map((row) => [row.block_number, BigInt(row.amount)]);
    },
  };
}

/** Returns a route to the destination of the issued addresses, which only judges: nothing is settled. */
function createRoute(chain: ChainAtBlocks, token: Address): Route {
  const terms = { chain, token, decimals: 6, contract: CONTRACT, deliveryConfirmations: 1 };
  const pair = { srcChain: CHAIN_ID, srcToken: token, destChain: 30, destToken: CONTRACT };
  return { ...createMonoChainRoute(terms), pair };
}

function openChain(options: FollowerOptions): ChainAtBlocks {
  const { rpcUrls, witnessUrls = [], evmChainId, log = silentLog } = options;
  const contracts = { factory: CONTRACT, escrow: CONTRACT, delivery: CONTRACT };
  const open = (rpcUrl: string): WitnessedNode => ({
    ...createEvmChain({ chainId: CHAIN_ID, evmChainId, rpcUrl, contracts, timeoutMs: 10_000 }),
    checkIdentity: async () => undefined,
  });
  const clock: Clock = systemClock;
  const { required = rpcUrls.length + witnessUrls.length } = options;
  const [first, ...others] = rpcUrls;
  const all = [open(first), ...others.map(open)] as const;
  const full =
    others.length === 0
      ? all[0]
      : createQuorumChain(all, { required: Math.min(required, all.length), clock, log });
  if (witnessUrls.length === 0) return full;
  const nodes = [
    ...all.map((chain) => ({ role: "full" as const, chain })),
    ...witnessUrls.map((url) => ({ role: "witness" as const, chain: open(url) })),
  ];
  return createWitnessedChain(full, { nodes, required, clock, log });
}

/** Issues the only deposit address and returns its wallet. */
export async function issueWallet(db: Db): Promise<Address> {
  const { integratorId } = await createIntegrator(
    { db, random: systemRandom },
    { name: "acme", refundEvm: CONTRACT, maxFeeBps: 50, maxSlippageBps: 100 },
  );
  const chain = createEvmChain({
    chainId: CHAIN_ID,
    evmChainId: 1,
    rpcUrl: "http://127.0.0.1:1",
    contracts: { factory: CONTRACT, escrow: CONTRACT, delivery: CONTRACT },
    timeoutMs: 1,
  });
  const { wallet } = await issueAddress(
    { db, random: systemRandom },
    {
      chain,
      integratorId,
      destination: {
        userId: padAddress(CONTRACT),
        destChain: 30,
        destWallet: CONTRACT,
        destToken: CONTRACT,
      },
    },
  );
  return wallet;
}

/** Issues many deposit addresses and returns their wallets. Only the first has a wallet that follows from its commitment. */
export async function issueWallets(db: Db, count: number): Promise<Address[]> {
  const first = await issueWallet(db);
  await sql`insert into addresses select (jsonb_populate_record(a, jsonb_build_object(
      'id', gen_random_uuid(),
      'user_id', '0x' || lpad(to_hex(n), 64, '0'),
      'commitment', '0xcc' || lpad(to_hex(n), 62, '0'),
      'wallet', '0xaa' || lpad(to_hex(n), 38, '0'),
      'created_at', a.created_at + n * interval '1 millisecond'))).*
    from addresses a, generate_series(1, ${count - 1}) as n where a.wallet = ${first}`.execute(db);
  const rows = await db.selectFrom("addresses").select("wallet").execute();
  return rows.map(({ wallet }) => toEvmAddress(wallet));
}
