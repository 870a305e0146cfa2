/** The program: results go to standard output, logs and errors to standard error. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { limitHeap } from "./telemetry/heap.ts";

limitHeap();

// Compiled modules stay beside the sources, so that a restart loads them in two thirds of the time. Code is run from this
// folder: it must be as hard to write as the sources, unlike a shared temporary one. Without a right to write, nothing is kept.
enableCompileCache(fileURLToPath(new URL("../.compiled", import.meta.url)));

// A reader of our output may stop reading, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const { runProgram } = await import("./cli/program.ts");
await runProgram(process.argv.slice(2));
// A service that is killed later would keep nothing.
flushCompileCache();
