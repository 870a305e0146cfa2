/** USDC by Circle's CCTP v2, whose contracts and attestation service are stand-ins, on real nodes with the real service. */
import { cctpRouteAbi, sandboxMessageTransmitterV2Abi } from "@sluice/contracts/abi";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ bridge: true });
});
afterAll(async () => {
  await world.close();
});
afterEach(() => {
  const { controls } = world.attestations;
  controls.away = false;
  controls.unknown = false;
  controls.held = false;
  controls.limitedS = null;
  controls.tamper = null;
  controls.allowance = 10_000_000n * USDC;
  controls.expiryBlocks = 10_000n;
});

/** What the route keeps, and what the bridge keeps of the rest when it is fast: 1.3 basis points, rounded up. */
const serviceFee = (amount: bigint) => amount / 1000n;
const bridgeFee = (burned: bigint) => (burned * 130n + 999_999n) / 1_000_000n;
const afterFast = (amount: bigint) => {
  const burned = amount - serviceFee(amount);
  return burned - bridgeFee(burned);
};
const afterStandard = (amount: bigint) => amount - serviceFee(amount);

async function pay(amount: bigint): Promise<{ address: Address; recipient: Address }> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, amount);
  return { address, recipient };
}

/** The transaction that burned the deposit of an address. */
async function burnOf(address: Address): Promise<Hex> {
  let hash: Hex | undefined;
  await world.until(`${address} is burned`, async () => {
    const events = await world.chains.ethereum.client.getContractEvents({
      address,
      abi: cctpRouteAbi,
      eventName: "Burned",
      fromBlock: 0n,
    });
    hash = events[0]?.transactionHash;
    return hash !== undefined;
  });
  if (!hash) throw new Error("until saw it");
  return hash;
}

test("USDC on ethereum is burned, and minted to the recipient on base", async () => {
  const recipient = world.newRecipient();
  const { address, quotes } = await world.quote({ from: "ethereum", to: "base", recipient });
  expect(quotes.map(({ type }) => type)).toEqual(["FAST_MCTP", "SWIFT"]);
  // Quoted for 10 USDC.
  expect(quotes[0]?.expectedAmountOutBaseUnits).toBe(String(afterFast(10n * USDC)));
  await world.pay("ethereum", address, 25n * USDC);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect(await world.statuses(swap.id)).toEqual([
    "deploying",
    "pending_swap",
    "swapping",
    "completed",
  ]);
  expect(await world.balance("base", recipient)).toBe(afterFast(25n * USDC));
  expect(await world.balance("ethereum", address)).toBe(0n);
});
