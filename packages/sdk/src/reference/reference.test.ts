import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv } from "ajv";
import asyncApi30 from "@asyncapi/specs/schemas/3.0.0-without-$id.json" with { type: "json" };
import { describe, expect, test } from "vitest";
import { ERROR_CODE_NAMES, OPERATIONS } from "../wire/index.ts";
import { createAsyncApi, createOpenApi, createReferencePage } from "./index.ts";

const SERVED_BY = {
  version: "1.2.3",
  serviceUrl: "https://api.example.com",
  quoteUrl: "https://quotes.example.com",
};

/** Returns the references of a document that do not resolve. */
function listDangling(document: object): string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  const find = (path: string) =>
    path
      .split("/")
      .slice(1)
      // CAST: any node of a document.
      .reduce<unknown>((part, name) => (part as Record<string, unknown>)?.[name], document);
  return references.filter((path) => find(path) === undefined);
}

describe("OpenAPI", () => {
  const document = createOpenApi(SERVED_BY);

  test("is a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("contains every operation once and has no dangling references", () => {
    const ids = OPERATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(JSON.stringify(document)).toContain(`"operationId":"${id}"`);
    expect(listDangling(document)).toEqual([]);
  });

  test.each(["post", "get"])("lists every error code of a quote, by %s", (method) => {
    // CAST: the structure that createOpenApi returns.
    const { paths } = document as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    const responses = paths["/v3/quote"]?.[method]?.responses ?? {};
    expect(responses[400]?.description).toContain("UNSUPPORTED_CHAIN");
    expect(responses[422]?.description).toContain("UNSUPPORTED_DEST");
    expect(responses[503]?.description).toContain("CONFIG_MISSING");
  });

  test("uses QuoteErrorResponse on the quote service and ErrorResponse on the other", () => {
    for (const [path, operations] of Object.entries(document["paths"] ?? {})) {
      const isQuote = ["/v3/quote", "/addresses"].includes(path);
      const schema = isQuote ? "QuoteErrorResponse" : "ErrorResponse";
      const references = [...JSON.stringify(operations).matchAll(/schemas\/(\w*ErrorResponse)"/g)];
      expect(new Set(references.map(([, name]) => name))).toEqual(new Set([schema]));
    }
  });

  test("names the version and the servers that it is given", () => {
    expect(document).toMatchObject({
      info: { version: "1.2.3" },
      servers: [{ url: "https://api.example.com" }],
      paths: { "/v3/quote": { servers: [{ url: "https://quotes.example.com" }] } },
    });
    expect(createAsyncApi(SERVED_BY)).toMatchObject({
      info: { version: "1.2.3" },
      servers: { service: { host: "api.example.com", protocol: "wss" } },
    });
  });

  test("inlines no named schema", () => {
    expect(JSON.stringify(document)).not.toContain('"$id"');
  });
});

describe("AsyncAPI", () => {
  test("is a valid AsyncAPI 3.0 document by the specification's own schema", () => {
    const check = new Ajv({ strict: false, validateFormats: false }).compile(asyncApi30);
    const isValid = check(createAsyncApi(SERVED_BY));
    expect(check.errors ?? []).toEqual([]);
    expect(isValid).toBe(true);
    expect(check({ ...createAsyncApi(SERVED_BY), channels: { event: { messages: 1 } } })).toBe(
      false,
    );
  });

  test("contains the channels of the stream and has no dangling references", () => {
    const document = createAsyncApi(SERVED_BY);
    expect(Object.keys(document["channels"] ?? {})).toEqual([
      "connected",
      "event",
      "connect_error",
    ]);
    expect(listDangling(document)).toEqual([]);
  });
});

describe("reference page", () => {
  const page = createReferencePage();

  test("contains every endpoint and error code and has no dangling anchors", () => {
    for (const { id } of OPERATIONS) expect(page).toContain(`id="${id}"`);
    for (const code of ERROR_CODE_NAMES) expect(page).toContain(`<code>${code}</code>`);
    const anchors = [...page.matchAll(/href="#([^"]+)"/g)].map(([, name]) => name);
    expect(anchors.filter((name) => !page.includes(`id="${name}"`))).toEqual([]);
  });

  test("contains no script and loads no external resource", () => {
    expect(page).not.toMatch(/<script|<link|<img|src=|url\(|https?:\/\//i);
  });
});
