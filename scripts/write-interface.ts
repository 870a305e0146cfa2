/** Writes docs/interface.md from the wire's tables; with --check only says whether it is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { table } from "./table.ts";
import { ERROR_CODE_NAMES, ERROR_CODES, OPERATIONS } from "../packages/sdk/src/wire/index.ts";

const target = new URL("../docs/interface.md", import.meta.url);

const text = `# The interface

The service describes itself: \`GET /docs\` is the whole reference as a page, \`GET /openapi.json\` and \`GET /asyncapi.json\`
are the same as documents. All of it is made from the schemas of \`packages/sdk/src/wire\`, with which the service checks
what it is asked and what it answers. This page is made from them too (\`npm run gen\`).

## Endpoints

${table(
  ["endpoint", "key", "what"],
  OPERATIONS.map(({ method, path, key, summary, published }) => [
    `\`${method} ${path}\``,
    key === null ? "none" : key === "header" ? "`x-api-key`" : "`apiKey` in the query",
    published ? summary : `${summary} (beside the published interface)`,
  ]),
)}

Where a quote is asked for with \`mpsDeposit\` or \`mpsUserId\`, as clients of the original service do, the fields that begin
with \`pay\` are answered in that spelling, and named in it where they are refused.

Times go out as \`2026-01-31T12:00:00.000Z\`. \`since\` and \`cursor\` take a calendar date and time of ISO 8601 in the extended
or the basic form (\`20260131T120000Z\`), in UTC where it has no offset; \`24:00\` is the end of its day. Other forms, such as
weeks and days of the year, are refused. A user id is \`0x\` and hex digits whose value fits 20 bytes, in a quote as in the
filter of \`GET /swaps\`; it goes out as 40 lower-case digits.

Addresses go out in EIP-55 on EVM chains and in base58 on Solana, transactions in hex and in base58. They are taken in any
case on EVM chains, mixed case with a right checksum. The native coin is the zero address on EVM chains and
\`11111111111111111111111111111111\` on Solana; \`native\` and the zero address of EVM chains stand for that of any chain
where a token is asked for. SOL and wrapped SOL are two tokens with two balances.

A \`destinationAddress\` is a wallet of the destination's family. On Solana a key must stand behind it: accounts of programs
are refused, multisigs among them, as they may be unable to receive; so are programs, mints, deposit addresses and accounts
of the service. \`payDepositCommitment\` of an address on Solana has the account that vouches for it as \`factory\`, no
\`implementation\`, and \`binding\`, its signature: \`verifyVault\` of the SDK checks it as \`verifyDepositAddress\` does the
others. The integrator must have a refund authority there (\`sluice integrator set NAME --refund-solana ADDRESS\`, once); no
address is issued before.

A quote's \`fees\` (beside the published interface) are what its settlement takes out of the amount: \`service\`, \`gas\` and
\`bridge\`, in base units of the source token. \`bridgeFee\` is all of them in the destination token, \`protocolBps\` the
service's alone, and the amounts out have them taken off ([fees.md](fees.md)).

## Errors

Every answer that is not a success is \`{ "error": { code, message, retryable, details? } }\`; clients branch on \`code\`. 405,
413 and 415 keep their status with \`VALIDATION_ERROR\`. The quote service repeats \`code\`, \`statusCode\`, \`message\` and
\`msg\` beside \`error\`, where its own clients read them.

${table(
  ["code", "status", "retryable"],
  ERROR_CODE_NAMES.map((code) => [
    `\`${code}\``,
    String(ERROR_CODES[code].httpStatus ?? "on settlements only"),
    ERROR_CODES[code].retryable ? "yes" : "no",
  ]),
)}

## Limits

Requests are counted per key and minute; what needs no key, or comes without one, per address, and so are handshakes of
the stream. Every answer of an endpoint says what is left in the \`RateLimit\` and \`RateLimit-Policy\` headers; what
reaches none (404 of a path, 405, bytes that are not HTTP) is not counted. Beyond it: 429 with \`RPC_UNAVAILABLE\`,
\`details.reason\` \`rate_limited\`, and \`Retry-After\` in seconds. \`POST /request-index\` has a smaller share of its
own. After too many wrong keys from an address, no key from there is looked at for the rest of the minute. An IPv6
network of 64 bits counts as one address. The numbers are settings ([configuration.md](configuration.md)).

What waits for a node, \`POST /request-index\` and quotes, is answered after 12 seconds at the latest: 503 with
\`RPC_UNAVAILABLE\` and \`details.reason\` \`timeout\`. What was begun goes on, and the same request may be sent again.

So many sockets of the stream may be open at once, per key and per address, and each connection asks once to be let in.
What is refused gets the error object as \`data\` of \`connect_error\`: \`RPC_UNAVAILABLE\` with \`details.reason\`
\`rate_limited\` or \`too_many_sockets\`. Connections that do not ask count as well: one beyond twice as many as an
address may have sockets is cut, and so is one that sends more than a hundred messages.
`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("docs/interface.md is not up to date: run `npm run gen`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
