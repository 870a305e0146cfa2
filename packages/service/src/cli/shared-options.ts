/** Options and arguments that several commands have. */
import { KEY_SCOPES } from "@sluice/sdk/wire";
import { optional, required } from "./command.ts";
import { parseAllowed, parseBridgeId, parseLifetime, parseScopes } from "./values.ts";

export const REASON = required("text", "why; recorded together with the operator and the time");
export const WHY = optional("text", "why; recorded together with the operator and the time");
export const CHANGE = { change: "number of the change, as `governance list` shows it" };
export const REFUND_TO = required(
  "address",
  "the refund authority of the deposit address, as a safeguard",
);
export const QUOTA = "or default for the configuration's";

export const KEY_ID = "id of the key, as `key list` shows it";
export const KEY_SETTINGS = {
  label: optional("text", "a name for people"),
  scopes: optional("list", `some of ${KEY_SCOPES.join(",")}, or all (default)`, parseScopes),
  allow: optional(
    "list",
    "addresses and networks that it may be used from, such as 203.0.113.7,10.0.0.0/8, or any (default)",
    parseAllowed,
  ),
  expires: optional(
    "span",
    "time until it is refused, such as 90d, or never (default)",
    parseLifetime,
  ),
};

export const NONCE = {
  chain: "bridge id or name of the lane's chain",
  lane: "account of the lane",
  nonce: "the nonce",
};
export const CHAIN = required("id", "bridge id or name of the chain", parseBridgeId);
export const DEPOSIT = { deposit: "id of the deposit, as `screening list` prints it" };
export const TERMS = {
  routes:
    "routes of its new addresses: fixed (committed) or governed (the owner's list; the default)",
  unattended:
    "whether anybody may settle its new addresses 72 hours after an announcement: on or off",
};
export const PAUSE_TARGET = {
  integrator: optional("name", "name or id of an integrator"),
  chain: optional("id", "bridge id or name of the source chain", parseBridgeId),
  token: optional("address", "a token of the chain, or native"),
  route: optional("kind", "a kind of route from the chain, such as SWIFT"),
};
export const WEBHOOK = { id: "id of the endpoint, as `webhook list` shows it" };
export const WEBHOOK_OF = required("name", "name or id of the integrator");
export const SETTLEMENT_ID = "id of the settlement, `queueItemId` in the API";
