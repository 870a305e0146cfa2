/** One chain: its problems, and the actions that repair it. */
import type {
  ConsoleBreach,
  ConsoleChainFile,
  ConsoleChange,
  ConsoleOpenTransaction,
  ConsoleReadings,
} from "@sluice/sdk/wire";
import { useState } from "preact/hooks";
import { Go } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { shorten } from "../kit/amounts.ts";
import { chainName } from "../pay/words.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";
import { ChainTile } from "./overview.tsx";
import { Facts, Rows } from "./rows.tsx";

const POLL_MS = 5_000;

interface Shown {
  readonly path: string;
  readonly mayAct: boolean;
  readonly onDone: () => void;
}

export function ChainFile({ id, mayAct }: { readonly id: string; readonly mayAct: boolean }) {
  const [turn, setTurn] = useState(0);
  const path = `chains/${encodeURIComponent(id)}`;
  const { value, refusal } = useAsked(
    path,
    () => read<ConsoleChainFile>(path),
    () => POLL_MS,
    turn,
  );
  const { value: readings } = useAsked(
    "readings",
    () => read<ConsoleReadings>("readings"),
    () => 3 * POLL_MS,
  );
  if (!value) {
    return (
      <p class="card" role={refusal ? "alert" : "status"}>
        {refusal?.message ?? "Loading…"}
      </p>
    );
  }
  const shown: Shown = { path, mayAct, onDone: () => setTurn(turn + 1) };
  return (
    <>
      {refusal && (
        <p class="banner" role="alert">
          {refusal.message}
        </p>
      )}
      <section class="card">
        <h1>{chainName(value.chain.name)}</h1>
        <div class="tiles">
          <ChainTile chain={value.chain} readings={readings} isOwn />
        </div>
        {value.state !== "open" && (
          <p class="hint">It is {value.state}: no new quote and no new address is issued for it.</p>
        )}
        {mayAct && <ChainActs state={value.state} {...shown} />}
      </section>
      <section class="card">
        <h2>Breaches</h2>
        {value.breaches.length === 0 && <p class="hint">The auditor found none that is open.</p>}
        {value.breaches.map((breach) => (
          <BreachTile key={breach.id} breach={breach} {...shown} />
        ))}
      </section>
      <section class="card">
        <h2>Transactions that are not final</h2>
        <OpenTransactions transactions={value.transactions} {...shown} />
      </section>
      <section class="card">
        <h2>Changes of the contracts</h2>
        <Changes changes={value.changes} {...shown} />
      </section>
    </>
  );
}

function ChainActs({ state, path, onDone }: Shown & { readonly state: string }) {
  const order = (route: string, fields: object) => act(`${path}/${route}`, fields).then(() => null);
  return (
    <div class="acts">
      {state === "open" ? (
        <Ask
          name="Drain"
          title="Drain the chain"
          explains="No new quote and no new address is issued from and toward it. Deposits that arrive are settled as before."
          onDone={onDone}
          run={({ reason }) => order("drain", { reason })}
        >
          <Reason />
        </Ask>
      ) : (
        state === "draining" && (
          <Ask
            name="Open again"
            title="Open the chain again"
            explains="Quotes and addresses are issued for it again."
            onDone={onDone}
            run={({ reason }) => order("resume", { reason })}
          >
            <Reason />
          </Ask>
        )
      )}
      <Ask
        name="Skip a block"
        title="Skip a block that no node answers for"
        explains="The scanner moves over it by its header alone. Payments in it are found by balances, or when the block is read again."
        onDone={onDone}
        run={(fields) => order("skip", fields)}
      >
        <BlockNumber name="block" label="Block" />
        <Reason />
      </Ask>
      <Ask
        name="Read blocks again"
        title="Read blocks again"
        explains="Deposits in them that were missed are recorded; known ones stay as they are."
        onDone={onDone}
        run={(fields) => order("reread", fields)}
      >
        <BlockNumber name="from" label="From block" />
        <BlockNumber name="to" label="To block" />
        <Reason />
      </Ask>
      <Ask
        name="Fill a nonce"
        title="Fill a nonce of a lane"
        explains="For a nonce that no transaction of this service has, when others wait behind it: the lane sends a transfer of nothing to itself."
        onDone={onDone}
        run={({ nonce, ...fields }) => order("fill-nonce", { ...fields, nonce: Number(nonce) })}
      >
        <label>
          Lane, by its account
          <input name="lane" required autocomplete="off" spellcheck={false} />
        </label>
        <BlockNumber name="nonce" label="Nonce" />
        <Reason />
      </Ask>
    </div>
  );
}

function BlockNumber({ name, label }: { readonly name: string; readonly label: string }) {
  return (
    <label>
      {label}
      <input name={name} required inputMode="numeric" pattern="[0-9]+" autocomplete="off" />
    </label>
  );
}

function BreachTile({ breach, mayAct, onDone }: Shown & { readonly breach: ConsoleBreach }) {
  const { id, name, subject, facts, foundAt, heldSince, effect, cause, remedy } = breach;
  return (
    <div class="tile">
      <h3>{name}</h3>
      <p>
        Found <Time at={foundAt} />. <b>{effect}</b>
        {heldSince !== null && " The values agree again."}
      </p>
      {cause !== null && <p>Cause: {cause}.</p>}
      {remedy !== null && <p>Remedy: {remedy}.</p>}
      <Facts facts={[["Subject", subject], ...facts]} />
      {mayAct && (
        <div class="acts">
          <Ask
            name="End it"
            title="End the breach"
            explains={
              heldSince === null
                ? "Its repair is applied: the books follow the chain, and the difference is written off where there is one. A rule that is still violated opens another breach at the next audit."
                : "The values agree again: nothing is corrected."
            }
            onDone={onDone}
            run={({ reason }) => act(`breaches/${id}/end`, { reason }).then(() => null)}
          >
            <Reason />
          </Ask>
        </div>
      )}
    </div>
  );
}

function OpenTransactions(
  props: Shown & { readonly transactions: readonly ConsoleOpenTransaction[] },
) {
  const { transactions, path, mayAct, onDone } = props;
  return (
    <Rows
      empty="There is none."
      names={["Lane", "Nonce", "What", "State", "Attempts", "Since", ""]}
      rows={transactions.map((one) => [
        <code key="lane" title={one.lane}>
          {shorten(one.lane)}
        </code>,
        one.nonce ?? "—",
        one.settlementId === null ? (
          one.intent.split(":")[0]
        ) : (
          <Go to={{ view: "settlement", filters: { id: one.settlementId } }}>
            {one.intent.split(":")[0]}
          </Go>
        ),
        one.state,
        one.attempts,
        <Time key="at" at={one.createdAt} />,
        mayAct && one.isCancellable && (
          <Ask
            key="cancel"
            name="Cancel"
            title={`Cancel nonce ${one.nonce ?? ""}`}
            explains="From now on the lane signs a transfer of nothing for this nonce, at higher fees. Either may be mined; if the call loses, it is planned again."
            onDone={onDone}
            run={({ reason }) =>
              act(`${path}/cancel-nonce`, { lane: one.lane, nonce: one.nonce, reason }).then(
                () => null,
              )
            }
          >
            <Reason />
          </Ask>
        ),
      ])}
    />
  );
}

function Changes({
  changes,
  mayAct,
  onDone,
}: Shown & { readonly changes: readonly ConsoleChange[] }) {
  return (
    <Rows
      empty="Nothing is pending, and everything in force is expected."
      names={["What", "State", "Executable", "Expected", "Transaction", ""]}
      rows={changes.map((one) => [
        one.text,
        one.state,
        one.executableFrom === null ? "—" : <Time key="at" at={one.executableFrom} />,
        one.isExpected ? "yes" : <b class="wrong">no</b>,
        <code key="hash" title={one.txHash}>
          {shorten(one.txHash)}
        </code>,
        mayAct && !one.isExpected && (
          <Ask
            key="expect"
            name="Expect"
            title="Expect this change"
            explains="It is recorded that the change is yours, and the alert ends. To stop a change that is not, the guardian cancels it: sluice governance cancel."
            onDone={onDone}
            run={({ reason }) => act(`changes/${one.id}/expect`, { reason }).then(() => null)}
          >
            <Reason />
          </Ask>
        ),
      ])}
    />
  );
}
