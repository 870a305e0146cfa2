/** The console of an integrator: what one API key may read, and nothing else. */
import type { ChainList, KeySelf, SourceConfig } from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { type Api, keepKey, keptKey, openApi, Refusal } from "./api.ts";
import { find, kindOf } from "./find.ts";
import { Addresses, Deposits, Go, Settlements } from "./lists.tsx";
import { createNames, type Names } from "./names.tsx";
import { go, place, type View } from "./place.ts";
import { SettlementView } from "./settlement.tsx";
import { useAsked } from "./use-asked.ts";

interface Session {
  readonly api: Api;
  readonly self: KeySelf;
  readonly names: Names;
}

/** Opens the session of a key. @throws Refusal. */
async function openSession(base: string, key: string): Promise<Session> {
  const api = openApi(base, key);
  const self = await api.read<KeySelf>("keys/self");
  const sources = await api.read<SourceConfig>("source-config");
  const chains = await api.read<ChainList>("chains");
  return { api, self, names: createNames(sources, chains) };
}

/** `base` is the URL of the interface and ends with `/`. */
export function Console({ base }: { readonly base: string }) {
  const [key, setKey] = useState(keptKey);
  const enter = (entered: string | null) => {
    keepKey(entered);
    setKey(entered);
  };
  return key === null ? (
    <SignIn base={base} onKey={enter} />
  ) : (
    <Opened key={key} base={base} apiKey={key} onEnd={() => enter(null)} />
  );
}

function SignIn(props: { readonly base: string; readonly onKey: (key: string) => void }) {
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    // CAST: the form of the handler.
    const key = String(new FormData(event.currentTarget as HTMLFormElement).get("key")).trim();
    try {
      await openSession(props.base, key);
      props.onKey(key);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <main class="card sign-in">
      <h1>Sluice console</h1>
      <p>
        Enter an API key to see its settlements, deposits and addresses. The key stays in this tab
        and is sent to this service only. A key with the scope “read” suffices.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          API key
          <input name="key" type="password" autocomplete="off" required />
        </label>
        {problem !== "" && (
          <p class="banner" role="alert">
            {problem}
          </p>
        )}
        <button type="submit">Open</button>
      </form>
    </main>
  );
}

const TABS: readonly (readonly [View, string])[] = [
  ["settlements", "Settlements"],
  ["deposits", "Deposits"],
  ["addresses", "Addresses"],
];

function Opened(props: {
  readonly base: string;
  readonly apiKey: string;
  readonly onEnd: () => void;
}) {
  const { value, refusal } = useAsked(
    props.apiKey,
    () => openSession(props.base, props.apiKey),
    // Until it is open.
    (session) => (session === null ? 5_000 : null),
  );
  const present = place.value;
  const { id = "" } = present.filters;
  return (
    <>
      <header>
        <p class="brand">
          <b>Sluice</b> {value?.self.integratorName}
        </p>
        <nav aria-label="Lists">
          {TABS.map(([view, text]) => (
            <span key={view} aria-current={present.view === view ? "page" : undefined}>
              <Go to={{ view, filters: {} }}>{text}</Go>
            </span>
          ))}
        </nav>
        {value && <Search api={value.api} />}
        <button type="button" class="quiet" onClick={props.onEnd}>
          Sign out
        </button>
      </header>
      <main>
        {refusal && (
          <p class="banner" role="alert">
            {refusal.message}
          </p>
        )}
        {value && present.view === "settlements" && <Settlements {...value} place={present} />}
        {value && present.view === "deposits" && <Deposits {...value} place={present} />}
        {value && present.view === "addresses" && <Addresses {...value} place={present} />}
        {value && present.view === "settlement" && <SettlementView {...value} id={id} />}
      </main>
    </>
  );
}

function Search({ api }: { readonly api: Api }) {
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    // CAST: the form of the handler.
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = String(form.get("text")).trim();
    try {
      const found = await find(api, text);
      if (found) go(found);
      setProblem(
        found
          ? ""
          : kindOf(text) === null
            ? "Search for an id, an address, a user or a transaction."
            : "Nothing of this key has that name.",
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <form role="search" onSubmit={(event) => void submit(event)}>
      <input
        name="text"
        type="search"
        aria-label="Search"
        placeholder="Id, address, user or transaction"
        autocomplete="off"
        spellcheck={false}
      />
      {problem !== "" && <p role="alert">{problem}</p>}
    </form>
  );
}
