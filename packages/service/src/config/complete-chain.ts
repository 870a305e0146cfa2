/** Completes a chain's entry in the file by its preset and by what all chains share. */
import { toEvmAddress } from "../core/hex.ts";
import {
  type DeploymentConfig,
  deriveDelivery,
  deriveEscrow,
  deriveFactory,
} from "./deployment.ts";
import {
  chainOf,
  findPreset,
  listMarkets,
  maxAgeSecondsOf,
  type Preset,
  type PresetToken,
} from "./presets/index.ts";
import type { WrittenChain, WrittenContracts } from "./schema.ts";

type WrittenToken = Exclude<NonNullable<WrittenChain["tokens"]>[number], string>;

/**
 * The entry as if everything had been written out. What the file says wins; a preset's own two ids stand. May still lack
 * what neither says: whether it is complete is the schema's to tell.
 */
export function completeChain(
  written: WrittenChain,
  given: {
    readonly setting: string;
    /** Of the whole file. */
    readonly contracts: WrittenContracts | undefined;
    readonly deployment: DeploymentConfig | undefined;
    /** Whether what a preset knows of HTTP APIs is used. */
    readonly httpPrices: boolean;
    readonly problems: string[];
  },
): object {
  const preset = written.preset === undefined ? undefined : findPreset(written.preset);
  const tokens = tokensOf(preset, written.tokens, given);
  const ids = { ...written, ...(preset && idsOf(preset, written, given)) };
  const contracts = contractsOf(ids, given);
  return {
    ...(preset && factsOf(preset)),
    ...ids,
    ...(contracts && { contracts }),
    ...(tokens && { tokens }),
  };
}

/** Those that the chain names, then those that the file does, then those that follow from the deployment. */
function contractsOf(
  { chainId, evmChainId, contracts: own }: WrittenChain,
  {
    contracts: shared,
    deployment,
  }: {
    readonly contracts: WrittenContracts | undefined;
    readonly deployment: DeploymentConfig | undefined;
  },
): WrittenContracts | undefined {
  if (!deployment) return own || shared ? { ...shared, ...own } : undefined;
  const named = { factory: deriveFactory(deployment).address, ...shared, ...own };
  if (chainId === undefined || evmChainId === undefined) return named;
  const place = { factory: toEvmAddress(named.factory), chainId, evmChainId };
  return {
    escrow: deriveEscrow(deployment, place).address,
    delivery: deriveDelivery(deployment, place).address,
    ...named,
  };
}

function factsOf({ terms, cctp, uniswapV3 }: Preset): Partial<WrittenChain> {
  return {
    ...terms,
    ...(cctp && {
      cctp: { domain: cctp.domain, messenger: cctp.messenger, transmitter: cctp.transmitter },
    }),
    uniswapV3: { router: uniswapV3.router, weth: uniswapV3.weth },
  };
}

/** Tokens and contracts of one chain are not those of another: a preset under other ids is a mistake. */
function idsOf(
  preset: Preset,
  written: WrittenChain,
  { setting, problems }: { readonly setting: string; readonly problems: string[] },
): Pick<WrittenChain, "chainId" | "evmChainId"> {
  const { chainId, evmChainId } = chainOf(preset);
  const ids = { chainId, evmChainId };
  for (const name of ["chainId", "evmChainId"] as const) {
    const own = written[name];
    if (own !== undefined && own !== ids[name]) {
      problems.push(
        `${setting}.${name}: expected ${ids[name]}, as the preset ${preset.name} has, or nothing`,
      );
    }
  }
  return ids;
}

/** All tokens of the preset, unless the file lists its own: by symbol, with changes, or in full. */
function tokensOf(
  preset: Preset | undefined,
  listed: WrittenChain["tokens"],
  {
    setting,
    httpPrices,
    problems,
  }: { readonly setting: string; readonly httpPrices: boolean; readonly problems: string[] },
): readonly object[] | undefined {
  const tokenOf = (token: PresetToken) => writeToken(token, httpPrices);
  if (!listed) return preset?.tokens.map(tokenOf);
  return listed.map((item, index) => {
    const token = typeof item === "string" ? { symbol: item } : item;
    // One with an address stands alone: what is known of another contract does not hold for it.
    if (typeof item !== "string" && (item.address !== undefined || !preset)) return item;
    const known = preset?.tokens.find(({ symbol }) => symbol === token.symbol);
    if (known) return { ...tokenOf(known), ...token };
    const symbols = preset?.tokens.map(({ symbol }) => symbol).join(", ");
    problems.push(
      preset
        ? `${setting}.tokens[${index}]: expected a token of the preset ${preset.name} (${symbols}), or one with an address`
        : `${setting}.tokens[${index}]: expected a token with symbol, address and decimals, since there is no preset`,
    );
    return NO_TOKEN;
  });
}

/** Stands in for what could not be found, and was named, so that it is not named again. */
const NO_TOKEN: WrittenToken = {
  symbol: "?",
  address: "0x0000000000000000000000000000000000000001",
  decimals: 0,
};

function writeToken(
  { symbol, address, decimals, minDeposit, feed }: PresetToken,
  httpPrices: boolean,
): WrittenToken {
  const http = feed && httpPrices ? listMarkets(feed) : [];
  const price = feed && {
    feeds: [{ address: feed.address, maxAgeSeconds: maxAgeSecondsOf(feed) }],
    ...(http.length > 0 && { http: http.map(({ url, pointer }) => ({ url, pointer })) }),
  };
  return { symbol, address, decimals, minDeposit, ...(price && { price }) };
}
