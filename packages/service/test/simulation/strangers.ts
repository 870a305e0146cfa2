/** The world of players outside the service: chains that they read, and transactions that they send. */
import type { SectionRequest, ScannedBlock, Section } from "../../src/chains/port/index.ts";
import { isNative } from "../../src/core/hex.ts";
import type { Action } from "../fake-chain/contracts.ts";
import type { FakeChain } from "../fake-chain/model.ts";
import type { Kernel } from "./kernel.ts";
import type { Dice } from "./random.ts";
import { MINIMUM, type PaidAddress, SOLANA, tokenOf } from "./stage.ts";

export interface StrangersWorld {
  readonly kernel: Kernel;
  readonly dice: Dice;
  readonly chains: ReadonlyMap<number, FakeChain>;
  readonly addresses: readonly PaidAddress[];
  readonly untilMs: number;
  readonly submit: (chainId: number, action: Action) => void;
  readonly mark: (name: string) => void;
}

/** Time between two transactions of a flood. */
const FLOOD_PAUSE_MS = 8_000;
/** Most transfers of one transaction of a flood. */
const DUST_MAX = 12;

export interface Flooding {
  /** Returns a section without some of its logs, as servers give it that lack them, while the blooms of all blocks are full. */
  leaveOut(request: SectionRequest, section: Section): Section;
  /** Schedules the floods of dust. */
  start(): void;
}

/**
 * Draws the floods of a seed. In one of four, strangers fill the bloom filters of the blocks for a while, so that servers which
 * leave out logs of new blocks go unnoticed: the second look must find every deposit and outflow. In one of four, addresses get
 * many transfers of dust, which together may reach the minimum.
 */
export function createFlooding(
  { kernel, dice, addresses, untilMs, submit, mark }: Omit<StrangersWorld, "chains">,
  { isOff, isCalm }: { readonly isOff: boolean; readonly isCalm: () => boolean },
): Flooding {
  const startedMs = kernel.nowMs;
  const leavesOut = !isOff && dice.chance(1 / 4) ? dice.between(0.02, 0.6) : 0;
  const fullFrom = dice.between(0, 0.4) * untilMs;
  const fullUntil = fullFrom + dice.between(0.2, 0.6) * untilMs;
  const floods = !isOff && dice.chance(1 / 4) ? 1 + dice.int(3) : 0;
  const isFull = () => {
    const ms = kernel.nowMs - startedMs;
    return leavesOut > 0 && ms >= fullFrom && ms < fullUntil && !isCalm();
  };

  function withoutLogs(block: ScannedBlock): ScannedBlock {
    if (!dice.chance(leavesOut)) return block;
    const keeps = dice.chance(0.5) ? 0 : 0.5;
    // The coin's payments come with the block's transactions, and have no logs.
    const transfers = block.transfers.filter(({ token }) => isNative(token) || dice.chance(keeps));
    const outflows = block.outflows.filter(() => dice.chance(keeps));
    const left = block.transfers.length - transfers.length;
    if (left > 0) mark("a deposit's log was left out");
    if (outflows.length < block.outflows.length) mark("an outflow's log was left out");
    return { ...block, transfers, outflows };
  }

  function flood({ chainId, address }: PaidAddress, rounds: number): void {
    mark("flooded with dust");
    const amounts = Array.from({ length: 1 + dice.int(DUST_MAX) }, () =>
      BigInt(1 + dice.int(Number(MINIMUM / 8n))),
    );
    submit(chainId, { kind: "payout", token: tokenOf(chainId), to: address.wallet, amounts });
    if (rounds === 0) return;
    const next = () => flood(dice.chance(0.5) ? { chainId, address } : pickPaid(), rounds - 1);
    kernel.schedule("dust", dice.between(0, FLOOD_PAUSE_MS), next);
  }

  const evm = addresses.filter(({ chainId }) => chainId !== SOLANA);
  const pickPaid = () => dice.pick(evm);

  return {
    leaveOut(request, section) {
      return isFull() && !request.isFinal
        ? { ...section, blocks: section.blocks.map(withoutLogs) }
        : section;
    },
    start() {
      if (evm.length === 0) return;
      for (let nr = 0; nr < floods; nr++) {
        kernel.schedule("dust", dice.between(0, untilMs * 0.8), () =>
          flood(pickPaid(), dice.int(8)),
        );
      }
    },
  };
}
