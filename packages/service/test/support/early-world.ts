/** A world whose locks are paid one block after they are made, long before they are final. */
import type { describeEarly } from "../../src/routes/index.ts";
import { openWorld, type World } from "./world.ts";

/** Opens the world, with contracts in final blocks: before, no lock is read there. */
export async function openEarlyWorld(): Promise<World> {
  const world = await openWorld({
    // The final block is 40 behind the head, further than a busy machine takes for a deposit.
    slotsInAnEpoch: 20,
    configure(config) {
      for (const chain of config["chains"] as Record<string, unknown>[]) {
        chain["earlyPayouts"] = { exposureUsd: "100", tiers: [{ after: 1, upToUsd: "50" }] };
      }
    },
  });
  for (const chain of ["ethereum", "base"] as const) {
    const { client } = world.chains[chain];
    const head = await client.getBlockNumber();
    await world.until("its contracts are final", async () => {
      return (await client.getBlock({ blockTag: "finalized" })).number >= head;
    });
  }
  return world;
}

type Described = Awaited<ReturnType<typeof describeEarly>>[number];

/** Returns the early payouts of ethereum's locks. */
export async function readEarly(world: World): Promise<Described> {
  const { chains } = await world.command("early", "list", "--json");
  // CAST: what the command prints.
  const described = chains as readonly Described[];
  const found = described.find(({ chain }) => chain === "ethereum");
  if (!found) throw new Error("ethereum has early payouts");
  return found;
}
