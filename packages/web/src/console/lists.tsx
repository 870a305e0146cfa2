/** The lists of a key: settlements, deposits and addresses, a page at a time. */
import {
  type Deposit,
  type DepositAddress,
  type DepositAddressPage,
  type DepositPage,
  SETTLEMENT_STATUS_NAMES,
  type Swap,
  type SwapPage,
} from "@sluice/sdk/wire";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { shorten } from "../kit/amounts.ts";
import { type Api, Refusal } from "./api.ts";
import { describeBlock, type Names, Time } from "./names.tsx";
import { formatPlace, go, type Place } from "./place.ts";
import { useAsked } from "./use-asked.ts";

const PAGE = "50";
const POLL_MS = 5_000;

interface ListProps {
  readonly api: Api;
  readonly names: Names;
  readonly place: Place;
}

interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ComponentChildren;
}

/** A link inside the console. */
export function Go({ to, children }: { readonly to: Place; readonly children: ComponentChildren }) {
  return (
    <a
      href={formatPlace(to)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}

/** The word of a status, with the tone of its category. */
export function Status({ of }: { readonly of: Pick<Swap, "status" | "category"> }) {
  return <span class={`state ${of.category}`}>{of.status.replaceAll("_", " ")}</span>;
}

function Account({ text }: { readonly text: string }) {
  return <code title={text}>{shorten(text)}</code>;
}

/** The column of what arrives, and where. */
function destinationColumn(
  names: Names,
): Column<Pick<Swap, "destChain" | "destToken" | "destWallet">> {
  return {
    name: "To",
    show: ({ destChain, destToken, destWallet }) => (
      <>
        {names.symbol(destChain, destToken)} on {names.chain(destChain)}{" "}
        <Account text={destWallet} />
      </>
    ),
  };
}

export function Settlements({ api, names, place }: ListProps) {
  const columns: readonly Column<Swap>[] = [
    {
      name: "Created",
      show: ({ id, createdAt }) => (
        <Go to={{ view: "settlement", filters: { id } }}>
          <Time at={createdAt} />
        </Go>
      ),
    },
    { name: "Status", show: (row) => <Status of={row} /> },
    { name: "Amount", show: (row) => names.amount(row) },
    { name: "From", show: ({ chainId }) => names.chain(chainId) },
    destinationColumn(names),
    { name: "Address", show: ({ walletAddress }) => <Account text={walletAddress} /> },
    { name: "Problem", show: ({ error }) => error?.message ?? "" },
  ];
  return (
    <List<Swap>
      title="Settlements"
      path="swaps"
      columns={columns}
      empty="No settlement matches."
      exported="exports/settlements?format=csv"
      {...{ api, place }}
    >
      <Choice name="status" label="Status" place={place} values={STATUSES} />
      <Choice name="chainId" label="From" place={place} values={chainsOf(names)} />
    </List>
  );
}

export function Deposits({ api, names, place }: ListProps) {
  const columns: readonly Column<Deposit>[] = [
    { name: "Detected", show: ({ detectedAt }) => <Time at={detectedAt} /> },
    {
      name: "Outcome",
      show: ({ outcome, queueItemId: id }) =>
        id === null ? (
          outcome.replaceAll("_", " ")
        ) : (
          <Go to={{ view: "settlement", filters: { id } }}>{outcome.replaceAll("_", " ")}</Go>
        ),
    },
    { name: "Amount", show: (row) => names.amount(row) },
    { name: "Chain", show: ({ chainId }) => names.chain(chainId) },
    { name: "Block", show: describeBlock },
    { name: "Address", show: ({ walletAddress }) => <Account text={walletAddress} /> },
    { name: "Label", show: ({ label }) => label ?? "" },
  ];
  return (
    <List<Deposit>
      title="Deposits"
      path="deposits"
      columns={columns}
      empty="No deposit matches."
      exported="exports/deposits?format=csv"
      {...{ api, place }}
    >
      <Choice name="chainId" label="Chain" place={place} values={chainsOf(names)} />
      <Choice name="finality" label="Block" place={place} values={FINALITY} />
    </List>
  );
}

export function Addresses({ api, names, place }: ListProps) {
  const columns: readonly Column<DepositAddress>[] = [
    { name: "Issued", show: ({ createdAt }) => <Time at={createdAt} /> },
    {
      name: "Address",
      show: ({ walletAddress }) => (
        <Go to={{ view: "settlements", filters: { walletAddress } }}>
          <code>{walletAddress}</code>
        </Go>
      ),
    },
    destinationColumn(names),
    { name: "User", show: ({ userId }) => <Account text={userId} /> },
  ];
  return (
    <List<DepositAddress>
      title="Addresses"
      path="deposit-addresses"
      columns={columns}
      empty="No address matches."
      {...{ api, place }}
    />
  );
}

type AnyPage = SwapPage | DepositPage | DepositAddressPage;

function List<Row extends { readonly id: string }>(props: {
  readonly api: Api;
  readonly place: Place;
  readonly title: string;
  readonly path: string;
  readonly columns: readonly Column<Row>[];
  readonly empty: string;
  /** Path of the export of the whole list. */
  readonly exported?: string;
  readonly children?: ComponentChildren;
}) {
  const { api, place, title, path, columns, exported } = props;
  const { cursor = "" } = place.filters;
  const { value, refusal } = useAsked(
    formatPlace(place),
    () => api.read<AnyPage>(path, { ...given(place.filters), limit: PAGE }),
    () => (cursor === "" ? POLL_MS : null),
  );
  // CAST: the page of this path has its rows.
  const rows = (value?.items ?? []) as readonly unknown[] as readonly Row[];
  const named = Object.entries(place.filters).filter(
    ([name, text]) => text !== "" && !CHOSEN.has(name),
  );
  return (
    <section class="card">
      <div class="headline">
        <h1>{title}</h1>
        <div class="filters">
          {props.children}
          {exported !== undefined && <Export api={api} path={exported} name={`${path}.csv`} />}
        </div>
      </div>
      {named.map(([name, text]) => (
        <p class="filter" key={name}>
          <span>
            {name}: <code>{text}</code>
          </span>
          <button type="button" class="quiet" onClick={() => go(withFilter(place, name, ""))}>
            Remove
          </button>
        </p>
      ))}
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <div class="scrolled" tabIndex={0} role="region" aria-label={title} aria-busy={!value}>
        <table>
          <thead>
            <tr>
              {columns.map(({ name }) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                {columns.map(({ name, show }) => (
                  <td key={name} data-name={name}>
                    {show(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {value && rows.length === 0 && <p class="empty">{props.empty}</p>}
      <div class="pages">
        {cursor !== "" && <Go to={withFilter(place, "cursor", "")}>Newest</Go>}
        {value?.nextCursor && <Go to={withFilter(place, "cursor", value.nextCursor)}>Older</Go>}
      </div>
    </section>
  );
}

/** Filters that have a field of their own, and the position. */
const CHOSEN = new Set(["status", "chainId", "finality", "cursor"]);

function given(filters: Place["filters"]): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([, text]) => text !== ""));
}

/** Returns a place with another filter. Any other filter begins at the newest. */
function withFilter({ view, filters }: Place, name: string, text: string): Place {
  return { view, filters: { ...filters, cursor: "", [name]: text } };
}

type Values = readonly (readonly [value: string, text: string])[];

const STATUSES: Values = SETTLEMENT_STATUS_NAMES.map((name) => [name, name.replaceAll("_", " ")]);
const FINALITY: Values = [
  ["confirming", "confirming"],
  ["final", "final"],
  ["orphaned", "orphaned"],
];

function chainsOf(names: Names): Values {
  return names.sources.map(({ chainId }) => [String(chainId), names.chain(chainId)]);
}

function Choice(props: {
  readonly name: string;
  readonly label: string;
  readonly place: Place;
  readonly values: Values;
}) {
  const { name, label, place, values } = props;
  return (
    <label>
      {label}
      <select
        value={place.filters[name] ?? ""}
        onChange={({ currentTarget }) => go(withFilter(place, name, currentTarget.value))}
      >
        <option value="">any</option>
        {values.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Export(props: { readonly api: Api; readonly path: string; readonly name: string }) {
  const { api, path, name } = props;
  const [problem, setProblem] = useState("");
  const save = async () => {
    try {
      const url = URL.createObjectURL(await api.download(path));
      const link = document.createElement("a");
      link.href = url;
      link.download = name;
      link.click();
      URL.revokeObjectURL(url);
      setProblem("");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <>
      <button type="button" class="quiet" onClick={() => void save()}>
        All as CSV
      </button>
      {problem !== "" && <span role="alert">{problem}</span>}
    </>
  );
}
