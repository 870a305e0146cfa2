import { type ChainConfig, listEvmChains } from "../../config/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { type EarlyState, readEarlyStates } from "../../routes/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Shows what the early payouts of each chain risk, and the locks that are missing. */
export async function run(call: Call): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const chains = listEvmChains(config).flatMap(({ chainId, name, earlyPayouts }) =>
    earlyPayouts ? [{ chainId, name, exposure: earlyPayouts.exposure }] : [],
  );
  const states = await withDatabase(config, ({ db }) =>
    readEarlyStates(
      db,
      chains.map(({ chainId }) => chainId),
    ),
  );
  const shown = states.map((state, index) => describe(state, chains[index]));
  const lines = shown.flatMap(({ chain, exposureUsd, countedUsd, payouts, closed, missing }) => [
    `${chain}: ${payouts} payouts before finality worth $${countedUsd} of $${exposureUsd}, ${closed ? `closed since ${closed.at}: ${closed.reason}` : "open"}`,
    ...missing.map(
      ({ deliveryId, settlementId, worthUsd, since }) =>
        `  missing lock ${deliveryId} of settlement ${settlementId}, worth $${worthUsd}, since ${since}`,
    ),
  ]);
  return {
    json: { chains: shown },
    text: lines.join("\n") || "no chain has earlyPayouts: every lock is final before it is paid",
  };
}

function describe(
  { srcChain, counted, payouts, closed, missing }: EarlyState,
  chain: (Pick<ChainConfig, "name"> & { readonly exposure: bigint }) | undefined,
) {
  return {
    chainId: srcChain,
    chain: chain?.name ?? String(srcChain),
    exposureUsd: formatUsd(chain?.exposure ?? 0n),
    countedUsd: formatUsd(counted),
    payouts,
    closed,
    missing: missing.map(({ worth, ...lock }) => ({ ...lock, worthUsd: formatUsd(worth) })),
  };
}

/** Formats US dollars times 1e18 in cents, rounded up: the risk is never shown as less. */
function formatUsd(worth: bigint): string {
  const cent = 10n ** 16n;
  return formatUnits((worth + cent - 1n) / cent, 2);
}
