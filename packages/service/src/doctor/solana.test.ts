import { describe, expect, test } from "vitest";
import {
  COLD_ATTESTOR,
  CHAIN,
  createDoctorDeps,
  createStrictSolanaInspector,
  nodesFor,
  SEED_ACCOUNTS,
  SOLANA_CHAIN,
  SOLANA_TREASURY,
  SOLANA_USDC,
  USDC,
} from "../../test/support/doctor-doubles.ts";
import type { SolanaInspector } from "../chains/inspector.ts";
import type { RouteConfig, SolanaChain } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_SOL, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { solana as preset } from "../config/presets/index.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import type { DoctorDeps, VaultSource } from "./facts.ts";
import { runChecks } from "./run.ts";
import { checkSolana } from "./solana.ts";
import { checkSolanaNodes } from "./solana-nodes.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const NOW_S = 1_800_000_000n;
const HASH = toHex32(`0x${"aa".repeat(32)}`);
const OTHER_HASH = toHex32(`0x${"bb".repeat(32)}`);
const TX_HASH = toTxHash(`0x${"dd".repeat(64)}`);
const HEAD = 10_000_000n;
const STRANGER = toEvmAddress(`0x${"5".repeat(40)}`);
const SUBJECT = "chain 1 (solana)";
const COST = 1_000_000n;

const deliver = (destToken: typeof NATIVE_SOL): RouteConfig =>
  configuredRoute({
    kind: "SWIFT",
    chainId: 2,
    token: USDC,
    destChain: 1,
    destToken,
    priced: true,
    contract: STRANGER,
  });

/** Returns a double of a correct node, except for the overrides. */
function createNode(given: Partial<SolanaInspector> = {}): SolanaInspector {
  return createStrictSolanaInspector({
    getGenesisHash: async () => SOLANA_CHAIN.genesisHash,
    getHead: async (at) => ({
      number: at === "final" ? HEAD - 32n : HEAD,
      hash: HASH,
      parentHash: HASH,
      timestamp: at === "final" ? NOW_S - 13n : NOW_S,
    }),
    getBlockHash: async () => HASH,
    getVersion: async () => "solana-core 3.0.0",
    countTransactions: async () => 7,
    getFirstSlot: async () => 1_000n,
    findMemos: async () => ({ kind: "kept", txHash: TX_HASH }),
    hasTransaction: async () => true,
    getCoinBalance: async () => 50n * COST,
    getTransactionCost: async () => COST,
    isWallet: async () => true,
    findMintFault: async () => null,
    findTokenAccount: async (owner) => ({ owner, amount: 5_000_000n, isFrozen: false }),
    ...given,
  });
}

/** Returns the findings: every check that did not pass. */
async function findProblems(args: {
  readonly node?: Partial<SolanaInspector>;
  readonly attestorsNode?: Partial<SolanaInspector>;
  readonly chain?: Partial<SolanaChain>;
  readonly seed?: DoctorDeps["readSeedAccounts"];
  readonly vaultSources?: readonly VaultSource[];
  readonly getScanned?: DoctorDeps["getScanned"];
  readonly clock?: DoctorDeps["clock"];
}) {
  const chain: SolanaChain = {
    ...SOLANA_CHAIN,
    ...args.chain,
  };
  const given = createDoctorDeps({
    config: { chains: [CHAIN, chain], routes: [deliver(NATIVE_SOL), deliver(SOLANA_USDC)] },
    solanaNodes: {
      ...nodesFor(createNode(args.node)),
      attestor: createNode({ ...args.node, ...args.attestorsNode }),
    },
    readSeedAccounts: args.seed ?? (async () => SEED_ACCOUNTS),
    vaultSources: args.vaultSources ?? [],
    getScanned: args.getScanned ?? (async () => 9_000_000n),
    nowMs: Number(NOW_S) * 1_000,
  });
  const deps = { ...given, clock: args.clock ?? given.clock };
  const { all: nodes, identified } = checkSolanaNodes(deps, chain);
  const results = await runChecks([[...nodes, ...checkSolana(deps, chain, identified)]]);
  return results.filter(({ status }) => status !== "ok");
}

test("has no findings when the chain is correct", async () => {
  expect(await findProblems({})).toEqual([]);
});

describe("a node", () => {
  test("is a problem when it serves another cluster, and is not read further", async () => {
    const problems = await findProblems({ node: { getGenesisHash: async () => OTHER_HASH } });
    expect(problems.filter(({ status }) => status === "problem")).toMatchObject([
      {
        id: "node.chain-id",
        subject: SUBJECT,
        found: `genesisHash ${toBase58(OTHER_HASH)}`,
        expected: `genesisHash ${toBase58(SOLANA_CHAIN.genesisHash)}`,
        advice: "Configure the node of this chain, or correct genesisHash.",
      },
      { id: "node.chain-id", subject: "attestor's node of chain 1" },
    ]);
    expect(problems.find(({ id }) => id === "token.mint")).toMatchObject({ status: "skipped" });
  });

  test("is a problem when it shows other balances in a final block", async () => {
    expect(
      await findProblems({ attestorsNode: { getBlockHash: async () => OTHER_HASH } }),
    ).toMatchObject([
      { id: "node.agreement", subject: "attestor's node of chain 1", status: "problem" },
    ]);
  });

  test.each<[bigint, bigint, string]>([
    [32n, 121n, "warning"],
    [32n, 43_201n, "problem"],
    [0n, 0n, "problem"],
  ])("with a final block %i slots and %i s behind is a %s", async (slots, seconds, status) => {
    const getHead: SolanaInspector["getHead"] = async (at) => ({
      number: at === "final" ? HEAD - slots : HEAD,
      hash: HASH,
      parentHash: HASH,
      timestamp: at === "final" ? NOW_S - seconds : NOW_S,
    });
    const [first] = await findProblems({ node: { getHead } });
    expect(first).toMatchObject({ id: "node.finality", subject: SUBJECT, status });
  });

  test("is a warning when small requests take more than a second", async () => {
    let nowMs = Number(NOW_S) * 1_000;
    const clock = { now: () => nowMs, sleep: async () => undefined };
    const getVersion = async () => {
      nowMs += 1_001;
      return "solana-core 3.0.0";
    };
    expect(await findProblems({ clock, attestorsNode: { getVersion } })).toMatchObject([
      {
        id: "node.latency",
        subject: "attestor's node of chain 1",
        status: "warning",
        found: "1001 ms, the median of small requests",
      },
    ]);
  });

  test("is a problem when transactions of its final block cannot be read", async () => {
    const tooNew = new OperatingError("CONFIG_MISSING", "a newer release is needed");
    const countTransactions = () => Promise.reject(tooNew);
    expect(await findProblems({ node: { countTransactions } })).toMatchObject([
      { id: "node.blocks", subject: SUBJECT, status: "problem", found: tooNew.message },
      { id: "node.blocks", subject: "attestor's node of chain 1", status: "problem" },
    ]);
  });

  test.each<[string, bigint, bigint | null, string | null]>([
    ["has every block from the first slot", 1_000n, null, null],
    ["lacks the slot to scan next", 9_000_002n, 9_000_000n, "problem"],
    ["begins at the slot to scan next", 9_000_001n, 9_000_000n, null],
    ["lacks the first slot before anything is scanned", 1_001n, null, "problem"],
    ["keeps less than four days of scanned blocks", 9_500_000n, 9_600_000n, "warning"],
  ])("is judged by its history: %s", async (_, first, scanned, status) => {
    const ours = (
      await findProblems({
        node: { getFirstSlot: async () => first },
        getScanned: async () => scanned,
      })
    ).filter(({ subject }) => subject === SUBJECT);
    expect(ours.map((result) => [result.id, result.status])).toEqual(
      status === null ? [] : [["node.history", status]],
    );
  });

  test("needs every block while the database cannot be read", async () => {
    const closed = new OperatingError("CONFIG_MISSING", "The database does not answer.");
    const [first] = await findProblems({
      node: { getFirstSlot: async () => 1_001n },
      getScanned: () => Promise.reject(closed),
    });
    expect(first).toMatchObject({
      id: "node.history",
      status: "problem",
      found: "its oldest block is at slot 1001, and the scanner reads slot 1000 next",
    });
  });

  test("of the attestor needs only the last four days", async () => {
    const recent = { getFirstSlot: async () => HEAD - 32n - 96n * 9_000n };
    expect(await findProblems({ attestorsNode: recent })).toEqual([]);
    const short = { getFirstSlot: async () => HEAD - 32n - 95n * 9_000n };
    expect(await findProblems({ attestorsNode: short })).toMatchObject([
      {
        id: "node.history",
        subject: "attestor's node of chain 1",
        status: "warning",
        found: "its oldest block is at slot 9144968, about 95 hours ago",
      },
    ]);
  });

  test.each<[string, Partial<SolanaInspector>]>([
    ["a history without memos", { findMemos: async () => ({ kind: "lost" }) }],
    ["no history of any account", { findMemos: async () => ({ kind: "none" }) }],
    [
      `the memo of ${toBase58(TX_HASH)}, but not the transaction`,
      { hasTransaction: async () => false },
    ],
  ])("with %s is a problem", async (found, node) => {
    expect(await findProblems({ node })).toMatchObject([
      { id: "node.memos", subject: SUBJECT, status: "problem", found },
      { id: "node.memos", subject: "attestor's node of chain 1", status: "problem" },
    ]);
  });
});

describe("accounts", () => {
  test("are a problem when they are not those of the seed", async () => {
    const seed = async () => ({ ...SEED_ACCOUNTS, escrow: SOLANA_TREASURY });
    expect(await findProblems({ seed })).toMatchObject([
      {
        id: "seed.accounts",
        status: "problem",
        found: `escrow ${SOLANA_TREASURY}`,
        expected: `escrow ${SEED_ACCOUNTS.escrow}`,
      },
    ]);
  });

  test("are compared only by the binding when the seed is locked", async () => {
    const { binding, escrow } = SEED_ACCOUNTS;
    expect(await findProblems({ seed: async () => ({ binding }) })).toEqual([]);
    expect(await findProblems({ seed: async () => ({ binding: escrow }) })).toMatchObject([
      { id: "seed.accounts", found: `binding ${escrow}` },
    ]);
  });

  test.each<[string, VaultSource["vouches"]]>([
    ["derives no vaults", async () => "none"],
    ["its test binding does not verify", async () => false],
    [
      "The signer does not answer.",
      () => Promise.reject(new OperatingError("RPC_UNAVAILABLE", "The signer does not answer.")),
    ],
  ])("are a problem when the vault source fails: %s", async (found, vouches) => {
    expect(
      await findProblems({ vaultSources: [{ setting: "signers.vaults", vouches }] }),
    ).toMatchObject([{ id: "seed.vaults", item: "signers.vaults", status: "problem", found }]);
    const vaultSources = [{ setting: "signers.vaults", vouches: async () => true }];
    expect(await findProblems({ vaultSources })).toEqual([]);
  });

  test("are a problem when the attestor is not listed", async () => {
    expect(await findProblems({ chain: { attestors: [STRANGER, COLD_ATTESTOR] } })).toMatchObject([
      { id: "key.listed", item: "attestor", status: "problem", found: "not listed" },
    ]);
  });

  test.each<[bigint, string]>([
    [49n, "warning"],
    [4n, "problem"],
  ])("that can pay for %i transactions are a %s", async (transactions, status) => {
    const node = {
      getCoinBalance: async (owner: typeof NATIVE_SOL) =>
        owner === SEED_ACCOUNTS.deliver ? transactions * COST : 50n * COST,
    };
    expect(await findProblems({ node })).toMatchObject([
      { id: "lane.balance", item: "deliver", status },
    ]);
  });
});

describe("tokens", () => {
  test("are a problem when their mint is refused, with the reason", async () => {
    const node = { findMintFault: async () => "extension PermanentDelegate" };
    const [first, ...others] = await findProblems({ node });
    expect(first).toMatchObject({
      id: "token.mint",
      item: "USDC",
      status: "problem",
      found: "extension PermanentDelegate",
    });
    expect(others.map(({ id, status }) => [id, status])).toEqual([
      ["treasury.account", "skipped"],
      ["delivery.inventory", "skipped"],
    ]);
  });

  test("are a warning with a known symbol and another mint on the public network", async () => {
    const genesisHash = toHex32(parseSolanaAddress(preset.genesis.hash) ?? "");
    const node = { getGenesisHash: async () => genesisHash };
    const usdc = preset.tokens.find(({ symbol }) => symbol === "USDC");
    const [problem, ...others] = await findProblems({ node, chain: { genesisHash } });
    expect(problem).toMatchObject({
      id: "token.symbol",
      item: "USDC",
      status: "warning",
      found: toBase58(SOLANA_USDC),
      expected: `${usdc?.address}, which the preset knows as USDC`,
    });
    expect(others).toEqual([]);
  });

  test("are a problem when they are delivered without a daily cap", async () => {
    const dailyCaps = new Map([[NATIVE_SOL, 1n]]);
    expect(await findProblems({ chain: { dailyCaps } })).toMatchObject([
      { id: "delivery.cap", item: "USDC", status: "problem", found: "0 base units in 24 hours" },
    ]);
  });

  test("are a warning when the inventory is below the minimum, or empty", async () => {
    const node: Partial<SolanaInspector> = {
      findTokenAccount: async (owner) => ({ owner, amount: 4_999_999n, isFrozen: false }),
      getCoinBalance: async (owner) => (owner === SEED_ACCOUNTS.delivery ? 0n : 50n * COST),
    };
    expect(await findProblems({ node })).toMatchObject([
      {
        id: "delivery.inventory",
        item: "SOLANA",
        status: "warning",
        found: "0 SOLANA",
        expected: "more than zero",
      },
      {
        id: "delivery.inventory",
        item: "USDC",
        status: "warning",
        found: "4.999999 USDC",
        expected: "at least 5 USDC",
      },
    ]);
    const none = { findTokenAccount: async () => null };
    expect(await findProblems({ node: none })).toMatchObject([
      { id: "delivery.inventory", item: "USDC", status: "warning", found: "0 USDC" },
    ]);
  });

  test.each<[string, { readonly isFrozen: boolean; readonly isOwn: boolean }]>([
    ["frozen", { isFrozen: true, isOwn: true }],
    ["a stranger's", { isFrozen: false, isOwn: false }],
  ])("are a problem in a treasury or delivery account that is %s", async (_, seen) => {
    const node: Partial<SolanaInspector> = {
      findTokenAccount: async (owner) => ({
        owner: seen.isOwn ? owner : SEED_ACCOUNTS.binding,
        amount: 5_000_000n,
        isFrozen: seen.isFrozen,
      }),
    };
    expect(await findProblems({ node })).toMatchObject([
      { id: "treasury.account", item: "USDC", status: "problem" },
      { id: "delivery.inventory", item: "USDC", status: "problem" },
    ]);
  });

  test.each<[boolean | null, string]>([
    [null, "warning"],
    [false, "problem"],
  ])("have a treasury whose isWallet is %s: a %s", async (isWallet, status) => {
    expect(await findProblems({ node: { isWallet: async () => isWallet } })).toMatchObject([
      { id: "treasury.account", status },
    ]);
  });
});
