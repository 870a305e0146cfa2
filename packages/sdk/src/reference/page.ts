/** Generates the reference as one HTML page without scripts or external resources, so that it works behind any firewall. */
import { ERROR_CODE_NAMES, ERROR_CODES, type Operation, OPERATIONS } from "../wire/index.ts";
import { type JsonSchema, listSchemas, schemaOf } from "./schemas.ts";

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h3 { margin-top: 2.5rem; } a { color: #0a4fa3; }
code { font: 0.9em ui-monospace, monospace; } table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid #ddd; }
.addition { color: #555; } @media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #151515; } a { color: #7db8ff; } th, td { border-color: #333; } .addition { color: #aaa; } }
`;

/** Returns the page. */
export function createReferencePage(): string {
  const schemas = listSchemas();
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sluice: reference</title><style>${STYLE}</style></head>
<body>
<h1>Sluice: reference</h1>
<p>Machine-readable: <a href="/openapi.json">OpenAPI</a> for REST, <a href="/asyncapi.json">AsyncAPI</a> for the stream.</p>
<h2>Endpoints</h2>
<ul>${OPERATIONS.map((operation) => `<li><a href="#${operation.id}"><code>${titleOf(operation)}</code></a> ${escape(operation.summary)}</li>`).join("\n")}</ul>
${OPERATIONS.map(describeOperation).join("\n")}
<h2>Errors</h2>
<p>The body of every error response is <code>{ "error": { code, message, retryable, details? } }</code>. Branch on <code>code</code>.
405, 413 and 415 have code <code>VALIDATION_ERROR</code>; a rate limit is 429 with <code>RPC_UNAVAILABLE</code> and <code>Retry-After</code>.</p>
<table><thead><tr><th>code</th><th>status</th><th>retryable</th></tr></thead><tbody>
${ERROR_CODE_NAMES.map((code) => `<tr><td><code>${code}</code></td><td>${ERROR_CODES[code].httpStatus ?? "only on settlements"}</td><td>${ERROR_CODES[code].retryable ? "yes" : "no"}</td></tr>`).join("\n")}
</tbody></table>
<h2>Objects</h2>
${Object.entries(schemas)
  .map(
    ([name, schema]) =>
      `<h3 id="${name}">${name}</h3>\n<p>${escape(textOf(schema["description"]))}</p>\n${tableOf(schema)}`,
  )
  .join("\n")}
</body>
</html>
`;
}

function titleOf({ method, path }: Operation): string {
  return escape(`${method} ${path}`);
}

function describeOperation(operation: Operation): string {
  const { id, summary, key, published, query, body, response, errors, server } = operation;
  const facts = [
    server === "quote" ? "Served by the quote service." : "",
    key === null
      ? "Needs no key."
      : key === "header"
        ? "Key in <code>x-api-key</code>."
        : "Key in the query as <code>apiKey</code>.",
    published ? "" : '<span class="addition">Addition to the published interface.</span>',
  ].filter((fact) => fact !== "");
  return [
    `<h3 id="${id}"><code>${titleOf(operation)}</code></h3>`,
    `<p>${escape(summary)}. ${facts.join(" ")}</p>`,
    query ? `<h4>Query</h4>${tableOf(JSON.parse(JSON.stringify(query)))}` : "",
    body ? `<p>Body: ${typeOf(schemaOf(body))}.</p>` : "",
    `<p>Response: ${operation.lines ? "lines, in JSON each " : ""}${typeOf(schemaOf(response))}.</p>`,
    errors.length > 0
      ? `<p>Specific errors: ${errors.map((code) => `<code>${code}</code>`).join(", ")}.</p>`
      : "",
  ].join("\n");
}

/** Formats a schema as a table of its properties, or as the alternatives of a union. */
function tableOf(schema: JsonSchema): string {
  const { properties, required, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    return anyOf
      .map((one: JsonSchema) => ("properties" in one ? tableOf(one) : `<p>${typeOf(one)}</p>`))
      .join("\n<p>or</p>\n");
  }
  if (typeof properties !== "object" || properties === null) return `<p>${typeOf(schema)}</p>`;
  const names = Array.isArray(required) ? required : [];
  const rows = Object.entries(properties).map(([name, member]: [string, JsonSchema]) => {
    const description = escape(textOf(member["description"]));
    return `<tr><td><code>${escape(name)}</code>${names.includes(name) ? "" : " (optional)"}</td><td>${typeOf(member)}</td><td>${description}</td></tr>`;
  });
  return `<table><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

function typeOf(schema: JsonSchema): string {
  const { $ref, type, anyOf, items } = schema;
  const words = schema["enum"];
  const fixed = schema["const"];
  if (typeof $ref === "string") {
    const name = $ref.split("/").at(-1) ?? "";
    return `<a href="#${name}">${name}</a>`;
  }
  if (Array.isArray(words))
    return words.map((word) => `<code>${escape(String(word))}</code>`).join(", ");
  if (fixed !== undefined) return `<code>${escape(JSON.stringify(fixed))}</code>`;
  if (Array.isArray(anyOf)) return anyOf.map((one: JsonSchema) => typeOf(one)).join(" or ");
  if (type === "array" && typeof items === "object" && items !== null) {
    return `array of ${typeOf({ ...items })}`;
  }
  return escape(textOf(type));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
