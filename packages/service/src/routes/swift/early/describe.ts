/** Shows operators what payouts before finality risk. */
import { type Config, listEvmChains, partsOfExposure } from "../../../config/index.ts";
import { formatUnits } from "../../../core/amounts.ts";
import type { Db } from "../../../db/schema.ts";
import { readStates } from "./store.ts";

/** Describes the early payouts of each chain that has them. Amounts are US dollars with two decimals. */
export async function describeEarly(db: Db, config: Pick<Config, "chains" | "attestors">) {
  const parts = partsOfExposure(config.attestors);
  const chains = listEvmChains(config).flatMap(({ chainId, name, earlyPayouts }) =>
    earlyPayouts ? [{ chainId, name, exposure: earlyPayouts.exposure }] : [],
  );
  const states = await readStates(
    db,
    chains.map(({ chainId }) => chainId),
  );
  return chains.flatMap(({ chainId, name, exposure }) => {
    const state = states.find(({ srcChain }) => srcChain === chainId);
    if (!state) return [];
    const { counted, payouts, closed, missing } = state;
    return [
      {
        chainId,
        chain: name,
        exposureUsd: formatUsd(exposure * parts),
        /** What is counted at most: each attestor has a part of the exposure. */
        usableUsd: formatUsd(exposure),
        countedUsd: formatUsd(counted),
        payouts,
        closed,
        missing: missing.map(({ worth, ...lock }) => ({ ...lock, worthUsd: formatUsd(worth) })),
      },
    ];
  });
}

/** Formats US dollars times 1e18 in cents, rounded up: the risk is never shown as less. */
function formatUsd(worth: bigint): string {
  const cent = 10n ** 16n;
  return formatUnits((worth + cent - 1n) / cent, 2);
}
