/** The program: results go to standard output, logs and errors to standard error. */
import { runProgram } from "./cli/program.ts";

// A reader of our output may stop reading, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

await runProgram(process.argv.slice(2));
