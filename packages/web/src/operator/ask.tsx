/** A dialog that asks for what an action needs, sends it, and says what came of it. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Refusal } from "../console/api.ts";

/** The fields of the form, by name. */
export type Fields = Readonly<Record<string, string>>;

/** A button that opens the dialog. `run` returns what to say, or nothing. */
export function Ask(props: {
  readonly name: string;
  readonly title: string;
  /** What it does, before it is done. */
  readonly explains: string;
  readonly run: (fields: Fields) => Promise<ComponentChildren>;
  readonly onDone: () => void;
  readonly isDisabled?: boolean;
  readonly children?: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [said, setSaid] = useState<ComponentChildren>(null);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const open = () => {
    setSaid(null);
    setProblem("");
    dialog.current?.showModal();
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    // CAST: the form of the handler; its fields are texts.
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const fields = Object.fromEntries(
      [...data].flatMap(([name, value]) =>
        typeof value === "string" && value.trim() !== "" ? [[name, value.trim()]] : [],
      ),
    );
    setBusy(true);
    setProblem("");
    try {
      const answer = await props.run(fields);
      props.onDone();
      if (answer === undefined || answer === null) dialog.current?.close();
      else setSaid(answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class="quiet" disabled={props.isDisabled} onClick={open}>
        {props.name}
      </button>
      <dialog ref={dialog} aria-label={props.title}>
        <form onSubmit={(event) => void submit(event)}>
          <h2>{props.title}</h2>
          {said === null ? (
            <>
              <p>{props.explains}</p>
              {props.children}
              {problem !== "" && (
                <p class="banner" role="alert">
                  {problem}
                </p>
              )}
              <div class="acts">
                <button type="submit" disabled={isBusy}>
                  {props.name}
                </button>
                <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
                  Cancel
                </button>
              </div>
            </>
          ) : (
            <>
              <div role="status">{said}</div>
              <button type="button" onClick={() => dialog.current?.close()}>
                Close
              </button>
            </>
          )}
        </form>
      </dialog>
    </>
  );
}

/** The reason of an action, which is recorded. */
export function Reason() {
  return (
    <label>
      Reason, which is recorded
      <input name="reason" required maxLength={500} autocomplete="off" />
    </label>
  );
}
