/** The interface as documents, made from the wire's schemas: OpenAPI, AsyncAPI and a page. */
export { createAsyncApi } from "./asyncapi.ts";
export { createOpenApi, INTERFACE_VERSION } from "./openapi.ts";
export { createReferencePage } from "./page.ts";
