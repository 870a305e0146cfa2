/** A command of the command line: its row of the table, and the function that its file exports as `run`. */
import type { Config, RoleName, SignerName } from "../config/index.ts";
import type { Secret } from "../core/secret.ts";

/** An option of a command. A switch has no placeholder. */
export interface Option<Value> {
  readonly placeholder: string | null;
  readonly summary: string;
  readonly isRequired: boolean;
  /** The value as the help shows it, where the option is not given. */
  readonly fallback?: Value;
  /** Throws commander's `InvalidArgumentError` that names what was expected. */
  readonly parse?: (text: string) => Value;
}

/** An option that must be given. */
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

/** An option that may be left out, and is undefined then. */
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

/** An option with a value where it is left out. */
export function defaulting<Value>(
  placeholder: string,
  summary: string,
  value: { readonly fallback: Value; readonly parse: (text: string) => Value },
): Option<Value> {
  return { placeholder, summary, isRequired: false, ...value };
}

/** An option without a value. */
export function flag(summary: string): Option<boolean> {
  return { placeholder: null, summary, isRequired: false, fallback: false };
}

/** Shared services of every command. */
export interface Call {
  /** Where the configuration is. Throws `OperatingError` that lists the places where none was found. */
  configPath(): string;
  /** Loads the configuration; secrets are read for the given roles or keys alone, and for all roles without either. */
  readConfig(secrets?: {
    readonly roles?: readonly RoleName[];
    readonly keysOf?: SignerName | "all";
  }): Config;
  /** Asks at the terminal, without showing what is typed. */
  askPassphrase(question?: string): Promise<Secret>;
  /** Writes a line to standard output; resolves when there is room for more. */
  write(line: string): Promise<void>;
  /** Stops a service when the process is asked to end. */
  stopOnSignal(running: { stop(): Promise<void> }): void;
}

/** The outcome of a command that ran. */
export interface Result {
  /** Printed with `--json`; bigints as decimal strings. */
  readonly json: object;
  /** Printed without `--json`; null where only JSON is printed, "" where nothing is. */
  readonly text: string | null;
  /** The command did its work and the answer is bad news: it ends with the exit code of a failure. */
  readonly failed?: boolean;
}

/** What the file of a command exports. A command that wrote its output itself returns undefined. */
export interface CommandFile<Input> {
  run(call: Call, input: Input): Promise<Result | undefined>;
}

/** A row of the table. */
export interface CommandRow {
  /** As it is typed, such as `settlement show`. */
  readonly name: string;
  readonly summary: string;
  /** Summaries of the arguments by name, in their order. All of them are required. */
  readonly arguments: Readonly<Record<string, string>>;
  /** By the name that `run` sees: `maxFeeBps` is typed `--max-fee-bps`. */
  readonly options: Readonly<Record<string, Option<unknown>>>;
  /** When it ends with the exit code of a failure although it could do its work. */
  readonly failsWhen: string | null;
  run(call: Call, input: Readonly<Record<string, unknown>>): Promise<Result | undefined>;
}

type InputOf<Arguments, Options> = { readonly [Name in keyof Arguments]: string } & {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never;
};

/** A row whose file takes exactly the row's arguments and options. The file is loaded when the command runs. */
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
