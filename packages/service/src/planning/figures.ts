/** Figures of docs/rpc.md, of 2026-11-22, and plans of providers, of 2026-11-22. Written by `npm run gen`. */
import type { ChainFigures, ProviderPlans } from "./plan.ts";

export const CHAIN_FIGURES: Readonly<Record<string, ChainFigures>> = {
  ethereum: {
    requests: { idle: 36826, source: 580, destination: 288 },
    units: {
      Alchemy: { idle: 1024525, source: 12191, destination: 6619 },
      Infura: { idle: 4206098, source: 48445, destination: 26547 },
      QuickNode: { idle: 736525, source: 11599, destination: 5753 },
      Chainstack: { idle: 36826, source: 580, destination: 288 },
      Ankr: { idle: 7365246, source: 115993, destination: 57528 },
    },
  },
  bsc: {
    requests: { idle: 419893, source: 137, destination: 70 },
    units: {
      Alchemy: { idle: 16077851, source: 3058, destination: 1691 },
      Infura: { idle: 67191403, source: 12439, destination: 6887 },
      QuickNode: { idle: 8397851, source: 2746, destination: 1408 },
      Chainstack: { idle: 419893, source: 137, destination: 70 },
      Ankr: { idle: 83978507, source: 27455, destination: 14079 },
    },
  },
  polygon: {
    requests: { idle: 106560, source: 137, destination: 70 },
    units: {
      Alchemy: { idle: 3859200, source: 3058, destination: 1691 },
      Infura: { idle: 16084800, source: 12439, destination: 6887 },
      QuickNode: { idle: 2131200, source: 2746, destination: 1408 },
      Chainstack: { idle: 106560, source: 137, destination: 70 },
      Ankr: { idle: 21312000, source: 27455, destination: 14079 },
    },
  },
  avalanche: {
    requests: { idle: 198915, source: 137, destination: 70 },
    units: {
      Alchemy: { idle: 7434305, source: 3058, destination: 1691 },
      Infura: { idle: 31033220, source: 12439, destination: 6887 },
      QuickNode: { idle: 3978305, source: 2746, destination: 1408 },
      Chainstack: { idle: 198915, source: 137, destination: 70 },
      Ankr: { idle: 39783051, source: 27455, destination: 14079 },
    },
  },
  arbitrum: {
    requests: { idle: 725760, source: 691, destination: 342 },
    units: {
      Alchemy: { idle: 28339200, source: 14475, destination: 7851 },
      Infura: { idle: 118540800, source: 57447, destination: 31462 },
      QuickNode: { idle: 14515200, source: 13813, destination: 6839 },
      Chainstack: { idle: 725760, source: 691, destination: 342 },
      Ankr: { idle: 145152000, source: 138128, destination: 68390 },
    },
  },
  optimism: {
    requests: { idle: 122400, source: 612, destination: 303 },
    units: {
      Alchemy: { idle: 4176000, source: 12844, destination: 6971 },
      Infura: { idle: 17352000, source: 51017, destination: 27951 },
      QuickNode: { idle: 2448000, source: 12232, destination: 6063 },
      Chainstack: { idle: 122400, source: 612, destination: 303 },
      Ankr: { idle: 24480000, source: 122317, destination: 60631 },
    },
  },
  base: {
    requests: { idle: 122400, source: 612, destination: 303 },
    units: {
      Alchemy: { idle: 4176000, source: 12844, destination: 6971 },
      Infura: { idle: 17352000, source: 51017, destination: 27951 },
      QuickNode: { idle: 2448000, source: 12232, destination: 6063 },
      Chainstack: { idle: 122400, source: 612, destination: 303 },
      Ankr: { idle: 24480000, source: 122317, destination: 60631 },
    },
  },
  linea: {
    requests: { idle: 122400, source: 2272, destination: 1118 },
    units: {
      Alchemy: { idle: 4176000, source: 47095, destination: 25451 },
      Infura: { idle: 17352000, source: 186042, destination: 101678 },
      QuickNode: { idle: 2448000, source: 45433, destination: 22356 },
      Chainstack: { idle: 122400, source: 2272, destination: 1118 },
      Ankr: { idle: 24480000, source: 454334, destination: 223562 },
    },
  },
  unichain: {
    requests: { idle: 195986, source: 612, destination: 303 },
    units: {
      Alchemy: { idle: 7375729, source: 12844, destination: 6971 },
      Infura: { idle: 30798915, source: 51017, destination: 27951 },
      QuickNode: { idle: 3919729, source: 12232, destination: 6063 },
      Chainstack: { idle: 195986, source: 612, destination: 303 },
      Ankr: { idle: 39197288, source: 122317, destination: 60631 },
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
