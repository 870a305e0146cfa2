/** The whole sandbox with its Solana chain, as an integrator and payers use it. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { balanceOf, type ChainName, pay, runServiceCommand, startSandbox } from "@sluice/sandbox";
import { createSluiceClient, type Deposit, type Quote, type Swap, verifyVault } from "@sluice/sdk";
import { base58 } from "@scure/base";
import { type Address, pad } from "viem";
import type { AuditReport } from "../../src/cli/audit.ts";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { deathOf } from "./processes.ts";

export type SolanaSandbox = Awaited<ReturnType<typeof openSolanaSandbox>>;

const DEADLINE_MS = 60_000;
/** Base units of one USDC, on every chain. */
export const USDC = 1_000_000n;
/** A wallet on Solana. */
const SOLANA_RECIPIENT = "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9";
const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
/** The placeholder address for SOL itself. */
export const SOL = "11111111111111111111111111111111";

/** Opens a sandbox; `close` ends every process and removes every file. */
export async function openSolanaSandbox(options: { readonly env?: Record<string, string> } = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-solana-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(stateDir, 0o755);
  const sandbox = await startSandbox({
    stateDir,
    ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
    solana: { slotMs: 50, idleSlotMs: 200 },
    pollIntervalMs: 100,
    ...(options.env && { env: options.env }),
  });
  const { solana, deployment, descriptor, keys, chains } = sandbox;
  const described = descriptor.chains.find(({ kind }) => kind === "svm");
  if (!described) throw new Error("the sandbox has a Solana chain");
  const mints = new Map(described.tokens.map(({ symbol, address }) => [symbol, address]));
  const mintOf = (symbol: string): string => {
    const mint = mints.get(symbol);
    if (mint === undefined) throw new Error(`there is no ${symbol}`);
    return mint;
  };

  let { service } = sandbox;
  const [integrator] = descriptor.integrators;
  if (!integrator) throw new Error("the sandbox has integrators");
  const client = () => {
    const { baseUrl, quoteUrl } = sandbox.service;
    return createSluiceClient({ baseUrl, quoteUrl, apiKey: integrator.apiKey });
  };

  async function askNode<T>(method: string, params: readonly unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(solana.rpcUrl, { method: "POST", headers, body });
    // CAST: the sandbox's own node, whose answers have tests of their form.
    const answer = (await response.json()) as { result?: T; error?: { message: string } };
    if (answer.result === undefined) throw new Error(answer.error?.message ?? "no answer");
    return answer.result;
  }

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS;
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error(`it never came true that ${what}`);
      await delay(100);
    }
  }

  async function quote(request: {
    readonly fromChain: string;
    readonly fromToken: string;
    readonly toChain: string;
    readonly toToken: string;
    readonly recipient: string;
    readonly amount: bigint;
    readonly userId?: string;
  }): Promise<{ readonly address: string; readonly quote: Quote }> {
    const { recipient, amount, userId, ...pair } = request;
    const { quotes } = await client().quote({
      ...pair,
      amountIn64: amount.toString(),
      slippageBps: "auto",
      destinationAddress: recipient,
      payDeposit: true,
      ...(userId === undefined ? {} : { payUserId: userId }),
    });
    const found = quotes.find((one) => one.payDepositAddress !== null);
    if (!found?.payDepositAddress) throw new Error("no quote has an address");
    return { address: found.payDepositAddress, quote: found };
  }

  async function swapsOf(wallet: string): Promise<readonly Swap[]> {
    const swaps: Swap[] = [];
    for await (const swap of client().iterateSwaps()) swaps.push(swap);
    return swaps.filter(({ walletAddress }) => walletAddress === wallet).toReversed();
  }

  async function depositsOf(wallet: string): Promise<readonly Deposit[]> {
    return (await client().listDeposits({ limit: 100, walletAddress: wallet })).items;
  }

  const tokenOn = (chain: ChainName): Address => deployment.chains[chain].token;
  const evmBalance = (chain: ChainName, owner: string, token?: Address) =>
    // CAST: an address of the sandbox or of a test's wallet.
    balanceOf(chains[chain].client, { owner: owner as Address, ...(token && { token }) });

  async function payEvm(
    chain: ChainName,
    to: string,
    amount: bigint,
    token?: Address,
  ): Promise<void> {
    const [from] = keys.payers[chain];
    if (!from) throw new Error(`${chain} has a payer`);
    // CAST: as above.
    const payment = { from: from.account, to: to as Address, amount, ...(token && { token }) };
    await pay(chains[chain].client, payment);
  }

  /** Pays tokens to an owner's associated account, which is created if missing. */
  const payTokens = (mint: string, owner: string, amount: bigint) =>
    // CAST: base58 that the sandbox or the service wrote.
    solana.controls.mintTo({ mint: mint as never, owner: owner as never, amount });

  /** Returns an owner's balance at the newest block, over all its accounts of a mint; lamports without a mint. */
  async function solanaBalance(owner: string, mint?: string): Promise<bigint> {
    const config = { commitment: "processed", encoding: "base64" };
    if (mint === undefined) {
      const { value } = await askNode<{ value: number }>("getBalance", [owner, config]);
      return BigInt(value);
    }
    const { value } = await askNode<{
      value: readonly { account: { data: readonly [string, string] } }[];
    }>("getTokenAccountsByOwner", [owner, { mint }, config]);
    return value.reduce(
      (sum, { account }) => sum + Buffer.from(account.data[0], "base64").readBigUInt64LE(64),
      0n,
    );
  }

  /** Counter of user ids, so that each deposit has an address of its own. */
  let users = 0;
  const newWallet = (): Address => privateKeyToAccount(generatePrivateKey()).address;

  /** A deposit of USDC, on Solana for a wallet on an EVM chain or the reverse; `paid` returns the delivered amount. */
  async function depositUsdc(fromChain: string, toChain: string, amount: bigint) {
    // CAST: the sandbox has no other chain.
    const evm = (fromChain === "solana" ? toChain : fromChain) as ChainName;
    const [mint, token] = [mintOf("USDC"), tokenOn(evm)];
    const isFrom = fromChain === "solana";
    const recipient = isFrom ? newWallet() : SOLANA_RECIPIENT;
    const balance = () =>
      isFrom ? evmBalance(evm, recipient, token) : solanaBalance(recipient, mint);
    users += 1;
    const { address } = await quote({
      fromChain,
      fromToken: isFrom ? mint : token,
      toChain,
      toToken: isFrom ? token : mint,
      recipient,
      amount,
      userId: `0x${users.toString(16)}`,
    });
    const before = await balance();
    await (isFrom ? payTokens(mint, address, amount) : payEvm(evm, address, amount, token));
    return { address, paid: async () => (await balance()) - before };
  }

  const { contracts }: { contracts: { binding: string; treasury: string } } = JSON.parse(
    readFileSync(sandbox.configPath, "utf8"),
  ).chains.find((chain: { chainId: number }) => chain.chainId === described.chainId);

  return {
    sandbox,
    controls: solana.controls,
    treasury: contracts.treasury,
    mintOf,
    client,
    until,
    quote,
    swapsOf,
    configPath: sandbox.configPath,
    deployment,

    newEvmWallet: newWallet,

    /** Waits for the next settlement of a wallet after those in `known`. */
    async settled(wallet: string, known: readonly string[] = []): Promise<Swap> {
      let found: Swap | undefined;
      await until(`a settlement of ${wallet} ended`, async () => {
        const swaps = await swapsOf(wallet);
        found = swaps.find((swap) => swap.terminal && !known.includes(swap.id));
        return found !== undefined;
      });
      if (!found) throw new Error("it was just found");
      return found;
    },

    async statuses(id: string): Promise<readonly string[]> {
      const statuses: string[] = [];
      for await (const { type, data } of client().iterateEvents()) {
        if (type === "status_changed" && data.queueItemId === id) statuses.push(data.status);
      }
      return statuses;
    },

    tokenOn,
    evmBalance,
    payEvm,
    payTokens,
    solanaBalance,
    depositUsdc,

    /** Returns the newest final slot. */
    finalSlot: () => askNode<number>("getSlot", [{ commitment: "finalized" }]),

    /** Returns the memos of a transaction, as the node shows its instructions. */
    async memosOf(txHash: string): Promise<readonly object[]> {
      const config = {
        commitment: "confirmed",
        encoding: "json",
        maxSupportedTransactionVersion: 0,
      };
      const { transaction } = await askNode<{
        transaction: {
          message: {
            accountKeys: readonly string[];
            instructions: readonly { programIdIndex: number; data: string }[];
          };
        };
      }>("getTransaction", [txHash, config]);
      const { accountKeys, instructions } = transaction.message;
      return instructions.flatMap(({ programIdIndex, data }) =>
        accountKeys[programIdIndex] === MEMO_PROGRAM
          ? [JSON.parse(Buffer.from(base58.decode(data)).toString("utf8"))]
          : [],
      );
    },

    readLog: (): string => readFileSync(join(stateDir, "service.log"), "utf8"),
    command: (args: readonly string[]) =>
      runServiceCommand([...args, "--config", sandbox.configPath, "--json"], {}),

    /** Verifies a vault as an integrator does before showing it. */
    verify(
      { payDepositCommitment: commitment }: Quote,
      address: string,
      wanted: { readonly recipient: Address; readonly token: Address },
    ): { readonly kind: string } {
      if (!commitment || commitment.binding === undefined)
        throw new Error("the quote has a binding");
      const { binding } = commitment;
      const { kind } = verifyVault({
        address,
        commitment: { ...commitment, binding },
        bindingAccount: contracts.binding,
        expected: { destWallet: pad(wanted.recipient), destToken: pad(wanted.token) },
      });
      return { kind };
    },

    paySol: (to: string, amount: bigint) =>
      // CAST: base58 that the service wrote.
      solana.controls.airdrop({ to: to as never, amount }),

    /** Returns the number of known deposits of a wallet. */
    async deposits(wallet: string): Promise<number> {
      return (await depositsOf(wallet)).length;
    },
    depositsOf,

    /** Waits until the service exits, and returns its signal or code. */
    serviceDeath: (): Promise<string> => deathOf(service, DEADLINE_MS),

    /** Stops the service if it runs, and starts it again. */
    async restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
      service = await sandbox.restartService(env);
    },

    /** Waits until an audit proves everything, within the time limit of a test. */
    async audit(): Promise<AuditReport> {
      const read = async (): Promise<AuditReport> => {
        const args = ["audit", "--json", "--config", sandbox.configPath];
        try {
          // CAST: the form that the command prints.
          return (await runServiceCommand(args, {})) as unknown as AuditReport;
        } catch (error) {
          const { stdout = "" } = error as { readonly stdout?: string };
          return JSON.parse(stdout);
        }
      };
      let report = await read();
      await until("the ledger is proved", async () => {
        report = await read();
        return report.ok;
      });
      return report;
    },

    async close(): Promise<void> {
      await sandbox.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
