/** Writes docs/presets.md from the presets; with --check it only reports whether the page is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  chainOf,
  listMarkets,
  maxAgeSecondsOf,
  type Preset,
  isTest,
  PRESETS,
  SOLANA_PRESETS,
  type SolanaPreset,
  type Sourced,
} from "../packages/service/src/config/presets/index.ts";
import { PACKAGES } from "../packages/service/src/config/presets/sources.ts";
import { isOpStack } from "../packages/service/src/core/chain-registry.ts";
import { table } from "./table.ts";

const target = new URL("../docs/presets.md", import.meta.url);

/** Pages that tables refer to; their addresses are at the end of the page, so that tables stay narrow. */
const pages: string[] = [];

/** Returns a link by number to a page. */
function linkTo(text: string, url: string): string {
  if (!pages.includes(url)) pages.push(url);
  return `[${text}][${pages.indexOf(url) + 1}]`;
}

/** Returns a fact's page and the short names of the packages that agree with it. */
function sourcesOf({ source, comparedWith }: Sourced): string {
  const names = Object.entries(PACKAGES).filter(([, name]) => comparedWith.includes(name));
  return `${linkTo("page", source)}; ${names.map(([short]) => short).join(", ")}`;
}

function writeTokens({ tokens }: Preset): string {
  return table(
    ["token", "address", "decimals", "`minDeposit`", "sources"],
    tokens.map((token) => [
      token.symbolOnChain ? `${token.symbol} (on chain ${token.symbolOnChain})` : token.symbol,
      `\`${token.address}\``,
      String(token.decimals),
      token.minDeposit,
      sourcesOf(token),
    ]),
  );
}

function writeFeeds({ tokens }: Preset): string {
  const feeds = new Map(tokens.flatMap(({ feed }) => (feed ? [[feed.address, feed]] : [])));
  if (feeds.size === 0) return "No price feeds.";
  return table(
    ["feed", "address", "heartbeat, s", "`maxAgeSeconds`", "sources"],
    [...feeds.values()].map((feed) => [
      feed.otherPair ? `${feed.pair} or ${feed.otherPair}` : feed.pair,
      `\`${feed.address}\``,
      feed.heartbeatSeconds === null ? "not compared" : String(feed.heartbeatSeconds),
      String(maxAgeSecondsOf(feed)),
      sourcesOf(feed),
    ]),
  );
}

/** Writes the requests to exchanges, by the pair of the feed that they accompany. */
function writeMarkets(): string {
  const pairs = new Set([
    ...PRESETS.flatMap(({ tokens }) => tokens.flatMap(({ feed }) => feed?.pair ?? [])),
    ...SOLANA_PRESETS.flatMap(({ tokens }) => tokens.map(({ pair }) => pair)),
  ]);
  return table(
    ["pair", "exchange", "`url`", "`pointer`"],
    [...pairs].flatMap((pair) =>
      listMarkets({ pair }).map(({ exchange, url, pointer, source }) => [
        pair,
        linkTo(exchange, source),
        `\`${url}\``,
        `\`${pointer}\``,
      ]),
    ),
  );
}

function writeContracts({ cctp, uniswapV3 }: Preset): string {
  const contracts: readonly (readonly [string, string, Sourced])[] = [
    ...(cctp
      ? ([
          [`\`cctp.messenger\`, domain ${cctp.domain}`, cctp.messenger, cctp],
          ["`cctp.transmitter`", cctp.transmitter, cctp],
        ] as const)
      : []),
    ["`uniswapV3.router` (SwapRouter02)", uniswapV3.router, uniswapV3],
    ["its factory", uniswapV3.factory, uniswapV3],
    ["`uniswapV3.weth`", uniswapV3.weth, uniswapV3],
  ];
  return table(
    ["contract", "address", "sources"],
    contracts.map(([name, address, sourced]) => [name, `\`${address}\``, sourcesOf(sourced)]),
  );
}

function writePreset(preset: Preset): string {
  const { chainId, evmChainId, explorerTxUrl } = chainOf(preset);
  const { terms, finality, remarks } = preset;
  return [
    `## ${preset.name}`,
    `Bridge chain id ${chainId}, EVM chain id ${evmChainId}, explorer <${explorerTxUrl}>. \`minDepositUsd\` ${terms.minDepositUsd}, \`deliveryConfirmations\` ${terms.deliveryConfirmations}, \`pollIntervalMs\` ${terms.pollIntervalMs}, \`gasPriceMaxGwei\` ${terms.gasPriceMaxGwei}.`,
    `Finality: ${finality.rule} ([page](${finality.source}))`,
    ...(isOpStack(chainId)
      ? [
          "A chain of the OP stack: fees for layer 1 and of the operator are counted besides gas ([fees](fees.md)).",
        ]
      : []),
    writeTokens(preset),
    writeFeeds(preset),
    writeContracts(preset),
    ...(remarks.length > 0 ? [remarks.map((remark) => `- ${remark}`).join("\n")] : []),
  ].join("\n\n");
}

function writeSolana(solana: SolanaPreset): string {
  const { terms, finality, genesis, cctp, tokens, remarks } = solana;
  return [
    `## ${solana.name}`,
    `Bridge chain id 1. \`minDepositUsd\` ${terms.minDepositUsd}, \`pollIntervalMs\` ${terms.pollIntervalMs}, \`priorityFeeMax\` ${terms.priorityFeeMax}.`,
    `Finality: ${finality.rule} ([page](${finality.source}))`,
    `\`genesisHash\` \`${genesis.hash}\` (${sourcesOf(genesis)}). CCTP domain ${cctp.domain} (${sourcesOf(cctp)}).`,
    table(
      ["token", "mint", "decimals", "`minDeposit`", "priced as", "sources"],
      tokens.map((token) => [
        token.symbol,
        `\`${token.address}\``,
        String(token.decimals),
        token.minDeposit,
        token.pair,
        sourcesOf(token),
      ]),
    ),
    remarks.map((remark) => `- ${remark}`).join("\n"),
  ].join("\n\n");
}

const tests = <P extends { readonly name: string }>(presets: readonly P[]) =>
  presets.filter(isTest);
const mains = <P extends { readonly name: string }>(presets: readonly P[]) =>
  presets.filter((preset) => !isTest(preset));

const text = `# Presets

A chain of the configuration can be a preset: \`{ "preset": "base", "rpcUrls": […], "startBlock": …, "lanes": {…} }\`
([configuration.md](configuration.md)). A preset contains the public facts of the chain, and terms chosen by this project. Settings
in the file override it, except the two ids. [examples/production.json](examples/production.json) is a complete file: a preset, nodes
and keys for each chain, and the owners of the contracts for all of them. \`startBlock\` is yours, since only you know when your
factory was deployed. This page is generated (\`npm run gen\`) from the presets in \`packages/service/src/config/presets/\`.

**Facts** are tokens, feeds, CCTP and Uniswap. Each names the page of its issuer or project, and the npm packages whose data agree:

${Object.entries(PACKAGES)
  .map(([short, name]) => `- ${short}: \`${name}\``)
  .join("\n")}

The facts were compared when the preset was written, not with a live chain: \`sluice doctor\` does that, through your own node
([doctor.md](doctor.md)). Not every page was opened. No package has heartbeats: they are those of
\`LZeroAnalytics/chainlink-package\` on GitHub, of March 2025. Uncertain facts are left out, with a remark under the chain.

The pool swap routes call \`SwapRouter02\`. Uniswap's first \`SwapRouter\` has other methods, is missing on some of these chains,
and cannot be used.

**Terms** are \`minDeposit\`, \`minDepositUsd\`, \`deliveryConfirmations\`, \`pollIntervalMs\` and \`gasPriceMaxGwei\`. They keep dust from settling. Whether
your fee pays for the gas of the smallest deposit depends on the fee: \`terms.cost\` of the doctor compares them. A price expires 10 %
after the heartbeat of its feed, or after 25 hours at most; feeds without a known heartbeat get 25 hours, which is long for a volatile
coin: set \`price\` of the token if you price pairs with it.

**Prices.** A preset token with a feed also gets two exchanges, so that no price depends on a single source and one of the three can fail
([how they are combined](configuration.md#prices)). If the service must not send requests outside, or the terms of these APIs do not suit
you, \`"httpPrices": false\` leaves them all out; a \`price\` of a token in the file replaces the preset's as a whole. URLs and answers
have the form that the exchange documents, and the pairs are those that public programs request. **None was compared with an answer of
the live API**: \`price.source\` of the doctor does that. Coinbase fixes one USDC at one dollar, so Bitstamp is used for it. No pair of
BNB is known for certain.

${writeMarkets()}

On every chain the service requests the block tagged \`finalized\` and accepts nothing weaker. The finality given for each chain says how
long that takes.

${[...mains(SOLANA_PRESETS).map(writeSolana), ...mains(PRESETS).map(writePreset)].join("\n\n")}

# Test networks

For first steps that cost nothing: [examples/testnet.json](examples/testnet.json) is a complete file, and
[going-live.md](going-live.md#on-test-networks-first) says how to use it. A test network takes the place of its chain: it has the same name
and bridge chain id, so that requests of your clients are the same on both, and the terms of the main network. One service has main
networks or test networks, never both. Circle has a service of its own for them, which the configuration then takes.

${[...tests(PRESETS).map(writePreset), ...tests(SOLANA_PRESETS).map(writeSolana)].join("\n\n")}

${pages.map((url, index) => `[${index + 1}]: ${url}`).join("\n")}
`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("docs/presets.md is not up to date: run `npm run gen`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
