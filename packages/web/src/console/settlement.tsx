/** One settlement: why it waits, what happened when, its transactions and its amounts. */
import type {
  Deposit,
  DepositPage,
  ExtendedEventItem,
  ExtendedEventPage,
  Settlement,
} from "@sluice/sdk/wire";
import type { ComponentChildren } from "preact";
import { formatDuration, textsOf } from "../texts/index.ts";
import type { Api } from "./api.ts";
import { Go, Status } from "./lists.tsx";
import { describeBlock, Hash, type Names, Time } from "./names.tsx";
import { useAsked } from "./use-asked.ts";

const POLL_MS = 2_000;
/** Pages of events of the address that are searched for those of the settlement. */
const EVENT_PAGES_MAX = 5;

/** A settlement with its history. */
export interface Story {
  readonly report: Settlement;
  readonly deposits: readonly Deposit[];
  readonly events: readonly StatusEvent[];
}
type StatusEvent = Extract<ExtendedEventItem, { type: "status_changed" }>;

/** One line of the timeline. */
export interface Moment {
  readonly at: string;
  readonly what: string;
  readonly tone: "good" | "attention" | "neutral";
  readonly note: string;
}

/** Returns what happened, the oldest first: deposits, then every status with its error. */
export function listMoments({ deposits, events }: Omit<Story, "report">, names: Names): Moment[] {
  const arrived = deposits.map((deposit): Moment => {
    return {
      at: deposit.detectedAt,
      what: `Deposit of ${names.amount(deposit)}`,
      tone: deposit.finality === "orphaned" ? "attention" : "neutral",
      note: describeBlock(deposit),
    };
  });
  const changed = events.map(({ timestamp, data }): Moment => {
    const { status, category, error } = data;
    return {
      at: timestamp,
      what: status.replaceAll("_", " "),
      tone:
        category === "success"
          ? "good"
          : category === "retrying" || category === "failed"
            ? "attention"
            : "neutral",
      note: error === null ? "" : `${error.code}: ${error.message}`,
    };
  });
  // Both in the order of their time; a deposit is before the settlement that it joined.
  return [...arrived, ...changed].toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

/** Reads a settlement with its deposits and statuses. @throws Refusal, 404 for another key's. */
async function readStory(api: Api, id: string): Promise<Story> {
  const report = await api.read<Settlement>(`settlements/${id}`);
  const deposits = await api.read<DepositPage>("deposits", { settlementId: id, limit: "100" });
  const events: StatusEvent[] = [];
  // The first event has the time at which the settlement was made, and `since` is exclusive.
  let since = new Date(Date.parse(report.createdAt) - 1).toISOString();
  for (let page = 0; page < EVENT_PAGES_MAX; page += 1) {
    const { items, nextCursor } = await api.read<ExtendedEventPage>("events", {
      walletAddress: report.walletAddress,
      type: "status_changed",
      extended: "true",
      limit: "200",
      since,
    });
    events.push(
      ...items.filter(
        (event): event is StatusEvent =>
          event.type === "status_changed" && event.data.queueItemId === id,
      ),
    );
    if (nextCursor === null || (report.terminal && events.at(-1)?.data.terminal === true)) break;
    since = nextCursor;
  }
  return { report, deposits: deposits.items, events };
}

/** Returns whether nothing of it changes any more, confirmations included. */
function isOver({ report, deposits }: Story): boolean {
  const { terminal, waiting, transactions } = report;
  const blocks = [...deposits, ...transactions].map(({ finality }) => finality);
  return terminal && waiting === null && !blocks.includes("confirming");
}

export function SettlementView(props: {
  readonly api: Api;
  readonly names: Names;
  readonly id: string;
}) {
  const { api, names, id } = props;
  const { value, refusal } = useAsked(
    id,
    () => readStory(api, id),
    (story) => (story && isOver(story) ? null : POLL_MS),
  );
  if (!value) {
    return (
      <section class="card" aria-busy={!refusal}>
        <h1>Settlement</h1>
        <p role={refusal ? "alert" : "status"}>{refusal ? refusal.message : "Loading…"}</p>
      </section>
    );
  }
  const { report } = value;
  return (
    <>
      <section class="card">
        <div class="headline">
          <h1>
            {names.amount({ ...report, amount: report.sweptAmount ?? report.amount })} to{" "}
            {names.symbol(report.destChain, report.destToken)} on {names.chain(report.destChain)}
          </h1>
          <Status of={report} />
        </div>
        {refusal && (
          <p class="banner" role="alert">
            {refusal.message}
          </p>
        )}
        <Waiting report={report} names={names} />
        <Facts report={report} names={names} />
      </section>
      <section class="card">
        <h2>What happened</h2>
        <ol class="timeline">
          {listMoments(value, names).map(({ at, what, tone, note }, index) => (
            <li key={`${at}${index}`} class={tone}>
              <b>{what}</b>
              <Time at={at} />
              {note !== "" && <p>{note}</p>}
            </li>
          ))}
        </ol>
        {value.events.length === 0 && (
          <p class="hint">Its events are older than the event log keeps them.</p>
        )}
      </section>
      <Transactions report={report} names={names} />
      <section class="card">
        <details>
          <summary>As the interface returns it</summary>
          <pre tabIndex={0}>{JSON.stringify(report, null, 2)}</pre>
        </details>
      </section>
    </>
  );
}

/** Why it does not go on, and what happens next. */
function Waiting({ report, names }: { readonly report: Settlement; readonly names: Names }) {
  const { waiting, error, estimate, status } = report;
  if (!waiting) {
    if (status !== "dead") return null;
    return (
      <p class="banner">
        It ended without a delivery: {error?.message ?? "no reason is recorded"}. Its value is in
        the deposit address, from which it can be refunded.
      </p>
    );
  }
  const { message, confirmations, required, chainId, retryAt, reason, delayReason } = waiting;
  return (
    <div class="banner" role="status">
      <p>
        <b>{message}</b>
        {delayReason !== null && ` The bridge's reason is ${delayReason}.`}
      </p>
      {confirmations !== null && chainId !== null && (
        <p>
          {confirmations} of {required ?? "?"} confirmations on {names.chain(chainId)}.
        </p>
      )}
      {retryAt !== null && (
        <p>
          It is tried again by itself: <Time at={retryAt} />.
        </p>
      )}
      {estimate && (
        <p>
          Settlements like this one usually take {formatDuration(estimate.seconds, textsOf("en"))}.
        </p>
      )}
      <p class="hint">Reason: {reason}</p>
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Facts({ report, names }: { readonly report: Settlement; readonly names: Names }) {
  const { chainId, tokenAddress, destChain, destToken, walletAddress, fees } = report;
  const from = (amount: string | null) => names.amount({ chainId, tokenAddress, amount });
  const to = (amount: string | null) =>
    names.amount({ chainId: destChain, tokenAddress: destToken, amount });
  return (
    <dl class="facts">
      <Fact name="Settlement">
        <code>{report.id}</code>
      </Fact>
      <Fact name="Deposit address">
        <Go to={{ view: "settlements", filters: { walletAddress } }}>
          <code>{walletAddress}</code>
        </Go>
      </Fact>
      <Fact name="Recipient">
        <code>{report.destWallet}</code>
      </Fact>
      <Fact name="User">
        <Go to={{ view: "settlements", filters: { userId: report.userId } }}>
          <code>{report.userId}</code>
        </Go>
      </Fact>
      {report.label !== null && <Fact name="Label">{report.label}</Fact>}
      {Object.entries(report.metadata).map(([name, text]) => (
        <Fact key={name} name={name}>
          {text}
        </Fact>
      ))}
      <Fact name="Route">{report.route ?? "not chosen yet"}</Fact>
      <Fact name="Swept">{from(report.sweptAmount)}</Fact>
      <Fact name="Promised at least">{to(report.promisedAmount)}</Fact>
      <Fact name="Delivered">{to(report.deliveredAmount)}</Fact>
      {fees && (
        <Fact name="Fees">
          {from(fees.service)} service, {from(fees.gas)} gas, {to(fees.bridge)} bridge
        </Fact>
      )}
      <Fact name="Retries">{report.retryCount}</Fact>
      <Fact name="Created">
        <Time at={report.createdAt} />
      </Fact>
      <Fact name="Changed">
        <Time at={report.updatedAt} />
      </Fact>
    </dl>
  );
}

function Transactions({ report, names }: { readonly report: Settlement; readonly names: Names }) {
  return (
    <section class="card">
      <h2>Transactions</h2>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Transactions">
        <table>
          <thead>
            <tr>
              <th scope="col">Purpose</th>
              <th scope="col">Chain</th>
              <th scope="col">State</th>
              <th scope="col">Transaction</th>
            </tr>
          </thead>
          <tbody>
            {report.transactions.map((transaction, index) => {
              const { purpose, chainId, txHash, state, succeeded } = transaction;
              const parts = [
                state,
                succeeded === false ? "reverted" : "",
                describeBlock(transaction),
              ];
              return (
                <tr key={index}>
                  <td data-name="Purpose">{purpose.replaceAll("_", " ")}</td>
                  <td data-name="Chain">{names.chain(chainId)}</td>
                  <td data-name="State">{parts.filter((part) => part !== "").join(", ")}</td>
                  <td data-name="Transaction">
                    {txHash === null ? "—" : <Hash {...{ names, chainId }} hash={txHash} />}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
