/** Completes a chain's entry in the file by its preset and by what all chains share. */
import type { Static } from "typebox";
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
import { completeTokens } from "./tokens.ts";
import type { WrittenContracts, WrittenEvmChain } from "./evm-chain.ts";

type Written = Static<typeof WrittenEvmChain>;
type Contracts = Static<typeof WrittenContracts>;

const NOWHERE = "0x0000000000000000000000000000000000000001";

/**
 * The entry as if everything had been written out. What the file says wins; a preset's own two ids stand. May still lack
 * what neither says: whether it is complete is the schema's to tell.
 */
export function completeEvmChain(
  written: Written,
  given: {
    readonly setting: string;
    /** Of the whole file. */
    readonly contracts: Contracts | undefined;
    readonly deployment: DeploymentConfig | undefined;
    /** Whether what a preset knows of HTTP APIs is used. */
    readonly httpPrices: boolean;
    readonly problems: string[];
  },
): object {
  const preset = written.preset === undefined ? undefined : findPreset(written.preset);
  const tokens = completeTokens(written.tokens, {
    preset,
    write: (known) => writeToken(known, given.httpPrices),
    placeholder: { symbol: "?", address: NOWHERE, decimals: 0 },
    ...given,
  });
  const ids = { ...written, ...(preset && idsOf(preset, written, given)) };
  const contracts = contractsOf(ids, given);
  return {
    ...(preset && factsOf(preset)),
    ...ids,
    ...(contracts && { contracts }),
    ...(tokens && { tokens }),
  };
}

/** The contracts that the chain names, then those that the file does, then those that follow from the deployment. */
function contractsOf(
  { chainId, evmChainId, contracts: own }: Written,
  {
    contracts: shared,
    deployment,
  }: {
    readonly contracts: Contracts | undefined;
    readonly deployment: DeploymentConfig | undefined;
  },
): Contracts | undefined {
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

function factsOf({ terms, cctp, uniswapV3 }: Preset): Partial<Written> {
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
  written: Written,
  { setting, problems }: { readonly setting: string; readonly problems: string[] },
): Pick<Written, "chainId" | "evmChainId"> {
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

function writeToken(
  { symbol, address, decimals, minDeposit, feed }: PresetToken,
  httpPrices: boolean,
): object {
  const http = feed && httpPrices ? listMarkets(feed) : [];
  const price = feed && {
    feeds: [{ address: feed.address, maxAgeSeconds: maxAgeSecondsOf(feed) }],
    ...(http.length > 0 && { http: http.map(({ url, pointer }) => ({ url, pointer })) }),
  };
  return { symbol, address, decimals, minDeposit, ...(price && { price }) };
}
