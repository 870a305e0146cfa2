export { type ApiDeps, createApi, type ScannedChain } from "./app.ts";
export { createQuoteApp } from "./quote-app.ts";
export { createStream } from "./stream.ts";
