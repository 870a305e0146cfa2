/** The doctor and the audit, run from here: the reports that their commands print. */
import type { ConsoleExamination, ConsoleRun } from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { Refusal } from "../console/api.ts";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { act, read } from "./desk.ts";

const POLL_MS = 2_000;

export function Examinations({ mayAct }: { readonly mayAct: boolean }) {
  return (
    <>
      <Examination
        name="doctor"
        title="Doctor"
        explains="Checks the configuration, nodes, contracts, keys, lanes, prices and the database, as “sluice doctor” does on the machine of this console."
        mayAct={mayAct}
      />
      <Examination
        name="audit"
        title="Audit"
        explains="Compares every wallet, payout and claim of the ledger with the chains, as “sluice audit” does. The auditor does the same in turns all the time."
        mayAct={mayAct}
      />
    </>
  );
}

function Examination(props: {
  readonly name: ConsoleExamination;
  readonly title: string;
  readonly explains: string;
  readonly mayAct: boolean;
}) {
  const { name, title, explains, mayAct } = props;
  const [turn, setTurn] = useState(0);
  const [problem, setProblem] = useState("");
  const { value, refusal } = useAsked(
    `examinations/${name}`,
    () => read<ConsoleRun>(`examinations/${name}`),
    () => POLL_MS,
    turn,
  );
  const start = async () => {
    try {
      await act(`examinations/${name}`);
      setProblem("");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    }
    setTurn(turn + 1);
  };
  const isRunning = value?.state === "running";
  const wrong = problem === "" ? refusal?.message : problem;
  return (
    <section class="card">
      <div class="headline">
        <h1>{title}</h1>
        {mayAct && (
          <button type="button" class="quiet" disabled={isRunning} onClick={() => void start()}>
            {`Run the ${name}`}
          </button>
        )}
      </div>
      <p class="hint">{explains}</p>
      {wrong !== undefined && (
        <p class="banner" role="alert">
          {wrong}
        </p>
      )}
      <div role="status">
        {value?.state === "never" && <p>Not run since this process started.</p>}
        {isRunning && value.startedAt !== null && (
          <p>
            Running since <Time at={value.startedAt} />, started by {value.startedBy}.
          </p>
        )}
        {value?.state === "ended" && value.endedAt !== null && (
          <p>
            {value.ok ? "Nothing is wrong." : <b class="wrong">Something is wrong.</b>}{" "}
            <Time at={value.endedAt} />, started by {value.startedBy}.
          </p>
        )}
      </div>
      {value?.state === "ended" && (
        <pre tabIndex={0} aria-label={`Report of the ${name}`}>
          {value.text}
        </pre>
      )}
    </section>
  );
}
