/** Writes docs/presets.md from the presets; with --check only says whether it is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  chainOf,
  listMarkets,
  maxAgeSecondsOf,
  type Preset,
  PRESETS,
  solana,
  type Sourced,
} from "../packages/service/src/config/presets/index.ts";
import { PACKAGES } from "../packages/service/src/config/presets/sources.ts";
import { table } from "./table.ts";

const target = new URL("../docs/presets.md", import.meta.url);

/** A fact's page, and the short names of the packages that say the same. */
function sourcesOf({ source, comparedWith }: Sourced): string {
  const names = Object.entries(PACKAGES).filter(([, name]) => comparedWith.includes(name));
  return `[page](${source}); ${names.map(([short]) => short).join(", ")}`;
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

/** What exchanges are asked, by the pair of the feed that stands beside them. */
function writeMarkets(): string {
  const pairs = new Set([
    ...PRESETS.flatMap(({ tokens }) => tokens.flatMap(({ feed }) => feed?.pair ?? [])),
    ...solana.tokens.map(({ pair }) => pair),
  ]);
  return table(
    ["pair", "exchange", "`url`", "`pointer`"],
    [...pairs].flatMap((pair) =>
      listMarkets({ pair }).map(({ exchange, url, pointer, source }) => [
        pair,
        `[${exchange}](${source})`,
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
    `Bridge chain id ${chainId}, EVM chain id ${evmChainId}, explorer <${explorerTxUrl}>. \`minDepositUsd\` ${terms.minDepositUsd}, \`deliveryConfirmations\` ${terms.deliveryConfirmations}, \`pollIntervalMs\` ${terms.pollIntervalMs}.`,
    `Finality: ${finality.rule} ([page](${finality.source}))`,
    writeTokens(preset),
    writeFeeds(preset),
    writeContracts(preset),
    ...(remarks.length > 0 ? [remarks.map((remark) => `- ${remark}`).join("\n")] : []),
  ].join("\n\n");
}

function writeSolana(): string {
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

const text = `# Presets

A chain of the configuration may be a preset: \`{ "preset": "base", "rpcUrls": […], "startBlock": …, "lanes": {…} }\`
([configuration.md](configuration.md)). It brings what is publicly known of the chain, and terms of this project's choice;
what the file says wins, except in the two ids. [examples/production.json](examples/production.json) is a whole file: a
preset, nodes and keys for each chain, and for all of them whom the contracts were made for. \`startBlock\` is yours, since
only you know when your factory was deployed. This page is made from the presets (\`npm run gen\`), which are in
\`packages/service/src/config/presets/\`.

**Facts** are tokens, feeds, CCTP and Uniswap. Each has the page of its issuer or project, and the packages of npm whose
data say the same:

${Object.entries(PACKAGES)
  .map(([short, name]) => `- ${short}: \`${name}\``)
  .join("\n")}

They were compared when the preset was written, not with a live chain: \`sluice doctor\` does that, through your own node
([doctor.md](doctor.md)). Not every page was opened. Heartbeats are in none of the packages: they are those of
\`LZeroAnalytics/chainlink-package\` on GitHub, of March 2025. What is not known for certain is left out, and named under the
chain.

The swap routes call \`SwapRouter02\`. Uniswap's first \`SwapRouter\`, which does not stand on all of these chains, has
other calls and does not serve.

**Terms** are \`minDeposit\`, \`minDepositUsd\`, \`deliveryConfirmations\` and \`pollIntervalMs\`: chosen so that dust does
not settle. Whether your fee pays for the gas of the smallest deposit is another matter: \`terms.cost\` of the doctor weighs
them. A price counts until it is a tenth
older than the heartbeat of its feed, at most 25 hours; where the heartbeat could not be compared, 25 hours, which is long
for a coin that moves: set \`price\` of the token where you price pairs by it.

**Prices.** A token of a preset with a feed has two exchanges beside it, so that no price is anybody's alone and one of the
three may be away ([how they are combined](configuration.md#prices)). Where nodes of the service must not ask outside, or the
terms of these APIs do not suit you, \`"httpPrices": false\` leaves them all out, and a \`price\` of a token in the file
replaces the preset's as a whole. URLs and answers have the form that the exchange documents, and the pairs are those that
programs in public use ask for; **none was compared with an answer of the live API**: \`price.source\` of the doctor does
that. Coinbase calls a USDC one dollar whatever happens, so Bitstamp stands in for it. Of BNB no pair is known for certain.

${writeMarkets()}

Of every chain the service asks for the block tagged \`finalized\`, and believes nothing weaker. The finality given here
says how long that takes.

${[writeSolana(), ...PRESETS.map(writePreset)].join("\n\n")}
`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("docs/presets.md is not up to date: run `npm run gen`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
