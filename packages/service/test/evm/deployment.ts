/**
 * Our contracts on a local node, sealed. One EVM plays two chains: each has its own escrow and delivery contract, and both
 * share the factory, which in production has the same address on every chain.
 */
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
} from "viem";
import { mnemonicToAccount } from "viem/accounts";
import {
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  sameAssetRouteAbi,
  testTokenAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import {
  deliveryBytecode,
  depositFactoryBytecode,
  escrowBytecode,
  sameAssetRouteBytecode,
  testTokenBytecode,
  transferRouteBytecode,
} from "@sluice/contracts/bytecode";
import {
  type Address,
  type EvmAddress,
  NATIVE_TOKEN,
  padAddress,
  toEvmAddress,
} from "../../src/core/hex.ts";

/** Bridge chain ids of the source and of the destination. */
export const HERE = 2;
export const THERE = 30;
export const EVM_CHAIN_ID = 900_002;

const MNEMONIC = "test test test test test test test test test test test junk";
const account = (index: number) => mnemonicToAccount(MNEMONIC, { addressIndex: index });
const DELAY_SECONDS = 0n;
const PAYOUT_WINDOW_SECONDS = 43_200n;

export type Deployment = Awaited<ReturnType<typeof deployContracts>>;

/** Deploys everything. The relayer settles, claims and delivers; the attestor signs. */
export async function deployContracts(
  rpcUrl: string,
  roles: { readonly relayer: Address; readonly attestor: Address },
) {
  const { relayer, attestor } = roles;
  const owner = account(0);
  const treasury = toEvmAddress(account(8).address);
  const feeRecipient = toEvmAddress(account(9).address);
  const chain = defineChain({
    id: EVM_CHAIN_ID,
    name: "test",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const transport = http(rpcUrl, { retryCount: 0 });
  const wallet = createWalletClient({ chain, transport, account: owner });
  const client = createPublicClient({ chain, transport, pollingInterval: 20, cacheTime: 0 });
  const mined = (hash: Hex) => client.waitForTransactionReceipt({ hash });

  async function create(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<EvmAddress> {
    const { contractAddress } = await mined(await wallet.deployContract({ abi, bytecode, args }));
    if (!contractAddress) throw new Error("nothing was deployed");
    return toEvmAddress(contractAddress);
  }

  const governed = [owner.address, account(7).address, DELAY_SECONDS];
  const factory = await create(depositFactoryAbi, depositFactoryBytecode, governed);
  const usdc = await create(testTokenAbi, testTokenBytecode, ["USD Coin", "USDC", 6]);
  const usdcThere = await create(testTokenAbi, testTokenBytecode, ["USD Coin", "USDC", 18]);
  const bothOf = async (bridgeId: number) => ({
    factory,
    escrow: await create(escrowAbi, escrowBytecode, [factory, bridgeId, BigInt(EVM_CHAIN_ID)]),
    delivery: await create(deliveryAbi, deliveryBytecode, [
      ...governed,
      factory,
      bridgeId,
      PAYOUT_WINDOW_SECONDS,
    ]),
  });
  const here = await bothOf(HERE);
  const there = await bothOf(THERE);
  const transferRoute = await create(transferRouteAbi, transferRouteBytecode, [
    { evmChainId: BigInt(EVM_CHAIN_ID), bridgeId: HERE, factory, token: usdc, feeRecipient },
  ]);
  const escrowRoute = await create(sameAssetRouteAbi, sameAssetRouteBytecode, [
    {
      evmChainId: BigInt(EVM_CHAIN_ID),
      sourceChain: HERE,
      sourceToken: usdc,
      sourceDecimals: 6,
      escrow: here.escrow,
      destChain: THERE,
      destToken: padAddress(usdcThere),
      destDecimals: 18,
      delivery: padAddress(there.delivery),
    },
  ]);

  await mined(
    await wallet.writeContract({
      address: factory,
      abi: depositFactoryAbi,
      functionName: "seal",
      args: [[transferRoute, escrowRoute], [relayer], [attestor], 1n, treasury],
    }),
  );
  await mined(
    await wallet.writeContract({
      address: there.delivery,
      abi: deliveryAbi,
      functionName: "seal",
      args: [
        [relayer],
        [
          { token: usdcThere, perDay: 10n ** 30n },
          { token: NATIVE_TOKEN, perDay: 10n ** 30n },
        ],
      ],
    }),
  );
  await mined(await wallet.sendTransaction({ to: relayer, value: 10n ** 18n }));

  return {
    here,
    there,
    usdc,
    usdcThere,
    transferRoute,
    escrowRoute,
    treasury,
    feeRecipient,
    guardian: account(7),
    client,
    wallet,
    mined,
    create,

    /** Mints test tokens and waits for the block. */
    async mint(token: EvmAddress, to: Address, amount: bigint) {
      const mint = { address: token, abi: testTokenAbi, functionName: "mint" } as const;
      return mined(await wallet.writeContract({ ...mint, args: [to, amount] }));
    },

    /** Mines empty blocks, so that all earlier blocks become final. */
    async makeFinal() {
      // CAST: viem's types do not include anvil's own methods.
      await client.request({ method: "anvil_mine", params: ["0x4"] } as never);
    },
  };
}
