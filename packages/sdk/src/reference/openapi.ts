/** Generates the OpenAPI 3.1 document of the REST interface from its schemas. */
import type { TSchema } from "typebox";
import {
  COMMON_ERRORS,
  ERROR_CODES,
  type ErrorCode,
  ErrorResponse,
  EXPORT_MEDIA,
  type ExportFormat,
  type Operation,
  OPERATIONS,
  QuoteErrorResponse,
  QuoteResponse,
} from "../wire/index.ts";
import { type JsonSchema, listSchemas, schemaOf } from "./schemas.ts";

/** Facts of the service that serves the documents. */
export interface ServedBy {
  /** Version of its package. */
  readonly version: string;
  /** Base URL of REST and the stream. */
  readonly serviceUrl: string;
  /** Base URL of the quote service. */
  readonly quoteUrl: string;
}

const RATE_LIMIT_HEADERS = {
  "RateLimit-Policy": { description: "The limit that applies", schema: { type: "string" } },
  RateLimit: { description: "Remaining requests and seconds to reset", schema: { type: "string" } },
};

const KEY_FORM =
  "A UUID, or `sk_live_` or `sk_test_` and 32 hex digits. `x-scope` of an operation names the scope that it needs";

/** Returns the OpenAPI document of a service. */
export function createOpenApi({ version, serviceUrl, quoteUrl }: ServedBy): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const path = (paths[operation.path] ??= {});
    if (operation.server === "quote") {
      path["servers"] = [{ url: quoteUrl, description: "The quote service" }];
    }
    path[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Sluice",
      version,
      summary: "Settlement deposit service",
      description:
        "Permanent deposit addresses with one fixed destination each: deposits are detected, swept and delivered. " +
        "Operations with `x-published: false` are additions to the published interface.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serviceUrl }],
    paths,
    components: {
      schemas: { ...listSchemas(), ...listRespelled() },
      securitySchemes: {
        header: { type: "apiKey", in: "header", name: "x-api-key", description: KEY_FORM },
        query: { type: "apiKey", in: "query", name: "apiKey", description: KEY_FORM },
      },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "For 24 hours the same request with this key gets the same answer, with `Idempotent-Replayed: true`. " +
    "409 while the first is in progress, 422 for another request",
  schema: { type: "string", pattern: "^[!-~]{1,255}$" },
} as const;

/** Returns whether an operation takes an idempotency key. */
function isIdempotent({ method, key }: Operation): boolean {
  return method === "POST" && key !== null;
}

function describeOperation(operation: Operation): JsonSchema {
  const { id, summary, key, scope, published, query, body, path } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = describeQuery(query);
  const parameters = [
    ...inPath,
    ...inQuery,
    ...(operation.server === "quote" ? inQuery.flatMap(respellParameter) : []),
    ...(isIdempotent(operation) ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: id,
    summary,
    "x-published": published,
    ...(scope === null ? {} : { "x-scope": scope }),
    security: describeKey(key),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemaOf(body) } },
          },
        }
      : {}),
    responses: {
      200: {
        description: "Success",
        headers: RATE_LIMIT_HEADERS,
        content: operation.lines
          ? {
              [mediaOf("jsonl")]: { schema: schemaOf(operation.response) },
              [mediaOf("csv")]: { schema: { type: "string" } },
            }
          : { "application/json": { schema: describeResponse(operation) } },
      },
      ...describeErrors(operation),
    },
  };
}

/** Returns the media type of a format, without parameters. */
function mediaOf(format: ExportFormat): string {
  return EXPORT_MEDIA[format].split(";")[0] ?? "";
}

/** Returns where the key is sent: to the quote service in the query or, as an addition, in the header. */
function describeKey(key: Operation["key"]): readonly JsonSchema[] {
  if (key === null) return [];
  return key === "query" ? [{ query: [] }, { header: [] }] : [{ header: [] }];
}

/** Returns the schema of a success: of the answer, or of either where a parameter chooses between two. */
function describeResponse({ response, extendedResponse }: Operation): JsonSchema {
  if (response === QuoteResponse)
    return { anyOf: [schemaOf(response), { $ref: RESPELLED_RESPONSE }] };
  if (!extendedResponse) return schemaOf(response);
  return { anyOf: [schemaOf(response), schemaOf(extendedResponse)] };
}

/** The prefix of fields that begin with `pay`, in requests of some clients and in the answers to them. */
const OTHER_PREFIX = "mps";
const RESPELLED_RESPONSE = "#/components/schemas/QuoteResponseInMps";

function respell(name: string): string {
  return name.replace(/^pay(?=[A-Z])/, OTHER_PREFIX);
}

/** Returns the schemas of an answer whose request had the other prefix. */
function listRespelled(): Readonly<Record<string, JsonSchema>> {
  // CAST: an object schema, with references in place of named schemas.
  const { properties, required, ...rest } = listSchemas()["Quote"] as {
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required: readonly string[];
  };
  return {
    QuoteInMps: {
      ...rest,
      description: "One quote, in answer to a request with fields that begin with `mps`",
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [respell(name), schema]),
      ),
      required: required.map(respell),
    },
    QuoteResponseInMps: {
      ...listSchemas()["QuoteResponse"],
      properties: {
        ...Object(listSchemas()["QuoteResponse"]?.["properties"]),
        quotes: { type: "array", items: { $ref: "#/components/schemas/QuoteInMps" } },
      },
    },
  };
}

/** Returns a parameter under its other name, if it has one. */
function respellParameter(parameter: JsonSchema): readonly JsonSchema[] {
  const name = String(parameter["name"]);
  if (respell(name) === name) return [];
  return [{ ...parameter, name: respell(name), description: `Another name of \`${name}\`` }];
}

function describeQuery(query: TSchema | undefined): readonly JsonSchema[] {
  if (!query) return [];
  // CAST: queries are object schemas, and their JSON is JSON Schema.
  const { properties, required = [] } = JSON.parse(JSON.stringify(query)) as {
    readonly properties: Readonly<Record<string, { readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

/** Returns the error responses of an operation: one per HTTP status, listing its codes. */
function describeErrors(operation: Operation): Readonly<Record<string, JsonSchema>> {
  const { key, errors, body, method, server } = operation;
  const errorSchema = schemaOf(server === "quote" ? QuoteErrorResponse : ErrorResponse);
  const keyErrors: readonly ErrorCode[] = key === null ? [] : ["UNAUTHORIZED", "FORBIDDEN"];
  const codes = [...new Set([...COMMON_ERRORS, ...keyErrors, ...errors])];
  const byStatus = new Map<number, string[]>([[429, ["RPC_UNAVAILABLE (rate_limited)"]]]);
  // A DELETE may carry a body too, which is refused in the same way.
  if (body || method === "DELETE") {
    byStatus.set(413, ["VALIDATION_ERROR"]);
    byStatus.set(415, ["VALIDATION_ERROR"]);
  }
  if (isIdempotent(operation)) {
    byStatus.set(409, ["RPC_UNAVAILABLE (in_progress)"]);
    byStatus.set(422, ["VALIDATION_ERROR (other_request)"]);
  }
  for (const code of codes) {
    const status = ERROR_CODES[code].httpStatus;
    if (status !== undefined) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: names.join(", "),
        ...(status === 429
          ? { headers: { "Retry-After": { description: "Seconds", schema: { type: "integer" } } } }
          : {}),
        content: { "application/json": { schema: errorSchema } },
      },
    ]),
  );
}
