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
  process.stdout.write(solc.compile(JSON.stringify(input)));
} else {
  process.stderr.write("tools/solc answers only --version and --standard-json\n");
  process.exitCode = 1;
}
