/** Settings that chains of every family share. */
import { type Static, Type } from "typebox";
import { parseUnits } from "../core/amounts.ts";
import type { KeyReader } from "./keys.ts";
import { NodeSettings, resolveNodes } from "./nodes.ts";
import type { SecretReader } from "./secrets.ts";
import { setting, UsdText } from "./values.ts";

const POLL_INTERVAL_MS = 1_000;

export const SharedSettings = {
  minDepositUsd: setting(
    Type.Optional(UsdText),
    "The minimum value of a deposit in US dollars, for tokens with a `price`. Without a usable price, deposits wait for one.",
    { defaultText: "the preset's, else no minimum" },
  ),
  ...NodeSettings,
  pollIntervalMs: setting(
    Type.Optional(
      Type.Integer({ minimum: 50, maximum: 60_000, description: "milliseconds, 50 to 60000" }),
    ),
    "The interval at which the scanner polls for a new block.",
    { defaultText: `the preset's, else ${POLL_INTERVAL_MS}` },
  ),
};

const Shared = Type.Object(SharedSettings);

/** Inputs for resolving a chain. Mistakes are added to `problems`. */
export interface GivenToChain {
  /** Reads the settler's keys. */
  readonly readKey: KeyReader;
  /** Reads secrets of the roles that read prices. */
  readonly readSecret: SecretReader;
  /** Into how many parts the exposure of early payouts is divided. */
  readonly exposureParts: bigint;
  readonly problems: string[];
}

/** Resolves the settings that chains of every family share. */
export function resolveShared(
  chain: Static<typeof Shared>,
  setting: string,
  { problems }: Pick<GivenToChain, "problems">,
) {
  return {
    nodes: resolveNodes(chain, setting, problems),
    /** Minimum value of a deposit in US dollars times 1e18; undefined for none. */
    minDepositUsd:
      chain.minDepositUsd === undefined ? undefined : parseUnits(chain.minDepositUsd, 18),
    pollIntervalMs: chain.pollIntervalMs ?? POLL_INTERVAL_MS,
  };
}
