/** Settlements without the operator on a real node, by the SDK's calls alone. */
import { encodeAnnounceSettlement, encodeSettleUnattended, rootOfRoutes } from "@sluice/sdk";
import { erc20Abi } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HERE, openWorld, type World } from "../../../test/evm/world.ts";
import type { Commitment } from "../../core/commitment.ts";
import { type Hex, toEvmAddress, toHex, toHex32, unpadAddress } from "../../core/hex.ts";
import { parseLogs } from "./answers.ts";
import { toOutflow } from "./outflows.ts";

const AMOUNT = 25_000_000n;
const WAIT_S = 72 * 3600;
let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

async function passTime(seconds: number): Promise<void> {
  // CAST: methods of the node that the client's types do not include.
  await world.client.request({ method: "evm_increaseTime", params: [seconds] } as never);
  await world.client.request({ method: "evm_mine", params: [] } as never);
}

test("anybody settles an announced deposit after 72 hours, and the scanner sees why it left [T123]", async () => {
  const evmChainId = await world.client.getChainId();
  const { usdc: token, transferRoute } = world;
  const leaf = { evmChainId, route: transferRoute };
  const routeSet = [leaf, { evmChainId: 1, route: transferRoute }];
  const commitment: Commitment = {
    ...world.commitmentTo(HERE),
    routes: toHex32(rootOfRoutes(routeSet)),
    flags: 1,
  };
  const wallet = world.here.predictWallet(commitment);
  const recipient = toEvmAddress(unpadAddress(commitment.destWallet, "evm"));
  await world.mint(token, wallet, AMOUNT);
  const { factory: to } = world.contractsHere;
  const send = async (data: Hex) => world.mined(await world.wallet.sendTransaction({ to, data }));
  const settle = toHex(encodeSettleUnattended({ commitment, token, leaf, routeSet }));

  await send(toHex(encodeAnnounceSettlement({ commitment, token })));
  const stranger = toEvmAddress(world.wallet.account.address);
  expect(await world.here.simulate(stranger, { to, data: settle, value: 0n })).toEqual({
    ok: false,
    reason: "TooEarly",
  });
  await passTime(WAIT_S);
  const before = await balanceOf(token, recipient);
  const hash = await world.wallet.sendTransaction({ to, data: settle });
  await world.mined(hash);
  expect((await balanceOf(token, recipient)) - before).toBe(AMOUNT);

  const logs = parseLogs(
    await world.client.request({
      method: "eth_getLogs",
      // CAST: a filter by block hash, which the client's types do not include here.
      params: [{ blockHash: (await world.client.getTransactionReceipt({ hash })).blockHash }],
    } as never),
  );
  const outflows = logs.flatMap((log) => toOutflow(log, world.contractsHere) ?? []);
  expect(outflows).toMatchObject([{ kind: "unattended", wallet, token, amount: AMOUNT }]);
});

function balanceOf(token: Hex, account: Hex): Promise<bigint> {
  return world.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [account],
  });
}
