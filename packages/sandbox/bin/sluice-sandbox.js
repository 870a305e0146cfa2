#!/usr/bin/env node
// The entry of the command: hands over to the pinned Node where this is another one, which may not run TypeScript.
import { fileURLToPath } from "node:url";
import { chooseNode, findPinnedNode, runInstead } from "@sluice/service/pinned-node";

const pinned = chooseNode(process.versions.node, findPinnedNode);
if (pinned === null) await import("../src/main.ts");
else runInstead(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
