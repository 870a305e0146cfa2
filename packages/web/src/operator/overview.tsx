/** What runs, waits and is wrong now. */
import type { ConsoleChain, ConsoleOverview, ConsolePause } from "@sluice/sdk/wire";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Go } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { chainName } from "../pay/words.ts";
import { formatDuration, textsOf } from "../texts/index.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";

const POLL_MS = 2_000;

/** Names a span of seconds. */
function span(seconds: number | null): string {
  return seconds === null ? "—" : formatDuration(Math.round(seconds), textsOf("en"));
}

export function Overview({ mayAct }: { readonly mayAct: boolean }) {
  const [turn, setTurn] = useState(0);
  const { value, refusal } = useAsked(
    "overview",
    () => read<ConsoleOverview>("overview"),
    () => POLL_MS,
    turn,
  );
  const again = () => setTurn(turn + 1);
  if (!value) {
    return (
      <p class="card" role={refusal ? "alert" : "status"}>
        {refusal?.message ?? "Loading…"}
      </p>
    );
  }
  return (
    <>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <section class="card">
        <h1>Chains</h1>
        <div class="tiles">
          {value.chains.map((chain) => (
            <ChainTile key={chain.chainId} chain={chain} />
          ))}
        </div>
      </section>
      <section class="card">
        <h2>Settlements that have not ended</h2>
        <Rows
          empty="Nothing is open."
          names={["Chain", "Status", "Count", "Oldest"]}
          rows={value.open.map(({ chain, status, count, oldestS }) => [
            chainName(chain),
            <Go key={status} to={{ view: "settlements", filters: { status } }}>
              {status.replaceAll("_", " ")}
            </Go>,
            count,
            span(oldestS),
          ])}
        />
        {value.held.length > 0 && (
          <>
            <h2>Held by a state of the contracts or an operator</h2>
            <Rows
              empty=""
              names={["Chain", "Reason", "Count"]}
              rows={value.held.map(({ chain, reason, count }) => [
                chainName(chain),
                reason.replaceAll("_", " "),
                count,
              ])}
            />
          </>
        )}
      </section>
      <section class="card">
        <h2>Value in flight</h2>
        <Rows
          empty="No lock and no bridge transfer is open."
          names={["To", "What", "State", "Count", "Oldest"]}
          rows={value.inFlight.map(({ chain, what, state, count, oldestS }) => [
            chainName(chain),
            what,
            state,
            count,
            span(oldestS),
          ])}
        />
      </section>
      <section class="card">
        <div class="headline">
          <h2>Pauses</h2>
          {mayAct && <PauseButton chains={value.chains} onDone={again} />}
        </div>
        <Rows
          empty="Nothing is paused."
          names={["What", "Since", "By", "Reason", ""]}
          rows={value.pauses.map((pause) => [
            nameOf(pause),
            <Time key="at" at={pause.pausedAt} />,
            pause.operator,
            pause.reason,
            mayAct && <ResumeButton key="resume" pause={pause} onDone={again} />,
          ])}
        />
      </section>
    </>
  );
}

function ChainTile({ chain }: { readonly chain: ConsoleChain }) {
  const { name, scanned, final, queued, unmined, stuck, auditedS } = chain;
  const wrong = (
    [
      [chain.breaches, "open breaches: the chain is halted"],
      [chain.quarantines, "wallets in quarantine"],
      [chain.unproved, "comparisons without an answer"],
      [chain.stuck, "transactions not mined for five minutes"],
      [chain.governance, "changes of the contracts that nobody expected"],
    ] as const
  ).filter(([count]) => count > 0);
  return (
    <div class="tile">
      <h2>{chainName(name)}</h2>
      <dl>
        <dt>Scanned</dt>
        <dd>{scanned ?? "—"}</dd>
        <dt>Final</dt>
        <dd>{final === null ? "—" : `${final} (${(scanned ?? final) - final} behind)`}</dd>
        <dt>Transactions</dt>
        <dd>
          {queued} queued, {unmined} sent{stuck > 0 && `, ${stuck} stuck`}
        </dd>
        <dt>Audited</dt>
        <dd>{auditedS === null ? "not yet" : `${span(auditedS)} ago`}</dd>
      </dl>
      {wrong.map(([count, text]) => (
        <p key={text} class="wrong">
          {count} {text}
        </p>
      ))}
      {wrong.length === 0 && auditedS !== null && (
        <p class="hint">The books agree with the chain.</p>
      )}
    </div>
  );
}

/** A table; on a narrow screen each cell names its column. */
function Rows(props: {
  readonly names: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly empty: string;
}) {
  if (props.rows.length === 0) return <p class="hint">{props.empty}</p>;
  return (
    <div class="scrolled">
      <table>
        <thead>
          <tr>
            {props.names.map((name) => (
              <th key={name} scope="col">
                {name === "" ? <span class="spoken">Actions</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column} data-name={props.names[column]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function nameOf({ scope, chain, subject }: ConsolePause): string {
  if (chain === null) return `integrator ${subject}`;
  return scope === "chain" ? chainName(chain) : `${scope} ${subject} on ${chainName(chain)}`;
}

function PauseButton(props: {
  readonly chains: readonly ConsoleChain[];
  readonly onDone: () => void;
}) {
  return (
    <Ask
      name="Pause"
      title="Pause"
      explains="Nothing new of it is deployed or swept. Deposits are still detected and queued, and value in flight goes on. Without a token or a route the whole chain is paused; an integrator is paused on every chain."
      onDone={props.onDone}
      run={({ chainId, token, route, integrator, reason }) =>
        act(
          "pauses",
          integrator === undefined
            ? {
                chainId: Number(chainId),
                ...(token !== undefined && { token }),
                ...(route !== undefined && { route }),
                reason,
              }
            : { integrator, reason },
        ).then(() => null)
      }
    >
      <label>
        Chain
        <select name="chainId">
          {props.chains.map(({ chainId, name }) => (
            <option key={chainId} value={chainId}>
              {chainName(name)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Token, by its address, if only one
        <input name="token" autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Kind of route, if only one
        <select name="route">
          {["", "SWIFT", "MONO_CHAIN", "FAST_MCTP"].map((kind) => (
            <option key={kind} value={kind}>
              {kind === "" ? "All" : kind}
            </option>
          ))}
        </select>
      </label>
      <label>
        Or an integrator, by its name
        <input name="integrator" autocomplete="off" />
      </label>
      <Reason />
    </Ask>
  );
}

function ResumeButton(props: { readonly pause: ConsolePause; readonly onDone: () => void }) {
  const { scope, chainId, subject } = props.pause;
  const target = {
    ...(chainId === null ? { integrator: subject } : { chainId }),
    ...((scope === "token" || scope === "route") && { [scope]: subject }),
  };
  return (
    <Ask
      name="Resume"
      title={`Resume ${nameOf(props.pause)}`}
      explains="What waited for it is settled from now on."
      onDone={props.onDone}
      run={() => act("pauses/end", target).then(() => null)}
    />
  );
}
