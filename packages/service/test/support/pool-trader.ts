/** A trader in the sandbox's pool with unlimited funds. */
import { erc20Abi } from "@sluice/contracts/abi";
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseEther,
  zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { World } from "./world.ts";

const routerAbi = parseAbi([
  "struct Swap { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }",
  "function exactInputSingle(Swap params) payable returns (uint256 amountOut)",
]);

/** The sandbox's pool. */
const POOL_FEE = 500;

/** Asks for one ether on ethereum as USDC on the same chain, which goes through the pool. */
export const quoteEtherToUsdc = (world: World, recipient: Address) =>
  world.quote({
    from: "ethereum",
    to: "ethereum",
    recipient,
    fromToken: zeroAddress,
    amount: parseEther("1"),
  });

/** Moves the price of the native coin on ethereum by about six percent, down and back up, as often as wanted. */
export async function createPoolTrader(world: World) {
  const { client, rpcUrl } = world.chains.ethereum;
  const { token, weth, swapRouter } = world.deployment.chains.ethereum;
  const account = privateKeyToAccount(generatePrivateKey());
  await client.setBalance({ address: account.address, value: parseEther("100000") });
  const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) });

  /** Sends a transaction without waiting for its receipt. */
  const send = (call: { readonly to: Address; readonly data: Hex; readonly value?: bigint }) =>
    wallet.sendTransaction({ ...call, gas: 500_000n });
  const awaitAll = async (hashes: readonly Hex[]) => {
    for (const hash of hashes) {
      const { status } = await client.waitForTransactionReceipt({ hash });
      if (status !== "success") throw new Error("a trade reverted");
    }
  };
  const swap = (tokenIn: Address, tokenOut: Address, amountIn: bigint) => {
    const data = encodeFunctionData({
      abi: routerAbi,
      functionName: "exactInputSingle",
      args: [
        {
          tokenIn,
          tokenOut,
          fee: POOL_FEE,
          recipient: account.address,
          amountIn,
          amountOutMinimum: 0n,
          sqrtPriceLimitX96: 0n,
        },
      ],
    });
    return send({ to: swapRouter, data, ...(tokenIn === weth && { value: amountIn }) });
  };

  return {
    /** Sells coin into the pool; resolves when the transaction is on its way. */
    sendSale: () => swap(weth, token, parseEther("3000")),

    async pushDown(): Promise<void> {
      await awaitAll([await swap(weth, token, parseEther("3000"))]);
    },

    /** Buys back with the whole proceeds of the sales. */
    async pushBackUp(): Promise<void> {
      const held = await world.balance("ethereum", account.address);
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: "approve",
        args: [swapRouter, held],
      });
      await awaitAll([await send({ to: token, data })]);
      await awaitAll([await swap(token, weth, held)]);
    },
  };
}
