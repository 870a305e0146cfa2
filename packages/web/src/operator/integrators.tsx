/** Integrators: terms, keys and webhooks. */
import {
  CONSOLE_INTEGRATOR_LISTS,
  type ConsoleIntegrator,
  type ConsoleIntegratorFile,
  type ConsoleIntegratorList,
  type ConsoleKey,
  type ConsoleTable,
  type ConsoleWebhooks,
  KEY_SCOPES,
} from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { Go } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { shorten } from "../kit/amounts.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";
import { Facts, Rows, Save } from "./rows.tsx";

const POLL_MS = 10_000;

export function Integrators() {
  const { value, refusal } = useAsked(
    "integrators",
    () => read<{ readonly integrators: readonly ConsoleIntegrator[] }>("integrators"),
    () => POLL_MS,
  );
  const integrators = value?.integrators ?? [];
  return (
    <section class="card">
      <div class="headline">
        <h1>Integrators</h1>
        <Save
          name="integrators.csv"
          read={async () => [
            ["name", "addressesIssued", "gas", "createdAt"],
            ...integrators.map((one) => [
              one.name,
              String(one.addressesIssued),
              one.gas,
              one.createdAt,
            ]),
          ]}
        />
      </div>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <Rows
        empty={value ? "There is none: “sluice integrator create” creates one." : "Loading…"}
        names={["Name", "Addresses", "Gas", "Created", ""]}
        rows={integrators.map(({ name, addressesIssued, gas, createdAt }) => [
          <Go key="name" to={{ view: "integrator", filters: { name } }}>
            {name}
          </Go>,
          addressesIssued,
          gas,
          <Time key="at" at={createdAt} />,
          <Go key="to" to={{ view: "settlements", filters: { integrator: name } }}>
            Settlements
          </Go>,
        ])}
      />
    </section>
  );
}

export function IntegratorFile(props: {
  readonly name: string;
  readonly mayAct: boolean;
  readonly isAdmin: boolean;
  readonly filters: Readonly<Record<string, string>>;
}) {
  const { name, filters, mayAct, isAdmin } = props;
  const [turn, setTurn] = useState(0);
  const again = () => setTurn(turn + 1);
  const path = `integrators/${encodeURIComponent(name)}`;
  const { value, refusal } = useAsked(
    path,
    () => read<ConsoleIntegratorFile>(path),
    () => POLL_MS,
    turn,
  );
  if (!value) {
    return (
      <p class="card" role={refusal ? "alert" : "status"}>
        {refusal?.message ?? "Loading…"}
      </p>
    );
  }
  const list = CONSOLE_INTEGRATOR_LISTS.find((one) => one === filters["list"]) ?? "addresses";
  const endpoint = value.endpoints.find(({ id }) => id === filters["endpoint"]);
  return (
    <>
      <section class="card">
        <div class="headline">
          <h1>{value.name}</h1>
          <Go to={{ view: "settlements", filters: { integrator: name } }}>Settlements</Go>
        </div>
        <Facts facts={value.facts} />
      </section>
      <section class="card">
        <div class="headline">
          <h2>Keys</h2>
          {isAdmin && <CreateKey path={path} onDone={again} />}
        </div>
        <Rows
          empty="It has none."
          names={["Key", "Label", "State", "May", "Last used", "Expires", ""]}
          file="keys.csv"
          rows={value.keys.map((key) => [
            <code key="id">{key.prefix ?? key.id}</code>,
            key.label ?? "",
            key.state,
            key.scopes.join(", "),
            key.lastUsedAt === null ? "never" : <Time key="used" at={key.lastUsedAt} />,
            key.expiresAt === null ? "never" : <Time key="ends" at={key.expiresAt} />,
            isAdmin && key.state === "valid" && (
              <div key="acts" class="acts">
                <RotateKey id={key.id} onDone={again} />
                <RevokeKey id={key.id} onDone={again} />
              </div>
            ),
          ])}
        />
      </section>
      <section class="card">
        <h2>Webhooks</h2>
        <Rows
          empty="It has none."
          names={["Address", "State", "Failing since", ""]}
          file="webhooks.csv"
          rows={value.endpoints.map(({ id, url, state, disabledReason, failingSince }) => [
            url,
            disabledReason === null ? state : `${state}: ${disabledReason}`,
            failingSince === null ? "—" : <Time key="at" at={failingSince} />,
            <Go key="log" to={{ view: "integrator", filters: { name, endpoint: id } }}>
              Deliveries
            </Go>,
          ])}
        />
        {endpoint && (
          <Deliveries
            path={`${path}/endpoints/${endpoint.id}`}
            endpoint={endpoint}
            mayAct={mayAct}
            onDone={again}
          />
        )}
      </section>
      <Lists key={list} path={path} name={name} shown={list} />
    </>
  );
}

interface Acting {
  readonly onDone: () => void;
}

/** Addresses, deposits and refunds, one list at a time. */
function Lists({
  path,
  name,
  shown,
}: {
  readonly path: string;
  readonly name: string;
  readonly shown: ConsoleIntegratorList;
}) {
  const [more, setMore] = useState<readonly ConsoleTable[]>([]);
  const { value, refusal } = useAsked(
    `${path}/lists/${shown}`,
    () => read<ConsoleTable>(`${path}/lists/${shown}`),
    () => POLL_MS,
  );
  const pages = value ? [value, ...more] : [];
  const last = pages.at(-1);
  const readMore = async (cursor: string) => {
    const page = await read<ConsoleTable>(`${path}/lists/${shown}`, { cursor });
    setMore([...more, page]);
  };
  return (
    <section class="card">
      <nav aria-label="Lists" class="ranges">
        {CONSOLE_INTEGRATOR_LISTS.map((one) => (
          <span key={one} aria-current={one === shown ? "page" : undefined}>
            <Go to={{ view: "integrator", filters: { name, list: one } }}>{titleOf(one)}</Go>
          </span>
        ))}
      </nav>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <Rows
        empty={value ? "There are none." : "Loading…"}
        names={last?.columns ?? []}
        file={`${name}-${shown}.csv`}
        rows={pages.flatMap(({ rows }) =>
          rows.map(([at = "", ...texts]) => [
            <Time key="at" at={at} />,
            ...texts.map((text) => (isLong(text) ? <Long key={text} text={text} /> : text)),
          ]),
        )}
      />
      {last && last.nextCursor !== null && (
        <p class="pages">
          <button type="button" class="quiet" onClick={() => void readMore(last.nextCursor ?? "")}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}

const titleOf = (list: ConsoleIntegratorList) => `${list.charAt(0).toUpperCase()}${list.slice(1)}`;

/** Whether a text is an address or a hash, which is shown shortened. */
const isLong = (text: string) => text.length > 30 && !text.includes(" ");

function Long({ text }: { readonly text: string }) {
  return <code title={text}>{shorten(text)}</code>;
}

function CreateKey({ path, onDone }: Acting & { readonly path: string }) {
  return (
    <Ask
      name="Create"
      title="Create a key"
      explains="It acts as the integrator. It is shown once."
      onDone={onDone}
      run={async ({ label, days, reason, ...ticked }) => {
        const scopes = KEY_SCOPES.filter((scope) => ticked[scope] !== undefined);
        const key = await act<ConsoleKey>(`${path}/keys`, {
          ...(label !== undefined && { label }),
          ...(days !== undefined && { days: Number(days) }),
          ...(scopes.length > 0 && { scopes }),
          reason,
        });
        return <NewKey {...key} />;
      }}
    >
      <label>
        A name for people
        <input name="label" maxLength={100} autocomplete="off" />
      </label>
      <fieldset>
        <legend>It may, all without a choice</legend>
        {KEY_SCOPES.map((scope) => (
          <label key={scope} class="choice">
            <input type="checkbox" name={scope} /> {scope}
          </label>
        ))}
      </fieldset>
      <label>
        Days until it is refused, never without
        <input name="days" type="number" min={1} max={3650} />
      </label>
      <Reason />
    </Ask>
  );
}

function NewKey({ keyId, apiKey }: ConsoleKey) {
  return (
    <>
      <p>
        The key, shown only here: <code>{apiKey}</code>
      </p>
      <p class="hint">Its id is {keyId}.</p>
    </>
  );
}

function RotateKey({ id, onDone }: Acting & { readonly id: string }) {
  return (
    <Ask
      name="Rotate"
      title="Rotate the key"
      explains="It gets a successor with the same rights, and is refused after the overlap."
      onDone={onDone}
      run={async ({ overlapHours, reason }) => {
        const rotation = { overlapHours: Number(overlapHours), reason };
        return <NewKey {...await act<ConsoleKey>(`keys/${id}/rotate`, rotation)} />;
      }}
    >
      <label>
        Hours for which both are valid
        <input name="overlapHours" type="number" min={0} max={8760} value="24" required />
      </label>
      <Reason />
    </Ask>
  );
}

function RevokeKey({ id, onDone }: Acting & { readonly id: string }) {
  return (
    <Ask
      name="Revoke"
      title="Revoke the key"
      explains="The next request with it is refused, for good."
      onDone={onDone}
      run={({ reason }) => act(`keys/${id}/revoke`, { reason }).then(() => null)}
    >
      <Reason />
    </Ask>
  );
}

/** What can be done to an endpoint. */
function Endpoint(
  props: Acting & {
    readonly path: string;
    readonly endpoint: ConsoleIntegratorFile["endpoints"][number];
  },
) {
  const { path, endpoint, onDone } = props;
  const isEnabled = endpoint.state === "enabled";
  return (
    <div class="acts">
      <Ask
        name="Test"
        title="Send a test"
        explains="It is sent once, also to a disabled endpoint."
        onDone={onDone}
        run={({ reason }) => act(`${path}/test`, { reason }).then(() => null)}
      >
        <Reason />
      </Ask>
      <Ask
        name="Resend"
        title="Send events again"
        explains="Those after a time, and up to another one if there is one, each with the whole schedule of retries. Times are in UTC."
        onDone={onDone}
        isDisabled={!isEnabled}
        run={async ({ since, until, reason }) => {
          const { queued, nextCursor } = await act<{
            readonly queued: number;
            readonly nextCursor: string | null;
          }>(`${path}/resend`, {
            since: stampOf(since),
            ...(until !== undefined && { until: stampOf(until) }),
            reason,
          });
          return (
            <>
              <p>{queued} events are queued.</p>
              {nextCursor !== null && <p class="hint">There are more, after {nextCursor}.</p>}
            </>
          );
        }}
      >
        <label>
          After
          <input name="since" type="datetime-local" step={1} required />
        </label>
        <label>
          Up to
          <input name="until" type="datetime-local" step={1} />
        </label>
        <Reason />
      </Ask>
      <Ask
        name={isEnabled ? "Disable" : "Enable"}
        title={isEnabled ? "Disable the endpoint" : "Enable the endpoint"}
        explains={
          isEnabled
            ? "Nothing is sent until it is enabled again. Events of that time can be sent again afterwards."
            : "Events from now on are sent."
        }
        onDone={onDone}
        run={({ reason }) =>
          act(`${path}/enabled`, { enabled: !isEnabled, reason }).then(() => null)
        }
      >
        <Reason />
      </Ask>
    </div>
  );
}

/** The stamp of a time in UTC, as the browser's field has it: with minutes or seconds. */
function stampOf(local: string | undefined): string {
  const at = new Date(`${local ?? ""}Z`);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

function Deliveries({
  path,
  endpoint,
  mayAct,
  onDone,
}: Acting & {
  readonly path: string;
  readonly endpoint: ConsoleIntegratorFile["endpoints"][number];
  readonly mayAct: boolean;
}) {
  const [turn, setTurn] = useState(0);
  const { value, refusal } = useAsked(
    path,
    () => read<ConsoleWebhooks>(path),
    () => POLL_MS,
    turn,
  );
  return (
    <>
      <h2>Newest deliveries to {endpoint.url}</h2>
      {mayAct && (
        <Endpoint
          path={path}
          endpoint={endpoint}
          onDone={() => {
            setTurn(turn + 1);
            onDone();
          }}
        />
      )}
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <Rows
        empty={value ? "Nothing was delivered yet." : "Loading…"}
        names={["Event", "Type", "State", "Attempts", "Last", "Latency", "Next"]}
        file="deliveries.csv"
        rows={(value?.items ?? []).map((one) => [
          <Time key="at" at={one.at} />,
          one.type,
          one.state,
          one.attempts,
          one.last ?? "—",
          one.latencyMs === null ? "—" : `${one.latencyMs} ms`,
          one.nextAttemptAt === null ? "—" : <Time key="next" at={one.nextAttemptAt} />,
        ])}
      />
    </>
  );
}
