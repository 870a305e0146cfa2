/** The program: parses the command line by the table, runs one command, and prints its result or its error. */
import { once } from "node:events";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { findConfigPath, processEnvironment } from "../config/index.ts";
import { loadConfig } from "../roles/config.ts";
import { askPassphrase } from "./ask-passphrase.ts";
import type { Call, CommandRow, Option, Result } from "./command.ts";
import { describeFailure, EXIT, exitCodeOf, formatFailure, UsageError } from "./failure.ts";
import { GROUPS } from "./groups.ts";
import { COMMANDS } from "./table.ts";
import { toJson } from "./to-json.ts";

interface SharedOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Options of every command. */
export const SHARED_OPTIONS: Readonly<Record<string, Option<unknown>>> = {
  config: {
    placeholder: "file",
    summary: "configuration file (default: SLUICE_CONFIG, ./sluice.json, ./.sluice/service.json)",
    isRequired: false,
  },
  json: { placeholder: null, summary: "print JSON, errors included", isRequired: false },
};

/** Runs the command that the arguments name. Sets the exit code; a service keeps the process running. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(withoutVersionFlag(args), { from: "user" });
  } catch (error) {
    // Help was printed: requested, or because no command was given.
    if (error instanceof CommanderError && error.code.startsWith("commander.help")) {
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.unusable;
      return;
    }
    fail(error instanceof CommanderError ? toUsageError(error, args) : error, args);
  }
}

/** Maps `--version` alone to the command of that name. */
function withoutVersionFlag(args: readonly string[]): readonly string[] {
  const isVersion = args.every((text) => text === "--version" || text === "--json");
  return isVersion ? args.map((text) => text.replace(/^--version$/, "version")) : args;
}

function createProgram(): Command {
  const program = new Command("sluice")
    .description("Self-hosted settlement deposit service")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  addOptions(program, SHARED_OPTIONS);
  program.option("--version", "print the version");
  const parents = new Map<string, Command>();
  for (const row of COMMANDS) {
    const [first = "", second] = row.name.split(" ");
    if (second === undefined) {
      parents.set(first, addCommand(program.command(first), row, program));
      continue;
    }
    const parent = parents.get(first) ?? program.command(first).description(GROUPS[first] ?? "");
    parents.set(first, parent);
    addCommand(parent.command(second), row, program);
  }
  return program;
}

function addCommand(command: Command, row: CommandRow, program: Command): Command {
  command.description(row.summary);
  const names = Object.keys(row.arguments);
  for (const [name, summary] of Object.entries(row.arguments)) {
    command.argument(`<${name}>`, summary);
  }
  addOptions(command, row.options);
  return command.action(async (...given: readonly unknown[]) => {
    const input = Object.fromEntries(names.map((name, index) => [name, given[index]]));
    const { config, json = false } = program.opts<SharedOptions>();
    const result = await row.run(createCall(config, json), { ...input, ...command.opts() });
    if (!result) return;
    print(result, json);
    if (result.failed) process.exitCode = EXIT.failed;
  });
}

function addOptions(command: Command, options: Readonly<Record<string, Option<unknown>>>): void {
  for (const [name, option] of Object.entries(options)) {
    const { summary, parse, isRequired, fallback } = option;
    const made = command.createOption(formatFlags(name, option), summary);
    if (parse) made.argParser(parsedOnce(parse, fallback));
    if (isRequired) made.makeOptionMandatory();
    if (fallback !== undefined) made.default(fallback);
    command.addOption(made);
  }
}

/** Refuses an option that is given twice: the last value would silently win. */
function parsedOnce(
  parse: (text: string) => unknown,
  fallback: unknown,
): (text: string, before: unknown) => unknown {
  return (text, before) => {
    if (before !== fallback) throw new InvalidArgumentError("expected the option once");
    return parse(text);
  };
}

/** Returns an option as it is typed: `maxFeeBps` is `--max-fee-bps <bps>`. */
export function formatFlags(name: string, { placeholder }: Option<unknown>): string {
  const long = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return placeholder === null ? long : `${long} <${placeholder}>`;
}

function createCall(flag: string | undefined, isJson: boolean): Call {
  const write = async (line: string) => {
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  };
  const env = processEnvironment;
  const configPath = () => findConfigPath(flag, env);
  return {
    configPath,
    readConfig: (secrets = {}) => loadConfig({ path: configPath(), env, ...secrets }),
    askPassphrase,
    write,
    report: async (line) => (isJson ? undefined : write(line)),
    stopOnSignal,
    reloadOnSignal: (reload) => void process.on("SIGHUP", () => void reload().catch(fail)),
  };
}

function stopOnSignal(running: { stop(): Promise<void> }): void {
  let isStopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      running.stop().then(() => process.exit(EXIT.ok), fail);
    });
  }
}

function print({ json, text }: Result, asJson: boolean): void {
  const shown = asJson || text === null ? toJson(json) : text;
  if (shown !== "") process.stdout.write(`${shown}\n`);
}

function fail(error: unknown, args: readonly string[] = process.argv): never {
  const shown = args.includes("--json")
    ? toJson({ error: describeFailure(error) })
    : formatFailure(error);
  process.stderr.write(`${shown}\n`);
  process.exit(exitCodeOf(error));
}

/** Returns the parser's message on one line, with the closest name, or with all valid names if none is close. */
function toUsageError({ message, code }: CommanderError, args: readonly string[]): UsageError {
  const [problem = "", suggestion] = message.replace(/^error: /, "").split("\n");
  if (suggestion !== undefined) {
    return new UsageError(`${problem}; ${suggestion.replace(/^\(D(.*)\)$/, "d$1")}`);
  }
  const expected = {
    "commander.unknownCommand": listNames,
    "commander.unknownOption": listOptions,
  };
  const [, list] = Object.entries(expected).find(([known]) => known === code) ?? [];
  return new UsageError(list ? `${problem}; expected ${list(args).join(", ")}` : problem);
}

function listNames(args: readonly string[]): readonly string[] {
  const group = args.find((text) => text in GROUPS);
  const names = COMMANDS.map(({ name }) => name.split(" ")).filter(
    ([first]) => group === undefined || first === group,
  );
  return [
    ...new Set(names.map(([first = "", second]) => (group === undefined ? first : `${second}`))),
  ];
}

function listOptions(args: readonly string[]): readonly string[] {
  const words = args.filter((text) => !text.startsWith("-")).join(" ");
  const row = COMMANDS.findLast(({ name }) => words === name || words.startsWith(`${name} `));
  const options = { ...row?.options, ...SHARED_OPTIONS };
  return Object.entries(options).map(([name, option]) => formatFlags(name, option));
}
