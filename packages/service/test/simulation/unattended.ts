/**
 * Strangers who announce settlements of deposits whose commitment allows it, and execute them, too early and in time, in a
 * race with the operator's own. The delay of 72 hours lasts twenty seconds here.
 */
import { proveRoute } from "../../src/addresses/index.ts";
import { UNATTENDED } from "../../src/core/commitment.ts";
import { nativeOn, type PaidAddress, SOLANA, tokenOf, UNATTENDED_DELAY_S } from "./stage.ts";
import type { StrangersWorld } from "./strangers.ts";

/** Time between two polls of a wallet by a stranger. */
const POLL_MS = 5_000;

/** Schedules the strangers' polls of the addresses that allow it. */
export function startUnattended(world: StrangersWorld): void {
  const { kernel, dice, chains, untilMs, submit, mark } = world;
  const startedMs = kernel.nowMs;

  function poll(paid: PaidAddress): void {
    if (kernel.nowMs - startedMs > untilMs) return;
    const { chainId, address } = paid;
    const { commitment, wallet } = address;
    const contracts = chains.get(chainId)?.contracts;
    for (const token of [tokenOf(chainId), nativeOn(chainId)]) {
      const held = chains.get(chainId)?.head.state.balanceOf(token, wallet) ?? 0n;
      const [contract] =
        [...(contracts?.routes ?? [])].find(
          ([, route]) => route.kind === "transfer" && route.token === token,
        ) ?? [];
      if (held === 0n || contract === undefined || token !== address.destToken) continue;
      mark("a settlement was announced by a stranger");
      submit(chainId, { kind: "announce_settlement", commitment, token });
      const proof = proveRoute(address, { chainId, contract });
      const settle = {
        kind: "settle_unattended",
        commitment,
        token,
        route: contract,
        proof,
      } as const;
      const delayMs = Number(UNATTENDED_DELAY_S) * 1_000;
      for (const afterMs of [dice.between(0, delayMs), delayMs + dice.between(5_000, 30_000)])
        kernel.schedule("a stranger settles", afterMs, () => submit(chainId, settle));
    }
    kernel.schedule("a stranger polls", POLL_MS * dice.between(1, 4), () => poll(paid));
  }

  for (const paid of world.addresses) {
    const { commitment, destChain } = paid.address;
    const isAllowed = paid.chainId !== SOLANA && commitment.flags === UNATTENDED;
    if (!isAllowed || destChain !== paid.chainId) continue;
    kernel.schedule("a stranger polls", dice.between(0, untilMs), () => poll(paid));
  }
}
