export type { ListedToken } from "./format.ts";
export { quote, type QuoteDeps } from "./quote.ts";
