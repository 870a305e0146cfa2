/** Compiles the laws with the released settings and explores their functions. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf, explore, type Call, type Path } from "./machine.ts";
import { unknown, type Word } from "./terms.ts";

const FOLDER = join(import.meta.dirname, "..");

interface Compiled {
  readonly evm: {
    readonly methodIdentifiers: Readonly<Record<string, string>>;
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences: Readonly<Record<string, readonly { readonly start: number }[]>>;
    };
  };
  readonly storageLayout: {
    readonly storage: readonly { readonly label: string; readonly slot: string }[];
  };
}

/** A mistake, planted into a source before it is compiled. */
export interface Mistake {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Contract {
  readonly explore: (method: string, call: Pick<Call, "calldata"> & Partial<Call>) => Path[];
  readonly slotOf: (label: string) => bigint;
}

function sourcesOf(mistake: Mistake | undefined): Record<string, { content: string }> {
  const published = JSON.parse(
    readFileSync(join(FOLDER, "release/standard-input.json"), "utf8"),
    // CAST: written by scripts/generate.ts.
  ) as { readonly sources: Record<string, { content: string }> };
  const files = Object.keys(published.sources).map((name) => {
    const isOurs = name.startsWith("src/");
    const content = isOurs
      ? readFileSync(join(FOLDER, name), "utf8")
      : published.sources[name]?.content;
    return [name, { content: content ?? "" }] as const;
  });
  const laws = readdirSync(join(import.meta.dirname, "laws")).map((name) => {
    return [
      `proofs/laws/${name}`,
      { content: readFileSync(join(import.meta.dirname, "laws", name), "utf8") },
    ] as const;
  });
  const sources = Object.fromEntries([...files, ...laws]);
  if (mistake) {
    const { content = "" } = sources[mistake.file] ?? {};
    if (content.split(mistake.find).length !== 2) throw new Error(`not once: ${mistake.find}`);
    sources[mistake.file] = { content: content.replace(mistake.find, () => mistake.replace) };
  }
  return sources;
}

/** Compiles a contract of a file, with a mistake if one is given. */
export function compile(file: string, name: string, mistake?: Mistake): Contract {
  const { settings } = JSON.parse(
    readFileSync(join(FOLDER, "release/standard-input.json"), "utf8"),
    // CAST: written by scripts/generate.ts.
  ) as { readonly settings: Record<string, unknown> };
  const outputs = ["storageLayout", "evm.methodIdentifiers", "evm.deployedBytecode"];
  const outputSelection = { [file]: { [name]: outputs } };
  const input = {
    language: "Solidity",
    sources: sourcesOf(mistake),
    settings: { ...settings, outputSelection },
  };
  const said = execFileSync(process.execPath, [join(FOLDER, "tools/solc.cjs"), "--standard-json"], {
    input: JSON.stringify(input),
    maxBuffer: 256 * 1024 * 1024,
  });
  // CAST: the compiler's standard output.
  const { contracts, errors } = JSON.parse(said.toString()) as {
    readonly contracts?: Readonly<Record<string, Readonly<Record<string, Compiled>>>>;
    readonly errors?: readonly { readonly formattedMessage: string; readonly severity: string }[];
  };
  const compiled = contracts?.[file]?.[name];
  const failure = errors?.find(({ severity }) => severity === "error");
  if (!compiled || failure) throw new Error(failure?.formattedMessage ?? `no ${name} in ${file}`);
  return contractOf(compiled);
}

function contractOf({ evm, storageLayout }: Compiled): Contract {
  const { object, immutableReferences } = evm.deployedBytecode;
  const code = Buffer.from(object, "hex");
  const immutables = new Map(
    Object.entries(immutableReferences).flatMap(([id, places]) =>
      places.map(({ start }) => [start - 1, unknown(`immutable${id}`)] as const),
    ),
  );
  return {
    explore: (method, { calldata, ...call }) => {
      const found = Object.entries(evm.methodIdentifiers).find(([name]) =>
        name.startsWith(`${method}(`),
      );
      if (!found) throw new Error(`no method ${method}`);
      const selector = BigInt(`0x${found[1]}`);
      return explore({
        code,
        immutables,
        storage: "",
        conditions: [],
        ...call,
        calldata: [...[28, 29, 30, 31].map((at) => ({ of: selector, at })), ...calldata],
      });
    },
    slotOf: (label) => {
      const slot = storageLayout.storage.find((entry) => entry.label === label)?.slot;
      if (slot === undefined) throw new Error(`no ${label} in storage`);
      return BigInt(slot);
    },
  };
}

/** Returns words as the arguments of a call. */
export const encode = (...words: Word[]): Call["calldata"] => words.flatMap(bytesOf);

/** Returns paths on which an `assert` of a law fails. */
export function brokenIn(paths: readonly Path[]): Path[] {
  return paths.filter(({ end, data }) => {
    if (end === "invalid") return true;
    return end === "revert" && data.length === 36 && isPanicOne(data);
  });
}

/** Returns whether the bytes are `Panic(1)`: the selector, then the number. An unknown byte is none of either. */
function isPanicOne(data: Path["data"]): boolean {
  const value = data.reduce(
    (sum, { of, at }) =>
      sum * 256n + (typeof of === "bigint" ? (of >> BigInt(8 * (31 - at))) & 255n : 255n),
    0n,
  );
  return value === (0x4e487b71n << 256n) + 1n;
}
