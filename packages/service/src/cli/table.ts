/** Every command, in the order of the help. The reference in docs/command-line.md is generated from this table. */
import { ROLE_NAMES, SIGNER_NAMES } from "../config/index.ts";
import { command, type CommandRow, defaulting, flag, optional, required } from "./command.ts";
import {
  GAS_CHOICES,
  parseBps,
  parseGas,
  parseRoles,
  parseSeconds,
  parseSigner,
  parseSwitch,
} from "./values.ts";

/** Summaries of the groups: the first word of their commands. */
export const GROUPS: Readonly<Record<string, string>> = {
  keys: "signing keys and the journals of their signatures",
  integrator: "integrators",
  key: "API keys of integrators",
  addresses: "deposit addresses",
  settlement: "one settlement: inspect it, retry it, refund it, take its lock back",
};

const REASON = required("text", "why; recorded together with the operator and the time");
const REFUND_TO = required(
  "address",
  "the refund authority of the deposit address, as a safeguard",
);
const SETTLEMENT_ID = "id of the settlement, `queueItemId` in the API";

export const COMMANDS: readonly CommandRow[] = [
  command({
    name: "serve",
    summary: "run the service: all roles in this process, or the given ones",
    options: {
      roles: optional("names", `some of ${ROLE_NAMES.join(",")} (default: all)`, parseRoles),
      standby: flag("wait while another process has a role, and take over from it"),
    },
    load: () => import("./serve.ts"),
  }),
  command({
    name: "signer",
    summary: "hold the keys of a role in a separate process, behind a unix socket",
    options: {
      for: required("role", `whose keys: ${SIGNER_NAMES.join(" or ")}`, parseSigner),
    },
    load: () => import("./signer.ts"),
  }),
  command({
    name: "keys init",
    summary: "create the keystores that the configuration names and that do not exist",
    load: () => import("./keys/init.ts"),
  }),
  command({
    name: "keys show",
    summary: "list the account of every key",
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
    },
    load: () => import("./integrator/create.ts"),
  }),
  command({
    name: "integrator set",
    summary: "change the settings of an integrator that its addresses do not commit to",
    arguments: { integrator: "name or id of the integrator" },
    options: {
      gas: optional("policy", `who pays for gas from now on: ${GAS_CHOICES}`, parseGas),
      refundSolana: optional(
        "address",
        "refund authority of its deposits on Solana; can be set only once",
      ),
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
    name: "key revoke",
    summary: "revoke an API key permanently",
    arguments: { keyId: "id of the key, as `key list` shows it" },
    load: () => import("./key/revoke.ts"),
  }),
  command({
    name: "addresses refund",
    summary: "on Solana, refund deposits that have no settlement",
    arguments: {
      address: "the deposit address",
      token: "symbol or mint of a token of the configuration",
    },
    options: {
      to: REFUND_TO,
      reason: REASON,
      wait: defaulting("seconds", "how long to wait until it is final", {
        fallback: 60,
        parse: parseSeconds,
      }),
    },
    failsWhen: "the refund failed on chain",
    load: () => import("./addresses/refund.ts"),
  }),
  command({
    name: "addresses export",
    summary: "print every address with the preimage of its commitment, one JSON object per line",
    options: { integrator: optional("name", "name or id of one integrator") },
    load: () => import("./addresses/export.ts"),
  }),
  command({
    name: "contracts",
    summary: "list the addresses of the contracts; with --json also their deployment transactions",
    load: () => import("./contracts.ts"),
  }),
  command({
    name: "doctor",
    summary: "check everything that the service depends on",
    failsWhen: "a check found a problem",
    load: () => import("./doctor.ts"),
  }),
  command({
    name: "inventory",
    summary: "show each inventory: balance, reserved, unclaimed, and the hours that it lasts",
    load: () => import("./inventory.ts"),
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
    name: "settlement show",
    summary:
      "show the statuses, deposits and transactions of a settlement, the place of its value, and the awaited event",
    arguments: { id: SETTLEMENT_ID },
    load: () => import("./settlement/show.ts"),
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
