/** Checks of prices: independent sources, a usable price wherever one is needed, and the cost of a settlement. */
import { formatUnits } from "../core/amounts.ts";
import {
  type ChainConfig,
  type Config,
  findEvmChain,
  type GasPolicy,
  isLocal,
  type PriceConfig,
  type RouteConfig,
} from "../config/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, nativeOf } from "../core/hex.ts";
import { type ChainGas, listGas, priceOfGas } from "../fees/index.ts";
import {
  type Check,
  type CheckStatus,
  type Finding,
  judge,
  ok,
  once,
  skip,
} from "../core/check.ts";
import { describeRoute, getChainConfig, getToken } from "../routes/index.ts";
import type { DoctorDeps } from "./facts.ts";

const SUBJECT = "prices";
const USD_DECIMALS = 18;
const BPS = 10_000n;

export function checkPrices(
  deps: DoctorDeps,
  /** By bridge chain id: the check that passes when the node serves the chain. */
  identified: ReadonlyMap<number, Check>,
): readonly Check[] {
  const { config } = deps;
  const priced = config.routes.flatMap(({ chainId, token, pricedIn }) =>
    pricedIn ? [{ chainId, token }, pricedIn] : [],
  );
  const floored = config.chains
    .filter(({ minDepositUsd }) => minDepositUsd !== undefined)
    .flatMap(({ chainId, tokens }) =>
      tokens.filter(({ price }) => price).map(({ address: token }) => ({ chainId, token })),
    );
  const nodesOf = (chainIds: readonly number[]) =>
    chainIds.flatMap((chainId) => identified.get(chainId) ?? []);
  const kindOf = (chainId: number) => getChainConfig(config, chainId).kind;
  const charged =
    config.gas === "charged"
      ? config.routes.flatMap((route) => [
          { chainId: route.chainId, token: route.token },
          ...chainsOf(route).map((chainId) => ({ chainId, token: nativeOf(kindOf(chainId)) })),
        ])
      : [];
  const early = config.routes.flatMap((route) =>
    route.fromInventory && findEvmChain(config, route.chainId)?.earlyPayouts
      ? [{ chainId: route.destChain, token: route.destToken }]
      : [],
  );
  const needed = new Map(
    [...priced, ...floored, ...charged, ...early].map((token) => [
      `${token.chainId} ${token.token}`,
      token,
    ]),
  );
  const readParties = once(() => listParties(deps));
  return [
    ...config.chains.flatMap((chain) =>
      chain.tokens.flatMap(({ symbol, price }) =>
        price ? [checkSources(chain, { symbol, price }, nodesOf([chain.chainId]))] : [],
      ),
    ),
    ...[...needed.values()].map((token) => checkSource(deps, token, nodesOf([token.chainId]))),
    ...config.routes.map((route) =>
      checkCost(deps, { route, needs: nodesOf(chainsOf(route)), readParties }),
    ),
  ];
}

/**
 * Checks that no single source decides a price. A `static` price bounds the others, which suits pegged assets, but never
 * moves, so at least one source must be a feed or an HTTP API.
 */
function checkSources(
  chain: ChainConfig,
  { symbol, price }: { readonly symbol: string; readonly price: PriceConfig },
  /** Passes when the node serves the configured chain, so that `isLocal` can be trusted. */
  needs: readonly Check[],
): Check {
  const expected = "at least two sources, at least one of them a feed or an HTTP API";
  return {
    id: "price.independent",
    subject: SUBJECT,
    item: `${symbol} of chain ${chain.chainId}`,
    needs,
    run() {
      const fixed = price.fixed === undefined ? 0 : 1;
      const alive = price.feeds.length + price.http.length;
      const found =
        `${price.feeds.length} feeds, ${price.http.length} HTTP APIs` + (fixed ? ", static" : "");
      if (isLocal(chain)) return ok(found, "anything, on a local chain");
      return judge(alive >= 1 && alive + fixed >= 2, {
        found,
        expected,
        advice: "Add feeds or http to the price of the token: a single source decides it alone.",
      });
    },
  };
}

/** Checks that a token priced for a route or a chain's minimum has a usable price now. */
function checkSource(
  deps: DoctorDeps,
  token: { readonly chainId: number; readonly token: Address },
  needs: readonly Check[],
): Check {
  const { symbol } = getToken(deps.config, token.chainId, token.token);
  const expected = "a usable price, and no failing source";
  return {
    id: "price.source",
    subject: SUBJECT,
    item: `${symbol} of chain ${token.chainId}`,
    needs,
    async run() {
      const { result, sources } = await deps.prices.readReport(token);
      const failing = sources.flatMap(({ source, fault, detail }) =>
        fault === null ? [] : [`${source} ${fault}${detail === null ? "" : ` (${detail})`}`],
      );
      const price =
        result.kind === "price"
          ? `${formatUnits(result.usd, USD_DECIMALS)} US dollars`
          : `no price: ${result.reason}`;
      return judge(result.kind === "price" && failing.length === 0, {
        found: [price, ...failing].join("; "),
        expected,
        advice: "Correct the token's price sources, or wait until they answer.",
        otherwise: result.kind === "price" ? "warning" : "problem",
      });
    },
  };
}

/** One party's fee terms for the deposits of a route. */
interface Party {
  /** Names the integrator in the finding; empty for the configuration's terms. */
  readonly suffix: string;
  readonly gas: GasPolicy;
  readonly maxFeeBps: number;
}

interface Parties {
  readonly all: readonly Party[];
  /** Reason why integrators are left out; empty if they are included. */
  readonly lack: string;
}

/** Returns the terms of the configuration, which new integrators get, and of every integrator. */
async function listParties({ config, listIntegrators }: DoctorDeps): Promise<Parties> {
  const own: Party = { suffix: "", gas: config.gas, maxFeeBps: config.maxFeeBps };
  try {
    const integrators = (await listIntegrators()).map(({ name, gas, maxFeeBps }): Party => ({
      suffix: ` of integrator ${name}`,
      gas: gas ?? config.gas,
      maxFeeBps,
    }));
    return { all: [own, ...integrators], lack: "" };
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return { all: [own], lack: "; integrators left out: the database cannot be read" };
  }
}

/**
 * Checks that the smallest deposit covers its gas: sponsored gas by the fee, charged gas under the fee cap, above which
 * the deposit would wait. Reports the worst of the configuration and all integrators.
 */
function checkCost(
  deps: DoctorDeps,
  given: {
    readonly route: RouteConfig;
    readonly needs: readonly Check[];
    readonly readParties: () => Promise<Parties>;
  },
): Check {
  const { config } = deps;
  const { route, needs, readParties } = given;
  const { chainId } = route;
  const read = once(() => readCost(deps, route));
  const token = getToken(config, chainId, route.token);
  const unpriced = chainsOf(route).find((id) => !findNativePrice(deps, id));
  return {
    id: "terms.cost",
    subject: SUBJECT,
    item: describeRoute(config, route),
    needs,
    async run() {
      if (chainsOf(route).every((id) => isLocal(getChainConfig(config, id)))) {
        return skip("gas costs nothing on local chains", expectedOf(config.gas));
      }
      const { all, lack } = await readParties();
      const missing = !token.price
        ? `${token.symbol} has no price`
        : unpriced === undefined
          ? undefined
          : `the native coin of chain ${unpriced} has no price`;
      const charged = all.find(({ gas }) => gas === "charged");
      if (missing !== undefined && charged) {
        return judge(false, {
          found: `${missing}, but gas${charged.suffix} is charged`,
          expected: "prices of the deposited token and of the native coins",
          advice: "Add the price: until then these deposits wait as PRICE_UNAVAILABLE.",
        });
      }
      const { minDeposit } = token;
      if (minDeposit === undefined) return skip(`no minDeposit${lack}`, expectedOf(config.gas));
      if (missing !== undefined) return skip(`${missing}${lack}`, expectedOf(config.gas));
      const usd = await deps.prices.readUsd({ chainId, token: token.address });
      const value = (minDeposit * usd) / 10n ** BigInt(token.decimals);
      const cost = await read();
      const [worst] = all
        .map((party) => judgeCost(config, party, { value, cost }))
        .toSorted((one, other) => severityOf(other) - severityOf(one));
      assert(worst, "the configuration has terms");
      return { ...worst, found: `${worst.found}${lack}` };
    },
  };
}

/** In ascending order of severity. */
const SEVERITIES: readonly CheckStatus[] = ["skipped", "ok", "warning", "problem"];
const severityOf = ({ status }: Finding) => SEVERITIES.indexOf(status);

function expectedOf(gas: GasPolicy): string {
  return gas === "charged"
    ? "at most the fee cap of the smallest deposit"
    : "less than the fee of the smallest deposit";
}

/** Judges the cost of the smallest deposit against one party's terms, in US dollars times 1e18. */
function judgeCost(
  { feeBps }: Config,
  { suffix, gas, maxFeeBps }: Party,
  { value, cost }: { readonly value: bigint; readonly cost: bigint },
): Finding {
  const bps = gas === "charged" ? maxFeeBps : Math.min(feeBps, maxFeeBps);
  const fee = (value * BigInt(bps)) / BPS;
  const show = (amount: bigint) => formatUnits(amount, USD_DECIMALS);
  const expected = expectedOf(gas);
  if (gas === "charged") {
    return judge(cost <= fee, {
      found: `about ${show(cost)} US dollars of gas; the fee cap${suffix} is ${show(fee)}`,
      expected,
      advice: "Raise minDeposit or maxFeeBps: the smallest deposit waits as FEE_NOT_COVERED.",
    });
  }
  return judge(cost <= fee, {
    found: `about ${show(cost)} US dollars of gas; the fee${suffix} is ${show(fee)}`,
    expected,
    advice: "Raise minDeposit or feeBps, or accept that small deposits cost more than they earn.",
    otherwise: "warning",
  });
}

function chainsOf({ chainId, destChain }: RouteConfig): readonly number[] {
  return [...new Set([chainId, destChain])];
}

/** Returns the gas cost of an address's first settlement, deployment included, in US dollars times 1e18. */
async function readCost(deps: DoctorDeps, route: RouteConfig): Promise<bigint> {
  const { destChain, destToken } = route;
  const pair = { srcChain: route.chainId, srcToken: route.token, destChain, destToken };
  let usd = 0n;
  const costly = { pair, gasSteps: deps.moduleOf(route).listGasSteps(route) };
  // Wallets on Solana are not deployed.
  const deploys = findEvmChain(deps.config, route.chainId) !== undefined;
  for (const step of listGas(costly, deploys)) {
    const { chainId } = step;
    const { kind } = getChainConfig(deps.config, chainId);
    const price = await deps.prices.readUsd({ chainId, token: nativeOf(kind) });
    usd += ((await readStepCost(deps, step)) * price) / 10n ** COIN_DECIMALS[kind];
  }
  return usd;
}

const COIN_DECIMALS = { evm: 18n, svm: 9n } as const;

/** Returns the current cost of a transaction in base units of the native coin; on Solana with the rent of new accounts. */
async function readStepCost(
  deps: DoctorDeps,
  { chainId, gas, paysRecipient }: ChainGas,
): Promise<bigint> {
  const chain = findEvmChain(deps.config, chainId);
  if (!chain) {
    return deps.solanaNodesOf(chainId).service.getTransactionCost(paysRecipient === true);
  }
  const { service } = deps.nodesOf(chainId);
  const [fees, surcharge] = await Promise.all([service.suggestFees(), service.readSurcharge()]);
  return gas * priceOfGas(fees) + surcharge + chain.transactionSurcharge;
}

function findNativePrice({ config }: DoctorDeps, chainId: number) {
  const { kind, tokens } = getChainConfig(config, chainId);
  return tokens.find(({ address }) => address === nativeOf(kind))?.price;
}
