/** What runs, waits and is wrong now. */
import type {
  ConsoleBooks,
  ConsoleChain,
  ConsoleDirection,
  ConsoleEarly,
  ConsoleMove,
  ConsoleOverview,
  ConsolePause,
  ConsoleReadings,
  ConsoleScreening,
} from "@sluice/sdk/wire";
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { Go } from "../console/lists.tsx";
import { Time } from "../console/names.tsx";
import { useAsked } from "../console/use-asked.ts";
import { shorten } from "../kit/amounts.ts";
import { chainName } from "../pay/words.ts";
import { formatDuration, textsOf } from "../texts/index.ts";
import { Ask, Reason } from "./ask.tsx";
import { act, read } from "./desk.ts";
import { Amount, Rows } from "./rows.tsx";

const POLL_MS = 2_000;
const READINGS_POLL_MS = 15_000;

const number = (value: number) => new Intl.NumberFormat("en").format(value);

/** Names a span of seconds. */
export function span(seconds: number | null): string {
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
  const { value: readings } = useAsked(
    "readings",
    () => read<ConsoleReadings>("readings"),
    () => READINGS_POLL_MS,
  );
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
            <ChainTile key={chain.chainId} chain={chain} readings={readings} />
          ))}
        </div>
      </section>
      <section class="card">
        <h2>Settlements that have not ended</h2>
        <Rows
          empty="Nothing is open."
          names={["Chain", "Status", "Count", "Oldest"]}
          file="open-settlements.csv"
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
          file="in-flight.csv"
          rows={value.inFlight.map(({ chain, what, state, count, oldestS }) => [
            chainName(chain),
            what,
            state,
            count,
            span(oldestS),
          ])}
        />
      </section>
      {value.early.length > 0 && <Early chains={value.early} />}
      {readings && (readings.directions.length > 0 || value.moves.length > 0) && (
        <Moves
          moves={value.moves}
          directions={readings.directions}
          mayAct={mayAct}
          onDone={again}
        />
      )}
      <Books />
      <Screenings mayAct={mayAct} />
      {readings && <Means readings={readings} />}
      <section class="card">
        <div class="headline">
          <h2>Pauses</h2>
          {mayAct && <PauseButton chains={value.chains} onDone={again} />}
        </div>
        <Rows
          empty="Nothing is paused."
          names={["What", "Since", "By", "Reason", ""]}
          file="pauses.csv"
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

export function ChainTile(props: {
  readonly chain: ConsoleChain;
  readonly readings: ConsoleReadings | null;
  /** Whether it stands on the chain's own page. */
  readonly isOwn?: boolean;
}) {
  const { chain, readings, isOwn = false } = props;
  const { name, scanned, final, queued, unmined, stuck, auditedS } = chain;
  const node = readings?.chains.find((known) => known.chain === name);
  // The head was read some seconds ago, and the scanner may have gone on since.
  const seen = node?.head ?? null;
  const head = seen === null ? null : Math.max(seen, scanned ?? 0);
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
      {!isOwn && (
        <h2>
          <Go to={{ view: "chain", filters: { id: `${chain.chainId}` } }}>{chainName(name)}</Go>
        </h2>
      )}
      <dl>
        <dt>Head</dt>
        <dd>{head ?? "—"}</dd>
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
        {chain.budgets.map(({ host, used, max }) => (
          <Fragment key={host}>
            <dt>Requests today</dt>
            <dd title={host}>
              {number(used)} of {number(max)}
            </dd>
          </Fragment>
        ))}
      </dl>
      {node && node.problem !== null && <p class="wrong">No node answers: {node.problem}</p>}
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

/** What inventory risks for locks that are not final. */
function Early({ chains }: { readonly chains: readonly ConsoleEarly[] }) {
  const missing = chains.flatMap((one) => one.missing.map((lock) => ({ ...lock, ...one })));
  return (
    <section class="card">
      <h2>Paid before finality</h2>
      <Rows
        empty=""
        names={["From", "At risk", "Of", "Payouts", "State"]}
        file="early-payouts.csv"
        rows={chains.map(({ chain, countedUsd, exposureUsd, payouts, closed }) => [
          chainName(chain),
          `$${countedUsd}`,
          `$${exposureUsd}`,
          payouts,
          closed === null ? (
            "open"
          ) : (
            <span key="closed" class="wrong">
              closed since <Time at={closed.at} />: {closed.reason}
            </span>
          ),
        ])}
      />
      {missing.map(({ deliveryId, settlementId, worthUsd, chain, since }) => (
        <p key={deliveryId} class="wrong">
          A reorganisation of {chainName(chain)} removed the lock of{" "}
          <Go to={{ view: "settlement", filters: { id: settlementId } }}>
            settlement {shorten(settlementId)}
          </Go>{" "}
          after ${worthUsd} were paid, missing since <Time at={since} />. Once you have looked:{" "}
          <code>sluice early accept {shorten(deliveryId)}</code>
        </p>
      ))}
    </section>
  );
}

/** What the accounts of the ledger mean. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  external: "arrived from outside",
  wallet: "in deposit addresses",
  transit: "swept, not yet recorded",
  in_flight: "swept, not yet delivered",
  delivered: "delivered to recipients",
  fees: "fees",
  inventory: "paid out of inventory",
  treasury: "claimed for what inventory paid",
  refunded: "refunded",
  lane: "coin of the lanes",
  gas: "burned as gas",
};

/** Where every base unit is, by the ledger. */
function Books() {
  const { value } = useAsked(
    "books",
    () => read<ConsoleBooks>("books"),
    () => READINGS_POLL_MS,
  );
  if (!value) return null;
  return (
    <section class="card">
      <h2>The books</h2>
      <p class="hint">
        By chain and token all accounts add up to zero: what arrived from outside is somewhere.
      </p>
      <Rows
        empty="Nothing has arrived yet."
        names={["Chain", "Account", "Amount"]}
        file="books.csv"
        rows={value.accounts.map(({ chain, account, amount }) => [
          chainName(chain),
          ACCOUNTS[account] ?? account,
          <Amount key="amount" text={amount} />,
        ])}
      />
    </section>
  );
}

/** Says for how long something lasts. */
function lasting(hours: number): string {
  if (hours > 24 * 365) return "over a year";
  return hours > 48 ? `${Math.floor(hours / 24)} days` : `${hours} hours`;
}

/** Inventories and the coin of the lanes. */
function Means({ readings }: { readonly readings: ConsoleReadings }) {
  const { inventories, lanes } = readings;
  return (
    <section class="card">
      <h2>Inventory</h2>
      {inventories === null ? (
        <p class="wrong">It cannot be read: a chain does not answer.</p>
      ) : (
        <Rows
          empty="No route pays from inventory."
          names={["Token", "Available", "Balance", "Reserved", "Cap left", "Unclaimed", "Lasts"]}
          file="inventory.csv"
          rows={inventories.map((one) => [
            `${one.symbol} on ${chainName(one.chain)}`,
            <Amount key="available" text={one.available} />,
            <Amount key="balance" text={one.balance} />,
            <Amount key="reserved" text={one.reserved} />,
            <Amount key="cap" text={one.capLeft} />,
            one.unclaimed.count === 0
              ? "0"
              : `${one.unclaimed.amount} in ${one.unclaimed.count}, the oldest ${one.unclaimed.oldestMinutes ?? 0} min`,
            one.runwayHours === null ? "unknown" : lasting(Number(one.runwayHours)),
          ])}
        />
      )}
      <h2>Gas of the lanes</h2>
      <Rows
        empty="No lane has run yet."
        names={["Chain", "Lane", "Account", "Balance", "Lasts"]}
        file="lanes.csv"
        rows={lanes.map(({ chain, purpose, account, balance, runwayDays }) => [
          chainName(chain),
          purpose,
          <code key={account} title={account}>
            {shorten(account)}
          </code>,
          balance === null ? "unknown" : <Amount key="balance" text={balance} />,
          runwayDays === null ? "unknown" : lasting(24 * runwayDays),
        ])}
      />
    </section>
  );
}

/** Deposits that the screening holds or has not answered for; nothing where it has none. */
function Screenings({ mayAct }: { readonly mayAct: boolean }) {
  const [turn, setTurn] = useState(0);
  const { value } = useAsked(
    "screenings",
    () => read<{ readonly screenings: readonly ConsoleScreening[] }>("screenings"),
    () => READINGS_POLL_MS,
    turn,
  );
  if (!value || value.screenings.length === 0) return null;
  const decide = (depositId: string, verdict: "allow" | "refuse") => (
    <Ask
      name={verdict === "allow" ? "Allow" : "Hold"}
      title={verdict === "allow" ? "Let it be swept" : "Hold it"}
      explains={
        verdict === "allow"
          ? "The deposit is swept, whatever the screening answered."
          : "The deposit stays in its address until somebody allows it or refunds it."
      }
      onDone={() => setTurn(turn + 1)}
      run={({ reason }) => act(`screenings/${depositId}`, { verdict, reason }).then(() => null)}
    >
      <Reason />
    </Ask>
  );
  return (
    <section class="card">
      <h2>Deposits in screening</h2>
      <Rows
        empty=""
        names={["Amount", "Chain", "From", "Answer", "Since", ""]}
        rows={value.screenings.map((one) => [
          one.amount,
          chainName(one.chain),
          one.sender === null ? "unknown" : <code title={one.sender}>{shorten(one.sender)}</code>,
          `${one.verdict}${one.detail === null ? "" : `: ${one.detail}`}`,
          <Time key="at" at={one.since} />,
          mayAct && (
            <div key="acts" class="acts">
              {decide(one.depositId, "allow")}
              {one.verdict !== "refuse" && decide(one.depositId, "refuse")}
            </div>
          ),
        ])}
      />
    </section>
  );
}

function nameOf({ scope, chain, subject }: ConsolePause): string {
  if (chain === null) return `integrator ${subject}`;
  return scope === "chain" ? chainName(chain) : `${scope} ${subject} on ${chainName(chain)}`;
}

/** What treasuries moved to inventories, and what they can move. */
function Moves(props: {
  readonly moves: readonly ConsoleMove[];
  readonly directions: readonly ConsoleDirection[];
  readonly mayAct: boolean;
  readonly onDone: () => void;
}) {
  const { moves, directions, mayAct, onDone } = props;
  return (
    <section class="card">
      <div class="headline">
        <h2>Moves of the treasuries</h2>
        {mayAct && directions.length > 0 && <MoveButton directions={directions} onDone={onDone} />}
      </div>
      <Rows
        empty="Nothing was moved to an inventory yet."
        names={["Since", "From", "To", "Amount", "State", "Why", ""]}
        file="moves.csv"
        rows={moves.map((one) => [
          <Time key="at" at={one.createdAt} />,
          chainName(one.from),
          chainName(one.to),
          <Amount key="amount" text={`${one.amount} ${one.symbol}`} />,
          <span key="state" class={one.state === "failed" ? "wrong" : undefined}>
            {one.state}
          </span>,
          [one.reason, one.operator, one.error && `waits: ${one.error}`].filter(Boolean).join(", "),
          mayAct && one.state === "asked" && (
            <Ask
              key="cancel"
              name="Cancel"
              title="Cancel the move"
              explains="The settler has not planned it. Nothing was moved."
              onDone={onDone}
              run={() => act("moves/cancel", { move: one.move }).then(() => null)}
            />
          ),
        ])}
      />
      <h2>What can be moved now</h2>
      <Rows
        empty="No treasury contract is configured."
        names={["From", "To", "Amount"]}
        file="directions.csv"
        rows={directions.map(({ from, to, symbol, movable }) => [
          `treasury of ${chainName(from)}`,
          `inventory of ${chainName(to)}`,
          movable === null ? "unknown" : <Amount key="amount" text={`${movable} ${symbol}`} />,
        ])}
      />
    </section>
  );
}

function MoveButton(props: {
  readonly directions: readonly ConsoleDirection[];
  readonly onDone: () => void;
}) {
  const { directions, onDone } = props;
  return (
    <Ask
      name="Move"
      title="Move to an inventory"
      explains="The settler moves the token from the treasury to the inventory. It can arrive nowhere else."
      onDone={onDone}
      run={({ direction, amount, reason }) => {
        const chosen = directions[Number(direction)];
        return act("moves", {
          from: chosen?.fromChainId,
          to: chosen?.toChainId,
          token: chosen?.symbol,
          amount,
          reason,
        }).then(() => null);
      }}
    >
      <label>
        Direction
        <select name="direction">
          {directions.map(({ from, to, symbol, movable }, index) => (
            <option key={`${from} ${to} ${symbol}`} value={index}>
              {`${symbol}, treasury of ${chainName(from)} to inventory of ${chainName(to)}, at most ${movable ?? "unknown"}`}
            </option>
          ))}
        </select>
      </label>
      <label>
        Amount, in whole units
        <input name="amount" inputMode="decimal" autocomplete="off" required />
      </label>
      <Reason />
    </Ask>
  );
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
      run={({ reason }) => act("pauses/end", { ...target, reason }).then(() => null)}
    >
      <Reason />
    </Ask>
  );
}
