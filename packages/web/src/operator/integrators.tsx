/** Integrators: terms, keys and webhooks. */
import type { ConsoleIntegrator, ConsoleIntegratorFile, ConsoleWebhooks } from "@sluice/sdk/wire";
import { Go } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { read } from "./desk.ts";
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
  readonly filters: Readonly<Record<string, string>>;
}) {
  const { name, filters } = props;
  const path = `integrators/${encodeURIComponent(name)}`;
  const { value, refusal } = useAsked(
    path,
    () => read<ConsoleIntegratorFile>(path),
    () => POLL_MS,
  );
  if (!value) {
    return (
      <p class="card" role={refusal ? "alert" : "status"}>
        {refusal?.message ?? "Loading…"}
      </p>
    );
  }
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
        <h2>Keys</h2>
        <Rows
          empty="It has none."
          names={["Key", "Label", "State", "May", "Last used", "Expires"]}
          rows={value.keys.map((key) => [
            <code key="id">{key.prefix ?? key.id}</code>,
            key.label ?? "",
            key.state,
            key.scopes.join(", "),
            key.lastUsedAt === null ? "never" : <Time key="used" at={key.lastUsedAt} />,
            key.expiresAt === null ? "never" : <Time key="ends" at={key.expiresAt} />,
          ])}
        />
      </section>
      <section class="card">
        <h2>Webhooks</h2>
        <Rows
          empty="It has none."
          names={["Address", "State", "Failing since", ""]}
          rows={value.endpoints.map(({ id, url, state, disabledReason, failingSince }) => [
            url,
            disabledReason === null ? state : `${state}: ${disabledReason}`,
            failingSince === null ? "—" : <Time key="at" at={failingSince} />,
            <Go key="log" to={{ view: "integrator", filters: { name, endpoint: id } }}>
              Deliveries
            </Go>,
          ])}
        />
        {endpoint && <Deliveries path={`${path}/endpoints/${endpoint.id}`} url={endpoint.url} />}
      </section>
    </>
  );
}

function Deliveries({ path, url }: { readonly path: string; readonly url: string }) {
  const { value, refusal } = useAsked(
    path,
    () => read<ConsoleWebhooks>(path),
    () => POLL_MS,
  );
  return (
    <>
      <h2>Newest deliveries to {url}</h2>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <Rows
        empty={value ? "Nothing was delivered yet." : "Loading…"}
        names={["Event", "Type", "State", "Attempts", "Last", "Latency", "Next"]}
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
