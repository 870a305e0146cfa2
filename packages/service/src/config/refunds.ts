/** Refunds for which attestors sign, or on Solana the signer states a reason, by the refund authority of an address. */
import { type Static, Type } from "typebox";
import { assertNever } from "../core/assert.ts";
import { parseSolanaAddress } from "../core/base58.ts";
import { type Hex32, isEvmAddress, padAddress, toEvmAddress } from "../core/hex.ts";
import { REFUND_REASONS, type RefundReason } from "../core/refund-reason.ts";
import { Flag, setting } from "./values.ts";

const YEAR_S = 31_536_000;
/** A refund that costs a tenth of the balance is still worth it. */
const TIMES_GAS = 10;

const After = (documentation: string) =>
  Type.Optional(
    Type.Object(
      {
        afterSeconds: setting(
          Type.Integer({ minimum: 60, maximum: YEAR_S, description: "seconds, 60 to 31536000" }),
          documentation,
        ),
      },
      { additionalProperties: false, description: "an object with afterSeconds" },
    ),
  );

const REASONS = {
  belowMinimum: setting(Type.Optional(Flag), "Whether a balance below the minimum is refunded.", {
    default: false,
  }),
  unlisted: setting(
    Type.Optional(Flag),
    "Whether a token is refunded that no route takes to the committed destination.",
    { default: false },
  ),
  dead: After(
    "The time for which a balance that could have been settled must have stood in final blocks.",
  ),
  expired: After("The time for which any balance must have stood in final blocks."),
  automatic: Type.Optional(
    Type.Object(
      {
        afterSeconds: setting(
          Type.Integer({ minimum: 1, maximum: YEAR_S, description: "seconds, 1 to 31536000" }),
          "The time after the oldest deposit in the balance. Later deposits do not put it off.",
        ),
        timesGas: setting(
          Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 10_000,
              description: "a whole number, 1 to 10000",
            }),
          ),
          "Only a balance that is worth this many times the gas of its refund, which the lane pays. A token without a price is not refunded by itself.",
          { default: TIMES_GAS },
        ),
      },
      { additionalProperties: false, description: "an object with afterSeconds" },
    ),
  ),
} as const;

const strict = { additionalProperties: false } as const;

const Policy = Type.Object(REASONS, { ...strict, description: "an object of reasons" });

/** The setting `refunds`. */
export const Refunds = Type.Object(
  {
    ...REASONS,
    byAuthority: setting(
      Type.Optional(
        Type.Record(
          Type.String({ pattern: "^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$" }),
          Policy,
          {
            ...strict,
            description: "policies by refund authority",
          },
        ),
      ),
      "Other policies, by the refund authority of the address, with the same reasons and `automatic`. An entry replaces the whole default.",
      { default: {} },
    ),
  },
  { ...strict, description: "an object of reasons" },
);

/** The refunds that are allowed to one authority; nothing by default. */
export interface RefundPolicy {
  readonly belowMinimum: boolean;
  readonly unlisted: boolean;
  /** Seconds for which the balance must have stood; null if the reason is not allowed. */
  readonly deadAfterS: bigint | null;
  readonly expiredAfterS: bigint | null;
  /** When the service makes allowed refunds by itself; null if only by request. Attestors and signers do not read it. */
  readonly automatic: AutomaticRefunds | null;
}

export interface AutomaticRefunds {
  /** Milliseconds after the oldest deposit of the balance. */
  readonly afterMs: number;
  /** Least value of the balance, in times of the gas that its refund costs. */
  readonly timesGas: bigint;
}

export interface RefundPolicies {
  readonly general: RefundPolicy;
  readonly byAuthority: ReadonlyMap<Hex32, RefundPolicy>;
}

/** Resolves the policies. One authority under two spellings is a problem. */
export function resolveRefunds(
  written: Static<typeof Refunds> | undefined,
  problems: string[],
): RefundPolicies {
  const byAuthority = new Map<Hex32, RefundPolicy>();
  for (const [text, policy] of Object.entries(written?.byAuthority ?? {})) {
    const address = isEvmAddress(text) ? toEvmAddress(text) : parseSolanaAddress(text);
    const authority = address && padAddress(address);
    if (!authority || byAuthority.has(authority)) {
      problems.push(`refunds.byAuthority: expected each refund authority once, got ${text}`);
      continue;
    }
    byAuthority.set(authority, toPolicy(policy));
  }
  for (const [name, policy] of [
    ["refunds", written],
    ...Object.entries(written?.byAuthority ?? {}).map(
      ([authority, policy]) => [`refunds.byAuthority.${authority}`, policy] as const,
    ),
  ] as const) {
    if (policy?.automatic && !allowsAny(toPolicy(policy))) {
      problems.push(`${name}.automatic: expected a reason beside it that allows refunds`);
    }
  }
  return { general: toPolicy(written ?? {}), byAuthority };
}

function toPolicy(written: Static<typeof Policy>): RefundPolicy {
  const { belowMinimum = false, unlisted = false, dead, expired, automatic } = written;
  return {
    belowMinimum,
    unlisted,
    deadAfterS: dead ? BigInt(dead.afterSeconds) : null,
    expiredAfterS: expired ? BigInt(expired.afterSeconds) : null,
    automatic: automatic
      ? {
          afterMs: automatic.afterSeconds * 1_000,
          timesGas: BigInt(automatic.timesGas ?? TIMES_GAS),
        }
      : null,
  };
}

function allowsAny(policy: RefundPolicy): boolean {
  return REFUND_REASONS.some((reason) => allowsRefund(policy, reason));
}

/** Returns the policy for a refund authority. */
export function refundPolicyOf(
  { general, byAuthority }: RefundPolicies,
  authority: Hex32,
): RefundPolicy {
  return byAuthority.get(authority) ?? general;
}

/** Returns whether a policy allows a reason, for a balance that has stood long enough. */
export function allowsRefund(policy: RefundPolicy, reason: RefundReason): boolean {
  switch (reason) {
    case "below_minimum":
      return policy.belowMinimum;
    case "unlisted":
      return policy.unlisted;
    case "dead":
      return policy.deadAfterS !== null;
    case "expired":
      return policy.expiredAfterS !== null;
    default:
      return assertNever(reason);
  }
}
