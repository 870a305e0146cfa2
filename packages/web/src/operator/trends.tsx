/** Charts over time: durations of settlements, their number, and fees earned. */
import { type ConsoleTrends, TREND_RANGES } from "@sluice/sdk/wire";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import styles from "uplot/dist/uPlot.min.css?inline";
import { Go } from "../console/lists.tsx";
import { useAsked } from "../console/use-asked.ts";
import { chainName } from "../pay/words.ts";
import { read } from "./desk.ts";
import { Rows } from "./rows.tsx";

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
document.adoptedStyleSheets = [sheet, ...document.adoptedStyleSheets];

const POLL_MS = 15_000;
const HEIGHT_PX = 220;

export function Trends({ range }: { readonly range: string }) {
  const { value, refusal } = useAsked(
    range,
    () => read<ConsoleTrends>("trends", { range }),
    () => POLL_MS,
  );
  return (
    <>
      <section class="card">
        <div class="headline">
          <h1>Trends</h1>
          <nav aria-label="Range" class="ranges">
            {TREND_RANGES.map((one) => (
              <span key={one} aria-current={one === range ? "page" : undefined}>
                <Go to={{ view: "trends", filters: { range: one } }}>{one}</Go>
              </span>
            ))}
          </nav>
        </div>
        {refusal && (
          <p class="banner" role="alert">
            {refusal.message}
          </p>
        )}
        {!value && !refusal && <p role="status">Loading…</p>}
        {value && (
          <>
            <h2>From deposit to delivery, in seconds</h2>
            <Chart
              label={describeTimes(value)}
              at={value.at}
              lines={[
                { name: "half within", values: value.p50S },
                { name: "95 of 100 within", values: value.p95S },
              ]}
            />
          </>
        )}
      </section>
      {value && (
        <>
          <section class="card">
            <h2>Completed settlements by route</h2>
            {value.routes.length === 0 ? (
              <p class="hint">None was completed in this time.</p>
            ) : (
              <Chart
                label={`Completed settlements: ${value.routes.map(({ name, counts }) => `${name} ${sum(counts)}`).join(", ")}.`}
                at={value.at}
                lines={value.routes.map(({ name, counts }) => ({ name, values: counts }))}
              />
            )}
          </section>
          <section class="card">
            <h2>Blocks behind the head</h2>
            {value.lags.length === 0 ? (
              <p class="hint">No scanner ran in this time.</p>
            ) : (
              <Chart
                label={`The most blocks behind the head: ${value.lags.map(({ chain, blocks }) => `${chainName(chain)} ${Math.max(...blocks.map((one) => one ?? 0))}`).join(", ")}.`}
                at={value.at}
                lines={value.lags.map(({ chain, blocks }) => ({
                  name: chainName(chain),
                  values: blocks,
                }))}
              />
            )}
          </section>
          <section class="card">
            <h2>Fees earned</h2>
            <Rows
              empty="None in this time."
              names={["Token", "Earned"]}
              rows={value.fees.map(({ token, total }) => [token, total])}
            />
            {value.fees.length > 0 && (
              <Chart
                label="Fees earned, by token, in whole units."
                at={value.at}
                lines={value.fees.map(({ token, amounts }) => ({ name: token, values: amounts }))}
              />
            )}
          </section>
        </>
      )}
    </>
  );
}

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);

/** The chart in words, for whoever does not see it. */
function describeTimes({ p50S, p95S }: ConsoleTrends): string {
  const [p50, p95] = [p50S, p95S].map((values) => values.findLast((one) => one !== null));
  if (p50 === undefined || p95 === undefined || p50 === null || p95 === null) {
    return "No settlement was completed in this time.";
  }
  return `Newest: half within ${p50.toFixed(1)} s, 95 of 100 within ${p95.toFixed(1)} s.`;
}

/** The time of day of a tick; at midnight, the day. */
function timeOf(seconds: number): string {
  const at = new Date(seconds * 1_000);
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
  return isMidnight
    ? at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })
    : at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** The beginning of a span, in the viewer's zone. */
function momentOf(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleString("en-GB", {
    dateStyle: "medium",
    timeStyle: "short",
  });
}

interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** Colours of lines, from the tokens of the page. */
const COLOURS = ["--accent", "--warn", "--soft", "--bad", "--ink"];
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Returns a colour of the page as a canvas takes it. */
function colourOf(token: string, within: HTMLElement): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  within.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Whether the viewer's system is dark now. */
function useDark(): boolean {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const follow = () => setDark(DARK.matches);
    DARK.addEventListener("change", follow);
    return () => DARK.removeEventListener("change", follow);
  }, []);
  return isDark;
}

function Chart(props: {
  readonly label: string;
  readonly at: readonly number[];
  readonly lines: readonly Line[];
}) {
  const { label, at, lines } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isDark = useDark();
  const data: uPlot.AlignedData = [[...at], ...lines.map(({ values }) => [...values])];
  const names = lines.map(({ name }) => name).join("\n");
  useEffect(() => {
    const target = box.current;
    if (!target) return undefined;
    const axis = {
      stroke: colourOf("--soft", target),
      grid: { stroke: colourOf("--line", target), width: 1 },
      ticks: { show: false },
    };
    const chart = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT_PX,
        scales: { y: { range: (_, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(timeOf) },
          { ...axis, size: 64 },
        ],
        series: [
          { label: "from", value: (_, seconds) => (seconds === null ? "—" : momentOf(seconds)) },
          ...lines.map(({ name }, index) => ({
            label: name,
            stroke: colourOf(COLOURS[index % COLOURS.length] ?? "--ink", target),
            width: 2,
            spanGaps: true,
            // One that stands alone is no line.
            points: { show: true, size: 5 },
          })),
        ],
      },
      data,
      target,
    );
    plot.current = chart;
    const resized = new ResizeObserver(() =>
      chart.setSize({ width: target.clientWidth, height: HEIGHT_PX }),
    );
    resized.observe(target);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
    // Other lines are another chart; other values are drawn in the same one.
  }, [names, isDark]);
  useEffect(() => plot.current?.setData(data), [JSON.stringify(data)]);
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}
