/**
 * Deploys the contracts on both chains and funds all accounts, in a few blocks.
 *
 * Every address is known in advance (from the owner's and the faucet's nonces), so all transactions are sent at once and
 * both chains proceed in parallel. The factory is deployed by the deterministic deployer and has the same address on
 * both chains. All other contracts have different addresses, because the accounts first use up a different number of
 * nonces on each chain: confusing the two chains then fails instead of working by accident.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  deliveryAbi,
  depositFactoryAbi,
  sandboxTokenMessengerV2Abi,
  testTokenAbi,
} from "@sluice/contracts/abi";
import { depositFactoryBytecode, testTokenBytecode } from "@sluice/contracts/bytecode";
import {
  type Address,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  pad,
  parseEther,
  parseUnits,
  type PrivateKeyAccount,
  zeroAddress,
  zeroHash,
} from "viem";
import { USDC } from "./chain-specs.ts";
import type { SandboxChain, SandboxChains } from "./chains.ts";
import type { ChainDeployment, Deployment } from "./deployment.ts";
import { SandboxError } from "./errors.ts";
import { awaitMined, type Call, sendCalls } from "./evm-client.ts";
import { laneAccounts, type SandboxKeys } from "./keys.ts";
import {
  POOL_NATIVE,
  POOL_USDC,
  poolCalls,
  poolCreationData,
  SWAP_LIMITS,
  UNISWAP_STEPS,
  uniswapInitCodes,
} from "./uniswap.ts";
import {
  cctpRouteInitCode,
  type ChainPlan,
  type Context,
  deliveryInitCode,
  escrowInitCode,
  escrowRouteInitCode,
  feeTokenCalls,
  feeTokenInitCode,
  messengerInitCode,
  otherOf,
  solanaRouteInitCode,
  swapCctpRouteInitCode,
  swapRouteInitCode,
  transferRouteInitCode,
  transmitterInitCode,
  treasuryInitCode,
} from "./init-codes.ts";

/** The deterministic deployer, at the same address as on public chains. */
const DETERMINISTIC_DEPLOYER: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

const FACTORY_SALT = zeroHash;

const DEPLOY_GAS = 4_000_000n;

/** For contracts close to the contract size limit. */
const LARGE_DEPLOY_GAS = 7_000_000n;

const LARGE_STEPS: readonly string[] = [
  "factory",
  "uniswapFactory",
  "swapRouter",
  "positionManager",
  "pool",
  "nativeToUsdcSwapRoute",
  "usdcToNativeSwapRoute",
  "wethSwapCctpRoute",
  "feeToken",
];

const CALL_GAS = 1_000_000n;

/** The factory reads the code of every route, at about 52 gas a byte. */
const SEAL_GAS = 8_000_000n;

const ETH_EACH = parseEther("1000");

const INVENTORY = parseUnits("1000000", USDC.decimals);

/** Daily cap of deliveries: far above the volume of a sandbox. */
const USDC_DAILY_CAP = INVENTORY;

const NATIVE_INVENTORY = parseEther("1000");

const NATIVE_DAILY_CAP = NATIVE_INVENTORY;

const USDC_PER_PAYER = parseUnits("100000", USDC.decimals);

/** Greater than the number of contracts of either account, so that no address occurs on both chains. */
const NONCES_APART = 30;

/** Contracts in the order of the owner's nonces, which follow the skipped ones. */
const OWNER_STEPS = [
  "factory",
  "escrow",
  "delivery",
  "transferRoute",
  "nativeTransferRoute",
  "escrowRoute",
  "nativeEscrowRoute",
  "usdcToNativeRoute",
  "nativeToUsdcRoute",
  "transmitter",
  "messenger",
  "cctpRoute",
  ...UNISWAP_STEPS,
  // The routes through it need it when they are created.
  "pool",
  "nativeToUsdcSwapRoute",
  "usdcToNativeSwapRoute",
  "wethSwapCctpRoute",
  "usdcToSolanaRoute",
  "nativeToSolanaRoute",
  "usdcToSolRoute",
  "feeToken",
  "feeTokenRoute",
  "treasury",
] as const;

export interface DeployOptions {
  /** Delay of additions to factory and delivery, in seconds. Default 60. */
  readonly delaySeconds?: number;
  /** Seconds after a lock in which it is paid. Default 43,200, which is the service's. */
  readonly payoutWindowSeconds?: number;
  /** Whether claims are paid to the treasury contract; to an account by default. */
  readonly treasuryContract?: boolean;
  /** Attestors beside the sandbox's two, and the signatures that are needed. Default: no other, and one. */
  readonly attestors?: { readonly threshold: number; readonly further: readonly Address[] };
}

/** Contracts whose addresses are known, and their deployment, which is done once. */
export interface PlannedContracts {
  readonly deployment: Deployment;
  /** Throws a `SandboxError` if the owner has sent transactions before. */
  deploy(): Promise<void>;
  /** Waits for an averaged price of the pools, which takes a block of a later second than the deployment's. */
  price(): Promise<void>;
}

/** Plans the contracts: their addresses follow from the owner's and the faucet's nonces. */
export async function planContracts(
  chains: SandboxChains,
  keys: SandboxKeys,
  {
    delaySeconds = 60,
    payoutWindowSeconds = 43_200,
    treasuryContract = false,
    attestors = { threshold: 1, further: [] },
  }: DeployOptions = {},
): Promise<PlannedContracts> {
  const factoryInitCode = encodeDeployData({
    abi: depositFactoryAbi,
    bytecode: depositFactoryBytecode,
    args: [keys.owner.account.address, keys.guardian.account.address, BigInt(delaySeconds)],
  });
  const factory = getContractAddress({
    opcode: "CREATE2",
    from: DETERMINISTIC_DEPLOYER,
    salt: FACTORY_SALT,
    bytecode: factoryInitCode,
  });
  const plan = { ethereum: planChain(keys, 0), base: planChain(keys, NONCES_APART) };
  const delays = { delaySeconds, payoutWindowSeconds, treasuryContract };
  const context: Context = { keys, ...delays, attestors, factory, factoryInitCode, plan };
  const describe = async ({ client, name }: SandboxChain): Promise<ChainDeployment> => {
    const { noncesSkipped: _skipped, ...addresses } = plan[name];
    return { ...addresses, startBlock: Number(await client.getBlockNumber()) + 1 };
  };
  const [ethereum, base] = await Promise.all([describe(chains.ethereum), describe(chains.base)]);
  return {
    deployment: { factory, chains: { ethereum, base } },
    async deploy() {
      await Promise.all(chains.all.map((chain) => deployChain(chains, chain, context)));
    },
    async price() {
      await delay(SWAP_LIMITS.window * 1_000);
      await chains.mine(1);
    },
  };
}

/** Plans and deploys the contracts. Throws a `SandboxError` if the owner has sent transactions before. */
export async function deployContracts(
  chains: SandboxChains,
  keys: SandboxKeys,
  options: DeployOptions = {},
): Promise<Deployment> {
  const { deployment, deploy, price } = await planContracts(chains, keys, options);
  await deploy();
  await price();
  return deployment;
}

function planChain(keys: SandboxKeys, noncesSkipped: number): ChainPlan {
  const owned = (step: (typeof OWNER_STEPS)[number]) =>
    getContractAddress({
      from: keys.owner.account.address,
      nonce: BigInt(noncesSkipped + OWNER_STEPS.indexOf(step)),
    });
  return {
    noncesSkipped,
    token: getContractAddress({ from: keys.faucet.account.address, nonce: BigInt(noncesSkipped) }),
    escrow: owned("escrow"),
    delivery: owned("delivery"),
    transferRoute: owned("transferRoute"),
    nativeTransferRoute: owned("nativeTransferRoute"),
    escrowRoute: owned("escrowRoute"),
    nativeEscrowRoute: owned("nativeEscrowRoute"),
    usdcToNativeRoute: owned("usdcToNativeRoute"),
    nativeToUsdcRoute: owned("nativeToUsdcRoute"),
    transmitter: owned("transmitter"),
    messenger: owned("messenger"),
    cctpRoute: owned("cctpRoute"),
    weth: owned("weth"),
    uniswapFactory: owned("uniswapFactory"),
    swapRouter: owned("swapRouter"),
    quoter: owned("quoter"),
    positionManager: owned("positionManager"),
    nativeToUsdcSwapRoute: owned("nativeToUsdcSwapRoute"),
    usdcToNativeSwapRoute: owned("usdcToNativeSwapRoute"),
    wethSwapCctpRoute: owned("wethSwapCctpRoute"),
    usdcToSolanaRoute: owned("usdcToSolanaRoute"),
    nativeToSolanaRoute: owned("nativeToSolanaRoute"),
    usdcToSolRoute: owned("usdcToSolRoute"),
    feeToken: owned("feeToken"),
    feeTokenRoute: owned("feeTokenRoute"),
    treasury: owned("treasury"),
  };
}

async function deployChain(
  chains: SandboxChains,
  chain: SandboxChain,
  context: Context,
): Promise<void> {
  const { client } = chain;
  const { keys } = context;
  await assertEmpty(chain, keys);
  const funded = [keys.owner, keys.faucet, ...keys.payers[chain.name]].map((key) => key.account);
  const balances = [...funded, ...laneAccounts(keys)].map(({ address }) => ({
    address,
    value: ETH_EACH,
  }));
  const inventory = { address: context.plan[chain.name].delivery, value: NATIVE_INVENTORY };
  const provider = { address: keys.faucet.account.address, value: ETH_EACH + POOL_NATIVE };
  await Promise.all([...balances, inventory].map((account) => client.setBalance(account)));
  await client.setBalance(provider);
  const byOwner = ownerCalls(chain, context);
  const byFaucet = faucetCalls(chain, context);
  await mineAll(chains, chain, [
    { account: keys.owner.account, calls: byOwner, nonce: 0 },
    { account: keys.faucet.account, calls: byFaucet, nonce: 0 },
  ]);
  const byProvider = poolCalls(context.plan[chain.name], provider.address);
  await mineAll(chains, chain, [
    { account: keys.faucet.account, calls: byProvider, nonce: byFaucet.length },
  ]);
}

/** Calls of one account, with the nonce of the first call. */
interface Batch {
  readonly account: PrivateKeyAccount;
  readonly calls: readonly Call[];
  readonly nonce: number;
}

/** Sends calls, mines a block and waits for all of them. */
async function mineAll(
  chains: SandboxChains,
  { client, name }: SandboxChain,
  batches: readonly Batch[],
): Promise<void> {
  const sent: { readonly hash: Hex; readonly label: string }[] = [];
  for (const { account, calls, nonce } of batches) {
    const hashes = await sendCalls(client, account, calls, nonce);
    sent.push(...hashes.map((hash, index) => ({ hash, label: calls[index]?.label ?? "" })));
  }
  await chains.mine(1, name);
  await Promise.all(sent.map(({ hash, label }) => awaitMined(client, hash, label)));
}

async function assertEmpty({ client, name }: SandboxChain, keys: SandboxKeys): Promise<void> {
  const used = await client.getTransactionCount({ address: keys.owner.account.address });
  if (used > 0) {
    throw new SandboxError(
      `the contracts on ${name} are incomplete (an earlier start was interrupted): start again with --fresh`,
    );
  }
  const deployer = await client.getCode({ address: DETERMINISTIC_DEPLOYER });
  if (deployer === undefined || deployer === "0x") {
    throw new SandboxError(
      `${name} has no deterministic deployer at ${DETERMINISTIC_DEPLOYER}: update anvil`,
    );
  }
}

function ownerCalls(chain: SandboxChain, context: Context): readonly Call[] {
  const { keys, factory, plan, attestors } = context;
  const here = plan[chain.name];
  const owner = keys.owner.account.address;
  const lanes = keys.lanes[chain.name];
  const other = otherOf(chain);
  const there = plan[other.name];
  const uniswap = uniswapInitCodes(here);
  const deployments: Readonly<Record<(typeof OWNER_STEPS)[number], Omit<Call, "gas" | "label">>> = {
    factory: {
      to: DETERMINISTIC_DEPLOYER,
      data: concatHex([FACTORY_SALT, context.factoryInitCode]),
    },
    escrow: { data: escrowInitCode(chain, context) },
    delivery: { data: deliveryInitCode(chain, context) },
    transferRoute: { data: transferRouteInitCode(chain, here.token, context) },
    nativeTransferRoute: { data: transferRouteInitCode(chain, zeroAddress, context) },
    escrowRoute: { data: escrowRouteInitCode(chain, context, { from: "usdc", to: "usdc" }) },
    nativeEscrowRoute: {
      data: escrowRouteInitCode(chain, context, { from: "native", to: "native" }),
    },
    usdcToNativeRoute: {
      data: escrowRouteInitCode(chain, context, { from: "usdc", to: "native" }),
    },
    nativeToUsdcRoute: {
      data: escrowRouteInitCode(chain, context, { from: "native", to: "usdc" }),
    },
    transmitter: { data: transmitterInitCode(chain, context) },
    messenger: { data: messengerInitCode(chain, context) },
    cctpRoute: { data: cctpRouteInitCode(chain, context) },
    weth: { data: uniswap.weth },
    uniswapFactory: { data: uniswap.uniswapFactory },
    swapRouter: { data: uniswap.swapRouter },
    quoter: { data: uniswap.quoter },
    positionManager: { data: uniswap.positionManager },
    pool: { to: here.positionManager, data: poolCreationData(here) },
    nativeToUsdcSwapRoute: {
      data: swapRouteInitCode(chain, context, { from: "native", to: "usdc" }),
    },
    usdcToNativeSwapRoute: {
      data: swapRouteInitCode(chain, context, { from: "usdc", to: "native" }),
    },
    wethSwapCctpRoute: { data: swapCctpRouteInitCode(chain, context) },
    usdcToSolanaRoute: { data: solanaRouteInitCode(chain, context, { from: "usdc", to: "USDC" }) },
    nativeToSolanaRoute: {
      data: solanaRouteInitCode(chain, context, { from: "native", to: "WETH" }),
    },
    usdcToSolRoute: { data: solanaRouteInitCode(chain, context, { from: "usdc", to: "SOL" }) },
    feeToken: { data: feeTokenInitCode() },
    feeTokenRoute: { data: escrowRouteInitCode(chain, context, { from: "fee", to: "usdc" }) },
    treasury: { data: treasuryInitCode(context) },
  };
  return [
    ...skipNonces(owner, here.noncesSkipped),
    ...OWNER_STEPS.map((step) => ({
      ...deployments[step],
      label: step,
      gas: LARGE_STEPS.includes(step) ? LARGE_DEPLOY_GAS : DEPLOY_GAS,
    })),
    {
      label: "factory.seal",
      to: factory,
      gas: SEAL_GAS,
      data: encodeFunctionData({
        abi: depositFactoryAbi,
        functionName: "seal",
        args: [
          [
            here.transferRoute,
            here.nativeTransferRoute,
            here.escrowRoute,
            here.nativeEscrowRoute,
            here.usdcToNativeRoute,
            here.nativeToUsdcRoute,
            here.cctpRoute,
            here.nativeToUsdcSwapRoute,
            here.usdcToNativeSwapRoute,
            here.wethSwapCctpRoute,
            here.usdcToSolanaRoute,
            here.nativeToSolanaRoute,
            here.usdcToSolRoute,
            here.feeTokenRoute,
          ],
          [lanes.settle.account.address, lanes.claim.account.address],
          [keys.attestor.account.address, keys.coldAttestor.account.address, ...attestors.further],
          BigInt(attestors.threshold),
          context.treasuryContract ? here.treasury : keys.treasury.account.address,
        ],
      }),
    },
    ...feeTokenCalls(chain, context),
    {
      label: "messenger.link",
      to: here.messenger,
      gas: CALL_GAS,
      data: encodeFunctionData({
        abi: sandboxTokenMessengerV2Abi,
        functionName: "link",
        args: [other.domain, pad(there.messenger), pad(there.token)],
      }),
    },
    {
      label: "delivery.seal",
      to: here.delivery,
      gas: CALL_GAS,
      data: encodeFunctionData({
        abi: deliveryAbi,
        functionName: "seal",
        args: [
          [lanes.deliver.account.address],
          [
            { token: here.token, perDay: USDC_DAILY_CAP },
            { token: zeroAddress, perDay: NATIVE_DAILY_CAP },
          ],
        ],
      }),
    },
  ];
}

function faucetCalls(chain: SandboxChain, { keys, plan }: Context): readonly Call[] {
  const { noncesSkipped, token, delivery, messenger } = plan[chain.name];
  const mint = (to: Address, amount: bigint): Call => ({
    label: "token.mint",
    to: token,
    gas: CALL_GAS,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [to, amount] }),
  });
  return [
    ...skipNonces(keys.faucet.account.address, noncesSkipped),
    {
      label: "token",
      gas: DEPLOY_GAS,
      data: encodeDeployData({
        abi: testTokenAbi,
        bytecode: testTokenBytecode,
        args: [USDC.name, USDC.symbol, USDC.decimals],
      }),
    },
    {
      label: "token.addMinter",
      to: token,
      gas: CALL_GAS,
      data: encodeFunctionData({ abi: testTokenAbi, functionName: "addMinter", args: [messenger] }),
    },
    mint(delivery, INVENTORY),
    mint(keys.faucet.account.address, POOL_USDC),
    ...keys.payers[chain.name].map((payer) => mint(payer.account.address, USDC_PER_PAYER)),
  ];
}

/** Returns empty transfers of an account to itself, which use up nonces. */
function skipNonces(self: Address, count: number): readonly Call[] {
  return Array.from({ length: count }, () => ({
    label: "a skipped nonce",
    to: self,
    gas: 21_000n,
  }));
}
