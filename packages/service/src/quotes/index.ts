export type { ListedToken } from "./format.ts";
export { issueMany } from "./issue-many.ts";
export { listPayable, type PayableToken, quote, type QuoteDeps, quotePayment } from "./quote.ts";
