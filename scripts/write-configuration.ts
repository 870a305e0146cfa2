/**
 * Writes the reference in docs/configuration.md and the JSON schema of the file, packages/service/sluice.schema.json, both
 * from the schema by which the service reads it; with --check only says whether they are up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { IsArray, IsLiteral, IsObject, IsOptional, IsRecord, IsUnion, type TSchema } from "typebox";
import { CompleteEvmChain, WrittenEvmChain } from "../packages/service/src/config/evm-chain.ts";
import { createConfigFile } from "../packages/service/src/config/file.ts";
import { HttpPrice, Price } from "../packages/service/src/config/prices.ts";
import { SharedSettings } from "../packages/service/src/config/every-chain.ts";
import {
  CompleteSolanaChain,
  SOLANA,
  SolanaToken,
  WrittenSolanaChain,
} from "../packages/service/src/config/solana-chain.ts";
import { NodeObject } from "../packages/service/src/config/nodes.ts";
import { Token } from "../packages/service/src/config/tokens.ts";
import { ROUTE_DEFINITIONS } from "../packages/service/src/routes/index.ts";

const PAGE = new URL("../docs/configuration.md", import.meta.url);
const SCHEMA = new URL("../packages/service/sluice.schema.json", import.meta.url);
const WIDTH = 120;

const ConfigFile = createConfigFile(ROUTE_DEFINITIONS);

type Properties = Readonly<Record<string, TSchema>>;

function annotationOf(schema: TSchema, name: string): string | undefined {
  const value: unknown = Object.entries(schema).find(([known]) => known === name)?.[1];
  return typeof value === "string" ? value : undefined;
}

/** Breaks a paragraph of a list between words. */
function wrap(text: string, indent: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && indent.length + last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `${indent}${line}`).join("\n");
}

function defaultOf(schema: TSchema, parent: Parent | undefined): string {
  const text = annotationOf(schema, "defaultText");
  if (text !== undefined) return `default: ${text}`;
  if ("default" in schema) return `default: \`${JSON.stringify(schema.default)}\``;
  if (IsOptional(schema)) return "optional";
  return parent?.isOptional ? `required with \`${parent.path}\`` : "required";
}

/** Lists settings, each with its values, its default and what it does; those of objects by their path. */
function listSettings(properties: Properties, parent?: Parent): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = parent ? `${parent.path}.${name}` : name;
    const documentation = annotationOf(schema, "documentation");
    const own = documentation === undefined ? [] : [item(path, { schema, documentation, parent })];
    // The settings of a price have a section of their own.
    if (IsObject(schema) && name !== "price") {
      const isOptional = IsOptional(schema) || (parent?.isOptional ?? false);
      return [...own, ...listSettings(schema.properties, { path, isOptional })];
    }
    if (documentation === undefined) throw new Error(`${path} has no documentation`);
    return own;
  });
}

/** The object that a setting is in. */
interface Parent {
  readonly path: string;
  readonly isOptional: boolean;
}

function item(
  path: string,
  {
    schema,
    documentation,
    parent,
  }: {
    readonly schema: TSchema;
    readonly documentation: string;
    readonly parent: Parent | undefined;
  },
): string {
  const values = annotationOf(schema, "description");
  // A literal is its own value.
  const shown = IsLiteral(schema) ? `\`${JSON.stringify(schema.const)}\`` : values;
  const facts = IsLiteral(schema)
    ? shown
    : [shown, defaultOf(schema, parent)].filter(Boolean).join("; ");
  return [`- **\`${path}\`**: ${facts}.\n`, wrap(documentation, "  ")].join("\n");
}

function write(properties: Properties): string {
  return listSettings(properties).join("\n\n");
}

function without(properties: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
}

function writeRoutes(): string {
  return ROUTE_DEFINITIONS.map(
    ({ kind, schema }) => `### ${kind}\n\n${write(schema.properties)}`,
  ).join("\n\n");
}

/** The generated parts of the page, by the name in their markers. */
const PARTS: Readonly<Record<string, string>> = {
  file: write(ConfigFile.properties),
  "evm-chain": write(CompleteEvmChain.properties),
  node: write(NodeObject.properties),
  token: write(Token.properties),
  "solana-chain": write(without(CompleteSolanaChain.properties, Object.keys(SharedSettings))),
  "solana-token": write(
    without(SolanaToken.properties, ["symbol", "decimals", "minDeposit", "inventoryMin", "price"]),
  ),
  routes: writeRoutes(),
  price: write(Price.properties),
  "http-price": write(HttpPrice.properties),
};

function writePage(page: string): string {
  return Object.entries(PARTS).reduce((text, [name, part]) => {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`docs/configuration.md has no part ${name}`);
    return `${text.slice(0, from)}${begin}\n\n${part}\n\n${text.slice(to)}`;
  }, page);
}

/** Plain text of Markdown links, which lead nowhere outside of the docs. */
function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
}

/** The standard keywords of a schema, with its documentation as the description. */
function toJsonSchema(schema: TSchema): Record<string, unknown> {
  const { documentation, description, ...keywords } = Object.fromEntries(Object.entries(schema));
  // The service's own annotations.
  delete keywords["defaultText"];
  delete keywords["listProblems"];
  const said = typeof documentation === "string" ? plain(documentation) : undefined;
  const values = typeof description === "string" ? `Expected: ${description}.` : undefined;
  const words = [said, values].filter(Boolean).join(" ");
  const children = IsObject(schema)
    ? { properties: mapValues(schema.properties, toJsonSchema) }
    : IsArray(schema)
      ? { items: toJsonSchema(schema.items) }
      : IsUnion(schema)
        ? { anyOf: schema.anyOf.map(toJsonSchema) }
        : IsRecord(schema)
          ? { patternProperties: mapValues(schema.patternProperties, toJsonSchema) }
          : {};
  return {
    ...(words !== "" && { description: words }),
    ...keywords,
    ...children,
  };
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function writeSchema(): string {
  const file = toJsonSchema(ConfigFile);
  const { chains, ...others } = mapValues(ConfigFile.properties, toJsonSchema);
  const isSolana = {
    anyOf: [
      { type: "object", properties: { chainId: { const: SOLANA } }, required: ["chainId"] },
      { type: "object", properties: { preset: { const: "solana" } }, required: ["preset"] },
    ],
  };
  // So that an editor completes and judges an entry by its own family.
  const entry = {
    if: isSolana,
    // oxlint-disable-next-line unicorn/no-thenable -- A keyword of JSON Schema.
    then: toJsonSchema(WrittenSolanaChain),
    else: toJsonSchema(WrittenEvmChain),
  };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Sluice configuration",
    ...file,
    properties: { ...others, chains: { ...chains, items: entry } },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const written: readonly [URL, string][] = [
  [PAGE, writePage(readFileSync(PAGE, "utf8"))],
  [SCHEMA, writeSchema()],
];
for (const [target, text] of written) {
  if (!process.argv.includes("--check")) {
    writeFileSync(target, text);
  } else if (readFileSync(target, "utf8") !== text) {
    console.error(`${target.pathname} is not up to date: run \`npm run gen\``);
    process.exitCode = 1;
  }
}
