/** The processes of the service: started, killed and restarted. Each has its own nodes, memory and connections. */
import { createFakeNode, type FakeNode } from "../fake-chain/node.ts";
import { FakeChain } from "../fake-chain/model.ts";
import { createFakeSlotNode } from "../fake-chain/slot-node.ts";
import { FakeSlotChain } from "../fake-chain/slots.ts";
import type {
  CctpBridge,
  Chain,
  Chains,
  FinalBalances,
  Receipt,
  Section,
  SectionRequest,
  TokenHolding,
  BlockRef,
} from "../../src/chains/port/index.ts";
import { UNLIMITED } from "../../src/chains/rpc/traffic.ts";
import { type Config, LANE_PURPOSES } from "../../src/config/index.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { SPREADABLE_ROLES } from "../../src/db/instance.ts";
import type { EvmAddress } from "../../src/core/hex.ts";
import type { Http } from "../../src/core/ports.ts";
import type { Wakeups } from "../../src/jobs/wakeups.ts";
import { startAttestor } from "../../src/roles/attestor.ts";
import { startAuditor } from "../../src/roles/auditor.ts";
import { openBridgeAttestations } from "../../src/roles/bridge-attestations.ts";
import { type RoleContext, TOPICS } from "../../src/roles/context.ts";
import { createConfiguredPrices } from "../../src/roles/prices.ts";
import type { Pace } from "../../src/scanner/index.ts";
import { startScanner } from "../../src/roles/scanner.ts";
import { startSettler } from "../../src/roles/settler.ts";
import { createHealth } from "../../src/roles/health.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { AttestorPlan } from "./attestors.ts";
import type { AuditFaults } from "./audit-faults.ts";
import type { SharedDatabase } from "./database.ts";
import type { Faults } from "./faults.ts";
import { Killed, type Kernel, type Life } from "./kernel.ts";
import type { Dice } from "./random.ts";
import { createFakeAttestors, createFakeCustody, createFakeLaneSigner } from "./signers.ts";
import { contractsOf, DAILY_CAP, laneOf, SOLANA } from "./stage.ts";
import { createRoutes } from "../../src/routes/index.ts";

/** Sections small enough for the simulation's short chains. */
const PACE: Pace = {
  blocksMin: 1,
  blocksMax: 3,
  finalBlocksMax: 5,
  finalMargin: 1n,
  finalityBlocks: 2,
  idlePolls: 3,
  behindMs: 15_000,
};

export const ROLES = ["scanner", "settler", "attestor", "auditor"] as const;
export type Role = (typeof ROLES)[number];

/** The work of one process: a role, for one chain if the chains are spread. */
export interface Post {
  readonly role: Role;
  readonly chainId?: number;
}

/** Returns the posts of a run: one per role, or of scanner and settler one per chain. */
export function listPosts(chainIds: readonly number[], isSpread: boolean): readonly Post[] {
  return ROLES.flatMap((role): Post[] =>
    isSpread && SPREADABLE_ROLES.includes(role)
      ? chainIds.map((chainId) => ({ role, chainId }))
      : [{ role }],
  );
}

/** A process and its nodes. */
export interface Process {
  readonly life: Life;
  readonly role: Role | "api";
  readonly post: Post | null;
  readonly context: RoleContext;
  readonly nodes: readonly { readonly chain: FakeChain; readonly node: FakeNode }[];
}

/** Methods that query no node. */
const PURE: ReadonlySet<string> = new Set([
  "chainId",
  "kind",
  "costOf",
  "costOfStep",
  "isGivenBack",
  "addresses",
  "predictWallet",
  "hashCommitment",
  "isWalletOf",
  "buildDeploy",
  "buildSettle",
  "buildDeliver",
  "buildClaim",
  "buildReturn",
  "buildRefund",
  "combine",
  "tookEffect",
  "encodeLockData",
  "encodeTransferData",
  "encodeBurnData",
  "encodeSwapData",
  "encodeSwapBurnData",
  "deliveryIdOf",
  "deliveryIdOfPayout",
]);

/** Capabilities of a chain, whose methods query a node like its own methods. */
const CAPABILITIES: ReadonlySet<string> = new Set([
  "sequencing",
  "balances",
  "wallets",
  "priceFeeds",
  "pools",
]);

export interface Stage {
  readonly kernel: Kernel;
  readonly dice: Dice;
  readonly database: SharedDatabase;
  readonly chains: ReadonlyMap<number, FakeChain>;
  /** The configuration of processes that start from now on. */
  readonly config: () => Config;
  readonly faults: () => Faults;
  /** The attestors that the contracts count. */
  readonly attestors: Pick<AttestorPlan, "threshold" | "accounts" | "silent">;
  /** The attestors that run in processes that start from now on. */
  readonly runningAttestors: () => readonly EvmAddress[];
  /** Returns a section of an EVM chain without logs that a server may leave out unnoticed. */
  readonly leaveOut: (request: SectionRequest, section: Section) => Section;
  /** Called with each payout that an attestor signs before its lock is final. */
  readonly mark: (name: string) => void;
  /** Faults of the auditor's reads. */
  readonly auditFaults: AuditFaults;
  /** The HTTP port to Circle's attestation service. */
  readonly attestationsOf: (life: Life) => Http;
  /** The HTTP port to the operator's screening. */
  readonly screeningOf: (life: Life) => Http;
  /** Called before bytes reach a node. */
  readonly onSend: (raw: string) => Promise<void>;
  /** Called at each durable effect, which may be disturbed. */
  readonly onEffect: (life: Life, what: string) => Disturbance | null;
  /** Called at each crash point. */
  readonly onCrashPoint: (life: Life, name: string) => void;
}

/** The fault of one effect: the process ends before or after it, or its answer is lost. */
export type Disturbance = "before" | "after" | "answer_lost";
export const DISTURBANCES = ["before", "after", "answer_lost"] as const satisfies Disturbance[];

type Listener = (subject: string | undefined) => void;

/** Starts processes, and tracks the running ones. */
export function createLives(stage: Stage) {
  const { kernel, dice, chains } = stage;
  const running = new Set<Process>();
  const listeners = new Map<Life, Map<string, Listener[]>>();
  let count = 0;

  function wakeupsOf(life: Life): Wakeups {
    const own = new Map<string, Listener[]>();
    listeners.set(life, own);
    return {
      wake(topic, subject) {
        if (life.dead) return;
        for (const [other, topics] of listeners) {
          if (other.dead || (other !== life && dice.chance(stage.faults().wakeLost))) continue;
          for (const listener of topics.get(topic) ?? []) listener(subject);
        }
      },
      on(topic, listener) {
        own.set(topic, [...(own.get(topic) ?? []), listener]);
        return () => undefined;
      },
      close: async () => undefined,
    };
  }

  /** Wraps a node for a process: every call is a step, and may fail. */
  function reach(life: Life, node: FakeNode): Chain {
    const reachBridge = (bridge: CctpBridge): CctpBridge => ({
      ...bridge,
      async readContractHeight() {
        // CAST: the result of the node's `getHead`, which is the same height here.
        return ((await ask("getHead", node, node.getHead)()) as BlockRef).number;
      },
      async findMint(...args) {
        await kernel.gate(life, `${node.chainId}.findMint`);
        const { nodeError, nodeAnswerLost } = stage.faults();
        if (dice.chance(nodeError)) throw noAnswer(node.chainId);
        const found = await bridge.findMint(...args);
        if (dice.chance(nodeAnswerLost)) throw noAnswer(node.chainId);
        return found;
      },
    });
    const reachFinal = (balances: FinalBalances): FinalBalances => ({
      kind: "final",
      async listHoldings(...args) {
        await kernel.gate(life, `${node.chainId}.listHoldings`);
        if (dice.chance(stage.faults().nodeError)) throw noAnswer(node.chainId);
        return balances.listHoldings(...args);
      },
    });
    /** Wraps a method under its name in the port, whichever capability it belongs to. */
    const ask =
      (name: string, target: object, member: (...args: never) => unknown) =>
      async (...args: unknown[]) => {
        await kernel.gate(life, `${node.chainId}.${name}`);
        const faults = stage.faults();
        if (dice.chance(faults.nodeError)) return failOf(name, node.chainId);
        const disturbance = name === "send" ? stage.onEffect(life, `${node.chainId}.send`) : null;
        if (disturbance === "before") return die(life);
        if (name === "send") {
          await stage.onSend(String(args[0]));
          if (dice.chance(faults.nodeDropsSend)) return "accepted";
        }
        const isAuditor = stage.auditFaults.isOn && life.name.startsWith("auditor");
        const asked = isAuditor ? await stage.auditFaults.lag(node, args) : args;
        const given: unknown = await Reflect.apply(member, target, [...asked]);
        const answer = isAuditor ? await disturbAudit(node, name, args, given) : given;
        if (disturbance === "after") return die(life);
        if (disturbance === "answer_lost" || dice.chance(faults.nodeAnswerLost))
          return failOf(name, node.chainId);
        if (name === "readSection") {
          // CAST: the arguments and result of the node's `readSection`.
          const request = args[0] as SectionRequest;
          // CAST: the same.
          const section = await disturbSection(node, request, answer as Section | null);
          return section && node.kind === "evm" ? stage.leaveOut(request, section) : section;
        }
        if (name === "getReceipt" && dice.chance(faults.receiptFlips)) {
          // One node cannot deny a final transaction on Solana: the quorum is queried before anything is signed again.
          // CAST: the result of the node's `getReceipt`.
          const receipt = answer as Receipt | null;
          const finalNumber = node.kind === "svm" ? await node.getFinalNumber() : -1n;
          return receipt && receipt.blockNumber <= finalNumber ? receipt : null;
        }
        return answer;
      };
    const reachAll = <T extends object>(object: T): T =>
      new Proxy(object, {
        get(target, name: string) {
          if (target === node && name === "cctp") return node.cctp && reachBridge(node.cctp);
          const member: unknown = Reflect.get(target, name);
          if (target === node && CAPABILITIES.has(name)) {
            if (name === "balances" && node.balances.kind === "final")
              return reachFinal(node.balances);
            return typeof member === "object" && member !== null ? reachAll(member) : member;
          }
          if (PURE.has(name) || typeof member !== "function") return member;
          return ask(name, target, member as (...args: never) => unknown);
        },
      });
    return reachAll<Chain>(node);
  }

  function disturbAudit(node: FakeNode, name: string, args: unknown[], answer: unknown): unknown {
    if (name === "getFinalBlock" || name === "getFinalNumber") {
      return stage.auditFaults.lagFinal(node, name, answer);
    }
    if (name !== "listTokenBalances") return answer;
    // CAST: the arguments and result of the node's `listTokenBalances`.
    return stage.auditFaults.lie(
      args[1] as readonly TokenHolding[],
      answer as readonly (bigint | null)[] | null,
    );
  }

  /** Replicas behind one URL: the one that answers may be behind, or on the fork that it saw before. */
  async function disturbSection(
    node: FakeNode,
    request: SectionRequest,
    section: Section | null,
  ): Promise<Section | null> {
    const { sectionCut, sectionStale } = stage.faults();
    if (dice.chance(sectionStale)) {
      const stale = await node.readStale(request);
      if (!request.isFinal) return stale;
    }
    if (!section || !dice.chance(sectionCut)) return section;
    const blocks = section.blocks.slice(0, dice.int(section.blocks.length + 1));
    return blocks.length === 0 && !request.isFinal
      ? null
      : { ...section, blocks: blocks.length === 0 ? section.blocks : blocks };
  }

  function die(life: Life): Promise<never> {
    kernel.kill(life);
    return new Promise(() => undefined);
  }

  function failOf(name: string, chainId: number): string {
    if (name === "send") return "unknown";
    throw noAnswer(chainId);
  }

  /** Starts a process of a role, or of the API. */
  function start(post: Post | null): Process {
    count += 1;
    const role = post?.role ?? "api";
    const config = stage.config();
    const life: Life = { name: `${role}${count}`, dead: false, frozenUntilMs: 0 };
    kernel.note(`${life.name} starts`);
    const nodes = [...chains.values()].map((chain) => ({ chain, node: openNode(chain) }));
    const reached: Chains = new Map(nodes.map(({ node }) => [node.chainId, reach(life, node)]));
    const db = stage.database.dbFor(life);
    const clock = kernel.clockOf(life);
    const wakeups = wakeupsOf(life);
    const wakeAttestor = () => wakeups.wake(TOPICS.attestations);
    const log = logOf(life);
    const health = createHealth(config, clock, [role]);
    const { metrics } = health;
    const http = stage.screeningOf(life);
    const prices = createConfiguredPrices(config, { chains: reached, http, clock, log, metrics });
    const random = { uuid: () => dice.uuid() };
    const service = stage.attestationsOf(life);
    const attestations = openBridgeAttestations(config, { http: service, clock, log, metrics });
    const shared = {
      db,
      clock,
      random,
      log,
      chains: reached,
      prices,
      attestations,
      attestors: attestors.set,
    };
    const context: RoleContext = {
      config,
      ...shared,
      endingChains: reached,
      streamDb: db,
      crashPoint(name) {
        stage.onCrashPoint(life, name);
        if (life.dead) throw new Killed(`killed at ${name}`);
      },
      worksOn: (chainId) => post?.chainId === undefined || post.chainId === chainId,
      pace: PACE,
      health,
      wakeups,
      http,
      // The nodes are simulated, so that nothing is sent.
      trafficOf: () => UNLIMITED,
      nodeMeter: { run: (work) => work() },
      routes: createRoutes(config, { ...shared, metrics, wakeAttestor }),
      format: {
        display: (address) => address,
        parse: () => {
          throw new Error("nobody writes an address in the simulation");
        },
        parseAny: () => {
          throw new Error("nobody writes an address in the simulation");
        },
      },
    };
    const process: Process = { life, role, post, context, nodes };
    running.add(process);
    if (role === "scanner") startScanner(context);
    if (role === "settler") startSettler(context, lanes());
    if (role === "attestor") {
      const readers = { chains: reached, endingChains: reached };
      for (const address of stage.runningAttestors()) {
        startAttestor(context, attestors.signerOf(address), readers);
      }
    }
    if (role === "auditor") startAuditor(context);
    return process;
  }

  const openNode = (chain: FakeChain): FakeNode =>
    chain instanceof FakeSlotChain ? createFakeSlotNode(chain, DAILY_CAP) : createFakeNode(chain);

  /** The signer of Solana, a separate process that survives those of the service. */
  const custody = createFakeCustody({
    contracts: chains.get(SOLANA)?.contracts ?? contractsOf(SOLANA),
    pairs: stage.config().routes,
    deliveryOf: (chainId) => contractsOf(chainId).delivery,
    dailyCap: DAILY_CAP,
    nowMs: () => kernel.nowMs,
  });
  const lanes = () =>
    [...chains.keys()].flatMap((chainId) =>
      LANE_PURPOSES.flatMap((purpose) => {
        const lane = { chainId, purpose, address: laneOf(chainId, purpose) };
        if (chainId !== SOLANA) return [createFakeLaneSigner(lane)];
        return purpose === "deploy" || purpose === "claim" ? [] : [custody.laneSignerOf(lane)];
      }),
    );
  const attestors = createFakeAttestors(
    new Map([...chains].map(([chainId, { contracts }]) => [chainId, contracts])),
    stage.attestors,
    {
      boundsOf(srcChain) {
        const chain = stage.config().chains.find(({ chainId }) => chainId === srcChain);
        const terms = chain?.kind === "evm" ? chain.earlyPayouts : undefined;
        return terms ?? { exposure: 0n, acceptedLosses: [] };
      },
      nowMs: () => kernel.nowMs,
      mark: stage.mark,
    },
  );

  /** The process's log: silent, or part of the trace when the trace is printed. */
  function logOf(life: Life) {
    const log = createLog({ level: "silent", role: life.name });
    if (!kernel.keepsLog) return log;
    const write =
      (level: string) =>
      (facts: unknown, text?: string): void =>
        kernel.remark(`${life.name} ${level}: ${text ?? ""} ${showFacts(facts)}`);
    return Object.assign(log, {
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      fatal: write("fatal"),
      child: () => log,
    });
  }

  return {
    running,
    start,
    kill(process: Process) {
      kernel.kill(process.life);
      running.delete(process);
      listeners.delete(process.life);
    },
    /** Removes the processes that ended by themselves. */
    bury(): Process[] {
      const dead = [...running].filter(({ life }) => life.dead);
      for (const process of dead) {
        running.delete(process);
        listeners.delete(process.life);
      }
      return dead;
    },
  };
}

export type Lives = ReturnType<typeof createLives>;

function noAnswer(chainId: number): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The node did not answer.", {
    details: { chainId },
  });
}

function showFacts(facts: unknown): string {
  return JSON.stringify(facts, (_, value: unknown) =>
    typeof value === "bigint"
      ? value.toString()
      : value instanceof Error
        ? `${value.name}: ${value.message}`
        : value,
  ).slice(0, 300);
}
