/** Settlements that an integrator requests over HTTP, on real nodes. */
import { testTokenAbi } from "@sluice/contracts/abi";
import { testTokenBytecode } from "@sluice/contracts/bytecode";
import { createSluiceClient, type SluiceClient } from "@sluice/sdk";
import { type Address, createWalletClient, http, parseEther, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let client: SluiceClient;

beforeAll(async () => {
  world = await openWorld();
  client = createSluiceClient({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });
});
afterAll(async () => {
  await world.close();
});

const CHAIN = 2;

/** Deploys a token that is not in the configuration, and pays some of it to a wallet. */
async function mintUnlisted(to: Address, amount: bigint): Promise<Address> {
  const { client: node, rpcUrl } = world.chains.ethereum;
  const account = privateKeyToAccount(generatePrivateKey());
  await node.setBalance({ address: account.address, value: parseEther("1") });
  const wallet = createWalletClient({ account, chain: node.chain, transport: http(rpcUrl) });
  const args = ["USD Coin", "USDC", 6] as const;
  const hash = await wallet.deployContract({
    abi: testTokenAbi,
    bytecode: testTokenBytecode,
    args,
  });
  const { contractAddress } = await node.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("nothing was deployed");
  const call = { address: contractAddress, abi: testTokenAbi, functionName: "mint" } as const;
  const minted = await wallet.writeContract({ ...call, args: [to, amount] });
  await node.waitForTransactionReceipt({ hash: minted });
  return contractAddress;
}

test("an empty wallet, or one below the minimum, queues nothing and returns the reason", async () => {
  const { address } = await world.quote({
    from: "ethereum",
    to: "base",
    recipient: world.newRecipient(),
  });
  const { token } = world.deployment.chains.ethereum;
  const request = { walletAddress: address, tokenAddress: token, chain: CHAIN };
  const refused = {
    chainId: CHAIN,
    walletAddress: address,
    tokenAddress: token,
    queued: false,
    queueItemId: null,
    reason: "below_token_min",
  };
  expect(await client.requestIndex(request)).toEqual(refused);
  await world.pay("ethereum", address, USDC - 1n);
  expect(await client.requestIndex(request)).toEqual(refused);
  expect(await client.requestIndex({ ...request, tokenAddress: "native" })).toEqual({
    ...refused,
    tokenAddress: "native",
  });
  expect(await world.swapsOf(address)).toEqual([]);
});

test("an active settlement is reported as already queued, under every name of its token", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({
    from: "ethereum",
    to: "base",
    recipient,
    fromToken: zeroAddress,
    toToken: zeroAddress,
    amount: parseEther("1"),
  });
  await world.payNative("ethereum", address, parseEther("1"));
  const request = { walletAddress: address, chain: CHAIN };
  const first = await client.requestIndex({ ...request, tokenAddress: "native" });
  for (const tokenAddress of ["native", zeroAddress]) {
    expect(await client.requestIndex({ ...request, tokenAddress })).toMatchObject({
      queued: false,
      reason: "already_queued",
      tokenAddress,
    });
  }
  const swap = await world.settled(address);
  // Request or scanner, whichever came first: there is one settlement.
  expect(first.queueItemId ?? swap.id).toBe(swap.id);
  expect(await world.swapsOf(address)).toHaveLength(1);
  expect(await world.nativeBalance("base", recipient)).toBe(parseEther("0.999"));
  expect(await world.deposits(address, 1)).toHaveLength(1);
});

test("a false USDC is refused, and moves nothing [T01 T160]", async () => {
  const { address } = await world.quote({
    from: "ethereum",
    to: "base",
    recipient: world.newRecipient(),
  });
  const fake = await mintUnlisted(address, 50n * USDC);
  const request = { walletAddress: address, tokenAddress: fake, chain: CHAIN };
  await expect(client.requestIndex(request)).rejects.toMatchObject({ code: "UNSUPPORTED_ROUTE" });
  expect(await world.swapsOf(address)).toEqual([]);
  expect(await world.hasCode("ethereum", address)).toBe(false);
});
