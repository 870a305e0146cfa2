import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createEvmInspector } from "../../chains/evm/inspector.ts";
import { chainOf } from "../../config/presets/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { loadConfig } from "../../roles/config.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { openDialog } from "./dialog.ts";
import { type Answers, askAll, type ReadHeight } from "./questions.ts";
import { CONFIG, SECRETS, writeAll } from "./write.ts";

const TIMEOUT_MS = 10_000;

/** Asks what no preset knows, and writes a configuration with its secrets. */
export async function run(_: Call, { folder }: { readonly folder: string }): Promise<Result> {
  const target = resolve(folder);
  const path = join(target, CONFIG);
  if (existsSync(path)) {
    throw new OperatingError("CONFIG_MISSING", `${path}: expected no configuration there yet.`);
  }
  const dialog = openDialog(process);
  let answers: Answers;
  try {
    answers = await askAll(dialog, readHeight);
  } finally {
    dialog.close();
  }
  assertLoads(answers);
  writeAll(target, answers, systemRandom);
  const next = listNext(target);
  return {
    json: { config: path, next },
    text: [`The configuration is ${path}, its secrets are beside it. Next:`, ...next].join("\n"),
  };
}

/** Loads what would be written, so that nothing is written that a process refuses. Throws ConfigError. */
function assertLoads(answers: Answers): void {
  const folder = mkdtempSync(join(tmpdir(), "sluice-init-"));
  try {
    writeAll(join(folder, "init"), answers, systemRandom);
    const path = join(folder, "init", CONFIG);
    loadConfig({ path, env: { CREDENTIALS_DIRECTORY: join(folder, "init", SECRETS) } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The head of a node, if it serves the chain. Where it does not answer now, the person says a height. */
const readHeight: ReadHeight = async (preset, rpcUrl) => {
  const { chainId, evmChainId } = chainOf(preset);
  const nobody = toEvmAddress("0x0000000000000000000000000000000000000001");
  const contracts = { factory: nobody, escrow: nobody, delivery: nobody };
  const inspector = createEvmInspector({
    chainId,
    evmChainId,
    contracts,
    rpcUrl,
    timeoutMs: TIMEOUT_MS,
  });
  try {
    if ((await inspector.getEvmChainId()) !== evmChainId) return null;
    return Number((await inspector.getHead("latest")).number);
  } catch (error) {
    if (error instanceof OperatingError) return null;
    throw error;
  }
};

function listNext(folder: string): readonly string[] {
  return [
    `  export SLUICE_CONFIG=${join(folder, CONFIG)} CREDENTIALS_DIRECTORY=${join(folder, SECRETS)}`,
    "  sluice keys init                      # creates the keystores, and prints the accounts to fund",
    "  sluice contracts --json               # the transactions that deploy the contracts",
    "  sluice contracts --left --daily-cap CHAIN:TOKEN=AMOUNT   # what the owner sends next, at any time",
    "  sluice migrate",
    "  sluice doctor --go-live --prometheus URL",
    "  sluice serve",
    "Before other people's money: signers, roles and machines apart (deploy/systemd), backups, a second attestor.",
  ];
}
