/** The payments that arrived: their steps, why one waits, and the receipt of a delivered one. */
import type { PayStatus } from "@sluice/sdk/wire";
import { toUnits } from "../kit/amounts.ts";
import { Tick } from "./address-panel.tsx";
import type { Connection } from "./feed.ts";
import { confirmationsOf, findToken, listPayments, type Payment } from "./payments.ts";
import { chainName, duration, withSymbol, type Words } from "./words.ts";

interface Shown {
  readonly status: PayStatus;
  readonly words: Words;
  readonly payment: Payment;
}

export function Payments(props: {
  readonly status: PayStatus;
  readonly words: Words;
  readonly connection: Connection;
}) {
  const { status, words, connection } = props;
  const { texts } = words;
  const payments = listPayments(status);
  return (
    <section class="card payments">
      <div class="headline">
        <h2>{texts.payments}</h2>
        <p class={`pulse ${connection}`}>
          {connection === "offline" ? "" : texts.connection[connection]}
        </p>
      </div>
      <div aria-live="polite">
        {payments.length === 0 && <p class="empty">{texts.noPayments}</p>}
        {payments.map((payment, index) => (
          <PaymentItem
            key={payment.key}
            status={status}
            words={words}
            payment={payment}
            isNewest={index === 0}
          />
        ))}
      </div>
      {status.hasMore && <p class="hint">{texts.more}</p>}
    </section>
  );
}

/** Whether a state is good, needs the payer, or is in between. */
const TONES: Readonly<Record<Payment["state"], "good" | "attention" | "neutral">> = {
  received: "neutral",
  moving: "neutral",
  delivered: "good",
  short: "attention",
  held: "attention",
  orphaned: "attention",
  dropped: "attention",
  refundable: "attention",
  refunding: "neutral",
  refunded: "neutral",
};

function PaymentItem({ status, words, payment, isNewest }: Shown & { readonly isNewest: boolean }) {
  const { texts, language } = words;
  const token = tokenOf(status, payment);
  const hasSteps = ["received", "moving", "delivered"].includes(payment.state);
  return (
    <article class={`payment ${payment.state}`}>
      <div class="headline">
        <h3>
          {withSymbol(payment.amount, token, language)} <span>{token.chain}</span>
        </h3>
        <p class={`state ${TONES[payment.state]}`}>{texts.states[payment.state]}</p>
      </div>
      <p>{texts.stateTexts[payment.state]}</p>
      {hasSteps && <Steps status={status} words={words} payment={payment} />}
      {payment.state === "short" && <Missing status={status} words={words} payment={payment} />}
      <Transactions status={status} words={words} payment={payment} />
      {payment.state === "delivered" && payment.settlement && (
        <Receipt status={status} words={words} payment={payment} isNewest={isNewest} />
      )}
    </article>
  );
}

/** Three steps; the one that is under way says how far it is, and why it waits. */
function Steps({ words, payment }: Shown) {
  const { texts } = words;
  const { state, settlement } = payment;
  const counted = confirmationsOf(payment);
  const at = state === "received" ? 0 : state === "moving" ? 1 : 2;
  const received =
    counted === null ? texts.final : texts.confirmations(counted.done, counted.required);
  const notes = [
    state === "delivered" ? "" : received,
    state === "moving" ? describeWait(payment, words) : "",
    state !== "delivered" && settlement?.estimateSeconds
      ? texts.usually(duration(settlement.estimateSeconds, words))
      : "",
  ];
  const names = [texts.steps.received, texts.steps.moving, texts.steps.delivered];
  return (
    <ol class="steps">
      {names.map((name, index) => {
        const isDone = index < at || state === "delivered";
        return (
          <li
            key={name}
            class={isDone ? "done" : index === at ? "now" : "next"}
            aria-current={index === at && !isDone ? "step" : undefined}
          >
            <span class="mark">{isDone ? <Tick /> : <span class="dot" />}</span>
            <span>
              <b>{name}</b>
              {notes[index] && <small>{notes[index]}</small>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function describeWait({ settlement }: Payment, { texts, language }: Words): string {
  const waiting = settlement?.waiting;
  if (!waiting) return "";
  const { reason, confirmations, required, retryAt } = waiting;
  const parts = [
    confirmations !== null && required !== null
      ? `${texts.confirmations(confirmations, required)}.`
      : texts.waiting[reason],
    retryAt === null || reason === "worker" || reason === "operator"
      ? ""
      : texts.nextTry(new Date(retryAt).toLocaleTimeString(language)),
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function Missing({ status, words, payment }: Shown) {
  const { chainId, tokenAddress } = payment;
  const found = status.missing.find(
    (one) => one.chainId === chainId && one.tokenAddress === tokenAddress,
  );
  if (!found) return null;
  const token = tokenOf(status, payment);
  return (
    <p class="warning">
      {words.texts.addMore(withSymbol(found.missing, token, words.language), token.chain)}
    </p>
  );
}

function Transactions({ status, words, payment }: Shown) {
  const { texts } = words;
  const { settlement, deposits, refundTxHash } = payment;
  const source = status.sources.find(({ chainId }) => chainId === payment.chainId);
  const origin = source?.explorerTxUrl ?? "";
  const links = [
    ...deposits.map(({ txHash }) => ({ name: texts.paymentTx, txHash, base: origin })),
    { name: texts.sweepTx, txHash: settlement?.sweepTxHash ?? null, base: origin },
    {
      name: texts.deliveryTx,
      txHash: settlement?.deliveryTxHash ?? null,
      base: status.destination.explorerTxUrl,
    },
    { name: texts.refundTx, txHash: refundTxHash, base: origin },
  ].filter(({ txHash }) => txHash !== null);
  if (links.length === 0) return null;
  return (
    <details class="transactions">
      <summary>{texts.transactions}</summary>
      <ul>
        {links.map(({ name, txHash, base }) => (
          <li key={`${name}${txHash}`}>
            <span>{name}</span> <Hash hash={txHash ?? ""} base={base} hint={texts.newTab} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A transaction at an explorer. The base is the registry's; anything but a web address is shown as text. */
function Hash({ hash, base, hint }: { hash: string; base: string; hint: string }) {
  const text = <code>{hash.length > 22 ? `${hash.slice(0, 10)}…${hash.slice(-8)}` : hash}</code>;
  if (!base.startsWith("https://")) return text;
  return (
    <a href={`${base}${encodeURIComponent(hash)}`} target="_blank" rel="noopener noreferrer">
      {text}
      <span class="spoken"> ({hint})</span>
    </a>
  );
}

function Receipt({ status, words, payment, isNewest }: Shown & { readonly isNewest: boolean }) {
  const { texts, language } = words;
  const { settlement } = payment;
  const token = tokenOf(status, payment);
  const to = status.destination.token;
  if (!settlement) return null;
  const { deliveredAmount, updatedAt } = settlement;
  return (
    <details class="receipt" open={isNewest}>
      <summary>{texts.receipt}</summary>
      <dl class="facts">
        <div>
          <dt>{texts.sent}</dt>
          <dd>{withSymbol(payment.amount, token, language)}</dd>
        </div>
        {deliveredAmount !== null && to && (
          <div>
            <dt>{texts.arrived}</dt>
            <dd>{withSymbol(deliveredAmount, to, language)}</dd>
          </div>
        )}
        <div>
          <dt>{texts.check.recipient}</dt>
          <dd>
            <code>{status.destination.wallet}</code>
          </dd>
        </div>
        <div>
          <dt>{texts.deliveryTx}</dt>
          <dd>{new Date(updatedAt).toLocaleString(language)}</dd>
        </div>
      </dl>
      <div class="actions noprint">
        <button type="button" class="button quiet" onClick={() => print()}>
          {texts.print}
        </button>
        <button
          type="button"
          class="button quiet"
          onClick={() => save(`receipt-${settlement.id}.json`, receiptOf(status, payment))}
        >
          {texts.json}
        </button>
      </div>
    </details>
  );
}

/** Returns the receipt for programs. Amounts are in base units, and in whole tokens as decimal text. */
export function receiptOf(status: PayStatus, payment: Payment): object {
  const { settlement, deposits } = payment;
  const token = tokenOf(status, payment);
  const { destination, address, title } = status;
  const delivered = settlement?.deliveredAmount ?? null;
  return {
    title,
    settlementId: settlement?.id ?? null,
    paid: {
      chainId: payment.chainId,
      chain: token.chain,
      token: token.symbol,
      tokenAddress: payment.tokenAddress,
      amount: payment.amount.toString(),
      amountUnits: toUnits(payment.amount, token.decimals),
      depositAddress: address.walletAddress,
      txHashes: deposits.flatMap(({ txHash }) => txHash ?? []),
    },
    delivered: {
      chainId: destination.chainId,
      chain: destination.name,
      token: destination.token?.symbol ?? null,
      tokenAddress: destination.token?.address ?? null,
      amount: delivered,
      amountUnits:
        delivered !== null && destination.token
          ? toUnits(BigInt(delivered), destination.token.decimals)
          : null,
      wallet: destination.wallet,
      txHash: settlement?.deliveryTxHash ?? null,
    },
    fees: settlement?.fees ?? null,
    completedAt: settlement?.updatedAt ?? null,
  };
}

function save(name: string, content: object): void {
  const blob = new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: "application/json" });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Returns the token of a payment. One that is not listed any more is shown in base units, by its address. */
function tokenOf(status: PayStatus, payment: Payment) {
  const found = findToken(status, payment);
  return found
    ? { symbol: found.symbol, decimals: found.decimals, chain: chainName(found.source.name) }
    : { symbol: payment.tokenAddress, decimals: 0, chain: String(payment.chainId) };
}
