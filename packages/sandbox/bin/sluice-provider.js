#!/usr/bin/env node
// The entry of the command; Node 24 runs TypeScript.
await import("../src/provider/main.ts");
