export { type ApiDeps, createApi, type ScannedChain } from "./app.ts";
export { countRequests } from "./count-requests.ts";
export { createRateLimiter } from "./rate-limits.ts";
export { createQuoteApp } from "./quote-app.ts";
export { createStream } from "./stream.ts";
