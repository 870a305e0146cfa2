/** The choice of token and network, and what would arrive of an amount. */
import type { Signal } from "@preact/signals";
import type { PaySource, PayStatus, PayTerms } from "@sluice/sdk/wire";
import { useEffect, useId, useState } from "preact/hooks";
import { parseUnits } from "../kit/amounts.ts";
import type { Feed } from "./feed.ts";
import { findToken } from "./payments.ts";
import { chainName, duration, withSymbol, type Words } from "./words.ts";

/** The payment that the payer considers. */
export interface Choice {
  readonly chainId: number;
  readonly tokenAddress: string;
  /** The amount as typed; empty for none. */
  readonly text: string;
}

export function Chooser(props: {
  readonly status: PayStatus;
  readonly words: Words;
  readonly choice: Signal<Choice | null>;
  readonly feed: Feed;
}) {
  const { status, words, choice, feed } = props;
  const { texts, language } = words;
  const amountId = useId();
  const chosen = choice.value;
  const token = chosen && findToken(status, chosen);
  if (!chosen || !token) return null;
  const symbols = [
    ...new Set(status.sources.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol))),
  ];
  const sources = status.sources.filter(({ tokens }) =>
    tokens.some(({ symbol }) => symbol === token.symbol),
  );
  const choose = (source: PaySource | undefined, symbol: string) => {
    const found = source?.tokens.find((one) => one.symbol === symbol);
    if (source && found) {
      choice.value = { ...chosen, chainId: source.chainId, tokenAddress: found.address };
    }
  };
  const minimum = token.minDeposit === null ? null : withSymbol(token.minDeposit, token, language);
  const amount = chosen.text.trim() === "" ? null : parseUnits(chosen.text, token.decimals);
  const isBad = chosen.text.trim() !== "" && amount === null;
  return (
    <section class="card chooser">
      <h2>{texts.choose}</h2>
      <Options
        label={texts.token}
        items={symbols.map((symbol) => ({
          key: symbol,
          text: symbol,
          isChosen: symbol === token.symbol,
          choose: () =>
            choose(
              status.sources.find(
                ({ chainId, tokens }) =>
                  chainId === chosen.chainId && tokens.some((one) => one.symbol === symbol),
              ) ?? status.sources.find(({ tokens }) => tokens.some((one) => one.symbol === symbol)),
              symbol,
            ),
        }))}
      />
      <Options
        label={texts.network}
        items={sources.map((source) => ({
          key: String(source.chainId),
          text: chainName(source.name),
          isChosen: source.chainId === chosen.chainId,
          choose: () => choose(source, token.symbol),
        }))}
      />
      <label class="field" for={amountId}>
        {texts.amount}
      </label>
      <div class="input">
        <input
          id={amountId}
          inputMode="decimal"
          autocomplete="off"
          maxLength={60}
          value={chosen.text}
          aria-invalid={isBad}
          aria-describedby={`${amountId}-hint`}
          onInput={(event) => {
            choice.value = { ...chosen, text: event.currentTarget.value };
          }}
        />
        <span aria-hidden="true">{token.symbol}</span>
      </div>
      <p class="hint" id={`${amountId}-hint`}>
        {isBad
          ? texts.badAmount(token.decimals)
          : minimum === null
            ? texts.noMinimum
            : texts.minimum(minimum)}
      </p>
      <Terms
        feed={feed}
        words={words}
        choice={chosen}
        amount={amount}
        token={token}
        to={status.destination.token}
      />
      <details>
        <summary>{texts.every}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.table.token}</th>
              <th scope="col">{texts.table.network}</th>
              <th scope="col">{texts.table.minimum}</th>
              <th scope="col">{texts.table.time}</th>
            </tr>
          </thead>
          <tbody>
            {status.sources.flatMap((source) =>
              source.tokens.map((one) => (
                <tr key={`${source.chainId}${one.address}`}>
                  <td>{one.symbol}</td>
                  <td>{chainName(source.name)}</td>
                  <td>
                    {one.minDeposit === null ? "–" : withSymbol(one.minDeposit, one, language)}
                  </td>
                  <td>{duration(one.etaSeconds, words)}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </details>
      <details>
        <summary>{texts.help}</summary>
        <dl>
          {texts.helpItems.map(([title, text]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

function Terms(props: {
  readonly feed: Feed;
  readonly words: Words;
  readonly choice: Choice;
  readonly amount: bigint | null;
  readonly token: PaySource["tokens"][number];
  readonly to: PayStatus["destination"]["token"];
}) {
  const { words, amount, token, to } = props;
  const { texts, language } = words;
  const { value, problem } = useTerms(props);
  const { minDeposit } = token;
  if (amount !== null && minDeposit !== null && amount < BigInt(minDeposit)) {
    return (
      <p class="warning" role="status">
        {texts.terms.tooSmall(withSymbol(minDeposit, token, language))}
      </p>
    );
  }
  if (problem !== null) {
    return (
      <p class={problem === "small" ? "warning" : "hint"} role="status">
        {problem === "small" ? texts.terms.belowMinimum : texts.terms.unavailable}
      </p>
    );
  }
  const fees = value && Object.values(value.fees).reduce((sum, fee) => sum + BigInt(fee), 0n);
  return (
    <dl class="facts" aria-live="polite">
      {amount !== null && (
        <>
          <div>
            <dt>{texts.terms.arrives}</dt>
            <dd>
              {value && to
                ? texts.terms.about(withSymbol(value.expectedAmount, to, language))
                : texts.terms.computing}
            </dd>
          </div>
          <div>
            <dt>{texts.terms.fees}</dt>
            <dd>
              {fees === null
                ? "–"
                : fees === 0n
                  ? texts.terms.none
                  : withSymbol(fees, token, language)}
            </dd>
          </div>
        </>
      )}
      <div>
        <dt>{texts.terms.time}</dt>
        <dd>{duration(value?.etaSeconds ?? token.etaSeconds, words)}</dd>
      </div>
    </dl>
  );
}

interface TermsState {
  readonly value: PayTerms | null;
  readonly problem: "small" | "unavailable" | null;
}

const NOTHING: TermsState = { value: null, problem: null };
/** Pause after the last key before the terms are asked for. */
const TYPING_MS = 350;

function useTerms(asked: {
  readonly feed: Feed;
  readonly choice: Choice;
  readonly amount: bigint | null;
}): TermsState {
  const { feed, choice, amount } = asked;
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    setState(NOTHING);
    if (amount === null) return undefined;
    const stopping = new AbortController();
    const timer = setTimeout(() => {
      void feed.readTerms({ ...choice, amount }, stopping.signal).then((answer) => {
        if (!stopping.signal.aborted) setState(answer);
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [choice.chainId, choice.tokenAddress, amount]);
  return state;
}

function Options(props: {
  readonly label: string;
  readonly items: readonly {
    readonly key: string;
    readonly text: string;
    readonly isChosen: boolean;
    readonly choose: () => void;
  }[];
}) {
  const name = useId();
  return (
    <fieldset>
      <legend>{props.label}</legend>
      <div class="options">
        {props.items.map(({ key, text, isChosen, choose }) => (
          <label key={key}>
            <input type="radio" name={name} checked={isChosen} onChange={choose} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
