/** An integrator that is charged for gas, on real nodes: the itemised fees equal the payments on the chains, to the unit. */
import { type Quote, SluiceApiError } from "@sluice/sdk";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFee, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

const GWEI = 10n ** 9n;
/** The integrator that is charged for gas; the others are sponsored. */
const CHARGED = 1;
/** Its cap is 10 dollars: the service's fee takes 2, and gas at a few gwei some more. */
const AMOUNT = 2_000n * USDC;

let world: World;

beforeAll(async () => {
  world = await openWorld();
  await world.command("integrator", "set", "globex", "--gas", "charged", "--json");
});
afterAll(async () => {
  await world.close();
});

interface Shown {
  readonly settlement: { readonly triesUsed: number };
  readonly fees: { readonly service: string; readonly gas: string; readonly bridge: string };
  readonly history: readonly { readonly to: string; readonly errorCode: string | null }[];
}

const show = async (id: string) =>
  // CAST: the form that the command prints.
  (await world.command("settlement", "show", id, "--json")) as unknown as Shown;

/** Returns the total fees of a settlement, and expects none of them to be the bridge's. */
async function feesOf(id: string): Promise<{ service: bigint; gas: bigint; whole: bigint }> {
  const { fees } = await show(id);
  expect(fees.bridge).toBe("0");
  const [service, gas] = [BigInt(fees.service), BigInt(fees.gas)];
  return { service, gas, whole: service + gas };
}

function expectTrue(quote: Quote): bigint {
  const { service, gas, bridge } = quote.fees ?? { service: "0", gas: "0", bridge: "0" };
  expect([BigInt(service), bridge]).toEqual([AMOUNT / 1000n, "0"]);
  expect(quote.protocolBps).toBe(10);
  const out = AMOUNT - BigInt(service) - BigInt(gas);
  expect(quote.expectedAmountOutBaseUnits).toBe(out.toString());
  expect(quote.bridgeFee).toBeCloseTo(Number(AMOUNT - out) / 1e6, 6);
  return BigInt(gas);
}

const ask = (to: "ethereum" | "base", recipient: Address, by = CHARGED) =>
  world.quote({ from: "ethereum", to, recipient, by, amount: AMOUNT });

/**
 * Sets the base fee, in gwei, and waits until quotes from inventory show it; gas costs are cached for a few seconds.
 * `shown` gets the gas of a first settlement, or null where it is above the cap.
 */
async function setGas(gwei: bigint, isShown: (gas: bigint | null) => boolean): Promise<void> {
  await world.setBaseFee("ethereum", gwei * GWEI);
  await world.until("a quote shows what gas costs", async () => {
    try {
      const { quote } = await ask("base", world.newRecipient());
      return isShown(BigInt(quote.fees?.gas ?? "0"));
    } catch (error) {
      if (error instanceof SluiceApiError && error.code === "FEE_NOT_COVERED") return isShown(null);
      throw error;
    }
  });
}

async function expectProved(): Promise<void> {
  await world.until("the ledger is proved", async () => {
    const { ok, unsettled } = await world.command("audit", "--json");
    return ok === true && Array.isArray(unsettled) && unsettled.length === 0;
  });
}

test("pays the fee recipient exactly the itemised fees on one chain, and charges the deployment once", async () => {
  const recipient = world.newRecipient();
  const { address, quote } = await ask("ethereum", recipient);
  expect(expectTrue(quote)).toBeGreaterThan(0n);
  const before = await world.feesBalance("ethereum");
  await world.pay("ethereum", address, AMOUNT);
  const first = await world.settled(address, { by: CHARGED });
  expect(first.status).toBe("completed");
  const fees = await feesOf(first.id);
  expect(fees.gas).toBeGreaterThan(0n);
  expect(fees.service).toBe(AMOUNT / 1000n);
  expect(await world.feesBalance("ethereum")).toBe(before + fees.whole);
  expect(await world.balance("ethereum", recipient)).toBe(AMOUNT - fees.whole);

  await setGas(5n, (gas) => gas !== null && gas > 5n * USDC);
  const withWallet = expectTrue((await ask("ethereum", recipient)).quote);
  const withoutWallet = expectTrue((await ask("ethereum", world.newRecipient())).quote);
  // 87,000 gas against 161,000, at prices that may be a few blocks apart.
  expect(withWallet).toBeLessThan((withoutWallet * 3n) / 4n);
});

test("pays the deposit less the itemised fees from inventory; the treasury keeps them, and the ledger matches", async () => {
  await setGas(1n, (gas) => gas !== null && gas < 4n * USDC);
  const recipient = world.newRecipient();
  const { address, quote } = await ask("base", recipient);
  expect(expectTrue(quote)).toBeGreaterThan(0n);
  const before = await world.treasuryBalance("ethereum");
  await world.pay("ethereum", address, AMOUNT);
  const swap = await world.settled(address, { by: CHARGED });
  expect(swap.status).toBe("completed");
  const { service, gas, whole } = await feesOf(swap.id);
  expect(service).toBe(AMOUNT / 1000n);
  expect(gas).toBeGreaterThan(0n);
  expect(await world.balance("base", recipient)).toBe(AMOUNT - whole);
  await expectEmptyEscrow(world);
  expect(await world.treasuryBalance("ethereum")).toBe(before + AMOUNT);
  await expectProved();
});

test("charges an integrator with sponsored gas only the service's fee", async () => {
  const recipient = world.newRecipient();
  const { address, quote } = await ask("base", recipient, 0);
  expect(quote.fees).toEqual({ service: String(AMOUNT / 1000n), gas: "0", bridge: "0" });
  await world.pay("ethereum", address, AMOUNT);
  await world.settled(address);
  expect(await world.balance("base", recipient)).toBe(afterFee(AMOUNT));
});

test("a deposit waits at no cost while gas is too expensive, and settles once it falls", async () => {
  const recipient = world.newRecipient();
  const { address } = await ask("base", recipient);
  await setGas(100n, (gas) => gas === null);
  await world.pay("ethereum", address, AMOUNT);
  await world.until("it waits for gas to fall", async () => {
    const [swap] = await world.swapsOf(address, CHARGED);
    return swap?.error?.code === "FEE_NOT_COVERED";
  });
  expect(await world.hasCode("ethereum", address)).toBe(false);
  await world.setBaseFee("ethereum", GWEI);
  const swap = await world.settled(address, { by: CHARGED });
  expect(swap).toMatchObject({ status: "completed", error: null });
  const { settlement, history } = await show(swap.id);
  expect(settlement.triesUsed).toBe(0);
  expect(history[0]).toMatchObject({ to: "failed_deploy", errorCode: "FEE_NOT_COVERED" });
  const { whole } = await feesOf(swap.id);
  expect(await world.balance("base", recipient)).toBe(AMOUNT - whole);
});
