/**
 * Published prices and limits of providers, as their pages said on the stated date. Stored copies were read, not accounts:
 * providers change them without notice, so the page tells operators to compare.
 */

export interface Provider {
  readonly name: string;
  /** The provider's unit of billing. */
  readonly unit: string;
  /** Units of one request. */
  readonly cost: (method: string) => number;
  readonly plans: readonly Plan[];
  /** Pages with costs and limits. */
  readonly sources: readonly string[];
}

export interface Plan {
  readonly name: string;
  /** Units of a month of 30 days; null where each is billed, or the provider publishes none in text. */
  readonly unitsPerMonth: number | null;
  /** Units per second. */
  readonly unitsPerSecond: number | null;
  /** Blocks of one `eth_getLogs`; null where there is no stated limit. */
  readonly range: number | null;
  /** Presets' chains that the plan lacks. */
  readonly without?: readonly string[];
  readonly note?: string;
}

export const READ_ON = "2026-11-22";

const ALCHEMY: Readonly<Record<string, number>> = {
  eth_chainId: 0,
  eth_blockNumber: 10,
  eth_feeHistory: 10,
  eth_maxPriorityFeePerGas: 10,
  eth_call: 26,
  eth_getLogs: 60,
  eth_sendRawTransaction: 40,
};
/** Its cost of every other method that the service sends. */
const ALCHEMY_OTHER = 20;

/** As public programs quote its table, whose stored copies lack the figures. */
const INFURA: Readonly<Record<string, number>> = {
  eth_chainId: 5,
  eth_getLogs: 255,
  eth_estimateGas: 300,
};
/** Its stated cost of methods without one of their own. */
const INFURA_OTHER = 80;

export const PROVIDERS: readonly Provider[] = [
  {
    name: "Alchemy",
    unit: "compute units",
    cost: (method) => ALCHEMY[method] ?? ALCHEMY_OTHER,
    plans: [
      {
        name: "Free",
        unitsPerMonth: 100_000_000,
        unitsPerSecond: 500,
        range: 10,
        note: "no traces",
      },
      {
        name: "Pay as you go",
        unitsPerMonth: null,
        unitsPerSecond: 10_000,
        range: null,
        note: "$0.45 per million up to 300 million, $0.40 above; 10,000 blocks on Avalanche, Linea and Unichain",
      },
    ],
    sources: [
      "https://www.alchemy.com/docs/reference/compute-unit-costs",
      "https://docs.alchemy.com/reference/pricing-plans",
      "https://www.alchemy.com/docs/chains/boba/boba-api-endpoints/eth-get-logs",
    ],
  },
  {
    name: "Infura",
    unit: "credits",
    cost: (method) => INFURA[method] ?? INFURA_OTHER,
    plans: [
      { name: "Free", unitsPerMonth: 90_000_000, unitsPerSecond: 500, range: null },
      { name: "Developer", unitsPerMonth: 450_000_000, unitsPerSecond: 4_000, range: null },
      { name: "Team", unitsPerMonth: 2_250_000_000, unitsPerSecond: 40_000, range: null },
    ].map((plan) => ({
      ...plan,
      note: "a thirtieth of it per day; costs by method as public programs quote them",
    })),
    sources: [
      "https://docs.metamask.io/services/get-started/pricing",
      "https://docs.metamask.io/services/get-started/pricing/credit-cost/",
    ],
  },
  {
    name: "QuickNode",
    unit: "API credits",
    cost: () => 20,
    plans: [
      {
        name: "Flat rate, 75 requests/s",
        unitsPerMonth: null,
        unitsPerSecond: 75 * 20,
        range: 10_000,
        without: ["avalanche", "linea", "unichain"],
        note: "$799 a month for one endpoint, without credits; not on Avalanche, Linea and Unichain",
      },
    ],
    sources: [
      "https://quicknode.com/api-credits/blast",
      "https://www.quicknode.com/docs/ethereum/eth_getLogs",
      "https://support.quicknode.com/articles/7155954804-flat-rate-rps-billing",
    ],
  },
  {
    name: "Chainstack",
    unit: "request units",
    cost: (method) => (method.startsWith("debug_") ? 2 : 1),
    plans: [
      { name: "Developer", unitsPerMonth: null, unitsPerSecond: 25, range: null },
      { name: "Growth", unitsPerMonth: null, unitsPerSecond: 250, range: null },
    ].map((plan) => ({ ...plan, note: "state at past blocks costs 2" })),
    sources: [
      "https://docs.chainstack.com/docs/request-units",
      "https://docs.chainstack.com/docs/rps-plan-limits",
    ],
  },
  {
    name: "Ankr",
    unit: "API credits",
    cost: () => 200,
    plans: [
      {
        name: "Premium, pay as you go",
        unitsPerMonth: null,
        unitsPerSecond: null,
        range: null,
        note: "$0.10 per million",
      },
    ],
    sources: ["https://www.ankr.com/docs/rpc-service/pricing"],
  },
];

/** The provider of Solana nodes whose costs are published by method. */
export const HELIUS = {
  perBlock: 10,
  perOther: 1,
  plans:
    "Free 1 million a month and 10 requests/s, Developer 10 million and 50, Business 100 million and 200, Professional 200 million and 500",
  sources: [
    "https://www.helius.dev/docs/billing/credits",
    "https://www.helius.dev/docs/billing/rate-limits",
  ],
} as const;
