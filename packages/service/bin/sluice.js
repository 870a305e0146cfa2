#!/usr/bin/env node
// The entry: hands over to the pinned Node where this is another one, which may not run TypeScript.
import { fileURLToPath } from "node:url";
import { chooseNode, findPinnedNode, runInstead } from "./pinned-node.js";

let pinned;
try {
  pinned = chooseNode(process.versions.node, findPinnedNode);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
if (pinned === null) await import("../src/main.ts");
else runInstead(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
