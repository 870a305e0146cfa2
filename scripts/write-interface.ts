/** Writes docs/interface.md from the wire's tables; with --check it only reports whether the page is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { table } from "./table.ts";
import { ERROR_CODE_NAMES, ERROR_CODES, OPERATIONS } from "../packages/sdk/src/wire/index.ts";

const target = new URL("../docs/interface.md", import.meta.url);

const text = `# The interface

A running service serves its own reference: \`GET /docs\` is a page, \`GET /openapi.json\` and \`GET /asyncapi.json\` are documents. All
of them, and this page (\`npm run gen\`), are generated from the schemas in \`packages/sdk/src/wire\`, which the service also uses to
validate requests and answers. The live stream is a Socket.IO connection; \`GET /asyncapi.json\` describes its events.

The interface is compatible with that of a hosted settlement deposit service, here called the published interface: its clients work
unchanged. Endpoints and fields of our own are marked as additions.

## Endpoints

${table(
  ["endpoint", "key", "summary"],
  OPERATIONS.map(({ method, path, key, summary, published }) => [
    `\`${method} ${path}\``,
    key === null ? "none" : key === "header" ? "`x-api-key`" : "`apiKey` in the query",
    published ? summary : `${summary} (addition to the published interface)`,
  ]),
)}

If a quote request uses \`mpsDeposit\` or \`mpsUserId\`, as some clients of the published interface do, the answer uses that spelling for the
fields that begin with \`pay\`, and so do its errors.

Times are sent as \`2026-01-31T12:00:00.000Z\`. \`since\` and \`cursor\` accept a calendar date and time of ISO 8601 in the extended or the
basic form (\`20260131T120000Z\`), in UTC without an offset; \`24:00\` is the end of its day. Other forms, such as weeks and ordinal dates,
are refused. A user id is \`0x\` and hex digits whose value fits 20 bytes, in a quote and in the filter of \`GET /swaps\`; it is sent as 40
lower-case digits.

Addresses are sent in EIP-55 on EVM chains and in base58 on Solana, transactions in hex and base58. EVM addresses are accepted in any case;
mixed case requires a correct checksum. The native coin is the zero address on EVM chains and \`11111111111111111111111111111111\` on
Solana. Where a request takes a token, \`native\` and the EVM zero address stand for the native coin of any chain. SOL and wrapped SOL are
two tokens with two balances.

A \`destinationAddress\` is a wallet of the destination's family. On Solana it must be an ordinary wallet: accounts of programs, multisigs
included, are refused, since they may be unable to receive; so are programs, mints, deposit addresses and accounts of the service. In the
\`payDepositCommitment\` of an address on Solana, \`factory\` is the signer's binding account, \`implementation\` is absent, and \`binding\` is
its signature: \`verifyVault\` of the SDK verifies it as \`verifyDepositAddress\` verifies EVM addresses. The integrator must have a refund
authority on Solana (\`sluice integrator set NAME --refund-solana ADDRESS\`, once); no address is issued before.

\`payRoutes\` and \`payUnattended\` of a quote (additions to the published interface) choose the terms of an EVM address; without them the
oldest address of the user and destination is returned, or a new one on the integrator's own terms. An address with \`fixed\` routes has
\`routes\` and \`routeSet\` in its \`payDepositCommitment\`, one that anybody may settle has \`flags\`; \`verifyDepositAddress\` verifies them.

\`POST /request-index\` for a token that no configured route delivers to the address's destination is refused with
\`UNSUPPORTED_ROUTE\` and queues nothing: such a settlement could never end.

\`fees\` of a quote (addition to the published interface) itemises what the settlement takes out of the amount: \`service\`, \`gas\` and
\`bridge\`, in base units of the source token. \`bridgeFee\` is their sum in the destination token, \`protocolBps\` only the service's share;
the amounts out are after fees ([fees.md](fees.md)).

## Errors

Every error is \`{ "error": { code, message, retryable, details? } }\`; clients branch on \`code\`. 405, 413 and 415 keep their status with
\`VALIDATION_ERROR\`. The quote service repeats \`code\`, \`statusCode\`, \`message\` and \`msg\` beside \`error\`, where clients of the
published interface read them.

${table(
  ["code", "status", "retryable"],
  ERROR_CODE_NAMES.map((code) => [
    `\`${code}\``,
    String(ERROR_CODES[code].httpStatus ?? "on settlements only"),
    ERROR_CODES[code].retryable ? "yes" : "no",
  ]),
)}

## Request ids

Every answer of the service has an id in the header \`X-Request-Id\`, which the operator finds in the log of a request that failed. Bytes
that are not HTTP are answered without one.

## Limits

Requests are counted per key and minute. Requests without a key, to endpoints that need none, and handshakes of the stream are counted per
address. Every answer of an endpoint has the remaining number in the \`RateLimit\` and \`RateLimit-Policy\` headers; requests that reach no
endpoint (404 of a path, 405, bytes that are not HTTP) are not counted. Above the limit: 429 with \`RPC_UNAVAILABLE\`, \`details.reason\`
\`rate_limited\`, and \`Retry-After\` in seconds. \`POST /request-index\` has a smaller limit of its own. After too many wrong keys from an
address, no key from there is checked for the rest of the minute, except those that were valid from there in the last hour. Quotes issue
at most 120 new deposit addresses per key and minute. An IPv6 /64 network counts as one address. The limits are settings
([configuration.md](configuration.md)).

Quotes and \`POST /request-index\` are also counted by the requests to nodes that they cause: a key has a budget per minute, and above it the
same 429. Answers from memory are free: quotes use prices, gas prices and the state of wallets of the last three seconds, and a repeated
\`POST /request-index\` uses the balance that was read in the last two, unless a settlement of it began since.

At most 8 requests of one key are served at the same time. A further one waits up to a second, then it is refused: 429 with
\`RPC_UNAVAILABLE\`, \`details.reason\` \`too_many_at_once\`, and \`Retry-After\`. A request whose statements take the database more than 3
seconds gets 503 with \`RPC_UNAVAILABLE\` and \`details.reason\` \`timeout\`.

Requests that wait for a node (\`POST /request-index\`, quotes) are answered within 12 seconds: 503 with \`RPC_UNAVAILABLE\` and
\`details.reason\` \`timeout\`. The work continues, and the request can be repeated.

Open sockets of the stream are limited per key and per address, and each connection gets one handshake. A refusal is the error object as
\`data\` of \`connect_error\`: \`RPC_UNAVAILABLE\` with \`details.reason\` \`rate_limited\` or \`too_many_sockets\`. Connections without a
handshake count too: an address may have twice as many connections as sockets, and more are cut; so is a connection that sends more than a
hundred messages.
`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("docs/interface.md is not up to date: run `npm run gen`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
