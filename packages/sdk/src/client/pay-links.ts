/** The calls for pay links. */
import {
  type PayLinkBody,
  PayLinkPage,
  PayLinkRevoked,
  type PayLinksQuery,
  PayLinkWithToken,
} from "../wire/index.ts";
import type { CallOptions, PostOptions } from "./options.ts";
import type { Send } from "./webhooks.ts";

/** Calls for pay links. They need a key with the scope `pay`. */
export interface PayLinkCalls {
  /** Creates a link to the pay page of one deposit address. Its token is only in this answer. */
  createPayLink(link: PayLinkBody, options?: PostOptions): Promise<PayLinkWithToken>;
  /** Returns one page of pay links, newest first. */
  listPayLinks(query?: PayLinksQuery, options?: CallOptions): Promise<PayLinkPage>;
  /** Revokes a pay link: its page is refused from now on. */
  revokePayLink(id: string, options?: CallOptions): Promise<PayLinkRevoked>;
}

/** Creates the calls. */
export function createPayLinkCalls(send: Send): PayLinkCalls {
  return {
    createPayLink: (body, options) =>
      send(PayLinkWithToken, "/pay-links", { ...options, method: "POST", body }),
    listPayLinks: (query = {}, options = {}) =>
      send(PayLinkPage, "/pay-links", { ...options, method: "GET", query }),
    revokePayLink: (id, options) =>
      send(PayLinkRevoked, `/pay-links/${encodeURIComponent(id)}`, {
        ...options,
        method: "DELETE",
      }),
  };
}
