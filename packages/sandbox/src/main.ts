/** `npm start`, `npm run pay` and `npm run play`: the command line of the sandbox. */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Compiled modules stay beside the sources, as the service keeps its own. Without a right to write, nothing is kept.
enableCompileCache(fileURLToPath(new URL("../.compiled", import.meta.url)));

const { runProgram } = await import("./program.ts");
await runProgram(process.argv.slice(2));
