/** The chain of Solana in the file: read with a schema of its own, and used in the form that every chain has. */
import { type Static, Type } from "typebox";
import { parseUnits } from "../core/amounts.ts";
import { parseSolanaAddress } from "../core/base58.ts";
import {
  type Address,
  type EvmAddress,
  type Hex32,
  NATIVE_SOL,
  toEvmAddress,
  toHex32,
} from "../core/hex.ts";
import type { KeyConfig } from "./keys.ts";
import type { ChainConfig, SecretReader, TokenConfig } from "./load.ts";
import type { NodesConfig } from "./nodes.ts";
import { listMarkets, solana as preset, type SolanaPresetToken } from "./presets/index.ts";
import { priceOf } from "./prices.ts";
import { BridgeId, ChainCommon, EvmAddressText, KeyRef, Token } from "./schema.ts";

/** Bridge chain id. */
export const SOLANA = 1;
export const SOLANA_DECIMALS = 9;
/** Micro-lamports per compute unit. */
const PRIORITY_FEE_MAX = 1_000_000;

const Base58 = Type.String({
  pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$",
  description: "32 bytes in base58",
});
const Units = Type.String({
  pattern: "^\\d{1,15}(\\.\\d{1,18})?$",
  description: "a plain decimal in whole units",
});

const SolanaToken = Type.Object(
  {
    ...Token.properties,
    address: Type.Union([Type.Literal("native"), Base58], {
      description: "a mint, 32 bytes in base58, or native",
    }),
    program: Type.Optional(
      Type.Union([Type.Literal("token"), Type.Literal("token-2022")], {
        description: "token or token-2022",
      }),
    ),
    transferFee: Type.Optional(
      Type.Boolean({
        description:
          "true where Token-2022 may keep something of every transfer: then no route takes it",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The chain with everything that it needs. */
export const SolanaChain = Type.Object(
  {
    ...ChainCommon,
    preset: Type.Optional(Type.Literal("solana", { description: "solana, as chainId is 1" })),
    chainId: BridgeId,
    genesisHash: Base58,
    startSlot: Type.Integer({ minimum: 0, description: "the first slot to scan" }),
    detectAt: Type.Optional(
      Type.Union([Type.Literal("confirmed"), Type.Literal("finalized")], {
        description: "confirmed or finalized",
      }),
    ),
    contracts: Type.Object(
      {
        binding: Base58,
        escrow: Base58,
        delivery: Base58,
        settle: Base58,
        deliver: Base58,
        treasury: Base58,
      },
      {
        additionalProperties: false,
        description: "the accounts binding, escrow, delivery, settle, deliver and treasury",
      },
    ),
    tokens: Type.Array(SolanaToken, { description: "a list of tokens" }),
    seed: KeyRef,
    attestors: Type.Array(EvmAddressText, {
      minItems: 1,
      maxItems: 4,
      description: "the addresses of 1 to 4 attestors",
    }),
    dailyCaps: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 16 }), Units, {
        additionalProperties: false,
        description: "whole units by the symbol of a token",
      }),
    ),
    priorityFeeMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: "micro-lamports per compute unit, at most 1000000000",
      }),
    ),
    dailyFeeBudget: Type.Optional(
      Type.String({ pattern: "^\\d{1,15}(\\.\\d{1,9})?$", description: "SOL, a plain decimal" }),
    ),
  },
  { additionalProperties: false },
);

/** As the file has it: complete, or the preset and what it cannot know or what is to be otherwise. */
export const WrittenSolanaChain = Type.Object(
  {
    ...Type.Partial(SolanaChain).properties,
    tokens: Type.Optional(
      Type.Array(
        Type.Union(
          [
            Type.String({ minLength: 1, maxLength: 16 }),
            Type.Object(
              { ...Type.Partial(SolanaToken).properties, symbol: Token.properties.symbol },
              { additionalProperties: false },
            ),
          ],
          { description: "a token, or the symbol of one of the preset" },
        ),
        { description: "a list of tokens" },
      ),
    ),
  },
  { additionalProperties: false },
);

/** Zero, which is nobody's. */
const NOBODY = "11111111111111111111111111111111";
const NO_ACCOUNTS = {
  binding: NOBODY,
  escrow: NOBODY,
  delivery: NOBODY,
  settle: NOBODY,
  deliver: NOBODY,
  treasury: NOBODY,
};

export type SolanaChainFile = Static<typeof SolanaChain>;
export type WrittenSolanaChain = Static<typeof WrittenSolanaChain>;

/** A mint as it is configured. */
export interface MintConfig {
  readonly program: "token" | "token-2022";
  readonly decimals: number;
  readonly hasTransferFee: boolean;
}

/** What Solana has beyond other chains. */
export interface SolanaConfig {
  readonly genesisHash: Hex32;
  /** When a deposit is shown. It is settled when it is final, whatever this says. */
  readonly detectAt: "confirmed" | "finalized";
  /** Receives what locks are claimed for, and fees. */
  readonly treasury: Address;
  /** Of the signer: every account of ours follows from it, its lanes among them. */
  readonly seed: KeyConfig;
  /** Who pays for every transaction of ours. */
  readonly feePayers: readonly Address[];
  /** What the chain must say of each mint. */
  readonly mints: ReadonlyMap<Address, MintConfig>;
  /** Any of them may attest towards the signer. */
  readonly attestors: readonly EvmAddress[];
  /** Base units that the signer delivers in 24 hours at most, by token; of others nothing. */
  readonly dailyCaps: ReadonlyMap<Address, bigint>;
  /** Micro-lamports per compute unit. */
  readonly priorityFeeMax: bigint;
  /** Lamports that one lane may commit to fees in 24 hours; undefined where nothing is set. */
  readonly dailyFeeBudget: bigint | undefined;
}

/** Whether an entry of the file is about Solana, whatever else is wrong with it. */
export function isSolanaEntry(entry: unknown): entry is WrittenSolanaChain {
  if (typeof entry !== "object" || entry === null) return false;
  const { chainId, preset: name }: { chainId?: unknown; preset?: unknown } = entry;
  return chainId === SOLANA || name === preset.name;
}

/** The entry as if everything had been written out; whether it is complete is the schema's to tell. */
export function completeSolanaChain(
  written: WrittenSolanaChain,
  given: {
    readonly setting: string;
    readonly httpPrices: boolean;
    /** Whether accounts may be missing, as the seed that they follow from is still to be made. */
    readonly accountsLater: boolean;
    readonly problems: string[];
  },
): object {
  const { setting, problems } = given;
  if (written.chainId !== undefined && written.chainId !== SOLANA) {
    problems.push(`${setting}.chainId: expected ${SOLANA}, as the preset solana has, or nothing`);
  }
  const known = written.preset === undefined ? [] : preset.tokens;
  const tokens = written.tokens ?? (written.preset && known.map(({ symbol }) => symbol));
  return {
    ...(written.preset && { ...preset.terms, genesisHash: preset.genesis.hash }),
    ...(given.accountsLater && { contracts: NO_ACCOUNTS }),
    ...written,
    chainId: SOLANA,
    ...(tokens && {
      tokens: tokens.map((item, index) =>
        completeToken(item, known, { ...given, setting: `${setting}.tokens[${index}]` }),
      ),
    }),
  };
}

type WrittenToken = NonNullable<WrittenSolanaChain["tokens"]>[number];

function completeToken(
  item: WrittenToken,
  known: readonly SolanaPresetToken[],
  given: {
    readonly setting: string;
    readonly httpPrices: boolean;
    readonly problems: string[];
  },
): object {
  const token = typeof item === "string" ? { symbol: item } : item;
  // One with an address stands alone: what is known of another mint does not hold for it.
  if (token.address !== undefined) return token;
  const found = known.find(({ symbol }) => symbol === token.symbol);
  if (!found) {
    const symbols = known.map(({ symbol }) => symbol).join(", ");
    given.problems.push(
      known.length > 0
        ? `${given.setting}: expected a token of the preset solana (${symbols}), or one with an address`
        : `${given.setting}: expected a token with symbol, address and decimals, since there is no preset`,
    );
    return { symbol: "?", address: "native", decimals: 0 };
  }
  const { address, decimals, minDeposit } = found;
  const http = given.httpPrices ? listMarkets(found) : [];
  const price = { http: http.map(({ url, pointer }) => ({ url, pointer })) };
  return { address, decimals, minDeposit, ...(http.length > 0 && { price }), ...token };
}

/** The chain as the service uses it. */
export function resolveSolanaChain(
  chain: SolanaChainFile,
  setting: string,
  given: {
    readonly nodes: NodesConfig;
    readonly unitsOf: (
      token: { minDeposit?: string; inventoryMin?: string; decimals: number },
      name: "minDeposit" | "inventoryMin",
      setting: string,
    ) => bigint | undefined;
    readonly readSeed: (ref: KeyRef, setting: string) => KeyConfig;
    /** Of the roles that read prices. */
    readonly readSecret: SecretReader;
    readonly problems: string[];
  },
): ChainConfig {
  const { problems, unitsOf } = given;
  const read = (text: string, where: string): Address => {
    const address = parseSolanaAddress(text);
    if (address === undefined) problems.push(`${setting}.${where}: expected 32 bytes in base58`);
    return address ?? NATIVE_SOL;
  };
  const tokens = chain.tokens.map((token, index): TokenConfig => {
    const at = `${setting}.tokens[${index}]`;
    if (token.price?.feeds) {
      problems.push(`${at}.price.feeds: expected nothing, feeds are contracts of EVM chains`);
    }
    return {
      symbol: token.symbol,
      address:
        token.address === "native" ? NATIVE_SOL : read(token.address, `tokens[${index}].address`),
      decimals: token.decimals,
      minDepositUnits: token.minDeposit,
      minDeposit: unitsOf(token, "minDeposit", at),
      inventoryMin: unitsOf(token, "inventoryMin", at),
      price: token.price && priceOf(token.price, `${at}.price`, given),
    };
  });
  if ("kms" in chain.seed) {
    problems.push(`${setting}.seed: expected a keystore, env or file: keys are derived from it`);
  }
  if (chain.seed.retired !== undefined) {
    problems.push(`${setting}.seed.retired: expected nothing, a lane retires`);
  }
  const { binding, escrow, delivery, settle, deliver, treasury } = chain.contracts;
  return {
    preset: undefined,
    chainId: SOLANA,
    name: preset.name,
    kind: "svm",
    evmChainId: 0,
    nodes: given.nodes,
    startBlock: chain.startSlot,
    minDepositUsd:
      chain.minDepositUsd === undefined ? undefined : parseUnits(chain.minDepositUsd, 18),
    pollIntervalMs: chain.pollIntervalMs ?? 1_000,
    // Nothing of Solana is found by balance: every lamport that moves is in a block.
    balanceCheckIntervalMs: 15_000,
    traces: false,
    deliveryConfirmations: 1,
    contracts: {
      factory: read(binding, "contracts.binding"),
      escrow: read(escrow, "contracts.escrow"),
      delivery: read(delivery, "contracts.delivery"),
    },
    cctp: undefined,
    uniswapV3: undefined,
    tokens,
    // The lanes are the signer's, which derives them from the seed.
    lanes: { deploy: [], settle: [], deliver: [] },
    dailyGasBudget: undefined,
    transactionSurcharge: 0n,
    solana: {
      genesisHash: toHex32(read(chain.genesisHash, "genesisHash")),
      detectAt: chain.detectAt ?? "finalized",
      treasury: read(treasury, "contracts.treasury"),
      feePayers: [read(settle, "contracts.settle"), read(deliver, "contracts.deliver")],
      mints: new Map(
        chain.tokens.flatMap(({ program = "token", transferFee = false, decimals }, index) => {
          const address = tokens[index]?.address ?? NATIVE_SOL;
          const facts = { program, decimals, hasTransferFee: transferFee };
          return address === NATIVE_SOL ? [] : [[address, facts] as const];
        }),
      ),
      seed: given.readSeed(chain.seed, `${setting}.seed`),
      attestors: chain.attestors.map(toEvmAddress),
      dailyCaps: capsOf(chain, tokens, { setting, problems }),
      priorityFeeMax: BigInt(chain.priorityFeeMax ?? PRIORITY_FEE_MAX),
      dailyFeeBudget:
        chain.dailyFeeBudget === undefined
          ? undefined
          : parseUnits(chain.dailyFeeBudget, SOLANA_DECIMALS),
    },
  };
}

function capsOf(
  { dailyCaps = {} }: SolanaChainFile,
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
    try {
      caps.set(token.address, parseUnits(units, token.decimals));
    } catch {
      problems.push(`${at}: expected at most ${token.decimals} decimals, got "${units}"`);
    }
  }
  return caps;
}
