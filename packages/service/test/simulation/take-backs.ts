/**
 * Refund authorities that announce take-backs, try them at any time, and cancel some. An announced wallet locks nothing,
 * and no try may succeed before its delays.
 */
import { nativeOn, SOLANA, tokenOf } from "./stage.ts";
import type { StrangersWorld } from "./strangers.ts";

/** Share of the addresses on EVM chains whose authority announces. */
const SHARE = 0.15;

/** Schedules the announcements. `cancel` ends those that may stand, before the run must come to rest. */
export function startTakeBacks(world: StrangersWorld): { readonly cancel: () => void } {
  const { kernel, dice, chains, untilMs, submit, mark } = world;
  const cancels: (() => void)[] = [];
  for (const { chainId, address } of world.addresses) {
    if (chainId === SOLANA || !dice.chance(SHARE)) continue;
    const { commitment, wallet } = address;
    const token = dice.chance(0.75) ? tokenOf(chainId) : nativeOn(chainId);
    const atMs = dice.between(0, untilMs);
    const cancel = () => submit(chainId, { kind: "cancel", commitment, token });
    kernel.schedule("announce a take-back", atMs, () => {
      mark("a take-back was announced");
      submit(chainId, { kind: "announce", commitment, token });
      cancels.push(cancel);
    });
    kernel.schedule("try a take-back", dice.between(atMs, untilMs), () => {
      const locks = chains.get(chainId)?.head.state.locks ?? [];
      for (const [, lock] of locks) {
        if (lock.wallet !== wallet || lock.state !== "locked") continue;
        mark("a take-back was tried too early");
        submit(chainId, { kind: "take_back", commitment, lock });
      }
    });
    if (dice.chance(0.5))
      kernel.schedule("cancel a take-back", dice.between(atMs, untilMs), cancel);
  }
  return {
    cancel() {
      for (const cancel of cancels) cancel();
    },
  };
}
