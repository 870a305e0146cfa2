/** An EVM chain: its entry in the file, and its resolved form. */
import { type Static, Type } from "typebox";
import { parseUnits } from "../core/amounts.ts";
import { findChainById, findChainByName, findExplorer } from "../core/chain-registry.ts";
import type { Frozen } from "../core/frozen.ts";
import { type EvmAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { type GivenToChain, resolveShared, SharedSettings } from "./every-chain.ts";
import { type KeyConfig, KeyRef } from "./keys.ts";
import { findPreset, type Preset, PRESETS } from "./presets/index.ts";
import { createWrittenTokens, resolveToken, Token } from "./tokens.ts";
import { EvmAddressText, Flag, GweiText, NativeCoinsText, setting, UsdText } from "./values.ts";

/** Deployments, settlements, payouts and claims use separate lanes, so that a stuck nonce does not stop the others. */
export const LANE_PURPOSES = ["deploy", "settle", "deliver", "claim"] as const;
export type LanePurpose = (typeof LANE_PURPOSES)[number];

/** Default interval of the balance check, in milliseconds: a native deposit by a contract is found this late after finality. */
const BALANCE_CHECK_INTERVAL_MS = 45_000;

/** Default cap of the gas price, in gwei: above any price at which Ethereum has been for hours. */
const GAS_PRICE_MAX_GWEI = "500";

/** Bridge chain id of an EVM chain; 1 is Solana. */
const EvmBridgeId = Type.Integer({
  minimum: 2,
  maximum: 65535,
  description: "a bridge chain id",
});

const PRESET_NAMES = PRESETS.map(({ name }) => name);
const PresetName = Type.Enum(PRESET_NAMES, { description: `one of ${PRESET_NAMES.join(", ")}` });

/** Default of a contract's address: computed from the constructor arguments, as CREATE2 does. */
const DERIVED = { defaultText: "the address computed from `deployment`" };

/** The contracts of a chain, all of them named. */
const Contracts = Type.Object(
  {
    factory: setting(EvmAddressText, "The factory, which deploys the wallets.", DERIVED),
    escrow: setting(EvmAddressText, "The escrow, which holds locks.", DERIVED),
    delivery: setting(EvmAddressText, "The contract that holds and pays the inventory.", DERIVED),
    treasury: setting(
      Type.Optional(EvmAddressText),
      "The [treasury contract](inventory.md), which holds claims and refills the inventory.",
      { defaultText: "computed from `deployment`, unless `deployment.treasury` names an account" },
    ),
  },
  {
    additionalProperties: false,
    description: "the addresses factory, escrow and delivery, and perhaps treasury",
  },
);

/** Contracts that a chain or the file can name, all of them optional. */
export const WrittenContracts = Type.Object(Type.Partial(Contracts).properties, {
  additionalProperties: false,
  description: "the addresses factory, escrow, delivery and treasury",
});

/** Circle's CCTP, version 2, on one chain. */
const Cctp = Type.Object(
  {
    domain: setting(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: "Circle's id of the chain, a whole number",
      }),
      "Circle's own id of the chain.",
    ),
    messenger: setting(EvmAddressText, "Its contract TokenMessengerV2."),
    transmitter: setting(EvmAddressText, "Its contract MessageTransmitterV2."),
  },
  {
    additionalProperties: false,
    description: "an object with domain, messenger and transmitter",
  },
);

/** Uniswap v3 on one chain. Its first SwapRouter has other methods and cannot be used. */
const UniswapV3 = Type.Object(
  {
    router: setting(
      EvmAddressText,
      "SwapRouter02, as given to the constructors of the pool swap routes.",
    ),
    quoter: setting(Type.Optional(EvmAddressText), "QuoterV2, which quotes pool swaps.", {
      defaultText: "none; required if a route of the chain swaps",
    }),
    weth: setting(EvmAddressText, "The wrapped native coin of the router."),
  },
  {
    additionalProperties: false,
    description: "the addresses router and weth, and quoter if a route swaps",
  },
);

/** One tier of payouts before finality. */
const EarlyTier = Type.Object(
  {
    after: setting(
      Type.Union([Type.Integer({ minimum: 1, maximum: 100 }), Type.Literal("safe")], {
        description: "a number of blocks, 1 to 100, or safe",
      }),
      "The number of blocks, including the block of the lock, after which a lock is paid; or `safe`: when the lock is in the block that the node calls `safe`.",
    ),
    upToUsd: setting(UsdText, "The largest payout of the tier, in US dollars."),
  },
  { additionalProperties: false, description: "an object with after and upToUsd" },
);

/** Tiers of some payouts, in place of the chain's. */
const EarlyException = Type.Object(
  {
    token: setting(
      Type.Optional(Type.String({ description: "a symbol of this chain's tokens" })),
      "The symbol of the locked token.",
      { defaultText: "every token" },
    ),
    to: setting(
      Type.Optional(Type.String({ description: "the name of a chain" })),
      "The chain of the payout, by its name.",
      { defaultText: "every chain" },
    ),
    tiers: setting(
      Type.Array(EarlyTier, { maxItems: 8, description: "a list of at most 8 tiers" }),
      "The tiers; without any, these payouts wait for finality.",
    ),
  },
  { additionalProperties: false, description: "an object with tiers, and token or to or both" },
);

/** Payouts before their lock is final, at the operator's risk. */
const EarlyPayouts = Type.Object(
  {
    exposureUsd: setting(
      UsdText,
      "The most, in US dollars, that inventory may have paid or be about to pay for locks of this chain that are not final. Settler and attestors count separately, each by its own configuration, and each a [part](early-payouts.md#attestors-decide-for-themselves) where not all attestors must sign.",
    ),
    tiers: setting(
      Type.Optional(
        Type.Array(EarlyTier, { minItems: 1, maxItems: 8, description: "a list of 1 to 8 tiers" }),
      ),
      "The tiers, in rising order: a larger payout waits for more blocks. Above the last one, payouts wait for finality.",
      { defaultText: "the preset's; required without one" },
    ),
    exceptions: setting(
      Type.Optional(
        Type.Array(EarlyException, {
          maxItems: 64,
          description: "a list of at most 64 exceptions",
        }),
      ),
      "Payouts of some tokens, or to some chains, that have other tiers. The first one that fits holds. The exposure stays the chain's.",
      { default: [] },
    ),
    acceptedLosses: setting(
      Type.Optional(
        Type.Array(Type.String({ pattern: "^0x[0-9a-f]{64}$", description: "a delivery id" }), {
          maxItems: 1000,
          description: "a list of delivery ids",
        }),
      ),
      "Payouts whose locks never became final, which the attestor no longer counts. The settler's are accepted by `sluice early accept`.",
      { default: [] },
    ),
  },
  {
    additionalProperties: false,
    description: "an object with exposureUsd, and tiers unless a preset has them",
  },
);

/** Keys of one purpose. Several share the work, so that a stuck nonce does not stop all of it. */
const LaneKeys = Type.Union([KeyRef, Type.Array(KeyRef, { minItems: 1, maxItems: 16 })], {
  description: "a key, or a list of at most 16",
});

/** A chain whose required settings are all present, from the file or its preset. */
export const CompleteEvmChain = Type.Object(
  {
    preset: setting(
      Type.Optional(PresetName),
      "The name of a [preset](presets.md). Every setting that the preset has can be omitted.",
      { defaultText: "none" },
    ),
    chainId: setting(
      EvmBridgeId,
      "The bridge chain id, which numbers the chains on the interface ([glossary.md](glossary.md)).",
      {
        defaultText: "the preset's, else required",
      },
    ),
    evmChainId: setting(
      Type.Integer({ minimum: 1, description: "an EIP-155 chain id" }),
      "The EIP-155 id that every node must report.",
      { defaultText: "the preset's, else required" },
    ),
    ...SharedSettings,
    startBlock: setting(
      Type.Integer({ minimum: 0, description: "the first block to scan" }),
      "The first block to scan, not later than the first issued address; for example the block of the factory's deployment. Earlier payments are not detected.",
    ),
    balanceCheckIntervalMs: setting(
      Type.Optional(
        Type.Integer({
          minimum: 50,
          maximum: 3_600_000,
          description: "milliseconds, 50 to 3600000",
        }),
      ),
      "Interval between comparisons of native balances at a final block with the database; more than 45000 breaks the times in [nodes.md](nodes.md#native-balances). Has no effect unless the native coin is listed.",
      { default: BALANCE_CHECK_INTERVAL_MS },
    ),
    traces: setting(
      Type.Optional(Flag),
      "Whether to request traces from the nodes. With traces, native coin paid by contracts is found before it is final.",
      { default: false },
    ),
    deliveryConfirmations: setting(
      Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1000, description: "a number of blocks, 1 to 1000" }),
      ),
      "The number of blocks, including the block of the delivery, after which a settlement is `completed`.",
      { defaultText: "the preset's, else 1" },
    ),
    earlyPayouts: setting(
      Type.Optional(EarlyPayouts),
      "Whether inventory pays for locks of this chain [before they are final](early-payouts.md), and within which bounds.",
      { defaultText: "none: payouts wait until their lock is final" },
    ),
    contracts: setting(
      Contracts,
      "The contracts of this chain. They override `contracts` of the file.",
      { defaultText: "`contracts` of the file, else computed from `deployment`, else required" },
    ),
    cctp: setting(Type.Optional(Cctp), "Circle's CCTP, version 2, on this chain.", {
      defaultText: "the preset's, else none",
    }),
    uniswapV3: setting(Type.Optional(UniswapV3), "Uniswap v3 on this chain.", {
      defaultText: "the preset's, else none",
    }),
    tokens: setting(
      Type.Array(Token, { description: "a list of tokens" }),
      "The listed [tokens](#tokens), which are detected as deposits.",
      { defaultText: "the preset's, else required" },
    ),
    lanes: setting(
      Type.Object(
        {
          deploy: setting(LaneKeys, "Lanes that deploy wallets. Any account may."),
          settle: setting(
            LaneKeys,
            "Lanes that sweep, return locks and refund. They also claim while no lane of `claim` can. The factory must list their accounts as relayers.",
          ),
          deliver: setting(
            LaneKeys,
            "Lanes that pay deliveries. `Delivery` must list their accounts as settlers.",
          ),
          claim: setting(
            Type.Optional(LaneKeys),
            "Lanes that claim locks and send nothing else, so that no other work can delay a claim. The factory must list their accounts as relayers.",
            { defaultText: "none: the lanes of `settle` claim" },
          ),
        },
        {
          additionalProperties: false,
          description: "the keys deploy, settle and deliver, and optionally claim",
        },
      ),
      "The keys of the sending accounts: for each purpose one key, or a list of at most 16 that share the work.",
    ),
    dailyGasBudget: setting(
      Type.Optional(NativeCoinsText),
      "The most, in whole native coins, that each lane may spend on gas in 24 hours. The signer refuses to sign above it. A lane of `settle` keeps a quarter of it for claims.",
      { defaultText: "no limit" },
    ),
    gasPriceMaxGwei: setting(
      Type.Optional(GweiText),
      "The highest price of a unit of gas that a transaction may offer, in gwei: twice the base fee, plus the tip. Above it the lanes wait, and the signer refuses to sign. A claim may offer twice, four or eight times as much from 6, 24 and 48 hours after its lock, up to half of the lock's value. Other calls of the lane make way for it: unsigned ones wait, and signed ones that no block takes are given up.",
      { defaultText: `the preset's, else ${GAS_PRICE_MAX_GWEI}` },
    ),
    transactionSurcharge: setting(
      Type.Optional(NativeCoinsText),
      "The cost of each transaction in addition to its gas, in whole native coins, such as the data for layer 1 on Arbitrum. The fees of the OP stack are read from the chain and not part of it. Included in charged gas.",
      { default: "0" },
    ),
  },
  { additionalProperties: false },
);

/** A chain as written in the file: complete, or a preset with the settings it lacks and overrides. */
export const WrittenEvmChain = Type.Object(
  {
    ...Type.Partial(CompleteEvmChain).properties,
    contracts: Type.Optional(WrittenContracts),
    tokens: createWrittenTokens({
      ...Type.Partial(Token).properties,
      symbol: Token.properties.symbol,
    }),
  },
  { additionalProperties: false },
);

/** A resolved EVM chain. */
export interface EvmChain extends Frozen<ReturnType<typeof resolveEvmChain>> {}
export type EarlyPayoutsConfig = NonNullable<EvmChain["earlyPayouts"]>;
export type CctpConfig = NonNullable<EvmChain["cctp"]>;
export type UniswapV3Config = NonNullable<EvmChain["uniswapV3"]>;

/** Resolves a complete chain. Adds mistakes to `problems`. */
export function resolveEvmChain(
  chain: Static<typeof CompleteEvmChain>,
  setting: string,
  given: GivenToChain,
) {
  const known = findChainById(chain.chainId);
  if (!known) {
    given.problems.push(
      `${setting}.chainId: expected a bridge chain id of the registry, got ${chain.chainId}`,
    );
  }
  const readLanes = (purpose: LanePurpose): readonly KeyConfig[] => {
    const where = `${setting}.lanes.${purpose}`;
    const refs = chain.lanes[purpose] ?? [];
    if (!Array.isArray(refs)) return [given.readKey(refs, where)];
    return refs.map((ref, index) => given.readKey(ref, `${where}[${index}]`));
  };
  return {
    kind: "evm" as const,
    /** The preset of the chain; undefined if the entry names none. */
    preset: chain.preset === undefined ? undefined : findPreset(chain.preset),
    /** Bridge chain id. */
    chainId: chain.chainId,
    name: known?.name ?? String(chain.chainId),
    /** EIP-155 id. */
    evmChainId: chain.evmChainId,
    /** Prefix of a transaction's page; "" for a network that is not public. */
    explorerTxUrl: findExplorer(chain.chainId, chain.evmChainId),
    ...resolveShared(chain, setting, given),
    /** The scanner never reads below it. */
    startBlock: chain.startBlock,
    /** Interval of the check for native deposits by balance, if the native coin is listed. */
    balanceCheckIntervalMs: chain.balanceCheckIntervalMs ?? BALANCE_CHECK_INTERVAL_MS,
    /** Whether the node supports traces. */
    traces: chain.traces ?? false,
    /** Blocks including the delivery's own; 1 means as soon as it is mined. It is followed until final in any case. */
    deliveryConfirmations: chain.deliveryConfirmations ?? 1,
    /** Undefined if payouts wait until their lock is final. */
    earlyPayouts:
      chain.earlyPayouts &&
      resolveEarlyPayouts(chain.earlyPayouts, setting, {
        preset: chain.preset === undefined ? undefined : findPreset(chain.preset),
        tokens: chain.tokens.map(({ symbol, address }) => ({
          symbol,
          address: toEvmAddress(address),
        })),
        exposureParts: given.exposureParts,
        problems: given.problems,
      }),
    contracts: {
      factory: toEvmAddress(chain.contracts.factory),
      escrow: toEvmAddress(chain.contracts.escrow),
      delivery: toEvmAddress(chain.contracts.delivery),
      /** Undefined if claims are paid to an account of another kind. */
      treasury:
        chain.contracts.treasury === undefined ? undefined : toEvmAddress(chain.contracts.treasury),
    },
    /** Undefined if the chain has no CCTP. */
    cctp: chain.cctp && resolveCctp(chain.cctp),
    /** Undefined if the chain has no Uniswap v3. */
    uniswapV3: chain.uniswapV3 && resolveUniswapV3(chain.uniswapV3),
    tokens: chain.tokens.map((token, index) => {
      const address = toEvmAddress(token.address);
      return resolveToken({ ...token, address }, `${setting}.tokens[${index}]`, given);
    }),
    lanes: {
      deploy: readLanes("deploy"),
      settle: readLanes("settle"),
      deliver: readLanes("deliver"),
      /** Empty if the lanes of `settle` claim. */
      claim: readLanes("claim"),
    },
    /** Maximum wei that one lane commits to gas in 24 hours; undefined for no limit. */
    dailyGasBudget:
      chain.dailyGasBudget === undefined ? undefined : parseUnits(chain.dailyGasBudget, 18),
    /** Highest price of a unit of gas that a transaction may offer, in wei. */
    gasPriceMax: parseUnits(chain.gasPriceMaxGwei ?? GAS_PRICE_MAX_GWEI, 9),
    /** Wei charged per transaction in addition to its gas. */
    transactionSurcharge: parseUnits(chain.transactionSurcharge ?? "0", 18),
  };
}

function resolveEarlyPayouts(
  { exposureUsd, acceptedLosses, exceptions, ...written }: Static<typeof EarlyPayouts>,
  setting: string,
  {
    preset,
    tokens,
    exposureParts,
    problems,
  }: Pick<GivenToChain, "problems" | "exposureParts"> & {
    readonly preset: Preset | undefined;
    readonly tokens: readonly { readonly symbol: string; readonly address: EvmAddress }[];
  },
) {
  const here = `${setting}.earlyPayouts`;
  const tiers = written.tiers ?? preset?.early?.tiers;
  if (!tiers) {
    problems.push(`${here}.tiers: required, because no preset of the chain has them`);
    return undefined;
  }
  return {
    /** The part of each attestor, and of the settler: US dollars times 1e18. */
    exposure: parseUnits(exposureUsd, 18) / exposureParts,
    tiers: resolveTiers(tiers, `${here}.tiers`, problems),
    /** The first that fits a payout replaces the tiers. Undefined fits every token, or every chain. */
    exceptions: (exceptions ?? []).map((one, index) => {
      const at = `${here}.exceptions[${index}]`;
      const token = tokens.find(({ symbol }) => symbol === one.token);
      if (one.token !== undefined && !token) {
        problems.push(`${at}.token: expected a symbol of this chain's tokens, got ${one.token}`);
      }
      const chain = one.to === undefined ? undefined : findChainByName(one.to);
      if (one.to !== undefined && !chain) {
        problems.push(`${at}.to: expected the name of a chain, got ${one.to}`);
      }
      if (one.token === undefined && one.to === undefined) {
        problems.push(`${at}: expected token, or to, or both`);
      }
      return {
        token: token?.address,
        destChain: chain?.chainId,
        tiers: resolveTiers(one.tiers, `${at}.tiers`, problems),
      };
    }),
    /** Delivery ids. */
    acceptedLosses: (acceptedLosses ?? []).map(toHex32),
  };
}

/** Resolves tiers: `after` in blocks, including that of the lock; `upTo` in US dollars times 1e18. */
function resolveTiers(
  tiers: readonly { readonly after: number | "safe"; readonly upToUsd: string }[],
  setting: string,
  problems: string[],
) {
  const resolved = tiers.map(({ after, upToUsd }) => ({ after, upTo: parseUnits(upToUsd, 18) }));
  const depthOf = (after: number | "safe") => (after === "safe" ? Infinity : after);
  for (const [index, tier] of resolved.entries()) {
    const before = resolved[index - 1];
    if (before && (depthOf(tier.after) <= depthOf(before.after) || tier.upTo <= before.upTo)) {
      problems.push(
        `${setting}[${index}]: expected more blocks, or safe, and more dollars than in the tier before`,
      );
    }
  }
  return resolved;
}

function resolveCctp({ domain, messenger, transmitter }: Static<typeof Cctp>) {
  return {
    /** Circle's id of the chain. */
    domain,
    /** `TokenMessengerV2`. */
    messenger: toEvmAddress(messenger),
    /** `MessageTransmitterV2`. */
    transmitter: toEvmAddress(transmitter),
  };
}

function resolveUniswapV3({ router, quoter, weth }: Static<typeof UniswapV3>) {
  return {
    /** `SwapRouter02`. */
    router: toEvmAddress(router),
    /** `QuoterV2`; absent if no route uses a pool swap. */
    ...(quoter && { quoter: toEvmAddress(quoter) }),
    /** The wrapped native coin. */
    weth: toEvmAddress(weth),
  };
}
