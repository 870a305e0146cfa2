/**
 * A preset: the public facts of one chain, and default terms. Facts come from the chain and its issuers; terms
 * (minimums, confirmations, intervals) are this project's choice. Each fact cites its issuer's page and the packages
 * with which the value was compared; `remarks` name the facts that could not be compared.
 */

/** The sources of a fact. No program has read the pages themselves. */
export interface Sourced {
  /** URL of a page of the issuer or the project. */
  readonly source: string;
  /** Packages with the same value, as named in `sources.ts`; empty if no package has it. */
  readonly comparedWith: readonly string[];
}

/** A price feed of the `AggregatorV3Interface` form. */
export interface PresetFeed extends Sourced {
  readonly address: string;
  /** The feed's answer to `description()`. */
  readonly pair: string;
  /** An alternative answer, if the coin was renamed. */
  readonly otherPair?: string;
  /** Seconds between updates at a constant price; null if it could not be compared. */
  readonly heartbeatSeconds: number | null;
}

export interface PresetToken extends Sourced {
  /** The symbol in configurations and on the wire. */
  readonly symbol: string;
  /** The contract's answer to `symbol()`, if it differs. */
  readonly symbolOnChain?: string;
  /** EIP-55; the zero address for the native coin. */
  readonly address: string;
  readonly decimals: number;
  /** A term, in whole units. */
  readonly minDeposit: string;
  /** Absent if no feed is certain; the token then has no price. */
  readonly feed?: PresetFeed;
}

/** Circle's CCTP, version 2. */
export interface PresetCctp extends Sourced {
  /** Circle's id of the chain. */
  readonly domain: number;
  /** `TokenMessengerV2`. */
  readonly messenger: string;
  /** `MessageTransmitterV2`. */
  readonly transmitter: string;
}

export interface PresetUniswapV3 extends Sourced {
  /** `SwapRouter02`. The older `SwapRouter` does not exist on every chain. */
  readonly router: string;
  /** `UniswapV3Factory`, which the router must name. */
  readonly factory: string;
  /** The wrapped native coin that the router must name. */
  readonly weth: string;
}

/** The finality of a chain. The service reads the block with the tag `finalized` on every chain. */
export interface PresetFinality {
  readonly rule: string;
  /** About the time from a block to its finality, for estimates. */
  readonly seconds: number;
  /** True if the newest block is already final. */
  readonly isInstant: boolean;
  readonly source: string;
}

/** Tiers of payouts before finality. They apply only where the configuration sets an exposure. */
export interface PresetEarly {
  readonly reason: string;
  readonly tiers: readonly { readonly after: number | "safe"; readonly upToUsd: string }[];
}

export interface Preset {
  /** Name in the chain registry, which has the bridge chain id, the EVM chain id and the explorer. */
  readonly name: string;
  readonly finality: PresetFinality;
  readonly terms: {
    /** Minimum value of a deposit of a priced token, in US dollars. */
    readonly minDepositUsd: string;
    /** Blocks, its own included, after which a delivery is completed; it is tracked until it is final. */
    readonly deliveryConfirmations: number;
    readonly pollIntervalMs: number;
    /** Highest price of a unit of gas that a transaction may offer: far above the prices of busy hours. */
    readonly gasPriceMaxGwei: string;
  };
  /** A term; absent where blocks are final within seconds. */
  readonly early?: PresetEarly;
  /** About the time between two blocks, for estimates. */
  readonly blockSeconds: number;
  readonly tokens: readonly PresetToken[];
  /** Absent if Circle issues no USDC on the chain. */
  readonly cctp?: PresetCctp;
  readonly uniswapV3: PresetUniswapV3;
  /** Facts that could not be compared or need care. */
  readonly remarks: readonly string[];
}
