/**
 * A preset: what is publicly known of one chain, so that a configuration need not repeat it. Facts are the chain's and its
 * issuers'; terms (minimums, floors, confirmations, intervals) are this project's own choice. Each fact names where its
 * issuer publishes it and the packages with which the value was compared; what could not be compared is said so.
 */

/** Where a fact is published, and with what it was compared. The pages themselves were not read by a program. */
export interface Sourced {
  /** A page of the issuer or the project. */
  readonly source: string;
  /** Packages whose data agree, as named in `sources.ts`; empty where none has it. */
  readonly comparedWith: readonly string[];
}

/** A price feed of the `AggregatorV3Interface` form. */
export interface PresetFeed extends Sourced {
  readonly address: string;
  /** What the feed says of itself in `description()`. */
  readonly pair: string;
  /** What it may say instead, where its coin changed its name. */
  readonly otherPair?: string;
  /** How often it answers when the price stands still; null where that could not be compared. */
  readonly heartbeatSeconds: number | null;
}

export interface PresetToken extends Sourced {
  /** As configurations and the interface name it. */
  readonly symbol: string;
  /** What its contract answers to `symbol()`, where that is another word. */
  readonly symbolOnChain?: string;
  /** EIP-55; the zero address for the native coin. */
  readonly address: string;
  readonly decimals: number;
  /** A term, in whole units. */
  readonly minDeposit: string;
  /** Absent where no feed is known for certain: the token then has no price. */
  readonly feed?: PresetFeed;
}

/** Circle's CCTP, version 2. */
export interface PresetCctp extends Sourced {
  /** Circle's own id of the chain. */
  readonly domain: number;
  /** `TokenMessengerV2`. */
  readonly messenger: string;
  /** `MessageTransmitterV2`. */
  readonly transmitter: string;
}

export interface PresetUniswapV3 extends Sourced {
  /** `SwapRouter02`: the older `SwapRouter` was not deployed on every chain. */
  readonly router: string;
  /** `UniswapV3Factory`, which the router must name. */
  readonly factory: string;
  /** The wrapped native coin that the router must name. */
  readonly weth: string;
}

/** How a block becomes final. The service asks every chain for the block tagged `finalized`. */
export interface PresetFinality {
  readonly rule: string;
  /** Whether the newest block is final. */
  readonly isInstant: boolean;
  readonly source: string;
}

export interface Preset {
  /** A name of the chain registry, which has the bridge chain id, the EVM chain id and the explorer. */
  readonly name: string;
  readonly finality: PresetFinality;
  readonly terms: {
    /** What a deposit of a priced token must be worth, in US dollars. */
    readonly minDepositUsd: string;
    /** Blocks, its own included, under which a delivery counts as completed; it is followed until it is final. */
    readonly deliveryConfirmations: number;
    readonly pollIntervalMs: number;
  };
  readonly tokens: readonly PresetToken[];
  /** Absent where Circle issues no USDC. */
  readonly cctp?: PresetCctp;
  readonly uniswapV3: PresetUniswapV3;
  /** What could not be compared, or needs care. */
  readonly remarks: readonly string[];
}
