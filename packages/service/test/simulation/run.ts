/**
 * Runs one seed: a safety phase with faults, a liveness phase without, then the oracle. A violation is thrown as `Broken`
 * with the invariant's name.
 */
import type { FakeChain, FakeTransaction } from "../fake-chain/model.ts";
import { hashOf, toRaw } from "../fake-chain/model.ts";
import { vaultOf } from "../fake-chain/slots.ts";
import type { Action } from "../fake-chain/contracts.ts";
import { parseRaw } from "../fake-chain/node.ts";
import { LANE_PURPOSES } from "../../src/config/index.ts";
import { type Address, type EvmAddress, isNative, NATIVE_TOKEN } from "../../src/core/hex.ts";
import { createAudits } from "../../src/roles/auditor.ts";
import { createSettlementDeps } from "../../src/roles/settlement-deps.ts";
import type { AuditDeps } from "../../src/ledger/index.ts";
import type { Db } from "../../src/db/schema.ts";
import { requestIndex } from "../../src/settlements/index.ts";
import { Broken } from "./broken.ts";
import { type DatabaseFault, type SharedDatabase, shareDatabase } from "./database.ts";
import { createAttestationService } from "./attestation-service.ts";
import { ALL_ATTESTORS, drawAttestorsOf } from "./attestors.ts";
import { createAuditFaults } from "./audit-faults.ts";
import {
  type BridgeFaults,
  drawBridgeFaults,
  drawChange,
  drawBlocking,
  drawOutages,
  drawFaults,
  drawLarge,
  drawRoutes,
  drawSolana,
  type Faults,
  type Outages,
  NO_BRIDGE_FAULTS,
  NO_FAULTS,
  type RouteChoice,
  marketOf,
} from "./faults.ts";
import { acceptLosses, checkExposure, drawWithEarly } from "./early.ts";
import { checkAlways, checkQuota, describeRest, isAtRest } from "./invariants.ts";
import { Kernel, type Life } from "./kernel.ts";
import { drawLimits, NO_LIMITS } from "./limits.ts";
import {
  createLives,
  type Disturbance,
  listPosts,
  type Post,
  type Process,
  ROLES,
} from "./lives.ts";
import { judge } from "./oracle.ts";
import { startOperator } from "./operator.ts";
import { listMetLimits, listMetOnSolana } from "./marks.ts";
import { judgeLocks } from "./oracle-locks.ts";
import { startPausing } from "./pausing.ts";
import { finish, prepare } from "./prepare.ts";
import { createFlooding, type Flooding } from "./strangers.ts";
import { startTakeBacks } from "./take-backs.ts";
import { createDestroying } from "./destroying.ts";
import { createDice } from "./random.ts";
import { startUnattended } from "./unattended.ts";
import { createScreening } from "./screening.ts";
import { startReaders } from "./readers.ts";
import type { SimulationDatabase } from "./server.ts";
import {
  CHAIN_IDS,
  COIN_USD,
  coinMinimumOf,
  PAYOUT_WINDOW_S,
  createChain,
  createConfig,
  createSolana,
  ETHER,
  laneOf,
  MINIMUM,
  nativeOn,
  on,
  type PaidAddress,
  REFUND_AUTHORITY,
  SOLANA,
  START_MS,
  STRANGER,
  tokenOf,
  TRADER,
  UNIT,
  userOf,
  USERS,
} from "./stage.ts";

export interface RunOptions {
  /** Faults instead of those of the seed. */
  readonly faults?: Faults;
  /** Faults of the bridge instead of those of the seed. */
  readonly bridgeFaults?: BridgeFaults;
  /** Routes between the chains instead of those of the seed. */
  readonly routes?: RouteChoice;
  /** Whether there are pool swaps, instead of the seed's choice. */
  readonly swaps?: boolean;
  /** Whether Solana is beside the EVM chains, instead of the seed's choice. */
  readonly solana?: boolean;
  /** Whether an operator requests refunds on Solana, instead of the seed's choice. */
  readonly refunds?: boolean;
  /** Whether late deposits reach Solana vaults during their sweep, instead of the seed's choice. */
  readonly latecomers?: boolean;
  /** Whether strangers flood blocks and addresses, instead of the seed's choice. */
  readonly floods?: boolean;
  /** Number of payments, instead of the seed's. */
  readonly payments?: number;
  /** Disturbs effects; called for each durable effect and crash point with its running number. */
  readonly disturb?: (what: string, number: number) => Disturbance | null;
  /** How long the faults last, in virtual milliseconds. */
  readonly safetyMs?: number;
  readonly keepLog?: boolean;
  /** Sends every query to the database, also where the answer cannot have changed: the same run, slower. */
  readonly asksAll?: boolean;
  /** Has the database choose other plans: the same run, unless the order of rows matters that no query states. */
  readonly otherPlans?: boolean;
  /** Called when no work is left, to inspect or to tamper. */
  readonly onRest?: (world: World) => Promise<void>;
}

/** The final state of a run. */
export interface World {
  readonly database: SharedDatabase;
  readonly db: Db;
  readonly chains: ReadonlyMap<number, FakeChain>;
  readonly addresses: readonly PaidAddress[];
  /** Dependencies of an audit of each chain, with nodes at the chains' heads. */
  readonly audits: readonly AuditDeps[];
}

export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly traceHash: string;
  /** The violation, or null. */
  readonly broken: string | null;
  readonly log: readonly string[];
  /** Counts of the states that were reached, to see that rare ones are. */
  readonly marks: Readonly<Record<string, number>>;
}

const SAFETY_MS = 6 * 60_000;
const LIVENESS_MS = 12 * 3_600_000;
/** Time in the liveness phase until short payout windows become long, in milliseconds. */
const HASTE_MS = 5 * 60_000;
/** Above the polls of the loops of a life that comes to rest; each lane is a loop, and shared statements are steps too. */
const STEPS_MAX = 120_000;
const CHECK_EVERY = 40;

const DATABASE_FAULTS = {
  before: "kill",
  after: "kill_after",
  answer_lost: "answer_lost",
} as const satisfies Record<Disturbance, DatabaseFault>;

/** Runs a seed on an emptied database. */
export async function runSeed(
  database: SimulationDatabase,
  seed: number,
  options: RunOptions = {},
): Promise<RunResult> {
  await database.empty();
  await database.plan(options.otherPlans ? "other" : "usual");
  const kernel = new Kernel(createDice(seed), START_MS, { keepLog: options.keepLog ?? false });
  const marks: Record<string, number> = {};
  const mark = (name: string) => {
    marks[name] = (marks[name] ?? 0) + 1;
  };
  let broken: string | null = null;
  try {
    await play(kernel, database, seed, { ...options, mark });
  } catch (error) {
    broken =
      error instanceof Error
        ? `${error.name}: ${error.message}\n${error.stack ?? ""}`
        : String(error);
  }
  return {
    seed,
    steps: kernel.steps,
    virtualMs: kernel.nowMs - START_MS,
    traceHash: kernel.traceHash,
    broken,
    log: kernel.log,
    marks,
  };
}

async function play(
  kernel: Kernel,
  connection: SimulationDatabase,
  seed: number,
  options: RunOptions & { readonly mark: (name: string) => void },
): Promise<void> {
  const { mark, safetyMs = SAFETY_MS } = options;
  /** Generator of the events, separate from that of their order, so that another order does not change the payments. */
  const dice = createDice(seed, 1);
  const { early, drawn, drawDelay } = options.faults
    ? { early: null, drawn: options.faults, drawDelay: () => 0 }
    : drawWithEarly(seed, drawFaults(createDice(seed, 2)), mark);
  let faults = drawn;
  const inventory = drawn.shortInventory ? 3n * UNIT : 10n ** 12n;
  const laneWei = drawn.poorLanes ? ETHER / 1000n : 1000n * ETHER;
  const windowS = drawn.isHasty ? PAYOUT_WINDOW_S.hasty : PAYOUT_WINDOW_S.ordinary;
  // In some runs deposits are charged for gas; deposits in coin are then large, like their fees.
  const gas = createDice(seed, 4).chance(0.3) ? "charged" : "sponsored";
  const market = marketOf(createDice(seed, 9), options);
  // A pool swap costs more gas than a transfer.
  const chargedUnit = market ? 10n * ETHER : ETHER;
  const coinUnit = gas === "charged" ? chargedUnit : ETHER / 1000n;
  // A payment above the share of an address, which must arrive in parts.
  const large = options.faults || drawn.shortInventory ? null : drawLarge(createDice(seed, 30));
  // The large payment would need hundreds of parts.
  const hasLimits = large === null && !options.faults;
  const limits = hasLimits ? drawLimits(createDice(seed, 39), { coinUnit }) : NO_LIMITS;
  const attestors = options.faults ? ALL_ATTESTORS : drawAttestorsOf(seed, { early, safetyMs });
  const { threshold, accounts, cold } = attestors;
  const setup = {
    inventory,
    laneWei,
    payoutWindowS: windowS,
    attestors: accounts,
    threshold,
    ...limits,
  };
  const chains = new Map<number, FakeChain>(
    CHAIN_IDS.map((chainId) => [chainId, createChain(chainId, setup)]),
  );
  const hasSolana = options.solana ?? (!options.faults && drawSolana(createDice(seed, 14)));
  if (hasSolana) {
    chains.set(SOLANA, createSolana(setup, createDice(seed, 12)));
  }
  if (gas === "charged") mark("charged for gas");
  const between = options.routes ?? drawRoutes(createDice(seed, 5));
  mark(`between the chains by ${between.join(", then ")}`);
  if (market) mark("with pools");
  if (hasSolana) mark("with Solana");
  // Where sweeps name their amount, and where they take the whole balance unless it is a part.
  const largeChain = hasSolana ? SOLANA : 2;
  // In some runs an integrator may have one open settlement on a chain: deposits above it wait for their turn.
  const quota = !options.faults && createDice(seed, 33).chance(0.2) ? 1 : null;
  if (quota !== null) mark("with a quota of settlements");
  // A hasty service wants a lock back before the contracts stop paying for it.
  let payoutWindowS = drawn.isHasty ? 60n : windowS;
  let isCalm = false;
  const screening = createScreening(createDice(seed, 31), {
    kernel,
    isOff: options.faults !== undefined,
    isCalm: () => isCalm,
    mark,
  });
  const configure = (routes: readonly RouteChoice[number][]) => ({
    ...createConfig(payoutWindowS, gas, routes, market !== null, hasSolana, {
      addressBps: large?.addressBps,
      openSettlements: quota ?? 1_000,
      early,
    }),
    screening: screening.config,
    attestors: { threshold, accounts, cold, databaseUsers: [] },
  });
  let config = configure(between);
  let bridgeFaults =
    options.bridgeFaults ??
    (options.faults ? NO_BRIDGE_FAULTS : drawBridgeFaults(createDice(seed, 6)));
  const bridgeDice = createDice(seed, 7);
  let thrown: unknown = null;
  let effects = 0;
  const disturb = (life: Life, what: string): Disturbance | null =>
    options.disturb?.(`${life.name.replace(/\d+$/, "")} ${what}`, ++effects) ?? null;
  const chooseFault = (life: Life, what: "query" | "write" | "commit"): DatabaseFault | null => {
    if (life.name.startsWith("api")) return null;
    if (what === "query") {
      if (dice.chance(faults.queryKill)) return "kill";
      return dice.chance(faults.queryLost) ? "lost" : null;
    }
    const disturbance = disturb(life, what);
    if (disturbance) return DATABASE_FAULTS[disturbance];
    if (dice.chance(faults.commitKill)) return dice.chance(0.5) ? "kill" : "kill_after";
    if (dice.chance(faults.commitLost)) return "lost";
    return dice.chance(faults.commitAnswerLost) ? "answer_lost" : null;
  };
  const database = shareDatabase(connection, kernel, chooseFault, options.asksAll ?? false);
  // Late deposits that reach a vault during its sweep are not part of the sweep.
  const latecomers = createDice(seed, 16);
  let latePayments = (options.latecomers ?? !options.faults) ? latecomers.int(3) : 0;
  const onSweep = (action: Action) => {
    if (action.kind !== "order" || latePayments === 0) return;
    const { order } = action;
    if (order.kind !== "lock" && order.kind !== "transfer") return;
    latePayments -= 1;
    mark("paid while it was swept");
    const { token, commitment } = order;
    const amount = (isNative(token) ? coinMinimumOf(SOLANA) : MINIMUM) + BigInt(latePayments);
    submit(SOLANA, userOf(0), { kind: "transfer", token, to: vaultOf(commitment), amount });
  };
  const attestations = createAttestationService({
    kernel,
    dice: bridgeDice,
    chains,
    faults: () => bridgeFaults,
    mark,
    onAttested(destination, attested) {
      if (!bridgeDice.chance(bridgeFaults.strangers)) return;
      kernel.schedule("a stranger hands in", bridgeDice.between(0, 40_000), () => {
        mark("handed in by somebody else");
        submit(destination.contracts.chainId, STRANGER, { kind: "receive", ...attested });
      });
    },
  });
  const auditFaults = createAuditFaults(createDice(seed, 23), {
    isOff: options.faults !== undefined,
    safetyMs,
    elapsedMs: () => kernel.nowMs - START_MS,
    mark,
  });
  // Otherwise the auditor polls a few times in a run.
  const hastenAuditor = () => {
    kernel.isPrompt = (life) => life.name.startsWith("auditor");
  };
  if (auditFaults.isOn) hastenAuditor();
  let runningAttestors = attestors.shifts[0]?.running ?? [];
  let flooding: Flooding | null = null;
  const lives = createLives({
    leaveOut: (request, section) => flooding?.leaveOut(request, section) ?? section,
    attestors,
    runningAttestors: () => runningAttestors,
    mark,
    auditFaults,
    attestationsOf: attestations.httpOf,
    screeningOf: screening.httpOf,
    kernel,
    dice,
    database,
    chains,
    config: () => config,
    faults: () => faults,
    async onSend(raw) {
      const { hash, action } = parseRaw(raw as `0x${string}`);
      onSweep(action);
      // X1: bytes that reach a node were committed before.
      const rows = await database.query("select 1 from attempts where hash = $1", [hash]);
      if (rows.length > 0) return;
      // The service would take a thrown error for a fault of the node, so the run itself must end.
      thrown ??= new Broken(`X1: ${hash} was sent before it was committed`);
    },
    onEffect: disturb,
    onCrashPoint(life, name) {
      mark(`at ${name}`);
      if (disturb(life, name) || dice.chance(faults.kill)) kernel.kill(life);
    },
  });
  const guard = (work: Promise<unknown>) => {
    work.catch((error: unknown) => {
      thrown ??= error;
    });
  };

  const posts = listPosts([...chains.keys()], !options.faults && createDice(seed, 46).chance(0.3));
  if (posts.length > ROLES.length) mark("chains are spread over processes");
  /** Posts without a process, whose restart is scheduled. */
  const awaited = new Set<Post>();
  const restartDead = () => {
    for (const _ of lives.bury()) mark("killed");
    for (const post of posts) {
      if (awaited.has(post) || [...lives.running].some((one) => one.post === post)) continue;
      awaited.add(post);
      kernel.schedule(`restart ${post.role}`, dice.between(100, 30_000), () => {
        awaited.delete(post);
        lives.start(post);
      });
    }
  };
  kernel.onStep = (life) => {
    const process = [...lives.running].find((one) => one.life === life);
    if (!process || process.role === "api") return;
    if (dice.chance(faults.kill / 50)) {
      kernel.kill(life);
    } else if (dice.chance(faults.freeze)) {
      freeze(process);
    }
  };

  /** Freezes a process while another takes over; the first resumes without noticing, and ends soon after. */
  function freeze(process: Process): void {
    const { post } = process;
    if (!post || process.life.frozenUntilMs > kernel.nowMs) return;
    mark("frozen");
    process.life.frozenUntilMs = kernel.nowMs + dice.between(1_000, 300_000);
    kernel.schedule(`takeover ${post.role}`, dice.between(500, 20_000), () => {
      lives.start(post);
      const patience =
        Math.max(0, process.life.frozenUntilMs - kernel.nowMs) + dice.between(0, 20_000);
      kernel.schedule("the frozen one notices", patience, () => lives.kill(process));
    });
  }

  const api = lives.start(null);
  const terms = createDice(seed, 37);
  const isUnattended = () => !options.faults && terms.chance(0.3);
  const addresses = await prepare(kernel, api, dice, isUnattended);
  const readers = startReaders(api, guard);
  for (const post of posts) {
    lives.start(post);
    if (drawn.isCrowded) lives.start(post);
  }

  // An operator who changes the routes, and restarts every process.
  const reconfigure = (routes: readonly RouteChoice[number][]) => {
    config = configure(routes);
    for (const { role, life } of lives.running) if (role !== "api") kernel.kill(life);
  };
  for (const { atMs, running } of attestors.shifts.slice(1)) {
    kernel.schedule("attestors change", atMs, () => {
      mark(
        running.length === 0
          ? "the only attestor was lost"
          : attestors.cold.length > 0
            ? "the cold attestor took over"
            : "an attestor was lost",
      );
      runningAttestors = running;
      for (const { role, life } of lives.running) if (role === "attestor") kernel.kill(life);
    });
  }
  const change = options.faults ? null : drawChange(createDice(seed, 8), between);
  if (change) {
    mark(`from then on by ${change.routes.join(", then ") || "no route"}`);
    kernel.schedule("routes change", change.at * safetyMs, () => reconfigure(change.routes));
  }

  // How often a block of Solana leaves out one of our transactions, so that some expire.
  const crowd = createDice(seed, 13);
  const crowded = crowd.pick([0, 0.5, 0.9]);

  // The chains.
  const stalledUntil = new Map<number, number>();
  const outageDice = createDice(seed, 21);
  const blockingDice = createDice(seed, 22);
  for (const [chainId, chain] of chains) {
    const depth = 2 + dice.int(6) + drawDelay();
    const hasOutages = chainId !== SOLANA && !options.faults;
    const outages = hasOutages ? drawOutages(outageDice, safetyMs) : { halt: null, pause: null };
    const blocking = hasOutages ? drawBlocking(blockingDice, safetyMs) : null;
    const isDuring = (outage: Outages["halt"]) => {
      const ms = kernel.nowMs - START_MS;
      return outage !== null && ms >= outage.from && ms < outage.until && !isCalm;
    };
    const welcome = (transaction: FakeTransaction) =>
      isUser(transaction) ||
      !(
        dice.chance(faults.blockIgnores) ||
        (chainId === SOLANA && !isCalm && !options.faults && crowd.chance(crowded))
      );
    const tick = () => {
      if (isDuring(outages.halt)) {
        mark(`halted ${chainId}`);
        kernel.schedule(`block ${chainId}`, 6_000, tick);
        return;
      }
      if (isDuring(outages.pause)) mark(`paused ${chainId}`);
      chain.head.state.isPaused = isDuring(outages.pause);
      if (isDuring(blocking)) mark(`recipients blocked ${chainId}`);
      chain.head.state.isBlocking = isDuring(blocking);
      const time = BigInt(Math.floor(kernel.nowMs / 1000));
      chain.mine(time, welcome);
      if (dice.chance(faults.reorg)) {
        const reach = 1 + dice.int(faults.reorgDepthMax);
        mark(`reorganised ${chainId}`);
        chain.reorganise(reach, {
          blocks: Math.max(0, reach - 1 + dice.int(3)),
          time,
          returns: () => !dice.chance(faults.reorgLoses),
          isWelcome: welcome,
        });
      }
      if (dice.chance(faults.poolForgets)) chain.forget((one) => !isUser(one) && dice.chance(0.5));
      chain.baseFee = dice.chance(faults.feeSpike)
        ? BigInt(Math.round(dice.between(1, 600))) * 10n ** 9n
        : isCalm
          ? 10n ** 9n
          : (chain.baseFee * 7n + 10n ** 9n) / 8n;
      if (dice.chance(faults.finalityStalls))
        stalledUntil.set(chainId, kernel.nowMs + dice.between(10_000, 120_000));
      if ((stalledUntil.get(chainId) ?? 0) < kernel.nowMs || isCalm) {
        chain.finalize(chain.head.number - BigInt(depth));
      }
      for (const process of lives.running) {
        for (const { chain: seen, node } of process.nodes) {
          if (seen !== chain) continue;
          const behind = faults.nodeBehind === 0 ? 0 : dice.int(faults.nodeBehind + 1);
          kernel.schedule("sync", dice.between(0, faults.nodeLagS * 1000), () => node.sync(behind));
        }
      }
      const haste = chainId === SOLANA ? 2 : 1;
      const pause = isCalm ? 6_000 : dice.between(2_000, 12_000);
      kernel.schedule(`block ${chainId}`, pause / haste, tick);
    };
    kernel.schedule(`block ${chainId}`, 1_000, tick);
  }

  // The users.
  const submit = (chainId: number, account: EvmAddress, action: Action) => {
    const from = on(chainId, account);
    const chain = chains.get(chainId);
    if (!chain) throw new Error(`there is no chain ${chainId}`);
    const nonce = chain.freeNonceOf(from);
    const body = {
      from,
      nonce,
      action,
      gas: action.kind === "receive" ? 300_000n : 100_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 9n,
    };
    chain.offer({ ...body, hash: hashOf(toRaw(body)) });
  };
  const payments = options.payments ?? 1 + dice.int(6);
  const splits = createDice(seed, 3);
  for (let i = 0; i < payments; i++) {
    const { address, chainId } = dice.pick(addresses);
    const native = nativeOn(chainId);
    const token = dice.chance(0.75) ? tokenOf(chainId) : native;
    const coin = (coinUnit * coinMinimumOf(chainId)) / coinMinimumOf(CHAIN_IDS[0]);
    const unit = token === native ? coin : MINIMUM;
    const size = dice.chance(0.2)
      ? (unit * BigInt(1 + dice.int(9))) / 10n
      : unit * BigInt(1 + dice.int(50)) + BigInt(dice.int(1000));
    // On Solana no payment is hidden in a program.
    const isHidden = token === NATIVE_TOKEN && dice.chance(0.4);
    const kind = isHidden ? "hidden_transfer" : "transfer";
    const from = userOf(dice.int(USERS));
    const isSplit = token !== native && splits.chance(0.25);
    const at = dice.between(0, safetyMs * 0.7);
    // Deposits that arrive during a sweep are not part of it.
    if (chainId === SOLANA && !options.faults && splits.chance(0.5)) {
      kernel.schedule("one more payment", at + splits.between(0, 90_000), () =>
        submit(chainId, from, { kind: "transfer", token, to: address.wallet, amount: size + 1n }),
      );
    }
    kernel.schedule("payment", at, () => {
      const to = address.wallet;
      if (isSplit) {
        mark("paid in two transfers of one transaction");
        const part = size / 3n;
        submit(chainId, from, { kind: "payout", token, to, amounts: [part, size - part] });
      } else if (kind === "transfer") {
        submit(chainId, from, { kind, token, to, amount: size });
      } else {
        submit(chainId, from, { kind, to, amount: size });
      }
    });
    if (dice.chance(0.15)) {
      kernel.schedule("request", dice.between(0, safetyMs), () => {
        const deps = createSettlementDeps(api.context, new Map());
        guard(
          requestIndex(deps, { chainId, address, token }).catch((error: unknown) => {
            // The requester gets the error of a node that does not answer.
            if (!(error instanceof Error && error.name === "OperatingError")) throw error;
          }),
        );
      });
    }
    // Refunds from vaults are orders that an operator requests.
    if (dice.chance(0.08) && chainId !== SOLANA) {
      kernel.schedule("refund", dice.between(0, safetyMs), () => {
        mark("refunded");
        submit(chainId, REFUND_AUTHORITY, {
          kind: "refund",
          commitment: address.commitment,
          token,
        });
      });
    }
  }
  const reach = addresses.find(
    ({ chainId, address }) => chainId === largeChain && address.destChain !== largeChain,
  );
  if (large && reach) {
    mark("paid more than an address may reserve");
    kernel.schedule("a large payment", large.at * safetyMs, () =>
      submit(largeChain, userOf(0), {
        kind: "transfer",
        token: tokenOf(largeChain),
        to: reach.address.wallet,
        amount: large.amount * MINIMUM,
      }),
    );
  }
  const orders = createDice(seed, 15);
  const isOrdered = orders.chance(0.5) && !options.faults;
  if (hasSolana && (options.refunds ?? isOrdered))
    startOperator({ kernel, dice: orders, api, database, untilMs: safetyMs, guard, mark });

  const pauses = createDice(seed, 34);
  if (!options.faults && pauses.chance(0.25)) {
    const freezes = drawn.freeze > 0;
    const untilMs = safetyMs * 0.9;
    startPausing({ kernel, dice: pauses, api, database, untilMs, freezes, guard, mark });
  }

  const takeBacks = createDice(seed, 17);
  const announced = startTakeBacks({
    kernel,
    dice: takeBacks,
    chains,
    addresses: options.faults ? [] : addresses,
    untilMs: safetyMs * 0.9,
    submit: (chainId, action) => submit(chainId, REFUND_AUTHORITY, action),
    mark,
  });

  startUnattended({
    kernel,
    dice: createDice(seed, 38),
    chains,
    addresses,
    untilMs: safetyMs * 0.9,
    submit: (chainId, action) => submit(chainId, STRANGER, action),
    mark,
  });
  flooding = createFlooding(
    {
      kernel,
      dice: createDice(seed, 40),
      addresses,
      untilMs: safetyMs,
      submit: (chainId, action) => submit(chainId, STRANGER, action),
      mark,
    },
    { isOff: options.faults !== undefined || options.floods === false, isCalm: () => isCalm },
  );
  flooding.start();
  const destroying = createDestroying(createDice(seed, 36), {
    kernel,
    chains,
    isOff: options.faults !== undefined,
    // The settlement of a quarantined token keeps its place in the quota.
    isPatient: quota === null,
    untilMs: safetyMs * 0.8,
    submit: (chainId, action) => submit(chainId, STRANGER, action),
    mark,
  });
  destroying.start(addresses);
  if (destroying.isOn) hastenAuditor();

  // Traders: the pools move away from the fair price and back, and the fair price moves too.
  const trades = createDice(seed, 10);
  const fairs = new Set([COIN_USD]);
  const trade = (chainId: number, fair: bigint, pool: bigint) => {
    fairs.add(fair);
    submit(chainId, TRADER, { kind: "trade", market: { fair, pool } });
  };
  if (market) {
    for (const chainId of CHAIN_IDS) {
      let part = 1;
      const move = () => {
        if (isCalm) return;
        part = Math.min(
          1.2,
          Math.max(0.8, part * trades.between(1 - market.drift, 1 + market.drift)),
        );
        const isShoved = trades.chance(market.shove);
        if (isShoved) mark("a pool was moved far away");
        const reach = isShoved ? 0.2 : market.spread;
        const away = trades.between(1 - reach, 1 + reach);
        trade(chainId, partOf(COIN_USD, part), partOf(COIN_USD, part * away));
        kernel.schedule("a trade", trades.between(0, market.everyS * 1_000), move);
      };
      kernel.schedule("a trade", trades.between(0, market.everyS * 1_000), move);
    }
  }
  const makeGifts = () => {
    for (const [chainId, chain] of chains) {
      for (const purpose of chainId === SOLANA ? [] : LANE_PURPOSES) {
        submit(chainId, userOf(0), {
          kind: "hidden_transfer",
          to: laneOf(chainId, purpose),
          amount: 1000n * ETHER,
        });
      }
      submit(chainId, userOf(1), {
        kind: "transfer",
        token: tokenOf(chainId),
        to: chain.contracts.delivery,
        amount: 10n ** 11n,
      });
    }
  };
  const isPoor = drawn.poorLanes || drawn.shortInventory;
  if (isPoor) kernel.schedule("gifts", dice.between(safetyMs / 3, safetyMs), makeGifts);

  const advance = async () => {
    if (!(await kernel.step())) throw new Error("nothing waits for anything");
    database.assertAtRest();
    if (thrown) throw thrown;
    restartDead();
    if (kernel.steps % CHECK_EVERY !== 0) return;
    await checkAlways(database, chains);
    if (early) checkExposure(chains, early);
    if (quota !== null) await checkQuota(database, quota);
  };

  while (kernel.nowMs < START_MS + safetyMs) await advance();

  // Liveness: without further faults every settlement must end.
  faults = NO_FAULTS;
  bridgeFaults = NO_BRIDGE_FAULTS;
  isCalm = true;
  // Otherwise settlements by a removed route would wait permanently.
  if (change) reconfigure(between);
  // The service now waits as long as the contracts, so that every lock can be paid.
  if (drawn.isHasty)
    kernel.schedule("locks have longer", HASTE_MS, () => {
      payoutWindowS = windowS;
      reconfigure(between);
    });
  kernel.note("calm");
  const attend = (label: string, act: (db: typeof api.context.db) => Promise<unknown>) =>
    kernel.repeat(label, 30_000, () => guard(act(api.context.db)));
  if (auditFaults.isOn || destroying.isOn)
    attend("an operator ends quarantines", (db) =>
      auditFaults.endHeld(db).then(() => destroying.writeOff(db, database)),
    );
  if (early) attend("an operator accepts losses", (db) => acceptLosses(db, kernel.nowMs, mark));
  for (const process of lives.running) process.life.frozenUntilMs = 0;
  // A user's later transactions would wait permanently behind a payment that a reorg dropped.
  for (const chain of chains.values()) {
    chain.forget((one) => isUser(one) && one.nonce > chain.freeNonceOf(one.from));
  }
  // Announced wallets lock again, so that their settlements end.
  announced.cancel();
  // Pools and market are reset, so that settlements that wait for a fair price continue.
  if (market) for (const chainId of CHAIN_IDS) trade(chainId, COIN_USD, COIN_USD);
  // The first gas payments may have been among those.
  if (isPoor) makeGifts();
  const calmFrom = kernel.nowMs;
  const paid = addresses.map(({ address }) => address);
  let isDone = false;
  while (!isDone) {
    for (let i = 0; i < 60; i++) await advance();
    isDone = kernel.nowMs > calmFrom + 120_000 && (await isAtRest(database, chains, paid, config));
    if (!isDone && (kernel.nowMs > calmFrom + LIVENESS_MS || kernel.steps > STEPS_MAX)) {
      const left = await describeRest(database, chains, paid, config);
      throw new Broken(`L1: it does not come to rest: ${left}`);
    }
  }
  await checkAlways(database, chains);
  const locks = [...chains.values()].flatMap(({ head }) => [...head.state.locks.values()]);
  for (const state of new Set(locks.map((lock) => lock.state))) mark(`locks ${state}`);
  for (const what of await judgeLocks(database, chains)) mark(what);
  const transfers = await database.query<{ what: string }>(
    `select distinct case when state = 'superseded' then 'a burn gave way to another'
                          when relays > 1 then 'handed in more than once'
                          when reattests > 0 then 'expired and was attested again'
                          when relays = 0 then 'delivered by somebody else'
                          else 'delivered by the bridge' end as what from bridge_transfers order by 1`,
  );
  for (const { what } of transfers) mark(what);
  for (const what of await listMetLimits(database)) mark(what);
  const fallenBack = await database.query(
    `select id from settlements where route not in ('MONO_CHAIN', $1) limit 1`,
    [between[0]],
  );
  if (fallenBack.length > 0) mark("settled by another than the preferred route");
  const parts = await database.query(
    `select id from settlements
      where chain_id <> $1 and status = 'completed' and planned_up_to is not null limit 1`,
    [SOLANA],
  );
  if (parts.length > 0) mark("a balance arrived in parts on an EVM chain");
  if (hasSolana) for (const what of await listMetOnSolana(database)) mark(what);
  const swapped = await judge(database, chains, addresses, { isCharged: gas === "charged", fairs });
  for (const what of swapped) mark(what);
  await readers.check(database);
  await auditFaults.check(database, destroying.isSubject);
  if (!options.onRest) return;
  for (const process of lives.running) lives.kill(process);
  const { context, nodes } = lives.start(null);
  const seen = new Map(nodes.map(({ node }) => [node.chainId, node]));
  for (const { node } of nodes) node.sync(0);
  const audits = createAudits({ ...context, chains: seen });
  await finish(kernel, options.onRest({ database, db: context.db, chains, addresses, audits }));
}

/** Multiplies a price by a fraction, to the millionth. */
const partOf = (price: bigint, part: number) =>
  (price * BigInt(Math.round(part * 1e6))) / 1_000_000n;

const OTHERS: ReadonlySet<Address> = new Set(
  [
    REFUND_AUTHORITY,
    STRANGER,
    TRADER,
    ...Array.from({ length: USERS }, (_, user) => userOf(user)),
  ].flatMap((account) => [account, on(SOLANA, account)]),
);
const isUser = ({ from }: FakeTransaction) => OTHERS.has(from);
