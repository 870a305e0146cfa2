/** Copies the marked parts of the examples into docs/tutorial.md; with `--check` compares only. */
import { readFileSync, writeFileSync } from "node:fs";

const target = new URL("../docs/tutorial.md", import.meta.url);
/** A fence after the comment that names its file and part. */
const FENCE = /(<!-- (\S+)#(\w+) -->\n\n<!-- prettier-ignore -->\n```ts\n)[\s\S]*?(?<=\n)(```\n)/g;

/** Returns the lines between `// begin: name` and `// end: name`, without their common indentation. */
function readPart(path: string, name: string): string {
  const text = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  const part = new RegExp(`^ *// begin: ${name}\\n([\\s\\S]*?)^ *// end: ${name}$`, "m").exec(text);
  if (!part?.[1]) throw new Error(`${path} has no part ${name}`);
  const indentation = /^ */.exec(part[1])?.[0].length ?? 0;
  return part[1].replaceAll(new RegExp(`^ {${indentation}}`, "gm"), "");
}

const page = readFileSync(target, "utf8");
const written = page.replaceAll(
  FENCE,
  (_, before: string, path: string, name: string, after: string) =>
    `${before}${readPart(path, name)}${after}`,
);
const fences = page.match(/^```ts$/gm)?.length ?? 0;
const copied = page.match(FENCE)?.length ?? 0;

if (fences !== copied) {
  process.stderr.write(`docs/tutorial.md: ${fences - copied} fences name no part of an example\n`);
  process.exitCode = 1;
} else if (!process.argv.includes("--check")) {
  writeFileSync(target, written);
} else if (page !== written) {
  process.stderr.write("docs/tutorial.md is not up to date: run `npm run gen`\n");
  process.exitCode = 1;
}
