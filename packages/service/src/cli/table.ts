/** Every command, in the order of the help. The reference in docs/command-line.md is generated from this table. */
import { OPERATOR_ROLES } from "@sluice/sdk/wire";
import { ROLE_NAMES, SIGNER_NAMES } from "../config/index.ts";
import { command, type CommandRow, defaulting, flag, optional, required } from "./command.ts";
import {
  REASON,
  WHY,
  CHANGE,
  REFUND_TO,
  QUOTA,
  KEY_ID,
  KEY_SETTINGS,
  NONCE,
  CHAIN,
  DEPOSIT,
  TERMS,
  PAUSE_TARGET,
  WEBHOOK,
  WEBHOOK_OF,
  SETTLEMENT_ID,
} from "./shared-options.ts";
import {
  GAS_CHOICES,
  parseBaseUnits,
  parseBatch,
  parseBps,
  parseBridgeId,
  parseChains,
  parseCaps,
  parseChainId,
  parseExportFormat,
  parseGas,
  parseHeight,
  parseLifetime,
  parseCount,
  parseLimit,
  parseNames,
  parseRetried,
  parseRoles,
  parseQuota,
  parseRouteTerms,
  parseSeconds,
  parseSigner,
  parseSpan,
  parseDeliveryState,
  parseOperatorRole,
  parseScheme,
  parseSwitch,
  parseTime,
  parseTypes,
  parseUuid,
  parseWeight,
} from "./values.ts";

/** Summary of the option that keeps the keys of two machines apart. */
const KEYS_OF = `only the keys of one signer: ${SIGNER_NAMES.join(" or ")}`;

export const COMMANDS: readonly CommandRow[] = [
  command({
    name: "serve",
    summary: "run the service: all roles in this process, or the given ones",
    options: {
      roles: optional("names", `some of ${ROLE_NAMES.join(",")} (default: all)`, parseRoles),
      chains: optional("names", "chains of scanner and settler (default: all)", parseChains),
      standby: flag("wait while another process has a role, and take over from it"),
      prepare: flag(
        "create the integrators of standard input as `integrator import` does, up to an empty line, and serve at a second one",
      ),
    },
    load: () => import("./serve.ts"),
  }),
  command({
    name: "init",
    summary: "ask for chains, nodes, tokens and owners, and write a configuration with its secrets",
    arguments: { folder: "folder to write into, such as /etc/sluice" },
    load: () => import("./init/run.ts"),
  }),
  command({
    name: "signer",
    summary: "hold the keys of a role in a separate process, behind a unix socket",
    options: { for: required("role", `whose keys: ${SIGNER_NAMES.join(" or ")}`, parseSigner) },
    load: () => import("./signer.ts"),
  }),
  command({
    name: "keys init",
    summary: "create the keystores that the configuration names and that do not exist",
    options: { for: optional("role", KEYS_OF, parseSigner) },
    load: () => import("./keys/init.ts"),
  }),
  command({
    name: "keys show",
    summary: "list the account of every key",
    options: { for: optional("role", KEYS_OF, parseSigner) },
    load: () => import("./keys/show.ts"),
  }),
  command({
    name: "keys rotate",
    summary: "create the successor of a key, and list the steps of the rotation",
    arguments: { setting: "of the key, such as chains[0].lanes.settle" },
    load: () => import("./keys/rotate.ts"),
  }),
  command({
    name: "keys backup-seed",
    summary: "encrypt the Solana seed into another file, with a passphrase of its own",
    arguments: { keystore: "file of the seed", backup: "file to create, on another disk" },
    load: () => import("./keys/backup-seed.ts"),
  }),
  command({
    name: "keys restore-seed",
    summary: "restore the Solana seed from its backup; never overwrites another seed",
    arguments: { backup: "file of the backup", keystore: "file of the seed" },
    options: {
      binding: optional("address", "address of the binding key, as noted with the backup"),
    },
    load: () => import("./keys/restore-seed.ts"),
  }),
  command({
    name: "keys verify",
    summary: "verify the hash chains of the signing journals",
    load: () => import("./keys/verify.ts"),
  }),
  command({
    name: "migrate",
    summary: "bring the database schema up to date",
    load: () => import("./migrate.ts"),
  }),
  command({
    name: "integrator create",
    summary: "create an integrator",
    options: {
      name: required("name", "lower-case letters, digits and hyphens"),
      refundEvm: required("address", "refund authority of its deposits on EVM chains"),
      refundSolana: optional("address", "refund authority of its deposits on Solana"),
      maxFeeBps: optional("bps", "fee cap committed in its addresses", parseBps),
      maxSlippageBps: optional("bps", "slippage cap committed in its addresses", parseBps),
      gas: optional("policy", `who pays for gas: ${GAS_CHOICES}`, parseGas),
      routes: optional("terms", TERMS.routes, parseRouteTerms),
      unattended: optional("switch", TERMS.unattended, parseSwitch),
    },
    load: () => import("./integrator/create.ts"),
  }),
  command({
    name: "integrator import",
    summary:
      "create an integrator and an API key per line of standard input, a JSON object with name, refundEvm and optionally refundSolana, maxFeeBps, maxSlippageBps, depositAddresses; prints each key",
    load: () => import("./integrator/import.ts"),
  }),
  command({
    name: "integrator set",
    summary: "change the settings of an integrator; issued addresses keep what they commit to",
    arguments: { integrator: "name or id of the integrator" },
    options: {
      gas: optional("policy", `who pays for gas from now on: ${GAS_CHOICES}`, parseGas),
      refundSolana: optional(
        "address",
        "refund authority of its deposits on Solana; can be set only once",
      ),
      routes: optional("terms", TERMS.routes, parseRouteTerms),
      unattended: optional("switch", TERMS.unattended, parseSwitch),
      maxAddresses: optional("number", `most deposit addresses, ${QUOTA}`, parseQuota),
      maxOpenSettlements: optional(
        "number",
        `most settlements in progress on one chain, ${QUOTA}`,
        parseQuota,
      ),
      weight: optional("number", "turns per round in every queue, 1 to 100", parseWeight),
    },
    load: () => import("./integrator/set.ts"),
  }),
  command({
    name: "integrator list",
    summary: "list every integrator",
    load: () => import("./integrator/list.ts"),
  }),
  command({
    name: "key create",
    summary: "create an API key and print it; it is never shown again",
    options: {
      integrator: required("name", "name or id of the integrator"),
      depositAddresses: optional(
        "switch",
        "whether its quotes carry deposit addresses: on (default) or off",
        parseSwitch,
      ),
      ...KEY_SETTINGS,
      reason: WHY,
      prefixed: flag(
        "a key that begins with sk_live_, or with sk_test_ where every chain is a local test chain, instead of a UUID",
      ),
    },
    load: () => import("./key/create.ts"),
  }),
  command({
    name: "key list",
    summary: "list every API key, without the key itself",
    options: { integrator: optional("name", "name or id of one integrator") },
    load: () => import("./key/list.ts"),
  }),
  command({
    name: "key set",
    summary: "change a valid API key; requests use the change at once",
    arguments: { keyId: KEY_ID },
    options: { ...KEY_SETTINGS, reason: WHY },
    load: () => import("./key/set.ts"),
  }),
  command({
    name: "key rotate",
    summary: "create the successor of an API key, with the same rights, and let the key expire",
    arguments: { keyId: KEY_ID },
    options: {
      overlap: optional(
        "span",
        "time for which both keys are valid, such as 30m, 6h or 2d (default: 1d)",
        parseSpan,
      ),
      expires: optional(
        "span",
        "lifetime of the successor, or never (default: as long as the key's)",
        parseLifetime,
      ),
      reason: WHY,
    },
    load: () => import("./key/rotate.ts"),
  }),
  command({
    name: "key revoke",
    summary: "revoke an API key permanently",
    arguments: { keyId: KEY_ID },
    options: { reason: WHY },
    load: () => import("./key/revoke.ts"),
  }),
  command({
    name: "pay-link create",
    summary: "create a link to the pay page of a deposit address, and print it once",
    options: {
      integrator: required("name", "name or id of the integrator"),
      address: required("id", "the deposit address, or its id"),
      title: optional("text", "text above the address, such as the payee or the order"),
      expires: optional("span", "time until it is refused, such as 12h (default: 7d)", parseSpan),
    },
    load: () => import("./pay-link/create.ts"),
  }),
  command({
    name: "pay-link list",
    summary: "list the newest pay links of an integrator",
    options: {
      integrator: required("name", "name or id of the integrator"),
      limit: defaulting("count", "links to list", { fallback: 100, parse: parseLimit }),
    },
    load: () => import("./pay-link/list.ts"),
  }),
  command({
    name: "pay-link revoke",
    summary: "revoke a pay link: its page is refused from now on",
    arguments: { id: "id of the link, as `pay-link list` shows it" },
    options: { integrator: required("name", "name or id of the integrator") },
    load: () => import("./pay-link/revoke.ts"),
  }),
  command({
    name: "webhook create",
    summary: "create a webhook endpoint and print its public key, or its secret once",
    options: {
      integrator: WEBHOOK_OF,
      reason: WHY,
      url: required("url", "where events are sent by POST, an https URL"),
      types: optional("types", "event types, separated by commas (default: all)", parseTypes),
      scheme: defaulting("scheme", "signatures: v1a (Ed25519) or v1 (HMAC-SHA256)", {
        fallback: "v1a" as const,
        parse: parseScheme,
      }),
      extended: flag("send details, and types beyond the published two"),
      ordered: flag("send the events of a wallet and token one after the other"),
    },
    load: () => import("./webhook/create.ts"),
  }),
  command({
    name: "webhook list",
    summary: "list the webhook endpoints of an integrator",
    options: { integrator: WEBHOOK_OF },
    load: () => import("./webhook/list.ts"),
  }),
  command({
    name: "webhook set",
    summary: "change, enable or disable a webhook endpoint",
    arguments: WEBHOOK,
    options: {
      integrator: WEBHOOK_OF,
      reason: WHY,
      url: optional("url", "where events are sent from now on"),
      enabled: optional("switch", "whether events are sent: on or off", parseSwitch),
    },
    load: () => import("./webhook/set.ts"),
  }),
  command({
    name: "webhook rotate",
    summary: "create a new secret of a webhook endpoint; the one before stays valid for a time",
    arguments: WEBHOOK,
    options: {
      integrator: WEBHOOK_OF,
      reason: WHY,
      overlapSeconds: defaulting("seconds", "how long the secret before stays valid", {
        fallback: 86_400,
        parse: parseSeconds,
      }),
      scheme: optional("scheme", "v1a or v1 (default: as before)", parseScheme),
    },
    load: () => import("./webhook/rotate.ts"),
  }),
  command({
    name: "webhook test",
    summary: "send a test to a webhook endpoint, once",
    arguments: WEBHOOK,
    options: { integrator: WEBHOOK_OF, reason: WHY },
    load: () => import("./webhook/test.ts"),
  }),
  command({
    name: "webhook resend",
    summary: "send events to a webhook endpoint again: one, or those of a range of time",
    arguments: WEBHOOK,
    options: {
      integrator: WEBHOOK_OF,
      reason: WHY,
      event: optional("id", "one event that was queued for the endpoint before", parseUuid),
      since: optional("time", "events strictly after this time", parseTime),
      until: optional("time", "and up to this one", parseTime),
    },
    load: () => import("./webhook/resend.ts"),
  }),
  command({
    name: "webhook deliveries",
    summary: "list the newest deliveries of a webhook endpoint",
    arguments: WEBHOOK,
    options: {
      integrator: WEBHOOK_OF,
      state: optional("state", "only pending, delivered or failed ones", parseDeliveryState),
      limit: defaulting("count", "at most this many", { fallback: 20, parse: parseLimit }),
    },
    load: () => import("./webhook/deliveries.ts"),
  }),
  command({
    name: "webhook delete",
    summary: "delete a webhook endpoint",
    arguments: WEBHOOK,
    options: { integrator: WEBHOOK_OF, reason: WHY },
    load: () => import("./webhook/delete.ts"),
  }),
  command({
    name: "addresses refund",
    summary:
      "refund deposits that have no settlement; on EVM chains where `refunds` of the configuration allows it",
    arguments: {
      address: "the deposit address",
      token: "symbol or address of a token, or native",
    },
    options: {
      chain: optional("id", "bridge id or name of the chain, if it has several", parseBridgeId),
      to: REFUND_TO,
      reason: REASON,
      wait: defaulting("seconds", "how long to wait until it is final", {
        fallback: 60,
        parse: parseSeconds,
      }),
    },
    failsWhen: "the refund failed on chain, or the attestors did not sign it",
    load: () => import("./addresses/refund.ts"),
  }),
  command({
    name: "addresses export",
    summary: "print every address with the preimage of its commitment, one JSON object per line",
    options: { integrator: optional("name", "name or id of one integrator") },
    load: () => import("./addresses/export.ts"),
  }),
  command({
    name: "export",
    summary:
      "print deposits, settlements or events of an integrator with amounts in base units, as JSON lines or CSV",
    arguments: { kind: "deposits, settlements or events" },
    options: {
      integrator: required("name", "name or id of the integrator"),
      format: defaulting("format", "jsonl or csv", {
        fallback: "jsonl",
        parse: parseExportFormat,
      }),
      from: optional("time", "those detected or created at or after this time", parseTime),
      to: optional("time", "and before this one", parseTime),
    },
    load: () => import("./export.ts"),
  }),
  command({
    name: "rescue",
    summary:
      "print the calls that refund, settle or take back a deposit without the operator, from its public commitment alone",
    arguments: {
      file: "JSON of the address, such as one line of `addresses export`",
    },
    options: {
      token: required("address", "the token; the zero address for the native coin"),
      amount: optional(
        "units",
        "the most to refund, in base units; the whole balance by default",
        parseBaseUnits,
      ),
      route: optional(
        "address",
        "route of the settlement that anybody may execute; by default each that the address commits",
      ),
      evmChainId: optional("id", "EIP-155 id of the source chain, for fixed routes", parseChainId),
      escrow: optional("address", "escrow of the source chain, for take-backs of locks"),
      lock: optional(
        "fields",
        "delivery,amount,minOut,seq of the lock, as its event `Locked` has them",
      ),
    },
    load: () => import("./rescue.ts"),
  }),
  command({
    name: "contracts",
    summary:
      "list the addresses of the contracts; with --json also their deployment transactions and the call that sets the security contact",
    options: {
      left: flag("what is left to send until they are in service, read from the chains"),
      batch: optional(
        "format",
        "what the owner can send now, as a file per chain: safe, for the transaction builder of Safe",
        parseBatch,
      ),
      dailyCap: optional(
        "caps",
        "daily caps of tokens that inventory pays, in whole units: base:USDC=250000,…",
        parseCaps,
      ),
    },
    load: () => import("./contracts.ts"),
  }),
  command({
    name: "backup create",
    summary:
      "back up the database, and the signers' journals and keystores of this machine, into a new folder; needs pg_dump",
    arguments: { folder: "folder to create" },
    options: {
      filesOnly: flag("without the database, as on a machine that only signs"),
    },
    load: () => import("./backup/create.ts"),
  }),
  command({
    name: "backup verify",
    summary: "verify the files, journals and snapshot of a backup; needs pg_restore",
    arguments: { folder: "folder of the backup" },
    load: () => import("./backup/verify.ts"),
  }),
  command({
    name: "backup restore",
    summary:
      "restore a backup into an empty database, with the journals and keystores that this machine lacks; needs pg_restore",
    arguments: { folder: "folder of the backup" },
    load: () => import("./backup/restore.ts"),
  }),
  command({
    name: "doctor",
    summary: "check everything that the service depends on",
    options: {
      goLive: flag("also run the checks before the first money; warnings then fail too"),
      prometheus: optional("url", "URL of the Prometheus that `--go-live` asks for alert rules"),
    },
    failsWhen: "a check found a problem, or with `--go-live` a warning",
    load: () => import("./doctor.ts"),
  }),
  command({
    name: "health",
    summary: "ask the process of this configuration whether its roles can work",
    failsWhen: "a role of the process cannot work, or the process does not answer",
    load: () => import("./health.ts"),
  }),
  command({
    name: "plan",
    summary: "estimate what a number of deposits a day needs: nodes, gas, inventory, machine",
    options: {
      depositsPerDay: required("number", "deposits a day, over all chains", parseCount),
      chains: required("list", "the chains, by their names, separated by commas", parseNames),
      averageUsd: defaulting("usd", "mean value of a deposit in whole US dollars", {
        fallback: 100,
        parse: parseCount,
      }),
      refillDays: defaulting("days", "days that inventory lasts until it is refilled", {
        fallback: 1,
        parse: parseCount,
      }),
    },
    load: () => import("./plan.ts"),
  }),
  command({
    name: "inventory",
    summary:
      "show each inventory, the hours that it lasts, what treasuries can move, and their transfers",
    load: () => import("./inventory.ts"),
  }),
  command({
    name: "inventory move",
    summary: "move a token from the treasury of a chain to an inventory",
    options: {
      from: required("id", "bridge id or name of the treasury's chain", parseBridgeId),
      to: required("id", "bridge id or name of the inventory's chain", parseBridgeId),
      token: required("symbol", "symbol of the token on the treasury's chain"),
      amount: required("amount", "whole units"),
      reason: REASON,
      yes: flag("do it; without it, the command says what would happen"),
    },
    load: () => import("./inventories/move.ts"),
  }),
  command({
    name: "inventory withdraw",
    summary: "print the transaction by which the owner withdraws from a treasury",
    options: {
      chain: CHAIN,
      token: required("symbol", "symbol of the token"),
      amount: optional(
        "amount",
        "whole units to announce; without it, the transaction that pays the announced amount",
      ),
    },
    load: () => import("./inventories/withdraw.ts"),
  }),
  command({
    name: "inventory cancel",
    summary: "cancel a move that the settler has not planned",
    arguments: { move: "id of the move, as `inventory` shows it" },
    load: () => import("./inventories/cancel.ts"),
  }),
  command({
    name: "audit",
    summary: "prove the ledger against the chains",
    failsWhen: "a breach is open, or a chain could not be compared",
    load: () => import("./audit.ts"),
  }),
  command({
    name: "audit end",
    summary: "end a breach: write off the missing amount and unblock the chain",
    arguments: { breach: "number of the breach, as `audit` prints it" },
    options: { reason: required("text", "why the chain may continue; kept permanently") },
    load: () => import("./audit-end.ts"),
  }),
  command({
    name: "scanner skip",
    summary: "move the scanner of a chain over a block that no node answers for",
    options: {
      chain: required("id", "bridge id or name of the chain", parseBridgeId),
      block: required("number", "the block that the scanner fails to read", parseHeight),
      reason: REASON,
    },
    load: () => import("./scanner/skip.ts"),
  }),
  command({
    name: "scanner reread",
    summary: "read final blocks again and record the deposits that are missing",
    options: {
      chain: required("id", "bridge id or name of the chain", parseBridgeId),
      from: required("number", "the first block", parseHeight),
      to: required("number", "the last block", parseHeight),
      reason: REASON,
    },
    load: () => import("./scanner/reread.ts"),
  }),
  command({
    name: "settlement show",
    summary:
      "show the statuses, deposits and transactions of a settlement, the place of its value, and the awaited event",
    arguments: { id: SETTLEMENT_ID },
    load: () => import("./settlement/show.ts"),
  }),
  command({
    name: "operators invite",
    summary:
      "invite a person to the console, or again one who lost a passkey; prints a link that works once",
    options: {
      name: required("text", "the name under which actions are recorded"),
      role: optional(
        "role",
        `one of ${OPERATOR_ROLES.join(", ")}; of a known name it stays`,
        parseOperatorRole,
      ),
      identity: optional(
        "email",
        "the address by which the identity provider knows the person (console.identityProvider)",
      ),
    },
    load: () => import("./operators/invite.ts"),
  }),
  command({
    name: "operators list",
    summary: "list the people who may use the console",
    load: () => import("./operators/list.ts"),
  }),
  command({
    name: "operators disable",
    summary: "end a person's sessions, and refuse passkeys and invitations from now on",
    options: { name: required("text", "the name, as `operators list` shows it"), reason: REASON },
    load: () => import("./operators/disable.ts"),
  }),
  command({
    name: "operators log",
    summary: "list the newest manual actions, and verify the whole log",
    options: { limit: defaulting("count", "lines to list", { fallback: 50, parse: parseLimit }) },
    failsWhen: "the hash of a line differs",
    load: () => import("./operators/log.ts"),
  }),
  command({
    name: "pause start",
    summary:
      "defer new sweeps of an integrator, a chain, or a token or kind of route of a chain; deposits are still detected",
    options: { ...PAUSE_TARGET, reason: REASON },
    load: () => import("./pause/start.ts"),
  }),
  command({
    name: "pause end",
    summary: "end a pause; the settlements that it deferred go on within seconds",
    options: { ...PAUSE_TARGET, reason: REASON },
    load: () => import("./pause/end.ts"),
  }),
  command({
    name: "pause list",
    summary: "list the pauses, with who paused, when and why",
    options: { all: flag("also those that ended") },
    load: () => import("./pause/list.ts"),
  }),
  command({
    name: "early list",
    summary: "show what payouts before finality risk on each chain, and the locks that are missing",
    load: () => import("./early/list.ts"),
  }),
  command({
    name: "early close",
    summary: "close the early payouts of a chain: its locks are final before they are paid",
    options: { chain: CHAIN, reason: REASON },
    load: () => import("./early/close.ts"),
  }),
  command({
    name: "early open",
    summary: "open the early payouts of a chain again",
    options: { chain: CHAIN, reason: REASON },
    load: () => import("./early/open.ts"),
  }),
  command({
    name: "early accept",
    summary: "book the payout of a missing lock as lost, which frees its part of the exposure",
    arguments: { delivery: "id of the delivery, as `early list` shows it" },
    options: { reason: REASON },
    load: () => import("./early/accept.ts"),
  }),
  command({
    name: "chain show",
    summary:
      "show whether a chain is open, draining or retired, and the work and balances left there",
    options: { chain: CHAIN },
    load: () => import("./chain/show.ts"),
  }),
  command({
    name: "chain drain",
    summary: "stop new quotes and addresses from and toward a chain; its deposits are settled",
    options: { chain: CHAIN, reason: REASON },
    load: () => import("./chain/drain.ts"),
  }),
  command({
    name: "chain resume",
    summary: "end the draining of a chain",
    options: { chain: CHAIN, reason: REASON },
    load: () => import("./chain/resume.ts"),
  }),
  command({
    name: "chain retire",
    summary: "retire a drained chain for good; refused while anything is open there",
    options: {
      chain: CHAIN,
      leaveBalances: flag("although deposit addresses hold balances, for refund authorities"),
      reason: REASON,
    },
    load: () => import("./chain/retire.ts"),
  }),
  command({
    name: "governance list",
    summary:
      "list what owner and guardian of the contracts scheduled and changed, with the time left",
    options: {
      chain: optional("id", "only of this chain: bridge id or name", parseBridgeId),
      all: flag("also what was cancelled or expired, and the deployment"),
      kept: flag("as the auditor read it last, without asking nodes"),
    },
    failsWhen: "a change is not expected",
    load: () => import("./governance/list.ts"),
  }),
  command({
    name: "governance expect",
    summary: "record that a change is expected: it raises no alert, now or when it is executed",
    arguments: CHANGE,
    options: { reason: REASON },
    load: () => import("./governance/expect.ts"),
  }),
  command({
    name: "governance cancel",
    summary: "print the transaction that cancels a scheduled change or removes what is in force",
    arguments: CHANGE,
    load: () => import("./governance/cancel.ts"),
  }),
  command({
    name: "screening list",
    summary: "list the deposits that wait for the screening or are held by it",
    options: { all: flag("also those that may be swept") },
    load: () => import("./screening/list.ts"),
  }),
  command({
    name: "screening allow",
    summary: "let a deposit be swept; overrides the screening",
    arguments: DEPOSIT,
    options: { reason: REASON },
    load: () => import("./screening/allow.ts"),
  }),
  command({
    name: "screening hold",
    summary: "hold a deposit in its address; overrides the screening",
    arguments: DEPOSIT,
    options: { reason: REASON },
    load: () => import("./screening/hold.ts"),
  }),
  command({
    name: "transactions list",
    summary: "list the transactions of the lanes that are not final",
    options: {
      chain: optional("id", "chain of the lanes: bridge id or name", parseBridgeId),
      limit: defaulting("count", "the most to list", { fallback: 1_000, parse: parseLimit }),
    },
    load: () => import("./transactions/list.ts"),
  }),
  command({
    name: "transactions cancel",
    summary: "give up the unmined call of a nonce: a transfer of nothing takes its place",
    arguments: NONCE,
    options: { reason: REASON },
    load: () => import("./transactions/cancel.ts"),
  }),
  command({
    name: "transactions fill",
    summary: "fill a nonce that no transaction of the database has with a transfer of nothing",
    arguments: NONCE,
    options: { reason: REASON },
    load: () => import("./transactions/fill.ts"),
  }),
  command({
    name: "settlement retry",
    summary:
      "retry a failing settlement now, or settle the balance of a dead one as a new settlement",
    arguments: { id: SETTLEMENT_ID },
    options: { reason: REASON },
    load: () => import("./settlement/retry.ts"),
  }),
  command({
    name: "settlements retry",
    summary: "retry the failing settlements of a filter, each as `settlement retry` does",
    options: {
      status: optional(
        "names",
        "some of failed_deploy,failed_swap,failed_settle,deferred,dead (default: all but dead)",
        parseRetried,
      ),
      chain: optional("id", "source chain: bridge id or name", parseBridgeId),
      token: PAUSE_TARGET.token,
      route: optional("kind", "only by this kind of route, such as SWIFT"),
      code: optional("code", "only with this error, such as NO_ROUTE"),
      integrator: optional("name", "name or id of an integrator"),
      olderThan: optional("span", "only unchanged for this long, such as 30m, 6h or 2d", parseSpan),
      limit: defaulting("count", "the most to retry, the longest unchanged first", {
        fallback: 1_000,
        parse: parseLimit,
      }),
      dryRun: flag("list them and change nothing"),
      reason: REASON,
    },
    load: () => import("./settlements/retry.ts"),
  }),
  command({
    name: "settlement refund",
    summary:
      "end a settlement for a refund: print the call of the refund authority, or on Solana pay it",
    arguments: { id: SETTLEMENT_ID },
    options: { to: REFUND_TO, reason: REASON },
    load: () => import("./settlement/refund.ts"),
  }),
  command({
    name: "settlement take-back",
    summary:
      "print the refund authority's next call to take an undelivered lock back: the announcement, then the take-back",
    arguments: { id: SETTLEMENT_ID },
    options: { cancel: flag("print the call that cancels the announcement") },
    load: () => import("./settlement/take-back.ts"),
  }),
  command({
    name: "version",
    summary: "print the versions of Sluice, of Node and of the database schema",
    load: () => import("./version.ts"),
  }),
];
