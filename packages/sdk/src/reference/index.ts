/** Generates reference documents from the interface's schemas: OpenAPI, AsyncAPI and an HTML page. */
export { createAsyncApi } from "./asyncapi.ts";
export { createOpenApi, type ServedBy } from "./openapi.ts";
export { createReferencePage } from "./page.ts";
export type { JsonSchema } from "./schemas.ts";
