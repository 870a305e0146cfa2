// Answers the two questions forge asks a compiler: `--version` and `--standard-json` (stdin to stdout).
const fs = require("node:fs");
const path = require("node:path");
const solc = require("solc");

/**
 * Forge names files outside its root by absolute path, while the compiler resolves what they import
 * relative to the remapping. One name for both, and one that is the same on every machine: relative.
 */
function withRelativeNames(files, base) {
  const renamed = {};
  for (const [name, value] of Object.entries(files)) {
    const relative = path.isAbsolute(name) ? path.relative(base, name) : name;
    renamed[relative.split(path.sep).join("/")] ??= value;
  }
  return renamed;
}

/** Code that only tests run. Doubles are no part of it: some are deployed in the service's stories. */
const TEST = /^test\/(?!doubles\/)/;

/**
 * Just enough of the optimizer that no stack is too deep. Tests are most of the code, and the full optimizer takes three
 * times as long on them as on the contracts. `LIGHT_TESTS` goes together with forge's `dynamic_test_linking`: tests then
 * deploy the artifacts of src/, which have the released bytes, and not a light copy in their own code.
 */
const LIGHT = {
  runs: 200,
  details: {
    peephole: true,
    inliner: false,
    jumpdestRemover: true,
    orderLiterals: false,
    deduplicate: false,
    cse: false,
    constantOptimizer: false,
    yul: true,
    yulDetails: { stackAllocation: true, optimizerSteps: "dgvulfnTu" },
  },
};

/** Compiles the files whose names fit, with all others as their imports; null if there are none. */
function compile(input, fits, optimizer) {
  const { outputSelection } = input.settings;
  const selected = Object.entries(outputSelection).filter(([name]) => fits(name));
  if (selected.length === 0) return null;
  const settings = { ...input.settings, optimizer, outputSelection: Object.fromEntries(selected) };
  return JSON.parse(solc.compile(JSON.stringify({ ...input, settings })));
}

/** Returns the output as if it were of one compilation. */
function merge(one, other) {
  if (!one || !other) return one ?? other;
  const errors = [...(one.errors ?? []), ...(other.errors ?? [])].map((error) => [
    JSON.stringify(error),
    error,
  ]);
  return {
    ...one,
    errors: [...new Map(errors).values()],
    contracts: { ...one.contracts, ...other.contracts },
    sources: { ...one.sources, ...other.sources },
  };
}

const args = process.argv.slice(2);
if (args.includes("--version")) {
  process.stdout.write(
    `solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`,
  );
} else if (args.includes("--standard-json")) {
  const base = args.includes("--base-path") ? args[args.indexOf("--base-path") + 1] : process.cwd();
  const input = JSON.parse(fs.readFileSync(0, "utf8"));
  input.sources = withRelativeNames(input.sources, base);
  input.settings.outputSelection = withRelativeNames(input.settings.outputSelection, base);
  const isTest = (name) => process.env.LIGHT_TESTS === "1" && TEST.test(name);
  const released = compile(input, (name) => !isTest(name), input.settings.optimizer);
  process.stdout.write(JSON.stringify(merge(released, compile(input, isTest, LIGHT))));
} else {
  process.stderr.write("tools/solc answers only --version and --standard-json\n");
  process.exitCode = 1;
}
