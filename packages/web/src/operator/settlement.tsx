/** One settlement: where its value is, why it waits, everything that happened, and what can be done. */
import type { ConsoleEvent, ConsoleFile } from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { Status } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { shorten } from "../kit/amounts.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";
import { statusOf } from "./settlements.tsx";

const POLL_MS = 2_000;

export function SettlementFile(props: { readonly id: string; readonly mayAct: boolean }) {
  const { id, mayAct } = props;
  const [turn, setTurn] = useState(0);
  const { value, refusal } = useAsked(
    id,
    () => read<ConsoleFile>(`settlements/${encodeURIComponent(id)}`),
    () => POLL_MS,
    turn,
  );
  if (!value) {
    return (
      <section class="card" aria-busy={!refusal}>
        <h1>Settlement</h1>
        <p role={refusal ? "alert" : "status"}>{refusal ? refusal.message : "Loading…"}</p>
      </section>
    );
  }
  return (
    <>
      <section class="card">
        <div class="headline">
          <h1>Settlement</h1>
          <Status of={statusOf(value.status)} />
        </div>
        {refusal && (
          <p class="banner" role="alert">
            {refusal.message}
          </p>
        )}
        {value.waitsFor !== null && (
          <div class="banner" role="status">
            <p>
              <b>It waits for {value.waitsFor}</b>
            </p>
            {value.nextTry !== null && (
              <p>
                Next poll: <Time at={value.nextTry} />.
              </p>
            )}
          </div>
        )}
        <dl class="facts">
          <div>
            <dt>Settlement</dt>
            <dd>
              <code>{value.id}</code>
            </dd>
          </div>
          {value.facts.map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        {mayAct && <Actions file={value} onDone={() => setTurn(turn + 1)} />}
      </section>
      <section class="card">
        <h2>What happened</h2>
        <ol class="timeline">
          {value.timeline.map((event, index) => (
            <Moment key={index} event={event} />
          ))}
        </ol>
      </section>
    </>
  );
}

const KINDS: Readonly<Record<ConsoleEvent["kind"], string>> = {
  status: "Status",
  deposit: "Deposit",
  transaction: "Transaction",
  attempt: "Attempt",
  lock: "Lock",
  bridge: "Bridge",
  operator: "By hand",
};

function Moment({ event }: { readonly event: ConsoleEvent }) {
  const { at, kind, text, isProblem, txHash } = event;
  const isDone = kind === "status" && text === "completed";
  return (
    <li class={isProblem ? "attention" : isDone ? "good" : "neutral"}>
      <b>{KINDS[kind]}</b>
      <Time at={at} />
      <p>
        {text.replaceAll("_", " ")} {txHash && <code title={txHash}>{shorten(txHash)}</code>}
      </p>
    </li>
  );
}

function Actions(props: { readonly file: ConsoleFile; readonly onDone: () => void }) {
  const { file, onDone } = props;
  const obstacleOf = (action: string) =>
    file.actions.find((known) => known.action === action)?.obstacle ?? null;
  const [retry, refund] = [obstacleOf("retry"), obstacleOf("refund")];
  const path = `settlements/${file.id}`;
  return (
    <div>
      <div class="acts">
        <Ask
          name="Retry"
          title="Retry now"
          explains={
            file.status === "dead"
              ? "Another settlement takes the balance of the deposit address."
              : "It is tried again at once, and not at its next time."
          }
          isDisabled={retry !== null}
          onDone={onDone}
          run={async ({ reason }) => {
            const { settlementId, changed } = await act<{ settlementId: string; changed: boolean }>(
              `${path}/retry`,
              { reason },
            );
            if (settlementId === file.id) return changed ? null : <p>It is due already.</p>;
            return <p>The settlement {settlementId} now settles the balance.</p>;
          }}
        >
          <Reason />
        </Ask>
        <Ask
          name="Refund"
          title="End it for a refund"
          explains={`The settlement ends, and nothing sweeps it any more. Its value goes to ${file.refundAuthority} and to nobody else.`}
          isDisabled={refund !== null}
          onDone={onDone}
          run={async ({ reason }) => {
            const { text } = await act<{ text: string }>(`${path}/refund`, {
              reason,
              to: file.refundAuthority,
            });
            return <pre>{text}</pre>;
          }}
        >
          <Reason />
        </Ask>
      </div>
      {[...new Set([retry, refund])].map((why) => why && <p class="hint">{why}</p>)}
    </div>
  );
}
