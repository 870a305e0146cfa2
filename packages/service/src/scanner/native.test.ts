/** Deposits of native coin by every kind of payment, with a real node and a real database. */
import { sql } from "kysely";
import { type Hex, maxUint256 } from "viem";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCountingRandom, createStillClock } from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createScannerDeps, scanOnce } from "../../test/support/scanner.ts";
import { issueAddress, listByWallets } from "../addresses/index.ts";
import {
  destroyedFor,
  forgivingCaller,
  forwarder,
  payingConstructor,
  revertingForwarder,
} from "../../test/evm/payers.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { listExplained } from "../deposits/index.ts";
import { listEvents } from "../events/index.ts";
import { createIntegrator } from "../integrators/index.ts";
import { createMonoChainRoute } from "../routes/mono-chain/route.ts";
import { acceptBalance } from "../settlements/index.ts";
import { HERE, openWorld, type World } from "../../test/evm/world.ts";
import { pollBalances } from "./native.ts";

/** Enough for any call of these tests: without an estimate, reverting transactions are mined too. */
const GAS = 500_000n;
const RECIPIENT = toEvmAddress(`0x${"5e".repeat(20)}`);

let world: World;
let database: TestDatabase;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

/** Opens a scanner and a same-chain deposit address for native coin, whose refund authority is the sending account. */
async function openScanner({ traces = false, minDeposit = 1n } = {}) {
  const { db } = database;
  const chain = world.here;
  const random = createCountingRandom();
  const clock = createStillClock();
  const route = createMonoChainRoute({
    chain,
    token: NATIVE_TOKEN,
    decimals: 18,
    contract: world.transferRoute,
    deliveryConfirmations: 1,
  });
  const authority = toEvmAddress(world.wallet.account.address);
  const { integratorId } = await createIntegrator(
    { db, random },
    { name: "acme", refundEvm: authority, maxFeeBps: 50, maxSlippageBps: 100 },
  );
  const address = await issueAddress(
    { db, random },
    {
      chain,
      integratorId,
      destination: {
        // All tests share a node, so each has its own user and wallet.
        userId: toEvmAddress(
          `0x${(await world.client.getBlockNumber()).toString(16).padStart(40, "0")}`,
        ),
        destChain: HERE,
        destWallet: RECIPIENT,
        destToken: NATIVE_TOKEN,
      },
    },
  );
  const { wallet } = address;
  const deps = createScannerDeps({
    db,
    chain,
    tokens: [NATIVE_TOKEN],
    traces,
    startBlock: await world.client.getBlockNumber(),
    clock,
    random,
    routes: [route],
    tokenMinimum: minDeposit,
  });
  const send = async (call: { to?: Hex; data?: Hex; value?: bigint }) =>
    world.mined(await world.wallet.sendTransaction({ ...call, gas: GAS }));
  const create = async (bytecode: Hex) => {
    const { contractAddress } = await send({ data: bytecode });
    if (!contractAddress) throw new Error("nothing was deployed");
    return contractAddress;
  };

  return {
    db,
    clock,
    deps,
    wallet,
    send,
    create,

    async scan() {
      while (await scanOnce(deps)) {
        // Polls until no block is left.
      }
    },

    compare: () => pollBalances(deps),

    async compareWhenFinal() {
      await world.makeFinal();
      await this.scan();
      await pollBalances(deps);
    },

    /** Returns all deposits in chain order: amount, how they were found, whether on the chain. */
    async deposits() {
      const rows = await db
        .selectFrom("deposits")
        .selectAll()
        .orderBy("block_number")
        .orderBy("log_index")
        .execute();
      return rows.map((row) => ({
        amount: BigInt(row.amount),
        by: row.tx_hash === null ? "balance" : "transaction",
        onChain: row.orphaned_at === null,
      }));
    },

    async events() {
      const { items } = await listEvents(db, integratorId, { limit: 500 });
      return items.map(({ data }) => data);
    },

    /** Asserts the invariant: deposits minus outflows up to the newest block are the balance. */
    async expectExplained() {
      const block = await world.client.getBlockNumber();
      const at = { chainId: HERE, token: NATIVE_TOKEN, block, wallets: [wallet] };
      const explained = (await listExplained(db, at)).get(wallet) ?? 0n;
      expect(explained).toBe(await world.client.getBalance({ address: wallet }));
    },

    async refund() {
      return world.mined(
        await world.wallet.writeContract({
          address: world.contractsHere.factory,
          abi: depositFactoryAbi,
          functionName: "refund",
          args: [address.commitment, NATIVE_TOKEN, maxUint256],
        }),
      );
    },

    /** Inserts newer addresses, whose wallets sort first. */
    async insertYoungerAddresses(count: number) {
      await sql`insert into addresses
        select gen_random_uuid(), integrator_id, chain_family, '0x' || lpad(to_hex(1000000 + n), 40, '0'), dest_chain, dest_wallet,
          dest_token, refund_authority, max_fee_bps, max_slippage_bps, version, wallet_kind, factory,
          '0x' || lpad(to_hex(n), 64, '0'), '0x' || lpad(to_hex(n), 40, '0'), created_at + n * interval '1 ms'
        from addresses, generate_series(1, ${count}::integer) as n`.execute(db);
    },

    async deploy() {
      await world.execute(chain, chain.wallets.buildDeploy(address.commitment));
    },
  };
}

async function fail(): Promise<never> {
  throw new Error("no answer");
}

/** Replaces the newest blocks with empty ones. */
async function reorganise(depth: number): Promise<void> {
  // CAST: viem does not list anvil's own methods.
  await world.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
}

type Scanner = Awaited<ReturnType<typeof openScanner>>;

const found = (amount: bigint, by: "balance" | "transaction", onChain = true) => ({
  amount,
  by,
  onChain,
});

describe("native coin", () => {
  test.each([false, true])(
    "records a plain transfer once, with its transaction; wallet deployed: %s [T05]",
    async (deployed) => {
      const scanner = await openScanner();
      if (deployed) await scanner.deploy();
      await scanner.send({ to: scanner.wallet, value: 5n });
      await scanner.scan();
      expect(await scanner.deposits()).toEqual([found(5n, "transaction")]);
      await scanner.compareWhenFinal();
      expect(await scanner.deposits()).toEqual([found(5n, "transaction")]);
      expect(await scanner.events()).toEqual([expect.objectContaining({ queued: true })]);
      await scanner.expectExplained();
    },
  );

  const hidden: [string, (scanner: Scanner) => Promise<unknown>][] = [
    [
      "a contract call",
      async ({ create, send, wallet }) =>
        send({ to: await create(forwarder()), data: wallet, value: 7n }),
    ],
    ["a constructor", ({ send, wallet }) => send({ data: payingConstructor(wallet), value: 7n })],
    [
      "a self-destructing contract",
      ({ send, wallet }) => send({ data: destroyedFor(wallet), value: 7n }),
    ],
    [
      "a block (the node sets the balance, as a reward would)",
      async ({ wallet }) => {
        // CAST: viem does not list anvil's own methods.
        await world.client.request({
          method: "anvil_setBalance",
          params: [wallet, "0x7"],
        } as never);
      },
    ],
  ];

  test.each(hidden)("finds a payment by %s once, by the final balance [T05]", async (_way, pay) => {
    const scanner = await openScanner();
    await pay(scanner);
    await scanner.scan();
    await scanner.compare();
    // Not final yet, so the balance may still change.
    expect(await scanner.deposits()).toEqual([]);
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
    await scanner.compare();
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
    expect(await scanner.events()).toEqual([expect.objectContaining({ queued: true })]);
    await scanner.expectExplained();
  });

  test.each(hidden.slice(0, 3))(
    "finds a payment by %s once, before finality, with traces [T05]",
    async (_way, pay) => {
      const scanner = await openScanner({ traces: true });
      await pay(scanner);
      await scanner.scan();
      expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
      await scanner.compareWhenFinal();
      expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
      expect((await scanner.events()).length).toBe(1);
      await scanner.expectExplained();
    },
  );

  test("ignores the value of a reverted transaction [T03]", async () => {
    const scanner = await openScanner({ traces: true });
    await scanner.deploy();
    const receipt = await scanner.send({ to: scanner.wallet, value: 5n, data: "0xdeadbeef" });
    expect(receipt.status).toBe("reverted");
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([]);
    expect(await scanner.events()).toEqual([]);
  });

  test("ignores a payment inside a reverted call [T04]", async () => {
    const scanner = await openScanner({ traces: true });
    const target = await scanner.create(revertingForwarder());
    const caller = await scanner.create(forgivingCaller(target));
    const receipt = await scanner.send({ to: caller, data: scanner.wallet, value: 5n });
    expect(receipt.status).toBe("success");
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([]);
  });

  test("counts transfers and hidden payments once each, in any order [T05]", async () => {
    const scanner = await openScanner();
    await scanner.send({ to: scanner.wallet, value: 1n });
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 10n });
    await scanner.compareWhenFinal();
    await scanner.send({ data: payingConstructor(scanner.wallet), value: 100n });
    await scanner.send({ to: scanner.wallet, value: 1000n });
    await scanner.scan();
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([
      found(1n, "transaction"),
      found(10n, "balance"),
      found(1000n, "transaction"),
      found(100n, "balance"),
    ]);
    await scanner.expectExplained();
  });

  test("counts refunded deposits once, found before or after the refund [T24]", async () => {
    const scanner = await openScanner();
    await scanner.send({ to: scanner.wallet, value: 1n });
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 10n });
    await scanner.refund();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 100n });
    await scanner.send({ to: scanner.wallet, value: 1000n });
    await scanner.compareWhenFinal();
    // The refund took the 10; the 100 are still in the wallet.
    const all = [
      found(1n, "transaction"),
      found(10n, "balance"),
      found(1000n, "transaction"),
      found(100n, "balance"),
    ];
    expect(await scanner.deposits()).toEqual(all);
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual(all);
    await scanner.expectExplained();
    await scanner.refund();
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual(all);
    await scanner.expectExplained();
  });

  test("finds a payment that left an empty wallet before it was found [D1, T24]", async () => {
    const scanner = await openScanner();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 10n });
    await scanner.refund();
    await scanner.compareWhenFinal();
    expect(await world.client.getBalance({ address: scanner.wallet })).toBe(0n);
    expect(await scanner.deposits()).toEqual([found(10n, "balance")]);
    await scanner.expectExplained();
  });

  test("restores the balance of an orphaned refund [T44]", async () => {
    const scanner = await openScanner();
    await scanner.send({ to: scanner.wallet, value: 5n });
    await world.makeFinal();
    await scanner.refund();
    await scanner.scan();
    await scanner.expectExplained();
    await reorganise(1);
    await scanner.scan();
    expect(await world.client.getBalance({ address: scanner.wallet })).toBe(5n);
    await scanner.expectExplained();
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([found(5n, "transaction")]);
  });

  test("records a balance once under concurrent polls", async () => {
    const scanner = await openScanner();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 10n });
    await world.makeFinal();
    await scanner.scan();
    await Promise.all([scanner.compare(), scanner.compare(), scanner.compare()]);
    expect(await scanner.deposits()).toEqual([found(10n, "balance")]);
    expect((await scanner.events()).length).toBe(1);
  });

  test("does not record a balance again at an earlier block [T05]", async () => {
    const scanner = await openScanner();
    const { deps, wallet } = scanner;
    await scanner.send({ data: destroyedFor(wallet), value: 7n });
    const earlier = await deps.chain.getHead();
    await scanner.send({ to: RECIPIENT, value: 0n });
    const later = await deps.chain.getHead();
    const address = (await listByWallets(deps.db, [wallet])).get(wallet);
    if (!address) throw new Error("the wallet has its address");
    for (const block of [later, earlier]) {
      const held = { chainId: HERE, wallet, token: NATIVE_TOKEN, block, balance: 7n };
      await acceptBalance(deps.settlements, held, address, async () => undefined);
    }
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
    await scanner.send({ data: destroyedFor(wallet), value: 8n });
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toEqual([found(7n, "balance"), found(8n, "balance")]);
  });

  test("keeps a deposit below the minimum until more arrives", async () => {
    const scanner = await openScanner({ minDeposit: 8n });
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 7n });
    await scanner.compareWhenFinal();
    await scanner.send({ to: scanner.wallet, value: 1n });
    await scanner.compareWhenFinal();
    expect(await scanner.events()).toEqual([
      expect.objectContaining({ queued: false, ignoredReason: "below_token_min" }),
      expect.objectContaining({ queued: true }),
    ]);
  });

  test("orphans deposits of a reorg and counts a repeated payment once [T44]", async () => {
    const scanner = await openScanner({ traces: true });
    await world.makeFinal();
    await scanner.send({ to: scanner.wallet, value: 5n });
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 10n });
    await scanner.scan();
    expect(await scanner.deposits()).toEqual([found(5n, "transaction"), found(10n, "balance")]);
    await reorganise(2);
    await scanner.scan();
    expect(await scanner.deposits()).toEqual([
      found(5n, "transaction", false),
      found(10n, "balance", false),
    ]);
    await scanner.expectExplained();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 10n });
    await scanner.compareWhenFinal();
    expect(await scanner.deposits()).toContainEqual(found(10n, "balance"));
    expect((await scanner.deposits()).filter(({ onChain }) => onChain)).toEqual([
      found(10n, "balance"),
    ]);
    await scanner.expectExplained();
  });

  test("records no balance that the witnesses of the chain do not confirm [T48]", async () => {
    const scanner = await openScanner();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 7n });
    await world.makeFinal();
    await scanner.scan();
    const { chain } = scanner.deps;
    if (chain.balances.kind === "final") throw new Error("expected an EVM chain");
    const { listNativeBalances } = chain.balances;
    const asked: number[] = [];
    const balances = {
      ...chain.balances,
      listNativeBalances: async (_block: unknown, owners: readonly unknown[]) =>
        owners.map(() => 1_000n),
      confirmNativeBalances: (...args: Parameters<typeof listNativeBalances>) => {
        asked.push(args[1].length);
        return listNativeBalances(...args);
      },
    };
    await pollBalances({ ...scanner.deps, chain: { ...chain, balances } });
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
    expect(asked).toEqual([1]);
  });

  test("finds a payment to a wallet that is not fresh within an hour [T05]", async () => {
    const scanner = await openScanner();
    const { db, clock } = scanner;
    await scanner.insertYoungerAddresses(1200);
    await sql`delete from fresh_wallets`.execute(db);
    await scanner.compareWhenFinal();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 7n });
    await world.makeFinal();
    await scanner.scan();
    const startMs = clock.now();
    await scanner.compare();
    expect(await scanner.deposits()).toEqual([]);
    while ((await scanner.deposits()).length === 0) {
      clock.advance(45_000);
      await scanner.compare();
      expect(clock.now() - startMs).toBeLessThan(3_600_000);
    }
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
  });

  test("compares the wallets of a failed poll in the next one [T05]", async () => {
    const scanner = await openScanner();
    await sql`delete from fresh_wallets`.execute(scanner.db);
    await scanner.compareWhenFinal();
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 7n });
    await world.makeFinal();
    await scanner.scan();
    scanner.clock.advance(3_600_000);
    const { deps } = scanner;
    const failing = { ...deps, chain: { ...deps.chain, getFinalBlock: fail } };
    await expect(pollBalances(failing)).rejects.toThrow("no answer");
    await scanner.compare();
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
  });

  test("compares a wallet in every poll until its balance is recorded", async () => {
    const scanner = await openScanner();
    await sql`delete from fresh_wallets`.execute(scanner.db);
    await scanner.send({ data: destroyedFor(scanner.wallet), value: 7n });
    await world.makeFinal();
    await scanner.scan();
    const { deps } = scanner;
    const broken = { ...deps, settlements: { ...deps.settlements, readMinimums: fail } };
    await pollBalances(broken);
    expect(await scanner.deposits()).toEqual([]);
    await scanner.compare();
    expect(await scanner.deposits()).toEqual([found(7n, "balance")]);
  });

  test("keeps a wallet fresh for a day after its quote and for 30 days after a payment", async () => {
    const scanner = await openScanner();
    const daysLeft = async () => {
      const row = await scanner.db
        .selectFrom("fresh_wallets")
        .selectAll()
        .where("chain_id", "=", HERE)
        .executeTakeFirstOrThrow();
      expect(row.wallet).toBe(scanner.wallet);
      return Math.round((Date.parse(row.fresh_until) - Date.now()) / 86_400_000);
    };
    expect(await daysLeft()).toBe(1);
    await scanner.send({ to: scanner.wallet, value: 5n });
    await scanner.scan();
    expect(await daysLeft()).toBe(30);
  });

  test("requests nothing without a wallet to compare", async () => {
    const scanner = await openScanner();
    await sql`delete from fresh_wallets`.execute(scanner.db);
    await scanner.compareWhenFinal();
    const { deps } = scanner;
    const silent = { ...deps, chain: { ...deps.chain, getFinalBlock: fail } };
    await expect(pollBalances(silent)).resolves.toBe(false);
  });

  test("reads the balances of more wallets than fit in two requests", async () => {
    const [first] = await world.wallet.getAddresses();
    if (!first) throw new Error("the node has an account");
    const owners = Array.from({ length: 4101 }, (_, index) =>
      index === 4100
        ? toEvmAddress(first)
        : toEvmAddress(`0x${(index + 0x10000).toString(16).padStart(40, "9")}`),
    );
    const head = await world.here.getHead();
    const balances = await world.here.balances.listNativeBalances(head, owners);
    expect(balances.length).toBe(4101);
    expect(balances.slice(0, 4100).every((balance) => balance === 0n)).toBe(true);
    expect(balances[4100]).toBe(await world.client.getBalance({ address: first }));
  });
});
