/**
 * Payouts before finality: the bounds of a seed, the operator who accepts losses in the end, and the oracle of the exposure,
 * which is computed from the chains alone.
 */
import type { FakeChain } from "../fake-chain/model.ts";
import type { EarlyPayoutsConfig } from "../../src/config/index.ts";
import type { Hex32 } from "../../src/core/hex.ts";
import type { Db } from "../../src/db/schema.ts";
import { acceptLoss, open, readStates } from "../../src/routes/swift/early/store.ts";
import { Broken } from "./broken.ts";
import type { SharedDatabase } from "./database.ts";
import type { Faults } from "./faults.ts";
import { createDice, type Dice } from "./random.ts";
import { CHAIN_IDS, ETHER, SOLANA, tokenOf, UNIT } from "./stage.ts";

/** Draws the early payouts of a seed, and faults that fit them. */
export function drawWithEarly(
  seed: number,
  usual: Faults,
  mark: (name: string) => void,
): {
  readonly early: EarlyPayoutsConfig | null;
  readonly drawn: Faults;
  /** Draws further blocks to the finality of a chain: payouts before it need a chain that takes its time. */
  readonly drawDelay: () => number;
} {
  const plain = drawEarly(createDice(seed, 41));
  if (!plain) return { early: null, drawn: usual, drawDelay: () => 0 };
  const early = refine(createDice(seed, 44), plain, mark);
  mark("with early payouts");
  const finality = createDice(seed, 42);
  return {
    early,
    drawn: { ...usual, ...drawReorgs(createDice(seed, 43), usual) },
    drawDelay: () => finality.int(20),
  };
}

/** Draws the bounds of early payouts, in one seed of two. Deposits of the token are worth 1 to 50 dollars. */
function drawEarly(dice: Dice): EarlyPayoutsConfig | null {
  if (!dice.chance(1 / 2)) return null;
  const dollars = (least: number, most: number) => BigInt(least + dice.int(most - least)) * ETHER;
  const after = 1 + dice.int(2);
  const upTo = dollars(15, 60);
  const tiers = [
    { after, upTo },
    { after: after + 1 + dice.int(3), upTo: upTo + dollars(15, 500) },
  ];
  return {
    exposure: dollars(30, 200),
    tiers: dice.chance(0.5) ? tiers : tiers.slice(0, 1),
    exceptions: [],
    acceptedLosses: [],
  };
}

/** Lets the last tier wait for the safe block, or payouts to one chain for finality, each in one seed of four. */
function refine(
  dice: Dice,
  early: EarlyPayoutsConfig,
  mark: (name: string) => void,
): EarlyPayoutsConfig {
  const { tiers } = early;
  const [waitsForSafe, hasException] = [dice.chance(1 / 4), dice.chance(1 / 4)];
  if (waitsForSafe) mark("paid in a safe block");
  if (hasException) mark("with early payouts except to one chain");
  const destChain = dice.pick(CHAIN_IDS);
  return {
    ...early,
    tiers: tiers.map((tier, index) =>
      waitsForSafe && index === tiers.length - 1 ? { ...tier, after: "safe" } : tier,
    ),
    exceptions: hasException ? [{ token: undefined, destChain, tiers: [] }] : [],
  };
}

/** Draws deep reorganisations that lose transactions, in one seed of two with early payouts. */
function drawReorgs(
  dice: Dice,
  { reorg, reorgLoses, reorgDepthMax }: Faults,
): Pick<Faults, "reorg" | "reorgLoses" | "reorgDepthMax"> {
  if (dice.chance(0.5)) return { reorg, reorgLoses, reorgDepthMax };
  return {
    reorg: dice.between(0.02, 0.3),
    reorgLoses: dice.between(0.05, 0.5),
    reorgDepthMax: 2 + dice.int(20),
  };
}

/**
 * Checks that inventory is at no moment worth more at risk than the exposure: the payouts for locks that no final block
 * holds. Payouts in coin, whose price moves, are left out.
 */
export function checkExposure(
  chains: ReadonlyMap<number, FakeChain>,
  { exposure }: Pick<EarlyPayoutsConfig, "exposure">,
): void {
  const finalLocks = new Set(
    [...chains.values()].flatMap((chain) => [...chain.finalBlock.state.locks.keys()]),
  );
  let all = 0n;
  for (const [chainId, chain] of chains) {
    const ofToken = [...chain.head.state.delivered].filter(
      ([id, { token }]) => token === tokenOf(chainId) && !finalLocks.has(id),
    );
    const risk = ofToken.reduce((sum, [, { amount }]) => sum + (amount * ETHER) / UNIT, 0n);
    all += risk;
    // Solana's locks are final, so what an EVM chain pays early is for locks of the other.
    if (chainId !== SOLANA && risk > exposure)
      throw new Broken(`T274: ${risk} is at risk on chain ${chainId}, above ${exposure}`);
  }
  const most = exposure * BigInt(CHAIN_IDS.length);
  if (all > most) throw new Broken(`T274: ${all} is at risk, above ${most}`);
}

/** Accepts the losses that the service reports, and opens the early payouts again. */
export async function acceptLosses(
  db: Db,
  nowMs: number,
  mark: (name: string) => void,
): Promise<void> {
  const act = { operator: "operator", reason: "simulated" };
  for (const { srcChain, missing, closed } of await readStates(db, CHAIN_IDS)) {
    for (const { deliveryId } of missing) {
      // CAST: the id of a delivery.
      if (await acceptLoss(db, deliveryId as Hex32, act)) mark("a payout was lost to a reorg");
    }
    if (closed) await open(db, srcChain, { ...act, nowMs });
  }
}

/** Payouts that an operator accepted as lost. */
export interface Lost {
  readonly id: string;
  readonly dest_chain: number;
  readonly dest_wallet: string;
  readonly dest_token: string;
}

/** Returns the payouts that are booked as lost. */
export function readLost(database: SharedDatabase): Promise<Lost[]> {
  return database.query<Lost>(
    `select d.id, d.dest_chain, d.dest_wallet, d.dest_token from deliveries d join early_losses l on l.delivery_id = d.id
      where l.recovered_at is null`,
  );
}
