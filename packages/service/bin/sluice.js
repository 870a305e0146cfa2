#!/usr/bin/env node
// The way in: says plainly what is missing before TypeScript is met, which older versions of Node cannot run.
const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 24) {
  process.stderr.write(
    `sluice needs Node 24, this is ${process.versions.node}. Run it as: npm run sluice -- ${process.argv.slice(2).join(" ")}\n`,
  );
  process.exit(1);
}
await import("../src/main.ts");
