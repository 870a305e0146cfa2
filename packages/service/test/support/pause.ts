/** The pause of the factory on ethereum. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { encodeFunctionData } from "viem";
import type { World } from "./world.ts";

/** Pauses sweeps as the guardian, or unpauses them as the owner, who alone can. */
export async function setPaused(world: World, paused: boolean): Promise<void> {
  const functionName = paused ? "pause" : "unpause";
  const data = encodeFunctionData({ abi: depositFactoryAbi, functionName });
  const call = { to: world.factory, data };
  if (paused) await world.sendAs("ethereum", world.guardian, call);
  else await world.asOwner("ethereum", call);
}
