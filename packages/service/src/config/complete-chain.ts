/** Completes a chain's entry from its preset and the file-wide settings. */
import type { Static } from "typebox";
import { toEvmAddress } from "../core/hex.ts";
import {
  type DeploymentConfig,
  deriveDelivery,
  deriveEscrow,
  deriveFactory,
  deriveTreasury,
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

/** Address of a token that was not found. Not the zero address, which would be the native coin. */
const NOWHERE = "0x0000000000000000000000000000000000000001";

/**
 * Returns the entry with every setting written out. The file overrides the preset, except for its two chain ids.
 * Settings that neither has stay missing; the schema of a complete chain reports them.
 */
export function completeEvmChain(
  written: Written,
  given: {
    readonly setting: string;
    /** The file-wide contracts. */
    readonly contracts: Contracts | undefined;
    readonly deployment: DeploymentConfig | undefined;
    /** Whether tokens of the preset get HTTP price sources. */
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
  // Later entries win: the file overrides the preset. The ids of a preset cannot be overridden.
  return {
    ...(preset && factsOf(preset)),
    ...ids,
    ...(contracts && { contracts }),
    ...(tokens && { tokens }),
  };
}

/** Returns each contract from the chain's entry, else from the file, else derived from the deployment. */
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
  const named = {
    factory: deriveFactory(deployment).address,
    ...(deployment.hasTreasuryContract && { treasury: deriveTreasury(deployment).address }),
    ...shared,
    ...own,
  };
  if (chainId === undefined || evmChainId === undefined) return named;
  // Escrow and delivery contain the factory and the chain's ids, so their addresses differ between chains.
  const place = { factory: toEvmAddress(named.factory), chainId, evmChainId };
  return {
    escrow: deriveEscrow(place).address,
    delivery: deriveDelivery(deployment, place).address,
    ...named,
  };
}

/** Returns the terms and contracts of a preset in the form of the file. */
function factsOf({ terms, cctp, uniswapV3 }: Preset): Partial<Written> {
  return {
    ...terms,
    ...(cctp && {
      cctp: { domain: cctp.domain, messenger: cctp.messenger, transmitter: cctp.transmitter },
    }),
    uniswapV3: { router: uniswapV3.router, weth: uniswapV3.weth },
  };
}

/** Returns the preset's ids. Other ids in the file are a problem: the preset's addresses hold for one chain. */
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

/** Returns a token of a preset in the form of the file, with its feed and the HTTP sources of the same pair. */
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
