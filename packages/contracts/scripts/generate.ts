import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "oxfmt";
import { CONTRACTS_DIR, runForge } from "./forge.ts";

/**
 * Writes abi/index.ts and abi/bytecode.ts from a fresh build, and what reviewers and explorers need to
 * release/: hashes of the bytecode, storage layouts, and the compiler's input. With `--check` it
 * compares instead and fails if the checked-in files differ. The build uses a temporary folder without
 * tests, so that no leftover of another build gets into the bytes.
 */

interface Artifact {
  readonly abi: readonly AbiEntry[];
  readonly bytecode: { readonly object: string };
  readonly deployedBytecode: { readonly object: string };
  readonly storageLayout: {
    readonly storage: readonly {
      readonly label: string;
      readonly slot: string;
      readonly offset: number;
      readonly type: string;
    }[];
    readonly types: Readonly<Record<string, { readonly label: string }>> | null;
  };
}

/** The part of the compiler's standard input that explorers need. */
interface StandardInput {
  readonly language: string;
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

interface Build {
  readonly artifacts: ReadonlyMap<string, Artifact>;
  readonly input: StandardInput;
}

interface AbiEntry {
  readonly type: string;
  readonly name?: string;
  readonly [key: string]: unknown;
}

/** Export prefix and contract. The order is that of the generated file. */
const CONTRACTS = [
  ["depositFactory", "DepositFactory"],
  ["depositWallet", "DepositWallet"],
  ["transferRoute", "TransferRoute"],
  ["sameAssetRoute", "SameAssetRoute"],
  ["pricedRoute", "PricedRoute"],
  ["cctpRoute", "CctpRoute"],
  ["swapRoute", "SwapRoute"],
  ["swapCctpRoute", "SwapCctpRoute"],
  ["escrow", "Escrow"],
  ["delivery", "Delivery"],
  ["treasury", "Treasury"],
  ["testToken", "TestToken"],
  ["sandboxTokenMessengerV2", "SandboxTokenMessengerV2"],
  ["sandboxMessageTransmitterV2", "SandboxMessageTransmitterV2"],
  // A double in the service's stories.
  ["hostileToken", "HostileToken"],
] as const;

/** The contracts of the sandbox and of tests are no part of a release. */
const RELEASED = [
  "DepositFactory",
  "DepositWallet",
  "TransferRoute",
  "SameAssetRoute",
  "PricedRoute",
  "CctpRoute",
  "SwapRoute",
  "SwapCctpRoute",
  "Escrow",
  "Delivery",
  "Treasury",
] as const;

/** ABI of any token, as far as the service needs it; written here since none of our contracts is one. */
const ERC20_ABI: readonly AbiEntry[] = [
  erc20View("balanceOf", ["account"], "uint256"),
  erc20View("allowance", ["owner", "spender"], "uint256"),
  erc20View("decimals", [], "uint8"),
  erc20View("symbol", [], "string"),
  erc20Write("transfer", "to"),
  erc20Write("approve", "spender"),
  {
    type: "event",
    name: "Transfer",
    anonymous: false,
    inputs: [
      { name: "from", type: "address", indexed: true },
      { name: "to", type: "address", indexed: true },
      { name: "value", type: "uint256", indexed: false },
    ],
  },
];

const HEADER = "// Generated from the Solidity sources by `npm run gen`. Do not edit.\n\n";

function erc20View(name: string, addresses: readonly string[], output: string): AbiEntry {
  return {
    type: "function",
    name,
    stateMutability: "view",
    inputs: addresses.map((input) => ({ name: input, type: "address" })),
    outputs: [{ name: "", type: output }],
  };
}

function erc20Write(name: string, who: string): AbiEntry {
  return {
    type: "function",
    name,
    stateMutability: "nonpayable",
    inputs: [
      { name: who, type: "address" },
      { name: "value", type: "uint256" },
    ],
    outputs: [{ name: "", type: "bool" }],
  };
}

function build(): Build {
  const directory = mkdtempSync(join(tmpdir(), "sluice-contracts-"));
  try {
    const out = join(directory, "out");
    const cache = join(directory, "cache");
    const info = join(directory, "info");
    const result = runForge(
      [
        "build",
        "src",
        "sandbox",
        "test/doubles",
        "--skip",
        "test",
        "--out",
        out,
        "--cache-path",
        cache,
        "--extra-output",
        "storageLayout",
        "--build-info",
        "--build-info-path",
        info,
      ],
      "capture",
    );
    if (result.status !== 0)
      throw new Error(`forge build failed:\n${result.stdout}${result.stderr}`);
    const artifacts = new Map(
      CONTRACTS.map(([, contract]) => {
        const file = join(out, `${contract}.sol`, `${contract}.json`);
        // CAST: forge writes this form.
        return [contract, JSON.parse(readFileSync(file, "utf8")) as Artifact];
      }),
    );
    const inputs = readdirSync(info).map((file) => {
      // CAST: forge writes this form.
      return (JSON.parse(readFileSync(join(info, file), "utf8")) as { input: StandardInput }).input;
    });
    const [input, ...others] = inputs;
    if (!input || others.length > 0) throw new Error("expected one compilation");
    return { artifacts, input };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns every custom error once: the factory passes on the reverts of everything that it calls. */
function collectErrors(artifacts: ReadonlyMap<string, Artifact>): AbiEntry[] {
  const errors = new Map<string, AbiEntry>();
  for (const { abi } of artifacts.values()) {
    for (const entry of abi) {
      if (entry.type === "error") errors.set(JSON.stringify(entry), entry);
    }
  }
  return [...errors.values()].toSorted((a, b) =>
    JSON.stringify([a.name, a]).localeCompare(JSON.stringify([b.name, b]), "en"),
  );
}

async function renderAbis(artifacts: ReadonlyMap<string, Artifact>): Promise<string> {
  const abis: [string, readonly AbiEntry[]][] = CONTRACTS.map(([prefix, contract]) => [
    prefix,
    artifacts.get(contract)?.abi ?? [],
  ]);
  abis.push(["erc20", ERC20_ABI], ["errors", collectErrors(artifacts)]);
  const source = abis.map(
    ([prefix, abi]) => `export const ${prefix}Abi = ${JSON.stringify(abi)} as const;\n`,
  );
  const { code, errors } = await format("index.ts", HEADER + source.join("\n"), {
    printWidth: 100,
  });
  if (errors[0]) throw new Error(`the ABIs are no TypeScript: ${errors[0].message}`);
  return code;
}

/** Returns one unformatted line each: formatting cannot improve thousands of hex digits. */
function renderBytecodes(artifacts: ReadonlyMap<string, Artifact>): string {
  const lines = CONTRACTS.map(([prefix, contract]) => {
    const code = artifacts.get(contract)?.bytecode.object ?? "";
    if (!/^0x([0-9a-f]{2})+$/.test(code)) throw new Error(`${contract} has no linked bytecode.`);
    return `export const ${prefix}Bytecode = "${code}" as const;\n`;
  });
  return HEADER + lines.join("\n");
}

function sha256(hex: string): string {
  return createHash("sha256")
    .update(Buffer.from(hex.slice(2), "hex"))
    .digest("hex");
}

/** Returns sizes and hashes; the deployed code has zeros where the constructor puts immutable values. */
function renderHashes({ artifacts }: Build): string {
  const released = RELEASED.map((contract) => {
    const { bytecode, deployedBytecode } = getArtifact(artifacts, contract);
    const describe = (code: string) => ({ bytes: code.length / 2 - 1, sha256: sha256(code) });
    return [
      contract,
      { creation: describe(bytecode.object), deployed: describe(deployedBytecode.object) },
    ];
  });
  return `${JSON.stringify(Object.fromEntries(released), null, 2)}\n`;
}

function renderStorage({ artifacts }: Build): string {
  const released = RELEASED.map((contract) => {
    const { storage, types } = getArtifact(artifacts, contract).storageLayout;
    const layout = storage.map(({ label, slot, offset, type }) => {
      return `slot ${slot}, byte ${offset}: ${types?.[type]?.label ?? type} ${label}`;
    });
    return [contract, layout];
  });
  return `${JSON.stringify(Object.fromEntries(released), null, 2)}\n`;
}

/**
 * Returns the compiler's input for the released contracts, in the form that explorers take. Sources have the names by which
 * they are imported, so that the input is the same in every folder.
 */
function renderInput({ input: { language, sources, settings } }: Build): string {
  const released = Object.entries(sources)
    .map(([file, { content }]) => [file.replace(/^.*node_modules\//, ""), { content }] as const)
    .filter(([name]) => !/^(sandbox|test)\//.test(name))
    .toSorted(([one], [other]) => one.localeCompare(other, "en"));
  const { optimizer, evmVersion, metadata, viaIR } = settings;
  const outputSelection = { "*": { "*": ["abi", "evm.bytecode", "evm.deployedBytecode"] } };
  const standard = {
    language,
    sources: Object.fromEntries(released),
    settings: { optimizer, evmVersion, metadata, viaIR, outputSelection },
  };
  return `${JSON.stringify(standard, null, 2)}\n`;
}

function getArtifact(artifacts: Build["artifacts"], contract: string): Artifact {
  const artifact = artifacts.get(contract);
  if (!artifact) throw new Error(`${contract} is not built`);
  return artifact;
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

const built = build();
const { artifacts } = built;
const files = [
  { path: join(CONTRACTS_DIR, "release/bytecode.json"), text: renderHashes(built) },
  { path: join(CONTRACTS_DIR, "release/storage.json"), text: renderStorage(built) },
  { path: join(CONTRACTS_DIR, "release/standard-input.json"), text: renderInput(built) },
  { path: join(CONTRACTS_DIR, "abi/index.ts"), text: await renderAbis(artifacts) },
  { path: join(CONTRACTS_DIR, "abi/bytecode.ts"), text: renderBytecodes(artifacts) },
];
if (process.argv.includes("--check")) {
  const stale = files.filter(({ path, text }) => readIfPresent(path) !== text);
  for (const { path } of stale) {
    process.stderr.write(`${path} differs from a fresh build of the contracts. Run npm run gen.\n`);
  }
  if (stale.length > 0) process.exitCode = 1;
} else {
  for (const folder of ["abi", "release"]) {
    mkdirSync(join(CONTRACTS_DIR, folder), { recursive: true });
  }
  for (const { path, text } of files) writeFileSync(path, text);
}
