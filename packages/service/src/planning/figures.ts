/** Figures of docs/rpc.md, of 2026-12-01, and plans of providers, of 2026-11-22. Written by `npm run gen`. */
import type { ChainFigures, ProviderPlans } from "./plan.ts";

export const CHAIN_FIGURES: Readonly<Record<string, ChainFigures>> = {
  ethereum: {
    requests: { idle: 63720, source: 141, destination: 97 },
    units: {
      Alchemy: { idle: 1631520, source: 3359, destination: 2820 },
      Infura: { idle: 6357600, source: 13946, destination: 11672 },
      QuickNode: { idle: 1274400, source: 2824, destination: 1935 },
      Chainstack: { idle: 63720, source: 141, destination: 97 },
      Ankr: { idle: 12744000, source: 28241, destination: 19350 },
    },
  },
  bsc: {
    requests: { idle: 434336, source: 92, destination: 59 },
    units: {
      Alchemy: { idle: 16435830, source: 2234, destination: 1577 },
      Infura: { idle: 68346842, source: 8944, destination: 6326 },
      QuickNode: { idle: 8686710, source: 1848, destination: 1175 },
      Chainstack: { idle: 434336, source: 92, destination: 59 },
      Ankr: { idle: 86867104, source: 18482, destination: 11750 },
    },
  },
  polygon: {
    requests: { idle: 128160, source: 92, destination: 59 },
    units: {
      Alchemy: { idle: 4360320, source: 2234, destination: 1577 },
      Infura: { idle: 17812800, source: 8944, destination: 6326 },
      QuickNode: { idle: 2563200, source: 1848, destination: 1175 },
      Chainstack: { idle: 128160, source: 92, destination: 59 },
      Ankr: { idle: 25632000, source: 18482, destination: 11750 },
    },
  },
  avalanche: {
    requests: { idle: 217440, source: 92, destination: 59 },
    units: {
      Alchemy: { idle: 7873920, source: 2234, destination: 1577 },
      Infura: { idle: 32515200, source: 8944, destination: 6326 },
      QuickNode: { idle: 4348800, source: 1848, destination: 1175 },
      Chainstack: { idle: 217440, source: 92, destination: 59 },
      Ankr: { idle: 43488000, source: 18482, destination: 11750 },
    },
  },
  arbitrum: {
    requests: { idle: 750240, source: 162, destination: 113 },
    units: {
      Alchemy: { idle: 28897920, source: 3833, destination: 3344 },
      Infura: { idle: 120499200, source: 16053, destination: 13923 },
      QuickNode: { idle: 15004800, source: 3235, destination: 2255 },
      Chainstack: { idle: 750240, source: 162, destination: 113 },
      Ankr: { idle: 150048000, source: 32350, destination: 22550 },
    },
  },
  optimism: {
    requests: { idle: 157833, source: 146, destination: 101 },
    units: {
      Alchemy: { idle: 4953789, source: 3478, destination: 2951 },
      Infura: { idle: 20186675, source: 14473, destination: 12234 },
      QuickNode: { idle: 3156669, source: 2927, destination: 2015 },
      Chainstack: { idle: 157833, source: 146, destination: 101 },
      Ankr: { idle: 31566689, source: 29268, destination: 20150 },
    },
  },
  base: {
    requests: { idle: 157833, source: 146, destination: 101 },
    units: {
      Alchemy: { idle: 4953789, source: 3478, destination: 2951 },
      Infura: { idle: 20186675, source: 14473, destination: 12234 },
      QuickNode: { idle: 3156669, source: 2927, destination: 2015 },
      Chainstack: { idle: 157833, source: 146, destination: 101 },
      Ankr: { idle: 31566689, source: 29268, destination: 20150 },
    },
  },
  linea: {
    requests: { idle: 157833, source: 496, destination: 373 },
    units: {
      Alchemy: { idle: 4953789, source: 11533, destination: 11853 },
      Infura: { idle: 20186675, source: 50281, destination: 50500 },
      QuickNode: { idle: 3156669, source: 9912, destination: 7455 },
      Chainstack: { idle: 157833, source: 496, destination: 373 },
      Ankr: { idle: 31566689, source: 99123, destination: 74550 },
    },
  },
  unichain: {
    requests: { idle: 217562, source: 146, destination: 101 },
    units: {
      Alchemy: { idle: 7876361, source: 3478, destination: 2951 },
      Infura: { idle: 32524963, source: 14473, destination: 12234 },
      QuickNode: { idle: 4351241, source: 2927, destination: 2015 },
      Chainstack: { idle: 217562, source: 146, destination: 101 },
      Ankr: { idle: 43512407, source: 29268, destination: 20150 },
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
