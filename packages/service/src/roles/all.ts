/** Every role in one process: what a laptop runs, and the sandbox. */
import type { Config } from "../config/load.ts";
import { claimInstance } from "../db/instance.ts";
import { createWakeups } from "../jobs/wakeups.ts";
import { createLog } from "../telemetry/log.ts";
import { OperatingError } from "../core/errors.ts";
import { startApi, startQuoteServer } from "./api.ts";
import { startAttestor } from "./attestor.ts";
import {
  createChains,
  createRoutes,
  evmFormat,
  type RoleContext,
  type RunningRole,
  TOPICS,
} from "./context.ts";
import { openServiceDatabase } from "./database.ts";
import { startScanner } from "./scanner.ts";
import { startSettler } from "./settler.ts";
import { createCrashPoint, systemClock, systemRandom } from "./system-ports.ts";

export interface RunningService {
  readonly apiUrl: string;
  readonly quoteUrl: string;
  /** Ends every role, then the database connections and the embedded server. */
  stop(): Promise<void>;
}

/**
 * Starts everything. What was started is stopped again when a later part cannot start.
 * @throws OperatingError that says what to do about it.
 */
export async function startAll(config: Config): Promise<RunningService> {
  const log = createLog({ level: config.logLevel, role: "all" });
  const clock = systemClock;
  const cleanups: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  try {
    const database = await openServiceDatabase(config, log);
    const { db, pool, address } = database;
    cleanups.push(async () => {
      await database.close();
      if (mayStopServer) await database.stopServer();
    });
    let mayStopServer = database.startedServer;
    const instance = await claimInstance(pool, () => {
      log.fatal("the claim on the database was lost: stopping before another service works on it");
      process.exit(1);
    });
    mayStopServer = true;
    cleanups.push(() => instance.release());
    const wakeups = createWakeups({ address, pool, clock, log });
    cleanups.push(() => wakeups.close());

    const chains = createChains(config, (chain) => chain.rpcUrl);
    const context: RoleContext = {
      config,
      db,
      clock,
      random: systemRandom,
      log,
      crashPoint: createCrashPoint(config.crashAt),
      wakeups,
      chains,
      routes: createRoutes(config, {
        db,
        clock,
        chains,
        wakeAttestor: () => wakeups.wake(TOPICS.attestations),
      }),
      format: evmFormat,
    };
    await checkChains(context);
    const started = <Role extends RunningRole>(role: Role): Role => {
      cleanups.push(() => role.stop());
      return role;
    };
    started(startAttestor(context));
    started(startSettler(context));
    started(startScanner(context));
    const quote = started(await startQuoteServer(context));
    const api = started(await startApi(context));
    return { apiUrl: api.url, quoteUrl: quote.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Refuses to start on a node of another chain. One that does not answer now is looked at again by the loops. */
async function checkChains({ chains, log }: RoleContext): Promise<void> {
  for (const chain of chains.values()) {
    try {
      await chain.checkIdentity();
    } catch (error) {
      if (!(error instanceof OperatingError) || error.code !== "RPC_UNAVAILABLE") throw error;
      log.error({ err: error, chainId: chain.chainId }, "a chain's node does not answer");
    }
  }
}
