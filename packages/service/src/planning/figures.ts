/** Figures of docs/rpc.md, of 2026-11-30, and plans of providers, of 2026-11-22. Written by `npm run gen`. */
import type { ChainFigures, ProviderPlans } from "./plan.ts";

export const CHAIN_FIGURES: Readonly<Record<string, ChainFigures>> = {
  ethereum: {
    requests: { idle: 51240, source: 349, destination: 291 },
    units: {
      Alchemy: { idle: 1312800, source: 7409, destination: 6700 },
      Infura: { idle: 5359200, source: 29709, destination: 26992 },
      QuickNode: { idle: 1024800, source: 6989, destination: 5826 },
      Chainstack: { idle: 51240, source: 349, destination: 291 },
      Ankr: { idle: 10248000, source: 69886, destination: 58260 },
    },
  },
  bsc: {
    requests: { idle: 420032, source: 99, destination: 66 },
    units: {
      Alchemy: { idle: 16080650, source: 2313, destination: 1525 },
      Infura: { idle: 67202598, source: 9075, destination: 5904 },
      QuickNode: { idle: 8400650, source: 1987, destination: 1318 },
      Chainstack: { idle: 420032, source: 99, destination: 66 },
      Ankr: { idle: 84006496, source: 19866, destination: 13175 },
    },
  },
  polygon: {
    requests: { idle: 113040, source: 99, destination: 66 },
    units: {
      Alchemy: { idle: 3988800, source: 2313, destination: 1525 },
      Infura: { idle: 16603200, source: 9075, destination: 5904 },
      QuickNode: { idle: 2260800, source: 1987, destination: 1318 },
      Chainstack: { idle: 113040, source: 99, destination: 66 },
      Ankr: { idle: 22608000, source: 19866, destination: 13175 },
    },
  },
  avalanche: {
    requests: { idle: 206268, source: 99, destination: 66 },
    units: {
      Alchemy: { idle: 7581352, source: 2313, destination: 1525 },
      Infura: { idle: 31621407, source: 9075, destination: 5904 },
      QuickNode: { idle: 4125352, source: 1987, destination: 1318 },
      Chainstack: { idle: 206268, source: 99, destination: 66 },
      Ankr: { idle: 41253517, source: 19866, destination: 13175 },
    },
  },
  arbitrum: {
    requests: { idle: 733038, source: 412, destination: 348 },
    units: {
      Alchemy: { idle: 28484767, source: 8683, destination: 7994 },
      Infura: { idle: 119123066, source: 34868, destination: 32264 },
      QuickNode: { idle: 14660767, source: 8239, destination: 6953 },
      Chainstack: { idle: 733038, source: 412, destination: 348 },
      Ankr: { idle: 146607665, source: 82392, destination: 69531 },
    },
  },
  optimism: {
    requests: { idle: 149807, source: 367, destination: 307 },
    units: {
      Alchemy: { idle: 4724144, source: 7773, destination: 7069 },
      Infura: { idle: 19544577, source: 31183, destination: 28498 },
      QuickNode: { idle: 2996144, source: 7346, destination: 6148 },
      Chainstack: { idle: 149807, source: 367, destination: 307 },
      Ankr: { idle: 29961443, source: 73459, destination: 61481 },
    },
  },
  base: {
    requests: { idle: 149807, source: 367, destination: 307 },
    units: {
      Alchemy: { idle: 4724144, source: 7773, destination: 7069 },
      Infura: { idle: 19544577, source: 31183, destination: 28498 },
      QuickNode: { idle: 2996144, source: 7346, destination: 6148 },
      Chainstack: { idle: 149807, source: 367, destination: 307 },
      Ankr: { idle: 29961443, source: 73459, destination: 61481 },
    },
  },
  linea: {
    requests: { idle: 149807, source: 1305, destination: 1153 },
    units: {
      Alchemy: { idle: 4724144, source: 26883, destination: 26475 },
      Infura: { idle: 19544577, source: 108563, destination: 107577 },
      QuickNode: { idle: 2996144, source: 26104, destination: 23055 },
      Chainstack: { idle: 149807, source: 1305, destination: 1153 },
      Ankr: { idle: 29961443, source: 261036, destination: 230548 },
    },
  },
  unichain: {
    requests: { idle: 203162, source: 367, destination: 307 },
    units: {
      Alchemy: { idle: 7519241, source: 7773, destination: 7069 },
      Infura: { idle: 31372963, source: 31183, destination: 28498 },
      QuickNode: { idle: 4063241, source: 7346, destination: 6148 },
      Chainstack: { idle: 203162, source: 367, destination: 307 },
      Ankr: { idle: 40632407, source: 73459, destination: 61481 },
    },
  },
};

export const PROVIDER_PLANS: readonly ProviderPlans[] = [
  {
    name: "Alchemy",
    unit: "compute units",
    plans: [
      { name: "Free", unitsPerMonth: 100000000, unitsPerSecond: 500, without: [] },
      { name: "Pay as you go", unitsPerMonth: null, unitsPerSecond: 10000, without: [] },
    ],
  },
  {
    name: "Infura",
    unit: "credits",
    plans: [
      { name: "Free", unitsPerMonth: 90000000, unitsPerSecond: 500, without: [] },
      { name: "Developer", unitsPerMonth: 450000000, unitsPerSecond: 4000, without: [] },
      { name: "Team", unitsPerMonth: 2250000000, unitsPerSecond: 40000, without: [] },
    ],
  },
  {
    name: "QuickNode",
    unit: "API credits",
    plans: [
      {
        name: "Flat rate, 75 requests/s",
        unitsPerMonth: null,
        unitsPerSecond: 1500,
        without: ["avalanche", "linea", "unichain"],
      },
    ],
  },
  {
    name: "Chainstack",
    unit: "request units",
    plans: [
      { name: "Developer", unitsPerMonth: null, unitsPerSecond: 25, without: [] },
      { name: "Growth", unitsPerMonth: null, unitsPerSecond: 250, without: [] },
    ],
  },
  {
    name: "Ankr",
    unit: "API credits",
    plans: [
      { name: "Premium, pay as you go", unitsPerMonth: null, unitsPerSecond: null, without: [] },
    ],
  },
];
