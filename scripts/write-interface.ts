/** Writes docs/interface.md from the wire's tables; with --check it only reports whether the page is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { table } from "./table.ts";
import {
  ERROR_CODE_NAMES,
  ERROR_CODES,
  KEY_SCOPES,
  type KeyScope,
  OPERATIONS,
} from "../packages/sdk/src/wire/index.ts";

const target = new URL("../docs/interface.md", import.meta.url);

const SCOPES: Readonly<Record<KeyScope, string>> = {
  read: "reading addresses, deposits, settlements and events; the stream",
  quote: "quotes, which issue deposit addresses",
  settle: "queueing settlements",
  webhooks: "managing webhook endpoints",
  refunds: "requesting refunds",
  pay: "creating and revoking pay links",
};

const text = `# The interface

A running service serves its own reference: \`GET /docs\` is a page, \`GET /openapi.json\` and \`GET /asyncapi.json\` are documents. All
of them, and this page (\`npm run gen\`), are generated from the schemas in \`packages/sdk/src/wire\`, which the service also uses to
validate requests and answers. The live stream is a Socket.IO connection; \`GET /asyncapi.json\` describes its events.

The interface is compatible with that of a hosted settlement deposit service, here called the published interface: its clients work
unchanged. Endpoints and fields of our own are marked as additions.

## Endpoints

${table(
  ["endpoint", "key", "scope", "summary"],
  OPERATIONS.map(({ method, path, key, scope, summary, published }) => [
    `\`${method} ${path}\``,
    key === null ? "none" : key === "header" ? "`x-api-key`" : "`apiKey` in the query",
    scope === null ? "" : `\`${scope}\``,
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

\`fromToken\` and \`toToken\` of a quote request take the symbol of a listed token, in any case, beside its address; several tokens
with that symbol are a \`VALIDATION_ERROR\` that lists their addresses. Quotes carry \`minDeposit\` and \`belowMinimum\`, by which a
null \`payDepositAddress\` below the minimum explains itself. A request that the configuration does not serve (an unlisted token, a
pair without a route) is \`UNSUPPORTED_ROUTE\`, which is not retryable; \`NO_ROUTE\` is a route that cannot deliver right now.

\`payRoutes\` and \`payUnattended\` of a quote (additions to the published interface) choose the terms of an EVM address; without them the
oldest address of the user and destination is returned, or a new one on the integrator's own terms. An address with \`fixed\` routes has
\`routes\` and \`routeSet\` in its \`payDepositCommitment\`, one that anybody may settle has \`flags\`; \`verifyDepositAddress\` verifies them.

\`POST /request-index\` for a token that no configured route delivers to the address's destination is refused with
\`UNSUPPORTED_ROUTE\` and queues nothing: such a settlement could never end.

\`fees\` of a quote (addition to the published interface) itemises what the settlement takes out of the amount: \`service\`, \`gas\` and
\`bridge\`, in base units of the source token. \`bridgeFee\` is their sum in the destination token, \`protocolBps\` only the service's share;
the amounts out are after fees ([fees.md](fees.md)).

## Details of events

With \`extended=true\` in the query of \`GET /events\`, or \`extended: true\` in the auth (or the query) of a stream's handshake, every event
has one more object, \`details\` (addition to the published interface): enough to credit a customer from the event alone. It has the id, user,
label and metadata of the address, the ids, amounts and transactions of the deposits (the first 20; \`moreDeposits\` says whether there are
more), and of a settlement its id, amount, route, destination and transaction. In the event of a completed settlement it also has the
delivered amount, the transaction on the destination chain and the fees as the ledger posts them: \`service\` and \`gas\` in base units of
the source token, \`bridge\` of the destination token. Details are recorded with the event and never change; those of a deposit name the
settlement that it joined when it was detected. An event from before details were recorded has \`null\`. Without \`extended\`, events have
exactly the published fields, and only the two published types are shown.

With \`extended\` there are further types:

- \`refund_detected\`: a block shows that tokens of a deposit address were paid to its refund authority, by the service or by the
  authority itself. If the block is orphaned and the refund is mined again, it is sent again.
- \`refund_final\`: the block of such a refund is final, and the authority has the value.
- \`refund_changed\`: a refund that the service makes reached a state ([refunds.md](refunds.md#events)).
- \`endpoint.disabled\`: the service no longer sends webhooks to an endpoint ([webhooks.md](webhooks.md#retries)).

\`payLabel\` (1 to 200 characters) and \`payMetadata\` (at most 20 keys of 1 to 40 characters, texts of at most 200) of a quote are the
integrator's own words about the address (additions to the published interface). A later quote that has either replaces it. Both are returned
as \`label\` and \`metadata\` in details of events, deposits, \`GET /settlements/{id}\` and \`GET /deposit-addresses/{id}\`. The quote service
takes the key in the header \`x-api-key\` too.

## Many addresses at once

\`POST /addresses\` of the quote service (addition to the published interface) issues 1 to 500 deposit addresses in one call, without
a quote each. The body is \`{ "addresses": [...] }\`; each address has \`fromChain\`, \`toChain\`, \`toToken\` and
\`destinationAddress\`, and may have \`payUserId\`, \`payLabel\`, \`payMetadata\`, \`payRoutes\` and \`payUnattended\`, as in a quote
request. The answer has the addresses in the same order, each with the preimage of its commitment: verify them before you show
them, all at once with \`verifyIssuedAddresses\` of the SDK.

All addresses of a call are issued, or none. An error names the index and the field of the first address that fails, as in
\`addresses.17.destinationAddress\`. The same request again returns the same addresses. The same user and destination twice in one call is
an error, since of two labels only one could stay. New addresses count against the quota of the integrator.

## Deposits and settlements

Every list has filters, combined with AND; the endpoints in the reference (\`GET /docs\`) name theirs. Those of the published
interface are additions: \`GET /deposit-addresses\` by user, address, destination chain and token, and time; \`GET /events\` by address,
user (of events with details), token, and time up to \`until\`. \`GET /refunds\` filters by user, address, chain, token, state and time,
deliveries of webhooks by state and time.

\`GET /deposits\` and \`GET /swaps\` filter by user, address, chain, token, transaction and time (\`from\` included, \`to\` excluded); deposits
also by settlement, by whether they entered the queue and by the finality of their blocks, settlements also by status. A deposit names how far
its block is from final: \`confirmations\` of \`confirmationsRequired\`, and \`finality\`, which is \`orphaned\` after a reorg. Its
\`outcome\` is one word for what became of it: \`queued\`, \`settling\`, \`held\`, \`settled\`, \`dead\`, \`refunded\`, \`below_minimum\`,
\`no_route\` or \`orphaned\`.

\`GET /settlements/{id}\` is the swap of that id with everything recorded about it: its transactions, each with its purpose (deposit,
deployment, sweep, bridge message, delivery, claim, return, refund), state and finality; the amounts that were swept, promised and delivered;
the fees that are planned and those that were taken; an estimate of its duration with the number of settlements it is based on; and
\`waiting\`, the one reason why it waits, with the confirmations so far, the bridge's own reason and the time of the next try.

Endpoints that are additions refuse parameters that they do not have, so that a misspelled filter does not return everything; endpoints of
the published interface ignore them.

## Refunds

\`POST /refunds\` returns the balance of a deposit address to the refund authority of its commitment, and to nobody else; where
only the authority can, the answer has the transaction for it. [refunds.md](refunds.md) explains each case and the states.

## Exports

\`GET /exports/deposits\`, \`/exports/settlements\` and \`/exports/events\` (additions to the published interface) stream the rows of a time
range, oldest first, as one JSON object per line (\`format=jsonl\`, the default) or as CSV with a header (\`format=csv\`). \`from\` is
included, \`to\` is not, so that ranges that follow one another have each row once. \`sluice export\` writes the same lines. The server
reads a page at a time while the client takes it; an export that fails half-way ends with a broken connection, never as a whole
file. Events are kept for 30 days; export them before.

Amounts are base units, with the symbol and decimals of their tokens in columns beside them. They sum to the ledger's accounts to the
base unit, by chain and token:

| exported column                                              | account of the [ledger](ledger.md)   |
| ------------------------------------------------------------ | ------------------------------------ |
| \`amount\` of deposits whose \`finality\` is not \`orphaned\`      | \`wallet\`, lines of deposits          |
| \`sweptAmount\` of settlements                                 | \`in_flight\`, lines of sweeps         |
| \`deliveredAmount\` of settlements                             | \`delivered\`, on the destination      |
| \`fees.service\`, \`fees.gas\`; \`fees.bridge\` on the destination | \`fees\` of \`service\`, \`gas\`, \`bridge\` |

In CSV, text that a spreadsheet would take for a formula has an apostrophe in front.

## API keys

An integrator has any number of keys. The operator creates them with \`sluice key create\`, each with a label, scopes, allowed networks and
a lifetime, all of them optional; \`sluice key list\` shows them, and \`sluice key set\` changes them. Without options a key is a UUID, has
every scope, and is valid from every address until it is revoked. With \`--prefixed\` it begins with \`sk_live_\`, or with \`sk_test_\` where
every chain is a local test chain, so that scanners for leaked secrets find it.

${table(
  ["scope", "allows"],
  KEY_SCOPES.map((scope) => [`\`${scope}\``, SCOPES[scope]]),
)}

Allowed networks are addresses and networks in CIDR notation, compared with the address of the client: that of the connection, or the
one that a trusted proxy forwards ([reverse-proxy.md](reverse-proxy.md)). An IPv4-mapped IPv6 address is the IPv4 address.

A key that is unknown, revoked or expired, lacks the scope, or is used from another address gets 403 with \`FORBIDDEN\`;
\`details.reason\` is \`expired\`, \`scope\` or \`address\`, and absent otherwise. A change applies to the next request, and closes open sockets of
the stream within a second.

\`sluice key rotate ID --overlap 1d\` creates a successor with the same rights and lets the key expire after the overlap. In between both
are valid, so that clients change over without a gap.

\`GET /keys/self\` (addition to the published interface) shows a key its own rights, the address that it is used from, what is left of its
limits, and its requests of the last 30 days. It needs no scope. Requests and the time of the last one are added about once a minute. The
limits are as the process that answers counts them; with \`shareRateLimits\` all processes count together.

## Idempotency

A POST that needs a key takes the header \`Idempotency-Key\`: 1 to 255 printable ASCII characters without spaces, chosen by the client for
each intent. The first request runs, and for 24 hours the same request of the same integrator gets its stored answer, with
\`Idempotent-Replayed: true\`. The same request has the same method, path and JSON; the order of its fields does not matter.

| status | \`code\`             | \`details.reason\` | when                                                              |
| ------ | ------------------ | ---------------- | ----------------------------------------------------------------- |
| 400    | \`VALIDATION_ERROR\` |                  | the header is not of that form                                    |
| 409    | \`RPC_UNAVAILABLE\`  | \`in_progress\`    | the first request is in progress: repeat it after \`Retry-After\`   |
| 422    | \`VALIDATION_ERROR\` | \`other_request\`  | the key was used for another request                              |
| 429    | \`RPC_UNAVAILABLE\`  | \`quota_exceeded\` | the integrator has 10,000 keys; stored answers are still repeated |

A request that failed stores nothing and runs again. If the service itself stops while a request runs, the same request runs again after two
minutes, so that its effect can happen twice unless the endpoint is idempotent by itself. Quotes, \`POST /addresses\`,
\`POST /request-index\` and \`POST /refunds\` are: the same request returns the same address, and an open settlement or refund is not queued
twice.

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
at most 1,000 new deposit addresses per key and minute; \`POST /addresses\` counts every address of a call. An IPv6 /64 network counts as one address. The limits are settings
([configuration.md](configuration.md)).

Quotes and \`POST /request-index\` are also counted by the requests to nodes that they cause: a key has a budget per minute, and above it the
same 429. Answers from memory are free: quotes use prices, gas prices and the state of wallets of the last three seconds, and a repeated
\`POST /request-index\` uses the balance that was read in the last two, unless a settlement of it began since.

At most 8 requests of one key are served at the same time. A further one waits up to a second, then it is refused: 429 with
\`RPC_UNAVAILABLE\`, \`details.reason\` \`too_many_at_once\`, and \`Retry-After\`. A request whose statements take the database more than 3
seconds gets 503 with \`RPC_UNAVAILABLE\` and \`details.reason\` \`timeout\`. While all integrators together send more than a process can
serve, requests are served by turns of the integrators; one that waits two seconds gets 503 with \`details.reason\` \`overloaded\` and \`Retry-After\`.

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
