/**
 * `npm run check:solana`: runs the same scenario on the sandbox's Solana chain and on surfpool, and prints the
 * differences. Optional: it needs the registry and Linux on x64 with glibc, and nothing in the project depends on it.
 */
import { isDeepStrictEqual } from "node:util";
import { createSolanaChain } from "../../src/solana/index.ts";
import { runScenario } from "./story.ts";
import { startSurfpool } from "./surfpool.ts";

const surfpool = await startSurfpool();
const chain = await createSolanaChain({ slotMs: 50 });
try {
  const [sandbox, reference] = await Promise.all([
    runScenario(chain.url),
    runScenario(surfpool.url),
  ]);
  let differences = 0;
  for (const [step, result] of sandbox) {
    const expected = reference.get(step);
    const isSame = isDeepStrictEqual(normalize(result), normalize(expected));
    console.log(`${isSame ? "same     " : "DIFFERENT"}  ${step}`);
    if (isSame) continue;
    differences += 1;
    console.log("  sandbox ", print(result));
    console.log("  surfpool", print(expected));
  }
  console.log(`${sandbox.size} results compared, ${differences} differ`);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  await chain.close();
  await surfpool.stop();
}

/**
 * Removes the fields that surfpool 1.5.0 formats differently from a real node: trailing zeros in `uiAmountString`, and
 * 0 as `rentEpoch`.
 */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "uiAmountString" && name !== "rentEpoch")
      .map(([name, part]) => [name, normalize(part)]),
  );
}

function print(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part),
    2,
  );
}
