/** The whole page: where the payment goes, how to pay, and the payments that arrived. */
import { useSignal } from "@preact/signals";
import type { PayStatus } from "@sluice/sdk/wire";
import { useEffect, useState } from "preact/hooks";
import { LANGUAGE_CODES, textsOf } from "../texts/index.ts";
import { shorten } from "../kit/amounts.ts";
import { AddressPanel } from "./address-panel.tsx";
import { type AddressCheck, checkAddress, type Pinned } from "./check-address.ts";
import { Chooser, type Choice } from "./chooser.tsx";
import type { Feed } from "./feed.ts";
import { Payments } from "./payments-list.tsx";
import { chainName, type Words } from "./words.ts";

export function PayView(props: {
  readonly feed: Feed;
  readonly isPage: boolean;
  readonly language: string;
  readonly pinned: Pinned;
}) {
  const { feed, isPage, pinned } = props;
  const [language, setLanguage] = useState(props.language);
  const texts = textsOf(language);
  const words = { texts, language };
  const status = feed.status.value;
  const problem = feed.problem.value;
  useEffect(() => {
    if (!isPage) return;
    document.documentElement.lang = language;
    document.title = status?.title ?? texts.title;
  }, [language, status?.title]);

  return (
    <div class="pay" lang={language}>
      {status && problem !== "expired" && problem !== "revoked" ? (
        <Shown status={status} words={words} pinned={pinned} feed={feed} />
      ) : problem ? (
        <section class="card notice" role="alert">
          <h1>{texts.problems[problem][0]}</h1>
          <p>{texts.problems[problem][1]}</p>
        </section>
      ) : (
        <section class="card notice" aria-busy="true">
          <p role="status">{texts.loading}</p>
          <div class="bone wide" />
          <div class="bone" />
          <div class="bone square" />
        </section>
      )}
      <footer>
        {status && <p>{texts.expires(new Date(status.expiresAt).toLocaleString(language))}</p>}
        <p class="languages">
          {LANGUAGE_CODES.map((code) => (
            <button
              type="button"
              key={code}
              lang={code}
              aria-pressed={code === language}
              onClick={() => setLanguage(code)}
            >
              {textsOf(code).language}
            </button>
          ))}
        </p>
      </footer>
    </div>
  );
}

function Shown(props: {
  readonly status: PayStatus;
  readonly words: Words;
  readonly pinned: Pinned;
  readonly feed: Feed;
}) {
  const { status, words, pinned, feed } = props;
  const { texts } = words;
  const { destination } = status;
  const check = useCheck(status, pinned);
  const choice = useSignal<Choice | null>(firstChoice(status));
  const connection = feed.connection.value;
  const hasPayments = status.deposits.length > 0 || status.settlements.length > 0;
  const payments = <Payments status={status} words={words} connection={connection} />;
  const token = destination.token?.symbol ?? shorten(status.address.commitment.destToken);
  return (
    <>
      <header>
        <h1>{status.title ?? texts.title}</h1>
        <p>
          {texts.arrives(token, chainName(destination.name))}{" "}
          <code title={destination.wallet}>{shorten(destination.wallet)}</code>
        </p>
      </header>
      {connection === "offline" && (
        <p class="banner" role="status">
          {texts.connection.offline}
        </p>
      )}
      {hasPayments && payments}
      {check?.kind === "mismatch" ? (
        <section class="card bad" role="alert">
          <h2>{texts.check.bad}</h2>
          <p>{texts.check.badText}</p>
          <p>
            <code>{check.field}</code>
          </p>
        </section>
      ) : (
        <div class="columns">
          <AddressPanel status={status} words={words} check={check} choice={choice.value} />
          <Chooser status={status} words={words} choice={choice} feed={feed} />
        </div>
      )}
      {!hasPayments && check?.kind !== "mismatch" && payments}
    </>
  );
}

/** Checks the address again whenever it or its commitment changes, which they never do for one link. */
function useCheck(status: PayStatus, pinned: Pinned): AddressCheck | null {
  const [check, setCheck] = useState<AddressCheck | null>(null);
  const subject = JSON.stringify([status.address, status.destination, pinned]);
  useEffect(() => {
    let isCurrent = true;
    void checkAddress(status, pinned).then((result) => {
      if (isCurrent) setCheck(result);
    });
    return () => {
      isCurrent = false;
    };
  }, [subject]);
  return check;
}

function firstChoice({ sources, destination }: PayStatus): Choice | null {
  const wanted = destination.token?.symbol;
  const source =
    sources.find(({ tokens }) => tokens.some(({ symbol }) => symbol === wanted)) ?? sources[0];
  const token = source?.tokens.find(({ symbol }) => symbol === wanted) ?? source?.tokens[0];
  return source && token
    ? { chainId: source.chainId, tokenAddress: token.address, text: "" }
    : null;
}
