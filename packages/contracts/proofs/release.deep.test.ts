/** Compares the published facts of the contracts with the compiler and a third implementation. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "..");

test("the published input compiles to the published bytecode", () => {
  const compiler = join(FOLDER, "tools/solc.cjs");
  const output = execFileSync(process.execPath, [compiler, "--standard-json"], {
    input: readFileSync(join(FOLDER, "release/standard-input.json")),
    maxBuffer: 256 * 1024 * 1024,
  });
  // CAST: the compiler's standard output.
  const { contracts } = JSON.parse(output.toString()) as {
    readonly contracts: Readonly<
      Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>
    >;
  };
  const compiled = new Map(
    Object.values(contracts).flatMap((file) =>
      Object.entries(file).map(([name, { evm }]) => {
        const code = Buffer.from(evm.bytecode.object, "hex");
        return [name, createHash("sha256").update(code).digest("hex")] as const;
      }),
    ),
  );
  // CAST: written by scripts/generate.ts.
  const published = JSON.parse(
    readFileSync(join(FOLDER, "release/bytecode.json"), "utf8"),
  ) as Readonly<Record<string, { readonly creation: { readonly sha256: string } }>>;
  const names = Object.keys(published);
  expect(names.map((name) => [name, compiled.get(name)])).toEqual(
    names.map((name) => [name, published[name]?.creation.sha256]),
  );
});

test("a third implementation computes the same vectors", () => {
  const script = join(import.meta.dirname, "formats.py");
  const vectors = join(FOLDER, "vectors/addresses.json");
  const said = execFileSync("python3", [script, vectors], { encoding: "utf8" });
  expect(said).toMatch(/^\d+ vectors agree\n$/);
});

test("the page of formats states every signed type of the vectors", () => {
  const page = readFileSync(join(FOLDER, "../../docs/formats.md"), "utf8");
  // CAST: written by scripts/vectors.ts.
  const vectors = JSON.parse(readFileSync(join(FOLDER, "vectors/addresses.json"), "utf8")) as {
    readonly messages: readonly { readonly domain: string; readonly type: string }[];
  };
  const unsaid = vectors.messages.filter(
    ({ domain, type }) => !page.includes(`\`${domain}\``) || !page.includes(`\`${type}\``),
  );
  expect(unsaid).toEqual([]);
});
