/**
 * A world for one test file: two nodes, the contracts, the service as a separate process with its own embedded PostgreSQL,
 * and three integrators. Tests use it as an integrator and as payers do: over HTTP, the stream and the chains.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chmodSync } from "node:fs";
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import {
  startBridgeAttestations,
  balanceOf,
  type ChainName,
  deployContracts,
  ensureIntegrators,
  loadKey,
  loadKeys,
  mintToken,
  pay,
  reorganise,
  prepareService,
  runServiceCommand,
  type RunningService,
  startChains,
  startService,
  writeServiceConfig,
} from "@sluice/sandbox";
import {
  connectStream,
  createSluiceClient,
  type DepositAddress,
  type DepositDetectedData,
  type EventItem,
  type Quote,
  type QuoteRequest,
  QuoteResponse,
  type StatusChangedData,
  type StreamEvent,
  type Swap,
} from "@sluice/sdk";
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  isAddress,
  parseEther,
  type PrivateKeyAccount,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { NO_ROUTE_SET } from "../../src/core/commitment.ts";
import { deathOf } from "./processes.ts";

export interface QuoteArgs {
  readonly from: ChainName;
  readonly to: ChainName;
  readonly recipient: Address;
  readonly userId?: string;
  /** Index of the integrator; the first unless given. */
  readonly by?: number;
  readonly amount?: bigint;
  /** USDC unless given. */
  readonly fromToken?: Address;
  readonly toToken?: Address;
  /** Terms of the address; the integrator's unless given. */
  readonly terms?: Pick<QuoteRequest, "payRoutes" | "payUnattended">;
}

/** Reads the newest settled swap of an address; `after` names one to ignore. */
export interface SettledArgs {
  readonly after?: string;
  readonly by?: number;
}

/** A contract call by an account outside the service. */
interface OutsideCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
  /** Wei; by default what the node suggests, which is too little if the base fee jumps at once. */
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

const DEADLINE_MS = 120_000;

/** A node as the configuration names it. */
type WorldNode = string | { readonly url: string; readonly wsUrl: string };

export interface WorldOptions {
  /** Seconds after a lock in which it is paid; afterwards it is returned. */
  readonly payoutWindowSeconds?: number;
  /** Whether metrics and health are served. */
  readonly telemetry?: boolean;
  /** Whether callers have the service's default limits; else they have the sandbox's, which no test reaches. */
  readonly ownLimits?: boolean;
  /** Origins of pages that may call the service. */
  readonly corsOrigins?: readonly string[];
  /** External database; the embedded one unless given. */
  readonly databaseUrl?: string;
  /** Roles of the service, comma-separated, with `api` and `quoter`; all unless given. */
  readonly roles?: string;
  /** Accounts with the key files of these names are attestors too, and so many signatures are needed. */
  readonly attestors?: { readonly threshold: number; readonly further: readonly string[] };
  /** Changes the configuration before the service starts. */
  readonly configure?: (config: Record<string, unknown>, keysDir: string) => void;
  /** Delay of additions to the contracts; the sandbox's default unless given. */
  readonly delaySeconds?: number;
  /** Returns the nodes of the service for a chain, given the real one's URL; only the real one unless given. */
  readonly nodesOf?: (
    chain: ChainName,
    rpcUrl: string,
  ) => readonly WorldNode[] | Promise<readonly WorldNode[]>;
  /** Poll interval of the scanners; 100 ms unless given. */
  readonly pollIntervalMs?: number;
  /** Whether the bridge is preferred to inventory for USDC. */
  readonly bridge?: boolean;
  /** Levels between which treasury contracts, which receive the claims, keep the inventory of USDC. */
  readonly refill?: Parameters<typeof writeServiceConfig>[0]["refill"];
  /** Milliseconds between blocks while a transaction waits; 250 unless given. */
  readonly blockMs?: number;
  /** Blocks are final two epochs behind the head; 1 unless given. With more, the chains mine continuously. */
  readonly slotsInAnEpoch?: number;
}

/** Opens a world; `close` ends every process and removes every file. */
export async function openWorld(options: WorldOptions = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-world-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(stateDir, 0o755);
  const chains = await startChains({
    stateDir,
    ports: { ethereum: 0, base: 0 },
    mining: {
      intervalMs: options.blockMs ?? 250,
      ...(options.slotsInAnEpoch && { idleIntervalMs: 250 }),
    },
    ...(options.slotsInAnEpoch && { slotsInAnEpoch: options.slotsInAnEpoch }),
  });
  const keys = loadKeys(join(stateDir, "keys"));
  const deployment = await deployContracts(chains, keys, {
    ...(options.delaySeconds !== undefined && { delaySeconds: options.delaySeconds }),
    ...(options.payoutWindowSeconds && { payoutWindowSeconds: options.payoutWindowSeconds }),
    treasuryContract: options.refill !== undefined,
    ...(options.attestors && {
      attestors: {
        threshold: options.attestors.threshold,
        further: options.attestors.further.map(
          (name) => loadKey(join(stateDir, "keys"), name).account.address,
        ),
      },
    }),
  });
  const bridge = options.bridge
    ? await startBridgeAttestations({ chains, deployment, keys })
    : undefined;
  writeServiceConfig({
    ...(bridge && { attestationsUrl: bridge.url, bridgeFirst: true }),
    chains,
    deployment,
    keys,
    ports: { api: 0, quote: 0, ...(options.telemetry && { telemetry: 0 }) },
    pollIntervalMs: options.pollIntervalMs ?? 100,
    ...(options.payoutWindowSeconds && { payoutWindowSeconds: options.payoutWindowSeconds }),
    ...(options.corsOrigins && { corsOrigins: options.corsOrigins }),
    ...(options.refill && { refill: options.refill }),
  });
  if (options.ownLimits) {
    const path = join(stateDir, "service.json");
    const { rateLimits: _, ...config } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify(config));
  }
  if (options.configure) {
    const path = join(stateDir, "service.json");
    const config: Record<string, unknown> = JSON.parse(readFileSync(path, "utf8"));
    options.configure(config, join(stateDir, "keys"));
    writeFileSync(path, JSON.stringify(config));
  }
  if (options.databaseUrl !== undefined) {
    const path = join(stateDir, "service.json");
    const file = join(stateDir, "database-url");
    writeFileSync(file, options.databaseUrl, { mode: 0o600 });
    const config: object = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...config, database: { url: { file } } }));
    await runServiceCommand(["migrate", "--config", path, "--json"]);
  }
  if (options.nodesOf) {
    const path = join(stateDir, "service.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    for (const chain of config.chains) {
      const name = chains.all.find(({ chainId }) => chainId === chain.chainId)?.name;
      if (!name) throw new Error("every configured chain runs");
      chain.rpcUrls = await options.nodesOf(name, chain.rpcUrl);
      delete chain.rpcUrl;
    }
    writeFileSync(path, JSON.stringify(config));
  }
  const prepared = prepareService({
    stateDir,
    ...(options.roles !== undefined && { roles: options.roles }),
  });
  const ended = async (error: unknown): Promise<never> => {
    await Promise.all([prepared.cancel(), bridge?.stop(), chains.stop()]);
    throw error;
  };
  const integrators = await ensureIntegrators(stateDir, prepared).catch(ended);
  let service: RunningService = await prepared.serve().catch(ended);
  const live: StreamEvent[][] = integrators.map(() => []);
  let streams: { close(): void }[] = [];

  const apiKeyOf = (by: number): string => {
    const integrator = integrators[by];
    if (!integrator) throw new Error(`there is no integrator ${by}`);
    return integrator.apiKey;
  };
  const clientOf = (by: number) =>
    createSluiceClient({
      baseUrl: service.baseUrl,
      quoteUrl: service.quoteUrl,
      apiKey: apiKeyOf(by),
    });

  async function connectStreams(): Promise<void> {
    const connected = integrators.map(
      (_, by) =>
        new Promise<void>((resolve, reject) => {
          const stream = connectStream({
            baseUrl: service.baseUrl,
            apiKey: apiKeyOf(by),
            onConnected: () => resolve(),
            onEvent: (event) => live[by]?.push(event),
            onError: reject,
          });
          streams.push(stream);
        }),
    );
    await Promise.all(connected);
  }

  function closeStreams(): void {
    for (const stream of streams) stream.close();
    streams = [];
  }

  async function until(
    what: string | (() => string),
    holds: () => Promise<boolean>,
    deadlineMs = DEADLINE_MS,
  ): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!(await holds())) {
      if (performance.now() > deadline) {
        throw new Error(`it never came true that ${typeof what === "string" ? what : what()}`);
      }
      await delay(100);
    }
  }

  async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
    const all: Item[] = [];
    for await (const item of items) all.push(item);
    return all;
  }

  const allSwaps = (by = 0): Promise<Swap[]> => collect(clientOf(by).iterateSwaps());
  const allEvents = (by = 0): Promise<EventItem[]> => collect(clientOf(by).iterateEvents());

  /** Settlements of an address, oldest first. */
  async function swapsOf(address: string, by = 0): Promise<Swap[]> {
    const swaps = await allSwaps(by);
    return swaps.filter((swap) => swap.walletAddress === address).toReversed();
  }

  async function statusEvents(id: string): Promise<StatusChangedData[]> {
    const events = await allEvents(0);
    return events.flatMap((event) =>
      event.type === "status_changed" && event.data.queueItemId === id ? [event.data] : [],
    );
  }

  async function quoteRaw(args: QuoteArgs): Promise<QuoteResponse> {
    const { from, to, recipient, userId, by = 0, amount = 10_000_000n } = args;
    return clientOf(by).quote({
      amountIn64: amount.toString(),
      fromChain: from,
      fromToken: args.fromToken ?? deployment.chains[from].token,
      toChain: to,
      toToken: args.toToken ?? deployment.chains[to].token,
      slippageBps: "auto",
      destinationAddress: recipient,
      payDeposit: true,
      ...(userId === undefined ? {} : { payUserId: userId }),
      ...args.terms,
    });
  }

  async function quote(
    args: QuoteArgs,
  ): Promise<{ address: Address; quote: Quote; quotes: readonly Quote[] }> {
    const { quotes } = await quoteRaw(args);
    const found = quotes.find((one) => one.payDepositAddress !== null);
    const address = found?.payDepositAddress;
    if (!found || !address || !isAddress(address)) throw new Error("no quote has an address");
    return { address, quote: found, quotes };
  }

  const tokenBalance = (chain: ChainName, owner: Address) =>
    balanceOf(chains[chain].client, { owner, token: deployment.chains[chain].token });

  async function readLocks(chain: ChainName): Promise<bigint> {
    const { client } = chains[chain];
    const address = deployment.chains[chain].escrow;
    const locked = await client.getContractEvents({
      address,
      abi: escrowAbi,
      eventName: "Locked",
      fromBlock: 0n,
    });
    const claimed = await client.getContractEvents({
      address,
      abi: escrowAbi,
      eventName: "Claimed",
      fromBlock: 0n,
    });
    return BigInt(locked.length - claimed.length);
  }

  async function sendAs(
    chain: ChainName,
    account: PrivateKeyAccount,
    call: OutsideCall,
  ): Promise<void> {
    const { client, rpcUrl } = chains[chain];
    const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) });
    const hash = await wallet.sendTransaction(call);
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`the call reverted (${hash})`);
  }

  await connectStreams();
  return {
    chains,
    deployment,
    /** The stand-in for Circle's attestation service. */
    get attestations() {
      if (!bridge) throw new Error("this world has no bridge");
      return bridge;
    },
    factory: deployment.factory,
    serviceUrls: () => ({ baseUrl: service.baseUrl, quoteUrl: service.quoteUrl }),
    /** URL of metrics and health. */
    telemetryUrl(): string {
      if (service.telemetryUrl === undefined) throw new Error("this world serves no metrics");
      return service.telemetryUrl;
    },
    apiKeyOf,
    until,
    quote,
    quoteRaw,
    allSwaps,
    allEvents,
    swapsOf,
    reportOf: (id: string) => clientOf(0).getSettlement(id),
    statusEvents,
    newRecipient: (): Address => privateKeyToAccount(generatePrivateKey()).address,
    liveEvents: (by: number): readonly StreamEvent[] => live[by] ?? [],
    addressesOf: (by: number): Promise<DepositAddress[]> =>
      collect(clientOf(by).iterateDepositAddresses()),

    async pay(chain: ChainName, to: Address, amount: bigint): Promise<Hex> {
      const [from] = keys.payers[chain];
      if (!from) throw new Error(`${chain} has a payer`);
      const { token } = deployment.chains[chain];
      return pay(chains[chain].client, { from: from.account, to, token, amount });
    },

    /**
     * Replaces the newest blocks of a chain by empty ones, and rebroadcasts the payers' transactions, as wallets do. The
     * service must rebroadcast its own.
     */
    async reorganise(chain: ChainName, depth: number, payments: readonly Hex[]): Promise<void> {
      const { client } = chains[chain];
      const sent = await Promise.all(
        payments.map((hash) =>
          // CAST: a method of the node that the client's types do not include.
          client.request({ method: "eth_getRawTransactionByHash", params: [hash] } as never),
        ),
      );
      await reorganise(client, depth);
      for (const serializedTransaction of sent) {
        // CAST: a raw transaction, or null if the node dropped it.
        const raw = serializedTransaction as Hex | null;
        if (raw) await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => null);
      }
    },

    /** Pays in native coin. */
    async payNative(chain: ChainName, to: Address, amount: bigint): Promise<Hex> {
      const [from] = keys.payers[chain];
      if (!from) throw new Error(`${chain} has a payer`);
      return pay(chains[chain].client, { from: from.account, to, amount });
    },

    nativeBalance: (chain: ChainName, owner: Address) =>
      chains[chain].client.getBalance({ address: owner }),

    /** Runs a command of the service against this world's configuration. */
    command: (...args: readonly string[]) =>
      runServiceCommand(["--config", join(stateDir, "service.json"), ...args]),

    /** Waits until the newest settlement of an address, other than `after`, is terminal. */
    async settled(address: Address, { after, by = 0 }: SettledArgs = {}): Promise<Swap> {
      let newest: Swap | undefined;
      const what = () =>
        `${address} is settled; it is ${newest?.status} ${JSON.stringify(newest?.error)}`;
      await until(what, async () => {
        newest = (await swapsOf(address, by)).at(-1);
        return newest !== undefined && newest.id !== after && newest.terminal;
      });
      if (!newest) throw new Error("until saw it");
      return newest;
    },

    async statuses(id: string): Promise<string[]> {
      return (await statusEvents(id)).map((event) => event.status);
    },

    /** Waits for `count` detected deposits of an address, and returns them, oldest first. */
    async deposits(address: Address, count: number): Promise<DepositDetectedData[]> {
      let found: DepositDetectedData[] = [];
      await until(`${count} deposits are detected`, async () => {
        found = (await allEvents(0)).flatMap((event) =>
          event.type === "deposit_detected" && event.data.walletAddress === address
            ? [event.data]
            : [],
        );
        return found.length >= count;
      });
      return found;
    },

    balance: tokenBalance,
    inventory: (chain: ChainName) => tokenBalance(chain, deployment.chains[chain].delivery),
    escrow: (chain: ChainName): Address => deployment.chains[chain].escrow,
    escrowBalance: (chain: ChainName) => tokenBalance(chain, deployment.chains[chain].escrow),
    feesBalance: (chain: ChainName) => tokenBalance(chain, keys.feeRecipient.account.address),
    treasuryBalance: (chain: ChainName) => tokenBalance(chain, keys.treasury.account.address),
    openLocks: async () => Number((await readLocks("ethereum")) + (await readLocks("base"))),

    async hasCode(chain: ChainName, address: Address): Promise<boolean> {
      return ((await chains[chain].client.getCode({ address })) ?? "0x") !== "0x";
    },

    owner: keys.owner.account.address,
    /** Calls a contract as its owner, and waits for the block. */
    asOwner: (chain: ChainName, call: OutsideCall) => sendAs(chain, keys.owner.account, call),

    /** Calls a contract as an account, which is funded with gas money, and waits for the block. */
    async sendAs(chain: ChainName, account: PrivateKeyAccount, call: OutsideCall): Promise<void> {
      await this.payNative(chain, account.address, parseEther("1"));
      await sendAs(chain, account, call);
    },

    /** Returns the refund authority of an integrator. */
    refundAuthority: (integrator: string): PrivateKeyAccount =>
      loadKey(join(stateDir, "keys"), `refund-${integrator}`).account,

    guardian: keys.guardian.account,
    settleLane: (chain: ChainName): Address => keys.lanes[chain].settle.account.address,

    /** The account that may mint the test token. */
    faucet: keys.faucet.account,

    /** Returns a new account. */
    stranger: (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey()),

    /** Adds an account as a relayer and funds it, as an operator does before a lane uses its key. */
    async addRelayer(chain: ChainName, relayer: Address): Promise<void> {
      const args = [relayer, true] as const;
      const data = encodeFunctionData({ abi: depositFactoryAbi, functionName: "setRelayer", args });
      await this.asOwner(chain, { to: deployment.factory, data });
      await this.payNative(chain, relayer, parseEther("1"));
    },

    /** Withdraws the whole inventory of a chain to the treasury. */
    async emptyInventory(chain: ChainName): Promise<void> {
      const { token, delivery } = deployment.chains[chain];
      const amount = await tokenBalance(chain, delivery);
      const args = [token, amount] as const;
      const data = encodeFunctionData({ abi: deliveryAbi, functionName: "withdraw", args });
      await this.asOwner(chain, { to: delivery, data });
    },

    async fillInventory(chain: ChainName, amount: bigint): Promise<void> {
      const { token, delivery } = deployment.chains[chain];
      const { faucet } = keys;
      await mintToken(chains[chain].client, {
        faucet: faucet.account,
        token,
        to: delivery,
        amount,
      });
    },

    /** Returns the number of payouts from inventory to a recipient. */
    async countDeliveries(chain: ChainName, to: Address): Promise<number> {
      const events = await chains[chain].client.getContractEvents({
        address: deployment.chains[chain].delivery,
        abi: deliveryAbi,
        eventName: "Delivered",
        args: { to },
        fromBlock: 0n,
      });
      return events.length;
    },

    async predictOnChain(
      chain: ChainName,
      commitment: NonNullable<Quote["payDepositCommitment"]>,
    ): Promise<Address> {
      // CAST: the wire's schema checks that these fields are 32 bytes of hex.
      const word = (text: string) => text as Hex;
      return chains[chain].client.readContract({
        address: deployment.factory,
        abi: depositFactoryAbi,
        functionName: "predict",
        args: [
          {
            integrator: word(commitment.integrator),
            userId: word(commitment.userId),
            destChain: commitment.destChain,
            destWallet: word(commitment.destWallet),
            destToken: word(commitment.destToken),
            refundAuthority: word(commitment.refundAuthority),
            maxFeeBps: commitment.maxFeeBps,
            maxSlippageBps: commitment.maxSlippageBps,
            routes: word(commitment.routes ?? NO_ROUTE_SET),
            flags: commitment.flags ?? 0,
          },
        ],
      });
    },

    /** Waits until the service exits, and returns its signal or code. */
    serviceDeath: (): Promise<string> => deathOf(service, DEADLINE_MS),

    /** Sets the base fee of the next block of a chain, and mines it; the fee falls by an eighth with each block. */
    async setBaseFee(chain: ChainName, weiPerGas: bigint): Promise<void> {
      const { client } = chains[chain];
      const params = [`0x${weiPerGas.toString(16)}`];
      // CAST: a method of the node that the client's types do not include.
      await client.request({ method: "anvil_setNextBlockBaseFeePerGas", params } as never);
      // CAST: as above.
      await client.request({ method: "evm_mine", params: [] } as never);
    },

    /** Stops the service if it runs, and starts it again, optionally with a crash point. */
    async restartService({ crashAt }: { readonly crashAt?: string }): Promise<void> {
      closeStreams();
      await service.stop();
      const env = crashAt === undefined ? {} : { SLUICE_CRASH_AT: crashAt };
      service = await startService({ stateDir, env });
    },

    /** Kills the service with SIGKILL. */
    async killService(): Promise<void> {
      closeStreams();
      await service.kill();
    },

    /** Changes the file of the configuration; the service reads it when it starts, or when it is told to. */
    changeConfig(change: (config: Record<string, unknown>) => void): void {
      const path = join(stateDir, "service.json");
      const config: Record<string, unknown> = JSON.parse(readFileSync(path, "utf8"));
      change(config);
      writeFileSync(path, JSON.stringify(config));
    },

    /** Tells the service to read its configuration again. */
    askForReload: (): void => void process.kill(service.pid, "SIGHUP"),

    /** Stops the service until it is started again. */
    async stopService(): Promise<void> {
      closeStreams();
      await service.stop();
    },

    configPath: join(stateDir, "service.json"),

    /** Folder of the embedded database; stop the service before copying or replacing it. */
    databaseFolder: () => realpathSync(join(stateDir, "service", "postgres")),

    /** Returns the whole log of the service. */
    readLog: (): string => readFileSync(join(stateDir, "service.log"), "utf8"),

    /** Stops the service, and starts it with some of its roles. */
    async replaceService({ roles }: { readonly roles: string }): Promise<void> {
      closeStreams();
      await service.stop();
      service = await startService({ stateDir, roles });
    },

    async close(): Promise<void> {
      closeStreams();
      await service.stop();
      await bridge?.stop();
      await chains.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
