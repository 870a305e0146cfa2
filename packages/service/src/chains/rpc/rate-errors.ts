/**
 * Recognises a node's refusals because of too many requests. Providers answer with HTTP status 429, or with an error of their
 * own in an answer of status 200. Nodes share no codes, so the texts decide where a code has several meanings.
 */
import type { NodeError } from "./json-rpc.ts";

/** A refusal for the rate of requests, as a provider words it. */
export interface RateError {
  readonly provider: string;
  /** Undefined: any code. */
  readonly code?: number;
  readonly text: RegExp;
  readonly source: string;
}

/** The first lines carry a code of one meaning, so that any text will do. */
export const RATE_ERRORS: readonly RateError[] = [
  {
    provider: "Alchemy, the HTTP status as code",
    code: 429,
    text: /(?:)/,
    source: "https://www.alchemy.com/docs/reference/error-reference",
  },
  {
    provider: "Infura, whose credits are used up",
    code: 402,
    text: /(?:)/,
    source: "https://docs.metamask.io/services/reference/error-codes",
  },
  {
    provider: "Cloudflare",
    code: -32046,
    text: /(?:)/,
    source: "https://developers.cloudflare.com/web3/ethereum-gateway/troubleshooting/",
  },
  {
    provider: "Helius",
    code: -32429,
    text: /(?:)/,
    source: "https://www.helius.dev/docs/faqs/rpc",
  },
  {
    provider: "BlockVision",
    code: -32605,
    text: /(?:)/,
    source: "https://docs.blockvision.org/reference/error-code-reference",
  },
  {
    provider: "QuickNode",
    text: /request limit reached/i,
    source: "https://github.com/foundry-rs/foundry/issues/4894",
  },
  {
    provider: "Infura",
    text: /daily request count exceeded|request rate (?:limited|exceeded)/i,
    source: "https://docs.metamask.io/services/how-to/avoid-rate-limiting",
  },
  {
    provider: "Chainstack",
    text: /exceeded the RPS limit/i,
    source: "https://docs.chainstack.com/docs/limits",
  },
  {
    provider: "proxyd (OP Stack)",
    text: /over rate limit|backend is over capacity/i,
    source: "https://github.com/ethereum-optimism/infra/blob/main/proxyd/backend.go",
  },
  {
    provider: "Alchemy, compute units",
    text: /exceeded its (?:compute units|throughput|concurrent requests)|monthly capacity limit/i,
    source: "https://www.alchemy.com/docs/reference/throughput",
  },
  {
    provider: "dRPC",
    text: /too many request|credits limited|reached the quota/i,
    source: "https://github.com/alloy-rs/alloy/blob/main/crates/json-rpc/src/response/error.rs",
  },
  {
    provider: "public nodes",
    text: /rate[- ]limit(?:ed| (?:is )?(?:exceeded|reached)|ing)|rate exceeded/i,
    source: "https://github.com/alloy-rs/alloy/blob/main/crates/json-rpc/src/response/error.rs",
  },
];

/** Returns whether an error says that the requests were too many. The text of a revert is the contract's, not the node's. */
export function isRateError({ code, message }: NodeError): boolean {
  if (code === 3 || /revert/i.test(message)) return false;
  return RATE_ERRORS.some(
    (known) => (known.code === undefined || known.code === code) && known.text.test(message),
  );
}
