/** Formats docs/mutation.md. */
import { AREAS } from "./areas.ts";

/** Minimum share of an area's mutants that its tests must catch, in percent. */
export const SCORE_MIN = 85;

/** A mutant that no test caught. */
export interface Survivor {
  /** Line and column. */
  readonly at: string;
  readonly line: string;
  readonly mutator: string;
  readonly replacement: string;
  /** The reason that no test can detect it. */
  readonly equivalent?: string;
}

/** The result of one file. */
export interface FileScore {
  readonly area: string;
  /** Path in the service's sources. */
  readonly file: string;
  readonly caught: number;
  readonly survivors: readonly Survivor[];
}

/** Returns the percentage caught, equivalents left out; 100 if there is nothing to catch. */
export function scoreOf(scores: readonly FileScore[]): number {
  const caught = scores.reduce((sum, score) => sum + score.caught, 0);
  const missed = scores.flatMap(listMissed).length;
  return caught + missed === 0 ? 100 : (100 * caught) / (caught + missed);
}

function listMissed({ survivors }: FileScore): Survivor[] {
  return survivors.filter(({ equivalent }) => equivalent === undefined);
}

function shorten(code: string): string {
  const text = code.replaceAll(/\s+/g, " ");
  return `\`${(text.length > 90 ? `${text.slice(0, 89)}…` : text).replaceAll("`", "'")}\``;
}

function formatRow(name: string, scores: readonly FileScore[]): string {
  const caught = scores.reduce((sum, score) => sum + score.caught, 0);
  const missed = scores.flatMap(listMissed).length;
  const equivalent = scores.flatMap(({ survivors }) => survivors).length - missed;
  const score =
    scores.length === 0
      ? "not run yet"
      : caught + missed === 0
        ? "nothing to plant"
        : `${scoreOf(scores).toFixed(1)} %`;
  return `| ${name} | ${score} | ${caught} | ${missed} | ${equivalent} |`;
}

/** Returns the page; the same scores give the same page. */
export function formatReport(scores: readonly FileScore[]): string {
  const rows = AREAS.flatMap(({ name }) => {
    const own = scores.filter(({ area }) => area === name);
    return [
      formatRow(`**${name}**`, own),
      ...own.map((score) => formatRow(`\`${score.file}\``, [score])),
    ];
  });
  const missed = scores.flatMap((score) =>
    listMissed(score).map(
      ({ at, line, replacement }) =>
        `- \`${score.file}:${at}\` ${shorten(line)}: ${shorten(replacement)}`,
    ),
  );
  const equivalents = scores.flatMap(({ file, survivors }) =>
    survivors.flatMap(({ at, replacement, equivalent }) =>
      equivalent === undefined
        ? []
        : [`- \`${file}:${at}\` ${shorten(replacement)}: ${equivalent}`],
    ),
  );
  return `# Mutation testing

Written by \`npm run mutation\`, which plants one small mistake after another (a negated condition, a removed statement or value, a moved
boundary) and runs the tests of that area: they must fail, or never end. Each area must catch at least ${SCORE_MIN} %. Texts for people, in
logs and messages, are not mutated. Files, tests and equivalents are listed in \`scripts/mutation/areas.ts\`.

| area and file | score | caught | missed | equivalent |
| --- | --- | --- | --- | --- |
${[...rows, formatRow("**all**", scores)].join("\n")}

## Missed

Position, line, and mutant.

${missed.join("\n") || "None."}

## Equivalent

Position, mutant, and the reason that no test can detect it.

${equivalents.join("\n") || "None."}
`;
}
