/** The JSON schema that editors read agrees with the schema by which the service reads the file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const validate = new Ajv().compile(readJson("packages/service/sluice.schema.json"));

test.each(["production", "production-solana"])("accepts the example %s", (name) => {
  expect(validate(readJson(`docs/examples/${name}.json`))).toBe(true);
});

test.each<[string, object]>([
  ["an unknown setting", { feeBp: 10 }],
  ["a value out of its range", { feeBps: 10_001 }],
  ["a secret in the file itself", { apiKeyPepper: "a-pepper-of-some-length" }],
  ["settings of Solana on an EVM chain", { chains: [{ preset: "base", startSlot: 1 }] }],
  ["settings of an EVM chain on Solana", { chains: [{ preset: "solana", startBlock: 1 }] }],
])("refuses %s", (_, change) => {
  expect(validate({ ...readJson("docs/examples/production.json"), ...change })).toBe(false);
});
