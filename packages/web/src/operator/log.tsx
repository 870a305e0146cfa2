/** What people did by hand, and who may. */
import {
  type ConsoleLog,
  type ConsoleLogLine,
  type ConsoleLogProof,
  type ConsolePerson,
  OPERATOR_ROLES,
} from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { Go } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";
import { Save } from "./rows.tsx";

const POLL_MS = 5_000;

export function Log() {
  const { value, refusal } = useAsked(
    "log",
    () => read<ConsoleLog>("log"),
    () => POLL_MS,
  );
  // Of the whole log, so that it is asked for once.
  const { value: proof } = useAsked(
    "proof",
    () => read<ConsoleLogProof>("log/proof"),
    (known) => (known === null ? POLL_MS : null),
  );
  return (
    <section class="card">
      <div class="headline">
        <h1>Manual actions</h1>
        <Save name="log.csv" read={readAll} />
      </div>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      {proof && proof.brokenAt !== null && (
        <p class="banner" role="alert">
          <b>The hash of line {proof.brokenAt} differs:</b> somebody changed the log in the
          database.
        </p>
      )}
      {proof && proof.brokenAt === null && (
        <p class="hint">
          {proof.lines} lines, each with the hash of the one before.{" "}
          {proof.head !== null && (
            <>
              Note the hash of the newest elsewhere, to find out later if lines are missing at the
              end: <code>{proof.head}</code>
            </>
          )}
        </p>
      )}
      {value && value.lines.length > 0 && (
        <div class="scrolled">
          <table>
            <thead>
              <tr>
                {["When", "Who", "What", "Reason"].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {value.lines.map(({ seq, at, operator, action, reason, settlementId }) => (
                <tr key={seq}>
                  <td data-name="When">
                    <Time at={at} />
                  </td>
                  <td data-name="Who">{operator}</td>
                  <td data-name="What">
                    {settlementId === null ? (
                      action
                    ) : (
                      <Go to={{ view: "settlement", filters: { id: settlementId } }}>{action}</Go>
                    )}
                  </td>
                  <td data-name="Reason">{reason ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Reads the whole log as lines, the newest first. */
async function readAll(): Promise<readonly (readonly string[])[]> {
  const lines: ConsoleLogLine[] = [];
  for (;;) {
    const oldest = lines.at(-1);
    const from: Readonly<Record<string, string>> = oldest ? { before: String(oldest.seq) } : {};
    const page = await read<ConsoleLog>("log", from);
    if (page.lines.length === 0) break;
    lines.push(...page.lines);
  }
  const names = ["seq", "at", "operator", "action", "reason", "settlementId", "hash"] as const;
  return [names, ...lines.map((line) => names.map((name) => String(line[name] ?? "")))];
}

export function People(props: {
  readonly own: string;
  readonly isAdmin: boolean;
  readonly onRegister: () => void;
}) {
  const [turn, setTurn] = useState(0);
  const again = () => setTurn(turn + 1);
  const { value, refusal } = useAsked(
    "people",
    () => read<{ readonly operators: readonly ConsolePerson[] }>("operators"),
    () => POLL_MS,
    turn,
  );
  return (
    <section class="card">
      <div class="headline">
        <h1>People</h1>
        {props.isAdmin && (
          <Ask
            name="Invite"
            title="Invite a person"
            explains="A new person, or one who lost a passkey. You get a link that signs in once, within 24 hours: hand it over by a way that you trust."
            onDone={again}
            run={async (fields) => {
              const { url } = await act<{ url: string }>("operators", fields);
              return (
                <p>
                  The link, shown once: <code class="invitation">{url}</code>
                </p>
              );
            }}
          >
            <label>
              Name
              <input name="name" required maxLength={60} autocomplete="off" />
            </label>
            <label>
              E-mail address at the identity provider, if it is to sign in there
              <input name="identity" type="email" maxLength={254} autocomplete="off" />
            </label>
            <label>
              Role
              <select name="role">
                {OPERATOR_ROLES.map((role) => (
                  <option key={role} value={role}>
                    {role}
                  </option>
                ))}
              </select>
            </label>
          </Ask>
        )}
      </div>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <p>
        <button type="button" class="quiet" onClick={props.onRegister}>
          Register another passkey for yourself
        </button>
      </p>
      <div class="scrolled">
        <table>
          <thead>
            <tr>
              {["Name", "Role", "Passkeys", "Open sessions"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">
                <span class="spoken">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value?.operators.map(({ name, role, disabledAt, passkeys, openSessions }) => (
              <tr key={name}>
                <td data-name="Name">{name}</td>
                <td data-name="Role">{disabledAt === null ? role : "disabled"}</td>
                <td data-name="Passkeys">{passkeys}</td>
                <td data-name="Open sessions">{openSessions}</td>
                <td data-name="">
                  {props.isAdmin && disabledAt === null && name !== props.own && (
                    <Ask
                      name="Disable"
                      title={`Disable ${name}`}
                      explains="The sessions end, and passkeys and invitations are refused from now on. It cannot be undone."
                      onDone={again}
                      run={({ reason }) =>
                        act("operators/disable", { name, reason }).then(() => null)
                      }
                    >
                      <Reason />
                    </Ask>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
