/** The rehearsal of going live: `npm run rehearsal` in a process of its own, since it opens namespaces. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "rehearsal/start.ts");

test("three machines go live by the documents, survive every loss and an upgrade, and the books are proved", async () => {
  const child = spawn(process.execPath, [MAIN], { stdio: ["ignore", "pipe", "inherit"] });
  const printed = text(child.stdout);
  const [code] = await once(child, "exit");
  console.log(await printed);
  expect(code).toBe(0);
  expect(await printed).toMatch(/\d+ customers were paid once each, and the books are proved/);
}, 1_800_000);
