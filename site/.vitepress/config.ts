/**
 * The documentation as pages with search: `npm run docs`. The pages are the Markdown files of the repository, which this file copies
 * and orders by reader. A page that nobody would find, or a link that leads nowhere, ends the build.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { defineConfig, type MarkdownOptions } from "vitepress";

const ROOT = resolve(import.meta.dirname, "../..");
/** Pages outside `docs`. */
const OTHERS = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "bench/README.md",
  "examples/README.md",
  "packages/contracts/README.md",
  "packages/sandbox/README.md",
  "packages/sdk/README.md",
  "packages/web/README.md",
];
const DOCS = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);
const PAGES = [...OTHERS, ...DOCS];

/** Pages by reader, in the order in which they are read. The runbook's pages are listed by its own page. */
const READERS = {
  Try: ["README.md", "docs/glossary.md", "packages/sandbox/README.md", "docs/scenarios.md"],
  Integrate: [
    "docs/tutorial.md",
    "docs/interface.md",
    "docs/webhooks.md",
    "docs/pay-page.md",
    "docs/refunds.md",
    "docs/lifecycle.md",
    "docs/console.md",
    "packages/sdk/README.md",
    "packages/web/README.md",
    "examples/README.md",
  ],
  Operate: [
    "docs/going-live.md",
    "docs/deploy.md",
    "docs/configuration.md",
    "docs/presets.md",
    "docs/command-line.md",
    "docs/keys.md",
    "docs/key-ceremony.md",
    "docs/nodes.md",
    "docs/rpc.md",
    "docs/doctor.md",
    "docs/operations.md",
    "docs/runbook/README.md",
    "docs/reverse-proxy.md",
    "docs/early-payouts.md",
    "docs/inventory.md",
    "docs/fees.md",
    "docs/ledger.md",
    "docs/performance.md",
    "docs/scale.md",
  ],
  Audit: [
    "SECURITY.md",
    "ARCHITECTURE.md",
    "docs/threats.md",
    "docs/assurance.md",
    "docs/contracts-spec.md",
    "docs/formats.md",
    "docs/solana.md",
    "docs/mutation.md",
    "packages/contracts/README.md",
  ],
  Contribute: [
    "CONTRIBUTING.md",
    "docs/README.md",
    "docs/dependencies.md",
    "docs/releases.md",
    "bench/README.md",
    "CHANGELOG.md",
  ],
} as const;

const listed = new Set<string>(Object.values(READERS).flat());
const lost = PAGES.filter((page) => !listed.has(page) && !page.startsWith("docs/runbook/"));
if (lost.length > 0)
  throw new Error(`site/.vitepress/config.ts lists no reader of ${lost.join(", ")}`);

// The pages are compiled where their dependencies are found.
const COPIES = resolve(import.meta.dirname, "../pages");
rmSync(COPIES, { recursive: true, force: true });
for (const path of [...PAGES, "docs/screens"]) {
  cpSync(join(ROOT, path), join(COPIES, path), { recursive: true });
}

/** Other files of the repository that pages link to: they are served as they are. */
const files = new Set<string>();

function titleOf(page: string): string {
  const heading = /^# (.*)$/m.exec(readFileSync(join(ROOT, page), "utf8"))?.[1] ?? page;
  return heading.replaceAll("`", "");
}

const pathOf = (page: string): string => `/${page.replace(/(README)?\.md$/, "")}`;

/** Leads a link to a page or a file of the repository; undefined for a folder, which has no page. */
function leadTo(page: string, href: string): string | undefined {
  if (/^([a-z]+:|#)/i.test(href)) return href;
  const [path = "", hash = ""] = href.split("#");
  let target = relative(ROOT, resolve(ROOT, dirname(page), path));
  if (!existsSync(join(ROOT, target)))
    throw new Error(`${page} links to ${href}, which does not exist`);
  if (statSync(join(ROOT, target)).isDirectory()) target = join(target, "README.md");
  if (PAGES.includes(target)) return `${pathOf(target)}${hash && `#${hash}`}`;
  if (target.endsWith("README.md")) return undefined;
  files.add(target);
  return `/${target}`;
}

const markdown: MarkdownOptions = {
  // GitHub's ids of headings, since the same links work there.
  anchor: {
    slugify: (text) =>
      text
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-"),
  },
  config(md) {
    // A page says `<name>` and means it.
    md.options.html = false;
    // Commands are indented, without a fence.
    md.renderer.rules["code_block"] = (tokens, index, options, env, self) => {
      const [token] = tokens.slice(index, index + 1);
      if (token) Object.assign(token, { type: "fence", info: "sh" });
      return md.renderer.rules["fence"]?.(tokens, index, options, env, self) ?? "";
    };
    md.core.ruler.push("links", ({ tokens, env }) => {
      for (const { children } of tokens) {
        for (const [index, token] of (children ?? []).entries()) {
          if (token.type === "text") token.content = token.content.replaceAll("{{", "{\u200B{");
          if (token.type !== "link_open") continue;
          const lead = leadTo(String(env.relativePath), String(token.attrGet("href")));
          if (lead !== undefined) {
            token.attrSet("href", lead);
            const text = children?.[index + 1];
            const target = PAGES.find((page) => pathOf(page) === lead.split("#")[0]);
            // On a site a page has a title instead of a name.
            if (target && text && /^[\w./-]+\.md$/.test(text.content))
              text.content = titleOf(target);
            continue;
          }
          const end = children?.find((other, at) => at > index && other.type === "link_close");
          for (const one of [token, end])
            if (one) Object.assign(one, { type: "text", tag: "", content: "" });
        }
      }
    });
  },
};

export default defineConfig({
  title: "Sluice",
  description:
    "Self-hosted settlement deposits: permanent addresses that settle to one fixed destination.",
  srcDir: "pages",
  outDir: "./dist",
  head: [["link", { rel: "icon", href: "data:," }]],
  cleanUrls: false,
  lastUpdated: false,
  rewrites: Object.fromEntries(
    PAGES.filter((page) => page.endsWith("README.md")).map((page) => [
      page,
      page.replace(/README\.md$/, "index.md"),
    ]),
  ),
  markdown,
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: Object.entries(READERS).map(([text, pages]) => ({
      text,
      items: pages.map((page) => ({ text: titleOf(page), link: pathOf(page) })),
    })),
  },
  buildEnd({ outDir }) {
    for (const file of files) cpSync(join(ROOT, file), join(outDir, file), { recursive: true });
  },
});
