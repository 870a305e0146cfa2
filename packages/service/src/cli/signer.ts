/** `sluice signer`: runs a signer as a separate process. */
import type { Config, SignerName } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { startSignerServer, withVaultsOnly } from "../signers/server.ts";
import { createLog } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import type { Call, Result } from "./command.ts";
import type { AskPassphrase } from "../roles/key-opener.ts";
import { createChains } from "../roles/chains.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import { openSigners } from "../roles/keys.ts";
import { createConfiguredPrices } from "../roles/prices.ts";
import { createSignerReads } from "../roles/signer-reads.ts";
import { systemClock, systemHttp } from "../roles/system-ports.ts";

/** Starts the signer of a role, and prints its socket once it listens. */
export async function run(
  call: Call,
  { for: name }: { readonly for: SignerName },
): Promise<Result> {
  const { askPassphrase } = call;
  const signer = await startSigner(call.readConfig({ keysOf: name }), { name, askPassphrase });
  call.stopOnSignal(signer);
  return {
    json: { ready: true, signer: name, socket: signer.socket, pid: process.pid },
    text: null,
  };
}

/**
 * Opens the keys of a signer and listens on its socket. The settler's signer also listens on the socket that only derives
 * vaults. Throws OperatingError with the setting to correct.
 */
export async function startSigner(
  config: Config,
  { name, askPassphrase }: { readonly name: SignerName; readonly askPassphrase: AskPassphrase },
): Promise<{ readonly socket: string; stop(): Promise<void> }> {
  const socket = config.signers[name];
  if (socket === undefined) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `signers.${name}: expected the path of a unix socket`,
    );
  }
  const log = createLog({ level: config.logLevel, role: `signer of the ${name}` });
  // The signer of lanes reads locks, and the balances of refunds, itself.
  const trafficOf = createCommandTraffic();
  const chains = createChains(config, { clock: systemClock, log, trafficOf });
  const [clock, http, metrics] = [systemClock, systemHttp, createMetrics()];
  const prices = createConfiguredPrices(config, { chains, http, clock, log, metrics });
  const reads = createSignerReads(config, () => ({ chains, prices, log }));
  const deps = { clock, askPassphrase, ...reads };
  const signers = await openSigners(config, name, deps);
  const servers: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const server of servers) await server.stop();
    signers.close();
  };
  try {
    servers.push(await startSignerServer({ socket, signers, log }));
    const { vaults } = config.signers;
    if (vaults !== undefined && name === "settler") {
      const mayAsk = withVaultsOnly(signers);
      servers.push(await startSignerServer({ socket: vaults, signers: mayAsk, log }));
    }
    return { socket, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
