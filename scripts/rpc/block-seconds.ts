/** Nominal seconds between blocks of the presets' chains. `sluice doctor` measures the real ones. */
export const BLOCK_SECONDS: Readonly<Record<string, number>> = {
  ethereum: 12,
  bsc: 0.45,
  polygon: 2,
  avalanche: 1,
  arbitrum: 0.25,
  optimism: 2,
  base: 2,
  linea: 2,
  unichain: 1,
};

/**
 * Seconds until a block is final, as the preset's finality says; where it says a few seconds
 * or hours, 5 seconds or 2 hours.
 */
export const FINAL_SECONDS: Readonly<Record<string, number>> = {
  ethereum: 780,
  bsc: 5,
  polygon: 5,
  avalanche: 5,
  arbitrum: 1_200,
  optimism: 900,
  base: 900,
  linea: 7_200,
  unichain: 900,
};
