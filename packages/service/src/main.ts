/** The command line. Results go to standard output, logs and problems to standard error. */
import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import {
  type Config,
  ConfigError,
  findConfigPath,
  type GasPolicy,
  loadConfig,
  processEnvironment,
  ROLE_NAMES,
  type RoleName,
  SIGNER_NAMES,
  type SignerName,
} from "./config/index.ts";
import { OperatingError } from "./core/errors.ts";
import { askPassphrase } from "./cli/ask-passphrase.ts";
import {
  createIntegratorCommand,
  createKeyCommand,
  listIntegratorsCommand,
  listKeysCommand,
  migrate,
  revokeKeyCommand,
  setIntegratorCommand,
} from "./cli/integrators.ts";

interface ServeOptions {
  readonly roles?: readonly RoleName[];
  readonly standby: boolean;
}

type GasChoice = GasPolicy | "default";
const GAS_CHOICES = "sponsored, charged or default";

const program = new Command("sluice")
  .description("Self-hosted settlement deposit service")
  .option("--config <file>", "configuration file (default: SLUICE_CONFIG, or ./sluice.json)")
  .showHelpAfterError();

program
  .command("serve")
  .description("run the service: every role in this process, or those that are named")
  .option("--roles <names>", `of ${ROLE_NAMES.join(", ")}, separated by commas`, parseRoles)
  .option("--standby", "wait for roles that another process has, and take over", false)
  .action(async ({ roles = ROLE_NAMES, standby }: ServeOptions) => {
    // The other commands start faster without the whole service.
    const { startRoles } = await import("./roles/all.ts");
    const config = loadConfig({ path: configPath(), env: processEnvironment, roles });
    const service = await startRoles(config, { roles, standby, askPassphrase });
    const { apiUrl: api, quoteUrl: quote, telemetryUrl: telemetry } = service;
    print({ ready: true, roles, api, quote, telemetry, pid: process.pid });
    stopOnSignal(service);
  });

program
  .command("signer")
  .description("hold the keys of a role in a process of its own, behind a unix socket")
  .requiredOption("--for <role>", `whose keys: ${SIGNER_NAMES.join(" or ")}`, parseSigner)
  .action(async ({ for: name }: { for: SignerName }) => {
    const { startSigner } = await import("./cli/signer.ts");
    const signer = await startSigner(readKeysOf(name), { name, askPassphrase });
    print({ ready: true, signer: name, socket: signer.socket, pid: process.pid });
    stopOnSignal(signer);
  });

const keys = program.command("keys").description("signing keys and what was signed with them");

keys
  .command("init")
  .description("make the keystores that the configuration names and that are not there")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const { initKeys } = await import("./cli/keys.ts");
    const made = await initKeys(readKeysOf("all"), askPassphrase);
    if (json) print({ made });
    else if (made.length === 0) write("Nothing to make: every keystore is there.");
    else writeKeys(made);
    if (!json && made.some(({ kind }) => kind === "seed")) {
      write("Back the seed up before the first vault is issued: sluice keys backup-seed.");
    }
  });

keys
  .command("show")
  .description("the account of every key")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const { showKeys } = await import("./cli/keys.ts");
    const shown = await showKeys(readKeysOf("all"), askPassphrase);
    if (json) print({ keys: shown });
    else writeKeys(shown);
  });

keys
  .command("rotate")
  .description("make the successor of a key, and say what to do with it")
  .argument("<setting>", "of the key, such as chains[0].lanes.settle")
  .option("--json", "print JSON")
  .action(async (setting: string, { json }: { json?: boolean }) => {
    const { rotateKey } = await import("./cli/keys.ts");
    const made = await rotateKey(readKeysOf("all"), { setting, askPassphrase });
    if (json) return print(made);
    write(`${made.address} is in ${made.keystore}. Nothing has changed yet:`);
    for (const [index, step] of made.steps.entries()) write(`${index + 1}. ${step}`);
  });

keys
  .command("backup-seed")
  .description(
    "encrypt the seed of Solana once more, with a passphrase of its own, into another file",
  )
  .argument("<keystore>", "file of the seed")
  .argument("<backup>", "file to make, on another disk")
  .option("--json", "print JSON")
  .action(async (keystore: string, backup: string, { json }: { json?: boolean }) => {
    const { backUpSeed } = await import("./cli/seed.ts");
    const made = await backUpSeed(readKeysOf("all"), { keystore, backup }, { askPassphrase });
    if (json) return print(made);
    write(`The seed of the binding key ${made.binding} is in ${made.path}, and opens from there.`);
    write("Note that address beside the backup: it proves which seed it is.");
  });

keys
  .command("restore-seed")
  .description("bring the seed of Solana back from its backup; never over another seed")
  .argument("<backup>", "file of the backup")
  .argument("<keystore>", "file of the seed")
  .option("--binding <address>", "address of the binding key, as it was noted with the backup")
  .option("--json", "print JSON")
  .action(
    async (
      backup: string,
      keystore: string,
      { binding, json }: { binding?: string; json?: boolean },
    ) => {
      const { restoreSeed } = await import("./cli/seed.ts");
      const restored = await restoreSeed(
        readKeysOf("all"),
        { backup, keystore, binding },
        { askPassphrase },
      );
      if (json) return print(restored);
      const { path, isNew } = restored;
      write(
        isNew
          ? `The seed of the binding key ${restored.binding} is back in ${path}.`
          : `${path} has the seed of the binding key ${restored.binding} already: nothing was changed.`,
      );
    },
  );

keys
  .command("verify")
  .description("prove that nothing was changed in the journals of what was signed")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const { verifyJournals } = await import("./cli/keys.ts");
    const journals = verifyJournals(readConfigOnly());
    if (json) return print({ journals });
    if (journals.length === 0) write("Nothing was signed yet.");
    for (const { journal, count, hash } of journals) {
      write(`${journal}: ${count} entries, unbroken, the newest is ${hash}`);
    }
  });

program
  .command("migrate")
  .description("bring the database schema up to date")
  .action(() => migrate(readConfig()));

const integrators = program.command("integrator").description("integrators");

integrators
  .command("create")
  .requiredOption("--name <name>", "lower-case letters, digits and hyphens")
  .requiredOption("--refund-evm <address>", "who may take deposits on EVM chains back")
  .option("--refund-solana <address>", "who gets deposits on Solana back")
  .option("--max-fee-bps <bps>", "fee cap committed in its addresses", parseBps)
  .option("--max-slippage-bps <bps>", "slippage cap committed in its addresses", parseBps)
  .option("--gas <policy>", `who pays for gas: ${GAS_CHOICES}`, parseGas)
  .option("--json", "print JSON")
  .action(
    async (options: {
      name: string;
      refundEvm: string;
      refundSolana?: string;
      maxFeeBps?: number;
      maxSlippageBps?: number;
      gas?: GasChoice;
      json?: boolean;
    }) => {
      const created = await createIntegratorCommand(readConfig(), {
        name: options.name,
        refundEvm: options.refundEvm,
        refundSolana: options.refundSolana,
        maxFeeBps: options.maxFeeBps,
        maxSlippageBps: options.maxSlippageBps,
        gas: options.gas === "default" ? undefined : options.gas,
      });
      if (options.json) print(created);
      else write(`integrator ${created.name} has the id ${created.integratorId}`);
    },
  );

integrators
  .command("set")
  .description("change what is not committed in its addresses")
  .argument("<integrator>", "name or id of the integrator")
  .option("--gas <policy>", `who pays for gas from now on: ${GAS_CHOICES}`, parseGas)
  .option("--refund-solana <address>", "who gets deposits on Solana back; once for ever")
  .option("--json", "print JSON")
  .action(
    async (
      integrator: string,
      options: { gas?: GasChoice; refundSolana?: string; json?: boolean },
    ) => {
      const { gas, refundSolana, json } = options;
      if (gas === undefined && refundSolana === undefined) {
        throw new OperatingError("VALIDATION_ERROR", "Expected --gas or --refund-solana.");
      }
      const change = {
        ...(gas === undefined ? {} : { gas: gas === "default" ? null : gas }),
        ...(refundSolana === undefined ? {} : { refundSolana }),
      };
      await setIntegratorCommand(readConfig(), { integrator, ...change });
      if (json) return print({ integrator, ...change });
      if ("gas" in change) {
        write(`gas of ${integrator} is ${change.gas ?? "paid as the configuration says"}`);
      }
      if (refundSolana !== undefined) {
        write(`deposits of ${integrator} on Solana go back to ${refundSolana}`);
      }
    },
  );

integrators
  .command("list")
  .description("every integrator")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const listed = await listIntegratorsCommand(readConfig());
    if (json) return print({ integrators: listed });
    for (const integrator of listed) {
      const { integratorId, name, gas, gasIsDefault, maxFeeBps, maxSlippageBps } = integrator;
      const caps = `fees to ${maxFeeBps} bps, slippage to ${maxSlippageBps} bps`;
      const refunds = `refunds to ${integrator.refundEvm}, on Solana ${integrator.refundSolana ?? "to nobody"}`;
      write(
        `${integratorId}  ${name}  gas ${gas}${gasIsDefault ? " (default)" : ""}  ${caps}  ${refunds}`,
      );
    }
  });

const apiKeys = program.command("key").description("API keys");

apiKeys
  .command("create")
  .requiredOption("--integrator <name>", "name or id of the integrator")
  .option("--deposit-addresses <switch>", "whether its quotes carry addresses", parseSwitch, true)
  .option("--json", "print JSON")
  .action(async (options: { integrator: string; depositAddresses: boolean; json?: boolean }) => {
    const created = await createKeyCommand(readConfig(), options);
    if (options.json) print(created);
    else write(`API key (shown once): ${created.apiKey}`);
  });

apiKeys
  .command("list")
  .description("every key, without the keys themselves")
  .option("--integrator <name>", "name or id of one integrator")
  .option("--json", "print JSON")
  .action(async ({ integrator, json }: { integrator?: string; json?: boolean }) => {
    const listed = await listKeysCommand(readConfig(), { integrator });
    if (json) return print({ keys: listed });
    for (const { keyId, integrator: owner, createdAt, revokedAt, depositAddresses } of listed) {
      const state = revokedAt === null ? "valid" : `revoked ${revokedAt}`;
      const addresses = depositAddresses ? "with" : "without";
      write(`${keyId}  ${owner}  created ${createdAt}  ${state}  ${addresses} deposit addresses`);
    }
  });

apiKeys
  .command("revoke")
  .description("end a key for good")
  .argument("<keyId>", "as key list shows it")
  .action(async (keyId: string) => {
    await revokeKeyCommand(readConfig(), { keyId });
    write(`the key ${keyId} is revoked`);
  });

const addresses = program.command("addresses").description("deposit addresses");

addresses
  .command("refund")
  .description("on Solana, give back what a deposit address holds and no settlement takes")
  .argument("<address>", "the deposit address")
  .argument("<token>", "symbol or mint of a token of the configuration")
  .requiredOption("--to <address>", "the refund authority of the deposit address, to be sure")
  .requiredOption("--reason <text>", "why; it is recorded with who and when")
  .option("--wait <seconds>", "how long to wait until it is final", parseSeconds, 60)
  .option("--json", "print JSON")
  .action(
    async (
      address: string,
      token: string,
      options: { to: string; reason: string; wait: number; json?: boolean },
    ) => {
      const { formatAddressRefund, refundAddressCommand } =
        await import("./cli/addresses-refund.ts");
      const { to, reason, wait, json } = options;
      const config = readConfigOnly();
      const asked = { address, token, to, reason, waitMs: wait * 1_000 };
      const shown = await refundAddressCommand(config, asked);
      if (json) print(shown);
      else write(formatAddressRefund(shown));
      if (shown.outcome === "failed") process.exitCode = 1;
    },
  );

addresses
  .command("export")
  .description("every address with what its commitment is made of, a line of JSON each")
  .option("--integrator <name>", "name or id of one integrator")
  .action(async ({ integrator }: { integrator?: string }) => {
    const { exportAddressesCommand } = await import("./cli/addresses-export.ts");
    // No secret is needed to read what was promised.
    const config = loadConfig({ path: configPath(), env: processEnvironment, roles: [] });
    await exportAddressesCommand(config, { integrator, write: writeAll });
  });

program
  .command("contracts")
  .description("where the contracts stand or belong; with --json also what puts them there")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const { formatContracts, listContracts } = await import("./cli/contracts.ts");
    const contracts = listContracts(readConfigOnly());
    write(json ? JSON.stringify({ contracts }) : formatContracts(contracts));
  });

program
  .command("doctor")
  .description("look at everything that the service depends on; fails when something is wrong")
  .option("--json", "print JSON")
  .action(async (options: { json?: boolean }) => {
    const { formatReport, runDoctor } = await import("./cli/doctor.ts");
    const report = await runDoctor({ configPath: configPath(), readConfig });
    if (options.json) print(report);
    else write(formatReport(report));
    if (!report.ok) process.exitCode = 1;
  });

program
  .command("inventory")
  .description("what can be delivered, what is spoken for, what comes back, how long it lasts")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const { inventoryCommand, formatInventories } = await import("./cli/inventory.ts");
    const inventories = await inventoryCommand(readConfig());
    write(json ? JSON.stringify({ inventories }) : formatInventories(inventories));
  });

const audit = program
  .command("audit")
  .description("prove the ledger against the chains; fails when something does not balance")
  .option("--json", "print JSON")
  .action(async ({ json }: { json?: boolean }) => {
    const { auditCommand, formatAudit } = await import("./cli/audit.ts");
    const config = readConfigOnly();
    const report = await auditCommand(config);
    if (json) print(report);
    else write(formatAudit(config, report));
    if (!report.ok) process.exitCode = 1;
  });

audit
  .command("end")
  .description(
    "end a breach that is understood: what is missing is written off, the chain moves on",
  )
  .argument("<breach>", "its number, as the audit prints it")
  .requiredOption("--reason <text>", "why the chain may move on; kept for ever")
  .action(async (id: string, { reason }: { reason: string }) => {
    const { endBreachCommand } = await import("./cli/audit.ts");
    await endBreachCommand(readConfigOnly(), { id, reason });
    print({ ended: id });
  });

const settlement = program.command("settlement").description("one settlement, and help for it");

settlement
  .command("show")
  .description(
    "everything about it: statuses, deposits, transactions, where the value is, why it waits",
  )
  .argument("<id>", "the id that the interface calls queueItemId")
  .option("--json", "print JSON")
  .action(async (id: string, { json }: { json?: boolean }) => {
    const { showSettlement, formatSettlement, toJson } = await import("./cli/settlement.ts");
    const config = readConfigOnly();
    const shown = await showSettlement(config, id);
    write(json ? toJson(shown) : formatSettlement(config, shown));
  });

settlement
  .command("retry")
  .description("try a failing one now, or settle anew what a dead one left in its deposit address")
  .argument("<id>", "as for show")
  .requiredOption("--reason <text>", "why; it is recorded with who and when")
  .option("--json", "print JSON")
  .action(async (id: string, { reason, json }: { reason: string; json?: boolean }) => {
    const { retrySettlementCommand, formatRetry, toJson } = await import("./cli/settlement.ts");
    const result = await retrySettlementCommand(readConfigOnly(), { id, reason });
    write(json ? toJson(result) : formatRetry(result));
  });

settlement
  .command("refund")
  .description(
    "end a failing or dead one: print the call by which its refund authority gets it back, or on Solana pay it",
  )
  .argument("<id>", "as for show")
  .requiredOption("--to <address>", "the refund authority of the deposit address, to be sure")
  .requiredOption("--reason <text>", "why; it is recorded with who and when")
  .option("--json", "print JSON")
  .action(async (id: string, options: { to: string; reason: string; json?: boolean }) => {
    const { refundSettlementCommand, formatRefund, toJson } = await import("./cli/settlement.ts");
    const config = readConfigOnly();
    const result = await refundSettlementCommand(config, { id, ...options });
    write(options.json ? toJson(result) : formatRefund(config, result));
  });

function writeKeys(
  shown: readonly { readonly setting: string; readonly kind: string; readonly address: string }[],
): void {
  const width = Math.max(...shown.map(({ setting }) => setting.length));
  for (const { setting, kind, address } of shown) {
    write(`${setting.padEnd(width)}  ${kind.padEnd("keystore".length)}  ${address}`);
  }
  if (shown.some(({ kind }) => kind === "seed")) {
    write("Accounts of the seed belong in the settings that they stand beside.");
  }
}

/** Ends what runs, once, when asked to. */
function stopOnSignal(running: { stop(): Promise<void> }): void {
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      running.stop().then(() => process.exit(0), fail);
    });
  }
}

function readKeysOf(keysOf: SignerName | "all"): Config {
  return loadConfig({ path: configPath(), env: processEnvironment, keysOf });
}

function parseSigner(text: string): SignerName {
  const name = SIGNER_NAMES.find((known) => known === text);
  if (name) return name;
  throw new InvalidArgumentError(`expected ${SIGNER_NAMES.join(" or ")}`);
}

function readConfig(): Config {
  return loadConfig({ path: configPath(), env: processEnvironment });
}

/** For what needs no secret of any role. */
function readConfigOnly(): Config {
  return loadConfig({ path: configPath(), env: processEnvironment, roles: [] });
}

function configPath(): string {
  // Given before or after the command's name.
  const { config } = program.opts<{ config?: string }>();
  return findConfigPath(config, processEnvironment);
}

function parseRoles(text: string): readonly RoleName[] {
  const roles = ROLE_NAMES.filter((role) => text.split(",").includes(role));
  if (roles.length > 0 && roles.length === text.split(",").length) return roles;
  throw new InvalidArgumentError(`expected some of ${ROLE_NAMES.join(", ")}, each once`);
}

function parseBps(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 10_000) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 0 to 10000");
}

function parseSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number of seconds");
}

function parseGas(text: string): GasChoice {
  if (text === "sponsored" || text === "charged" || text === "default") return text;
  throw new InvalidArgumentError(`expected ${GAS_CHOICES}`);
}

function parseSwitch(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw new InvalidArgumentError("expected on or off");
}

function print(result: object): void {
  write(JSON.stringify(result));
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Waits until whoever reads has taken it: a long output does not fit into memory. */
async function writeAll(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

/** One line per problem, no stack where the problem is not ours, and a status that says that it failed. */
function fail(error: unknown): never {
  const known = error instanceof ConfigError || error instanceof OperatingError;
  const text = known ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

// Whoever reads our output may stop reading, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

await program.parseAsync().catch(fail);
