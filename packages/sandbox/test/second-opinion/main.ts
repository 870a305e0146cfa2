/**
 * `npm run check:solana`: the same story on the sandbox's Solana chain and on surfpool, and what differs. Optional: it
 * needs the registry and Linux on x64 with glibc, and nothing of the project depends on it.
 */
import { isDeepStrictEqual } from "node:util";
import { createSolanaChain } from "../../src/solana/index.ts";
import { tellStory } from "./story.ts";
import { startSurfpool } from "./surfpool.ts";

const surfpool = await startSurfpool();
const chain = await createSolanaChain({ slotMs: 50 });
try {
  const [ours, theirs] = await Promise.all([tellStory(chain.url), tellStory(surfpool.url)]);
  let differences = 0;
  for (const [what, found] of ours) {
    const other = theirs.get(what);
    const isSame = isDeepStrictEqual(alike(found), alike(other));
    console.log(`${isSame ? "same     " : "DIFFERENT"}  ${what}`);
    if (isSame) continue;
    differences += 1;
    console.log("  sandbox ", print(found));
    console.log("  surfpool", print(other));
  }
  console.log(`${ours.size} findings, ${differences} differ`);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  await chain.close();
  await surfpool.stop();
}

/**
 * Without what surfpool 1.5.0 is known to write otherwise than a real node: zeros at the end of `uiAmountString`, and a
 * `rentEpoch` of 0.
 */
function alike(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(alike);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "uiAmountString" && name !== "rentEpoch")
      .map(([name, part]) => [name, alike(part)]),
  );
}

function print(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part),
    2,
  );
}
