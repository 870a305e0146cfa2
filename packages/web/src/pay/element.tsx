/**
 * `<sluice-pay token="…">`: the pay page as a custom element. It renders into a shadow root, so that styles pass in neither
 * direction except through its CSS variables (`--sluice-…`). Attributes: `token`; `server`, the folder that precedes the token,
 * which the module's own address names unless a bundler moved it; `language`; and the embedding page's own values, against which
 * the address is checked: `factory`, `binding-account`, `dest-chain`, `dest-wallet`, `dest-token`, `refund-authority`.
 *
 * Events, which bubble: `sluice:status` for each change, and `sluice:completed` once for each delivery.
 */
import { effect } from "@preact/signals";
import type { PaySettlement, PayStatus } from "@sluice/sdk/wire";
import { render } from "preact";
import { chooseLanguage } from "../texts/index.ts";
import type { Pinned } from "./check-address.ts";
import { openFeed } from "./feed.ts";
import tokens from "../kit/tokens.css?inline";
import styles from "./pay.css?inline";
import { PayView } from "./view.tsx";

const ATTRIBUTES = [
  "token",
  "server",
  "language",
  "factory",
  "binding-account",
  "dest-chain",
  "dest-wallet",
  "dest-token",
  "refund-authority",
];

/** The folder of the pay page: that of this module's `assets`. */
const OWN_SERVER = new URL("../", import.meta.url).href;

export class SluicePay extends HTMLElement {
  static readonly tag = "sluice-pay";
  static readonly observedAttributes = ATTRIBUTES;

  #close: (() => void) | undefined;

  connectedCallback(): void {
    this.#open();
  }

  disconnectedCallback(): void {
    this.#shut();
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (this.isConnected && before !== after) this.#open();
  }

  #shut(): void {
    this.#close?.();
    this.#close = undefined;
  }

  #open(): void {
    this.#shut();
    // The page of the service names its token by its path, an embedding page by the attribute.
    const isPage = this.hasAttribute("page");
    const token = isPage
      ? (location.pathname.split("/").findLast((part) => part !== "") ?? "")
      : (this.getAttribute("token") ?? "");
    if (token === "") return;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(tokens + styles);
    root.adoptedStyleSheets = [sheet];
    const given = this.getAttribute("server");
    const feed = openFeed(given === null ? OWN_SERVER : given.replace(/\/?$/, "/"), token);
    const seen = new Set<string>();
    const stop = effect(() => {
      if (feed.status.value) this.#announce(feed.status.value, seen);
    });
    const asked = this.getAttribute("language") ?? this.closest("[lang]")?.getAttribute("lang");
    const wanted = isPage ? navigator.languages : [asked ?? "", ...navigator.languages];
    render(
      <PayView
        feed={feed}
        isPage={isPage}
        language={chooseLanguage(wanted)}
        pinned={this.#readPinned()}
      />,
      root,
    );
    this.#close = () => {
      stop();
      feed.close();
      render(null, root);
    };
  }

  #readPinned(): Pinned {
    const read = (name: string) => this.getAttribute(name) ?? undefined;
    const chain = read("dest-chain");
    return {
      factory: read("factory"),
      bindingAccount: read("binding-account"),
      destChain: chain === undefined ? undefined : Number(chain),
      destWallet: read("dest-wallet"),
      destToken: read("dest-token"),
      refundAuthority: read("refund-authority"),
    };
  }

  #announce(status: PayStatus, seen: Set<string>): void {
    this.#dispatch("sluice:status", status);
    for (const settlement of status.settlements) {
      if (settlement.status !== "completed" || seen.has(settlement.id)) continue;
      seen.add(settlement.id);
      this.#dispatch("sluice:completed", settlement);
    }
  }

  #dispatch(type: "sluice:status" | "sluice:completed", detail: PayStatus | PaySettlement): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
    // The policy of the page allows only configured origins to frame it.
    if (this.hasAttribute("page") && parent !== window) parent.postMessage({ type, detail }, "*");
  }
}

if (!customElements.get(SluicePay.tag)) customElements.define(SluicePay.tag, SluicePay);
