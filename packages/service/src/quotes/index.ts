export type { ListedToken } from "./format.ts";
export { issueMany } from "./issue-many.ts";
export { quote, type QuoteDeps } from "./quote.ts";
