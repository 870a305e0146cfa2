/** The console of operators: what runs, waits and is wrong, every settlement, and what people did. */
import { type ConsoleSession, SIGN_IN_PROBLEMS, type SignInProblem } from "@sluice/sdk/wire";
import { useEffect, useState } from "preact/hooks";
import { Refusal } from "../console/api.ts";
import { Go } from "../console/lists.tsx";
import { go, place, type View } from "../console/place.ts";
import { ChainFile } from "./chain.tsx";
import { act, read, register, signIn } from "./desk.ts";
import { IntegratorFile, Integrators } from "./integrators.tsx";
import { Log, People } from "./log.tsx";
import { Examinations } from "./examinations.tsx";
import { Overview } from "./overview.tsx";
import { SettlementFile } from "./settlement.tsx";
import { AllSettlements } from "./settlements.tsx";
import type { Trends } from "./trends.tsx";

/** Reads the session; null without one. */
async function readSession(): Promise<ConsoleSession | null> {
  try {
    return await read<ConsoleSession>("session");
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return null;
    throw error;
  }
}

const PROBLEMS: Readonly<Record<SignInProblem, string>> = {
  refused: "The identity provider did not sign you in. Try again.",
  nobody:
    "Nobody of this identity may use the console. An admin invites you by your e-mail address.",
  disabled: "This operator is disabled.",
  unreachable: "The identity provider does not answer.",
};

/** Removes the fragment from the page's address, and returns its values. A link never brings a text of its own. */
function takeFragment(): { readonly invitation: string | null; readonly problem: string | null } {
  const given = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  const problem = SIGN_IN_PROBLEMS.find((name) => name === given.get("problem"));
  return { invitation: given.get("invitation"), problem: problem ? PROBLEMS[problem] : null };
}

export function OperatorConsole() {
  const [session, setSession] = useState<ConsoleSession | null | undefined>();
  const [problem, setProblem] = useState("");
  const [ways, setWays] = useState({ hasIdentityProvider: false });
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      setProblem("");
      await work();
      setSession(await readSession());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
      setSession((known) => known ?? null);
    }
  };
  useEffect(() => {
    const { invitation, problem: brought } = takeFragment();
    void attempt(async () => {
      if (invitation !== null) await act("session/invitation", { token: invitation });
    }).then(() => brought !== null && setProblem(brought));
    void read<{ readonly hasIdentityProvider: boolean }>("session/ways").then(
      setWays,
      () => undefined,
    );
  }, []);
  if (session === undefined) return <p role="status">Loading…</p>;
  if (session === null) {
    return (
      <main class="card sign-in">
        <h1>Sluice for operators</h1>
        <p>
          Sign in with the passkey of this console. Without one, an admin or the command line
          (“sluice operators invite”) makes a link that works once.
        </p>
        {problem !== "" && (
          <p class="banner" role="alert">
            {problem}
          </p>
        )}
        <button type="button" onClick={() => void attempt(signIn)}>
          Sign in with a passkey
        </button>
        {ways.hasIdentityProvider && (
          <p>
            <a href="api/session/identity">Sign in with your company's account</a>
          </p>
        )}
      </main>
    );
  }
  return (
    <Opened
      session={session}
      problem={problem}
      onRegister={() => void attempt(register)}
      onEnd={() => void attempt(() => act("session/end"))}
    />
  );
}

const TABS: readonly (readonly [View, string])[] = [
  ["overview", "Overview"],
  ["settlements", "Settlements"],
  ["trends", "Trends"],
  ["integrators", "Integrators"],
  ["examinations", "Checks"],
  ["log", "Log"],
  ["people", "People"],
];

function Opened(props: {
  readonly session: ConsoleSession;
  readonly problem: string;
  readonly onRegister: () => void;
  readonly onEnd: () => void;
}) {
  const { session, problem } = props;
  const { name, role } = session.operator;
  const present = place.value;
  const mayAct = role !== "viewer";
  return (
    <>
      <header>
        <p class="brand">
          <b>Sluice</b> {name}, {role}
        </p>
        <nav aria-label="Views">
          {TABS.map(([view, text]) => (
            <span key={view} aria-current={present.view === view ? "page" : undefined}>
              <Go to={{ view, filters: {} }}>{text}</Go>
            </span>
          ))}
        </nav>
        <Search />
        <button type="button" class="quiet" onClick={props.onEnd}>
          Sign out
        </button>
      </header>
      <main>
        {problem !== "" && (
          <p class="banner" role="alert">
            {problem}
          </p>
        )}
        {!session.isVerified && (
          <div class="banner" role="status">
            <p>You signed in without a passkey: you look, and change nothing.</p>
            <p>
              <button type="button" onClick={props.onRegister}>
                Register a passkey
              </button>
            </p>
          </div>
        )}
        {present.view === "overview" && <Overview mayAct={mayAct} />}
        {present.view === "settlements" && (
          <AllSettlements filters={present.filters} mayAct={mayAct} />
        )}
        {present.view === "settlement" && (
          <SettlementFile id={present.filters["id"] ?? ""} mayAct={mayAct} />
        )}
        {present.view === "chain" && <ChainFile id={present.filters["id"] ?? ""} mayAct={mayAct} />}
        {present.view === "trends" && <Charts range={present.filters["range"] ?? "24h"} />}
        {present.view === "integrators" && <Integrators />}
        {present.view === "integrator" && (
          <IntegratorFile
            name={present.filters["name"] ?? ""}
            filters={present.filters}
            mayAct={mayAct}
            isAdmin={role === "admin"}
          />
        )}
        {present.view === "examinations" && <Examinations mayAct={mayAct} />}
        {present.view === "log" && <Log />}
        {present.view === "people" && (
          <People own={name} isAdmin={role === "admin"} onRegister={props.onRegister} />
        )}
      </main>
    </>
  );
}

/** The trends, which are loaded when somebody wants to see them: they bring a library that draws. */
function Charts({ range }: { readonly range: string }) {
  const [loaded, setLoaded] = useState<{ readonly Trends: typeof Trends } | null>(null);
  useEffect(() => void import("./trends.tsx").then(setLoaded), []);
  return loaded ? <loaded.Trends range={range} /> : <p role="status">Loading…</p>;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HASH = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{80,90})$/i;
const AMOUNT = /^\d+(\.\d+)?( [\w.]+)?$/;

/** Returns the filter that a text is meant as. */
function filterOf(text: string): string {
  if (HASH.test(text)) return "txHash";
  if (AMOUNT.test(text)) return "amount";
  return /^0x0{10}/.test(text) ? "userId" : "wallet";
}

/** Goes to what a text names: a settlement's id, a transaction, an amount, a user, or an address. */
function Search() {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    // CAST: the form of the handler.
    const form = event.currentTarget as HTMLFormElement;
    const text = String(new FormData(form).get("text")).trim();
    if (UUID.test(text)) return go({ view: "settlement", filters: { id: text.toLowerCase() } });
    return go({ view: "settlements", filters: { [filterOf(text)]: text } });
  };
  return (
    <form role="search" onSubmit={submit}>
      <input
        name="text"
        type="search"
        aria-label="Search"
        placeholder="Id, address, user, transaction or amount"
        autocomplete="off"
        spellcheck={false}
        required
      />
    </form>
  );
}
