/** A command of the command line: its row of the table, and the function that its file exports as `run`. */
import type { Config, RoleName, SignerName } from "../config/index.ts";
import type { Secret } from "../core/secret.ts";

/** An option of a command. A flag has no placeholder. */
export interface Option<Value> {
  readonly placeholder: string | null;
  readonly summary: string;
  readonly isRequired: boolean;
  /** The default value as the help shows it. */
  readonly fallback?: Value;
  /** Parses the value. Throws commander's `InvalidArgumentError` with the expected form. */
  readonly parse?: (text: string) => Value;
}

/** Returns a required option. */
export function required(placeholder: string, summary: string): Option<string>;
export function required<Value>(
  placeholder: string,
  summary: string,
  parse: (text: string) => Value,
): Option<Value>;
export function required(
  placeholder: string,
  summary: string,
  parse?: (text: string) => unknown,
): Option<unknown> {
  return { placeholder, summary, isRequired: true, ...(parse && { parse }) };
}

/** Returns an optional option; undefined if absent. */
export function optional(placeholder: string, summary: string): Option<string | undefined>;
export function optional<Value>(
  placeholder: string,
  summary: string,
  parse: (text: string) => Value,
): Option<Value | undefined>;
export function optional(
  placeholder: string,
  summary: string,
  parse?: (text: string) => unknown,
): Option<unknown> {
  return { placeholder, summary, isRequired: false, ...(parse && { parse }) };
}

/** Returns an option with a default value. */
export function defaulting<Value>(
  placeholder: string,
  summary: string,
  value: { readonly fallback: Value; readonly parse: (text: string) => Value },
): Option<Value> {
  return { placeholder, summary, isRequired: false, ...value };
}

/** Returns an option without a value; true if given. */
export function flag(summary: string): Option<boolean> {
  return { placeholder: null, summary, isRequired: false, fallback: false };
}

/** Shared services of every command. */
export interface Call {
  /** Returns the path of the configuration. Throws `OperatingError` that lists the places searched. */
  configPath(): string;
  /** Loads the configuration with the secrets of the given roles or keys only; without either, of all roles. */
  readConfig(secrets?: {
    readonly roles?: readonly RoleName[];
    readonly keysOf?: SignerName | "all";
    /** Whether the accounts of a seed may be missing; by default with `all`. */
    readonly accountsLater?: boolean;
  }): Config;
  /** Asks for a passphrase at the terminal, without echo. */
  askPassphrase(question?: string): Promise<Secret>;
  /** Writes a line to standard output; resolves when the buffer has room again. */
  write(line: string): Promise<void>;
  /** Writes a line about work in progress like `write`; nothing with `--json`, which prints one object. */
  report(line: string): Promise<void>;
  /** Stops a service on SIGINT or SIGTERM. */
  stopOnSignal(running: { stop(): Promise<void> }): void;
  /** Calls a function, which handles its errors, each time the process is told to read its configuration again. */
  reloadOnSignal(reload: () => Promise<void>): void;
}

/** The result of a command that ran. */
export interface Result {
  /** Printed with `--json`, with bigints as decimal strings. */
  readonly json: object;
  /** Printed without `--json`. Null prints the JSON instead, "" prints nothing. */
  readonly text: string | null;
  /** True if the command worked but found a failure: the exit code is that of a failure. */
  readonly failed?: boolean;
}

/** The exports of a command's file. A command that wrote its output itself returns undefined. */
export interface CommandFile<Input> {
  run(call: Call, input: Input): Promise<Result | undefined>;
}

/** A row of the command table. */
export interface CommandRow {
  /** The words of the command, such as `settlement show`. */
  readonly name: string;
  readonly summary: string;
  /** Summaries of the arguments by name, in order. All are required. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Options by the name that `run` receives: `maxFeeBps` is `--max-fee-bps` on the command line. */
  readonly options: Readonly<Record<string, Option<unknown>>>;
  /** Condition under which a command that worked exits with the code of a failure. */
  readonly failsWhen: string | null;
  run(call: Call, input: Readonly<Record<string, unknown>>): Promise<Result | undefined>;
}

type InputOf<Arguments, Options> = { readonly [Name in keyof Arguments]: string } & {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never;
};

/** Returns a row whose module takes exactly the row's arguments and options. The module is loaded when the command runs. */
export function command<
  Arguments extends Readonly<Record<string, string>> = Record<never, string>,
  Options extends Readonly<Record<string, Option<unknown>>> = Record<never, Option<unknown>>,
>(row: {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly failsWhen?: string;
  readonly load: () => Promise<CommandFile<InputOf<Arguments, Options>>>;
}): CommandRow {
  const { name, summary, failsWhen, load } = row;
  return {
    name,
    summary,
    arguments: row.arguments ?? {},
    options: row.options ?? {},
    failsWhen: failsWhen ?? null,
    async run(call, input) {
      const file = await load();
      // CAST: the command line was parsed by the row's own arguments and options.
      return file.run(call, input as InputOf<Arguments, Options>);
    },
  };
}
