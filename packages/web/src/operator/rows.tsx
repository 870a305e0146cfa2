/** Tables of the operators' page, and files of what they show. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Refusal } from "../console/api.ts";

/** A table; on a narrow screen each cell names its column. */
export function Rows(props: {
  readonly names: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly empty: string;
  /** The name of the file that the table is saved as; without it there is no button. */
  readonly file?: string;
}) {
  const table = useRef<HTMLTableElement>(null);
  const { file } = props;
  if (props.rows.length === 0) return <p class="hint">{props.empty}</p>;
  return (
    <div class="scrolled">
      <table ref={table}>
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
      {file !== undefined && (
        <button
          type="button"
          class="quiet"
          onClick={() => table.current && saveLines(file, readLines(table.current))}
        >
          As CSV
        </button>
      )}
    </div>
  );
}

/** Returns the texts of a table, as it is shown; a cell whose title is longer than its text has that. */
function readLines(table: HTMLTableElement): readonly (readonly string[])[] {
  return [...table.rows].map((row) =>
    [...row.cells].map((cell) => {
      const titled = cell.querySelector("[title]")?.getAttribute("title");
      return titled ?? cell.textContent;
    }),
  );
}

/** Labels with their texts. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, string])[] }) {
  return (
    <dl class="facts">
      {facts.map(([label, text]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Fractional digits that a balance is shown with; its title has all. */
const DIGITS = 4;

/** An amount in whole units, maybe with its symbol: grouped, and without digits that nobody reads. */
export function Amount({ text }: { readonly text: string }) {
  const [, sign = "", whole = "", fraction = "", rest = ""] =
    /^(-?)(\d+)(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  if (whole === "") return <>{text}</>;
  const kept = fraction.slice(0, DIGITS);
  return (
    <span title={text}>
      {sign && "−"}
      {new Intl.NumberFormat("en").format(BigInt(whole))}
      {kept === "" ? "" : `.${kept}`}
      {fraction.length > DIGITS && "…"}
      {rest}
    </span>
  );
}

/** Saves lines as a file with commas. Cells that a spreadsheet would take for a formula begin with an apostrophe. */
function saveLines(name: string, lines: readonly (readonly string[])[]): void {
  const quote = (cell: string) =>
    `"${(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`;
  const text = lines.map((cells) => `${cells.map(quote).join(",")}\r\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A button that saves a whole list, also what is not on the page. */
export function Save(props: {
  readonly name: string;
  readonly read: () => Promise<readonly (readonly string[])[]>;
}) {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      saveLines(props.name, await props.read());
      setProblem("");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class="quiet" disabled={isBusy} onClick={() => void save()}>
        All as CSV
      </button>
      {problem !== "" && <span role="alert">{problem}</span>}
    </>
  );
}
