/** The settlements of every integrator. The address of the page holds the filters. */
import {
  categoryOf,
  type ConsoleList,
  type ConsoleListed,
  type ConsoleRetries,
  type ConsoleRetryPreview,
  SETTLEMENT_STATUS_NAMES,
} from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { Refusal } from "../console/api.ts";
import { Go, Status } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { go } from "../console/place.ts";
import { useAsked } from "../console/use-asked.ts";
import { shorten } from "../kit/amounts.ts";
import { chainName } from "../pay/words.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";
import { Save } from "./rows.tsx";

const POLL_MS = 5_000;
const GROUPS = ["open", "failing"] as const;

export function AllSettlements(props: {
  readonly filters: Readonly<Record<string, string>>;
  readonly mayAct: boolean;
}) {
  const { filters } = props;
  const subject = JSON.stringify(filters);
  const { value, refusal } = useAsked(
    subject,
    () => read<ConsoleList>("settlements", filters),
    () => POLL_MS,
  );
  const [further, setFurther] = useState<{ readonly of: string; readonly page: ConsoleList }>();
  const [problem, setProblem] = useState("");
  const more = further?.of === subject ? further.page : null;
  const items = [...(value?.items ?? []), ...(more?.items ?? [])];
  const nextCursor = more ? more.nextCursor : (value?.nextCursor ?? null);
  const readMore = async (cursor: string) => {
    try {
      const page = await read<ConsoleList>("settlements", { ...filters, cursor });
      setFurther({
        of: subject,
        page: { ...page, items: [...(more?.items ?? []), ...page.items] },
      });
      setProblem("");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    }
  };
  const others = Object.entries(filters).filter(([name]) => name !== "status");
  return (
    <section class="card">
      <div class="headline">
        <h1>Settlements</h1>
        <div class="filters">
          <label>
            <span class="spoken">Status</span>
            <select
              value={filters["status"] ?? ""}
              onChange={({ currentTarget }) =>
                go({ view: "settlements", filters: { ...filters, status: currentTarget.value } })
              }
            >
              <option value="">Every status</option>
              {[...GROUPS, ...SETTLEMENT_STATUS_NAMES].map((name) => (
                <option key={name} value={name}>
                  {name.replaceAll("_", " ")}
                </option>
              ))}
            </select>
          </label>
          <Save name="settlements.csv" read={() => readAll(filters)} />
        </div>
      </div>
      {props.mayAct && <RetryMany filters={filters} />}
      {others.length > 0 && (
        <p class="filter">
          {others.map(([name, text]) => `${name} ${text}`).join(", ")}{" "}
          <Go to={{ view: "settlements", filters: {} }}>Show all</Go>
        </p>
      )}
      {(refusal || problem !== "") && (
        <p class="banner" role="alert">
          {problem || refusal?.message}
        </p>
      )}
      {!value && !refusal && <p role="status">Loading…</p>}
      {value && items.length === 0 && <p class="empty">There is none.</p>}
      {items.length > 0 && (
        <div class="scrolled">
          <table>
            <thead>
              <tr>
                {["Created", "Status", "Amount", "From", "To", "Integrator", "Problem"].map(
                  (name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {items.map(({ id, status, amount, chain, destChain, integrator, ...rest }) => (
                <tr key={id}>
                  <td data-name="Created">
                    <Go to={{ view: "settlement", filters: { id } }}>
                      <Time at={rest.createdAt} />
                    </Go>
                  </td>
                  <td data-name="Status">
                    <Status of={statusOf(status)} />
                  </td>
                  <td data-name="Amount">{amount}</td>
                  <td data-name="From">
                    {chainName(chain)} <code title={rest.wallet}>{shorten(rest.wallet)}</code>
                  </td>
                  <td data-name="To">{chainName(destChain)}</td>
                  <td data-name="Integrator">
                    <Go to={{ view: "settlements", filters: { ...filters, integrator } }}>
                      {integrator}
                    </Go>
                  </td>
                  <td data-name="Problem">{rest.error ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {nextCursor !== null && (
        <p class="pages">
          <button type="button" class="quiet" onClick={() => void readMore(nextCursor)}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}

/** Rows of a saved file at most, and of one request for it. */
const SAVED_MAX = 10_000;
const SAVED_AT_ONCE = 500;

/** Reads every settlement of the filters as lines, the newest first. */
async function readAll(
  filters: Readonly<Record<string, string>>,
): Promise<readonly (readonly string[])[]> {
  const rows: ConsoleListed[] = [];
  let cursor: string | null = "";
  while (cursor !== null && rows.length < SAVED_MAX) {
    const from: Readonly<Record<string, string>> = cursor === "" ? {} : { cursor };
    const page: ConsoleList = await read<ConsoleList>("settlements", {
      ...filters,
      ...from,
      limit: String(SAVED_AT_ONCE),
    });
    rows.push(...page.items);
    cursor = page.nextCursor;
  }
  const names = [
    "createdAt",
    "updatedAt",
    "id",
    "status",
    "amount",
    "chain",
    "destChain",
    "wallet",
    "userId",
    "integrator",
    "retryCount",
    "error",
  ] as const;
  return [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "")))];
}

/** Filters by which many can be retried. */
const RETRIED_BY: readonly string[] = ["status", "integrator", "chainId"];
const RETRIED_STATUSES: readonly string[] = [
  "failing",
  ...SETTLEMENT_STATUS_NAMES.filter((status) => categoryOf(status) === "retrying"),
  "dead",
];

/** Retries what the filters show, if they are such that it can be retried. */
function RetryMany({ filters }: { readonly filters: Readonly<Record<string, string>> }) {
  const names = Object.keys(filters);
  const isPossible =
    RETRIED_STATUSES.includes(filters["status"] ?? "") &&
    names.every((name) => RETRIED_BY.includes(name));
  return isPossible ? <RetryButton filters={filters} /> : null;
}

function RetryButton({ filters }: { readonly filters: Readonly<Record<string, string>> }) {
  const [turn, setTurn] = useState(0);
  const { value } = useAsked(
    JSON.stringify(filters),
    () => read<ConsoleRetryPreview>("retries", filters),
    () => POLL_MS,
    turn,
  );
  const { chainId, ...texts } = filters;
  const filter = { ...texts, ...(chainId !== undefined && { chainId: Number(chainId) }) };
  const count = value?.count ?? 0;
  return (
    <div class="acts">
      <Ask
        name="Retry these"
        title={`Retry ${count} settlements`}
        explains={`Those that have not changed for the longest are tried first${value?.isMore ? "; there are more: do it again" : ""}. Each is recorded with the reason.`}
        isDisabled={count === 0}
        onDone={() => setTurn(turn + 1)}
        run={async ({ reason }) => {
          const { retried, refused } = await act<ConsoleRetries>("retries", { ...filter, reason });
          return (
            <>
              <p>{retried} are due now.</p>
              {refused.map(({ id, reason: why }) => (
                <p key={id} class="hint">
                  {id}: {why}
                </p>
              ))}
            </>
          );
        }}
      >
        <Reason />
      </Ask>
    </div>
  );
}

/** The status with its category; a status of a later version has none. */
export function statusOf(text: string) {
  const status = SETTLEMENT_STATUS_NAMES.find((name) => name === text) ?? "pending_swap";
  return { status, category: categoryOf(status) };
}
