/** The Solana chain: its entry in the file, and its resolved form. */
import { type Static, Type } from "typebox";
import { parseUnits } from "../core/amounts.ts";
import { parseSolanaAddress } from "../core/base58.ts";
import type { Frozen } from "../core/frozen.ts";
import {
  type Address,
  NATIVE_SOL,
  type SolanaAddress,
  toEvmAddress,
  toHex32,
} from "../core/hex.ts";
import { type GivenToChain, resolveShared, SharedSettings } from "./every-chain.ts";
import { KeyRef } from "./keys.ts";
import { listMarkets, solana, SOLANA_PRESETS, type SolanaPresetToken } from "./presets/index.ts";
import { findChainById } from "../core/chain-registry.ts";
import {
  completeTokens,
  createWrittenTokens,
  parseUnitsAt,
  resolveToken,
  Token,
  type TokenConfig,
} from "./tokens.ts";
import { Base58, BridgeId, EvmAddressText, setting, UnitsText } from "./values.ts";

/** Bridge chain id of Solana. */
export const SOLANA = 1;
export const SOLANA_DECIMALS = 9;
/** Default maximum of the priority fee, in micro-lamports per compute unit. */
const PRIORITY_FEE_MAX = 1_000_000;
const NAME: string = solana.name;
const PRESET_NAMES = SOLANA_PRESETS.map(({ name }) => name);

export const SolanaToken = Type.Object(
  {
    ...Token.properties,
    address: setting(
      Type.Union([Type.Literal("native"), Base58], {
        description: "a mint, 32 bytes in base58, or native",
      }),
      "A mint in base58, or `native` (symbol `SOLANA`, 9 decimals). SOL and wrapped SOL are two tokens.",
      { defaultText: "the preset's, else required" },
    ),
    program: setting(
      Type.Optional(Type.Enum(["token", "token-2022"], { description: "token or token-2022" })),
      "The token program of the mint.",
      { default: "token" },
    ),
    transferFee: setting(
      Type.Optional(
        Type.Boolean({
          description:
            "true if Token-2022 may keep a fee of every transfer; then no route takes the token",
        }),
      ),
      "Whether the mint keeps a fee of transfers. Such a token can only be refunded.",
      { default: false },
    ),
  },
  { additionalProperties: false },
);

const Accounts = Type.Object(
  {
    binding: setting(Base58, "The account that signs bindings of vaults; derived from the seed."),
    escrow: setting(Base58, "The account that controls locks; derived from the seed."),
    delivery: setting(Base58, "The account that owns the inventory; derived from the seed."),
    settle: setting(Base58, "The fee payer of sweeps, claims and returns; derived from the seed."),
    deliver: setting(Base58, "The fee payer of deliveries; derived from the seed."),
    treasury: setting(Base58, "Your own account, which receives claims and fees."),
  },
  {
    additionalProperties: false,
    description: "the accounts binding, escrow, delivery, settle, deliver and treasury",
  },
);

/** The chain with all its required settings, from the file or the preset. */
export const CompleteSolanaChain = Type.Object(
  {
    ...SharedSettings,
    preset: setting(
      Type.Optional(
        Type.Enum(PRESET_NAMES, { description: `${PRESET_NAMES.join(" or ")}, as chainId is 1` }),
      ),
      "The [preset](presets.md) of Solana. Every setting that the preset has can be omitted.",
      { defaultText: "none" },
    ),
    chainId: setting(BridgeId, `The bridge chain id, ${SOLANA}.`, {
      defaultText: "the preset's, else required",
    }),
    genesisHash: setting(Base58, "The hash of the first block, which every node must report.", {
      defaultText: "the preset's, else required",
    }),
    startSlot: setting(
      Type.Integer({ minimum: 0, description: "the first slot to scan" }),
      "The first slot to scan, not later than the first issued address.",
    ),
    detectAt: setting(
      Type.Optional(
        Type.Enum(["confirmed", "finalized"], { description: "confirmed or finalized" }),
      ),
      "The commitment level at which a deposit is reported: `confirmed` after one or two seconds, `finalized` after about 13. It is settled [when it is final](solana.md#before-it-is-final).",
      { default: "finalized" },
    ),
    contracts: setting(
      Accounts,
      "The accounts that replace the contracts; `sluice keys show` lists those of the seed.",
    ),
    tokens: setting(
      Type.Array(SolanaToken, { description: "a list of tokens" }),
      "The [tokens](#tokens), with the settings below besides those of every chain. A `price` has no `feeds`.",
      { defaultText: "the preset's, else required" },
    ),
    seed: setting(
      KeyRef,
      "Key: the seed from which the signer derives its accounts, including the lanes, so there is no `lanes`. Only the settler's signer reads it. A keystore, `env` or `file`, not `kms`.",
    ),
    attestors: setting(
      Type.Array(EvmAddressText, {
        minItems: 1,
        maxItems: 20,
        description: "the addresses of 1 to 20 attestors",
      }),
      "Addresses of the attestors that the signer accepts, as many of them at once as `attestors.threshold`.",
    ),
    dailyCaps: setting(
      Type.Optional(
        Type.Record(Type.String({ minLength: 1, maxLength: 16 }), UnitsText, {
          additionalProperties: false,
          description: "whole units by the symbol of a token",
        }),
      ),
      'The most that is delivered from inventory in 24 hours, in whole units by symbol: `{ "USDC": "100000" }`. A token without a cap is not delivered.',
      { default: {} },
    ),
    priorityFeeMax: setting(
      Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000_000,
          description: "micro-lamports per compute unit, at most 1000000000",
        }),
      ),
      "The highest price offered per compute unit, in micro-lamports.",
      { defaultText: `the preset's, else ${PRIORITY_FEE_MAX}` },
    ),
    dailyFeeBudget: setting(
      Type.Optional(
        Type.String({
          pattern: "^\\d{1,15}(\\.\\d{1,9})?$",
          description: "SOL, a plain decimal",
        }),
      ),
      "The most, in SOL, that each lane may spend on fees and rent in 24 hours.",
      { defaultText: "no limit" },
    ),
  },
  { additionalProperties: false },
);

/** The chain as written in the file: complete, or the preset with the settings it lacks and overrides. */
export const WrittenSolanaChain = Type.Object(
  {
    ...Type.Partial(CompleteSolanaChain).properties,
    tokens: createWrittenTokens({
      ...Type.Partial(SolanaToken).properties,
      symbol: Token.properties.symbol,
    }),
  },
  { additionalProperties: false },
);

/** The zero address, which has no key. */
const NOBODY = "11111111111111111111111111111111";
const NO_ACCOUNTS = {
  binding: NOBODY,
  escrow: NOBODY,
  delivery: NOBODY,
  settle: NOBODY,
  deliver: NOBODY,
  treasury: NOBODY,
};

/** Returns the entry with every setting written out. The schema of a complete chain reports missing settings. */
export function completeSolanaChain(
  written: Static<typeof WrittenSolanaChain>,
  given: {
    readonly setting: string;
    readonly httpPrices: boolean;
    /** Whether accounts may be missing, because the seed that derives them does not exist yet. */
    readonly accountsLater: boolean;
    readonly problems: string[];
  },
): object {
  const { setting, problems } = given;
  const preset = SOLANA_PRESETS.find(({ name }) => name === written.preset);
  if (written.chainId !== undefined && written.chainId !== SOLANA) {
    problems.push(
      `${setting}.chainId: expected ${SOLANA}, as the preset ${solana.name} has, or nothing`,
    );
  }
  const tokens = completeTokens(written.tokens, {
    preset,
    write: (known) => writeToken(known, given.httpPrices),
    placeholder: { symbol: "?", address: "native", decimals: 0 },
    setting,
    problems,
  });
  return {
    ...(preset && { ...preset.terms, genesisHash: preset.genesis.hash }),
    ...(given.accountsLater && { contracts: NO_ACCOUNTS }),
    ...written,
    chainId: SOLANA,
    ...(tokens && { tokens }),
  };
}

/** Returns a token of the preset in the form of the file. Its prices are HTTP sources: Solana has no feeds of this form. */
function writeToken(known: SolanaPresetToken, httpPrices: boolean): object {
  const { symbol, address, decimals, minDeposit } = known;
  const http = httpPrices ? listMarkets(known) : [];
  const price = { http: http.map(({ url, pointer }) => ({ url, pointer })) };
  return { symbol, address, decimals, minDeposit, ...(http.length > 0 && { price }) };
}

/** The resolved Solana chain. */
export interface SolanaChain extends Frozen<ReturnType<typeof resolveSolanaChain>> {}
/** The properties that a mint must have on the chain. */
export interface MintConfig extends Frozen<ReturnType<typeof resolveMint>> {}

/** Resolves a complete chain. Adds mistakes to `problems`. */
export function resolveSolanaChain(
  chain: Static<typeof CompleteSolanaChain>,
  setting: string,
  given: GivenToChain,
) {
  const { problems } = given;
  const read = (text: string, where: string): SolanaAddress => {
    const address = parseSolanaAddress(text);
    if (address === undefined) problems.push(`${setting}.${where}: expected 32 bytes in base58`);
    return address ?? NATIVE_SOL;
  };
  const tokens = chain.tokens.map((token, index) => {
    const at = `${setting}.tokens[${index}]`;
    if (token.price?.feeds) {
      problems.push(`${at}.price.feeds: expected nothing, feeds are contracts of EVM chains`);
    }
    const address =
      token.address === "native" ? NATIVE_SOL : read(token.address, `tokens[${index}].address`);
    return resolveToken({ ...token, address }, at, given);
  });
  problems.push(...findSeedProblems(chain.seed, `${setting}.seed`));
  return {
    kind: "svm" as const,
    /** Bridge chain id. */
    chainId: SOLANA,
    name: NAME,
    /** The preset of the chain; undefined if the entry names none. */
    preset: SOLANA_PRESETS.find(({ name }) => name === chain.preset),
    /** Prefix of a transaction's page; "" for another network than the main one. */
    explorerTxUrl:
      chain.genesisHash === solana.genesis.hash ? (findChainById(SOLANA)?.explorerTxUrl ?? "") : "",
    ...resolveShared(chain, setting, given),
    genesisHash: toHex32(read(chain.genesisHash, "genesisHash")),
    startSlot: chain.startSlot,
    /** Commitment level at which a deposit is shown. It is settled only when it is final. */
    detectAt: chain.detectAt ?? "finalized",
    /** All accounts but the treasury are derived from the seed. */
    accounts: resolveAccounts(chain.contracts, read),
    tokens,
    mints: new Map<Address, ReturnType<typeof resolveMint>>(
      chain.tokens.flatMap((token, index) => {
        const address = tokens[index]?.address ?? NATIVE_SOL;
        return address === NATIVE_SOL ? [] : [[address, resolveMint(token)] as const];
      }),
    ),
    /** The signer's seed, from which its accounts and lanes are derived. */
    seed: given.readKey(chain.seed, `${setting}.seed`),
    /** The signer accepts attestations of any of them. */
    attestors: chain.attestors.map(toEvmAddress),
    /** Maximum base units that the signer delivers in 24 hours, by token; zero for tokens not listed. */
    dailyCaps: resolveCaps(chain.dailyCaps ?? {}, tokens, { setting, problems }),
    /** Maximum priority fee, in micro-lamports per compute unit. */
    priorityFeeMax: BigInt(chain.priorityFeeMax ?? PRIORITY_FEE_MAX),
    /** Maximum lamports that one lane commits to fees in 24 hours; undefined for no limit. */
    dailyFeeBudget:
      chain.dailyFeeBudget === undefined
        ? undefined
        : parseUnits(chain.dailyFeeBudget, SOLANA_DECIMALS),
  };
}

function findSeedProblems(seed: Static<typeof CompleteSolanaChain>["seed"], at: string): string[] {
  return [
    ...("kms" in seed || "googleKms" in seed
      ? [`${at}: expected a keystore, env or file: keys are derived from it`]
      : []),
    ...(seed.retired === undefined ? [] : [`${at}.retired: expected nothing, a lane retires`]),
  ];
}

function resolveAccounts(
  contracts: Static<typeof CompleteSolanaChain>["contracts"],
  read: (text: string, where: string) => SolanaAddress,
) {
  const { binding, escrow, delivery, settle, deliver, treasury } = contracts;
  return {
    binding: read(binding, "contracts.binding"),
    escrow: read(escrow, "contracts.escrow"),
    delivery: read(delivery, "contracts.delivery"),
    /** Pays fees and rent of sweeps, claims, returns and refunds. */
    settle: read(settle, "contracts.settle"),
    /** Pays fees and rent of deliveries. */
    deliver: read(deliver, "contracts.deliver"),
    /** Receives claimed locks and fees. */
    treasury: read(treasury, "contracts.treasury"),
  };
}

/** Returns the properties of a mint that are checked on the chain before each settlement. */
function resolveMint(token: Static<typeof SolanaToken>) {
  const { program = "token", transferFee = false, decimals } = token;
  return { program, decimals, hasTransferFee: transferFee };
}

/** Converts the caps from whole units by symbol to base units by mint. */
function resolveCaps(
  dailyCaps: Readonly<Record<string, string>>,
  tokens: readonly TokenConfig[],
  { setting, problems }: { readonly setting: string; readonly problems: string[] },
): ReadonlyMap<Address, bigint> {
  const caps = new Map<Address, bigint>();
  for (const [symbol, units] of Object.entries(dailyCaps)) {
    const at = `${setting}.dailyCaps.${symbol}`;
    const token = tokens.find((listed) => listed.symbol === symbol);
    if (!token) {
      problems.push(`${at}: expected the symbol of a listed token`);
      continue;
    }
    const cap = parseUnitsAt(units, token.decimals, { setting: at, problems });
    if (cap !== undefined) caps.set(token.address, cap);
  }
  return caps;
}

/** Returns the accounts that pay for the service's transactions. */
export function feePayersOf({ accounts }: Pick<SolanaChain, "accounts">): readonly SolanaAddress[] {
  return [accounts.settle, accounts.deliver];
}
