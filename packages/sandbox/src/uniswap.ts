/**
 * Deploys Uniswap v3 from its authors' npm packages, the same bytecode as on public chains, with one pool of USDC and
 * the wrapped native coin at the sandbox's price.
 */
import { createRequire } from "node:module";
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  keccak256,
  type Hex,
  isHex,
  parseAbi,
  parseAbiParameters,
  parseEther,
  parseUnits,
  zeroAddress,
} from "viem";
import { NATIVE_DECIMALS, USDC } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";
import type { Call } from "./evm-client.ts";
import { asRecord } from "./json-file.ts";

/** The pool's fee, in hundredths of a basis point: 0.05 %. */
export const POOL_FEE = 500;

/** Initial price of the pool, in dollars per native coin. */
const NATIVE_PRICE = 3000n;

/** Liquidity of the pool, deep enough that a test payment does not move the price. */
export const POOL_NATIVE = parseEther("100000");
export const POOL_USDC = parseUnits("300000000", USDC.decimals);

/**
 * Price band of the swap routes. Averaged over a second, so that a new sandbox and tests that move the price need not wait;
 * a real chain takes minutes.
 */
export const SWAP_LIMITS = { window: 1, toleranceBps: 300 } as const;

/** Daily caps of each swap route, in whole units: far above the volume of a sandbox. */
export const SWAP_CAPS = { usdc: "10000000", native: "10000" } as const;

/** Returns the daily cap of swaps from an asset, in base units. */
export function swapCapOf(asset: keyof typeof SWAP_CAPS): bigint {
  return parseUnits(SWAP_CAPS[asset], asset === "usdc" ? USDC.decimals : NATIVE_DECIMALS);
}

/** Prices that the pool remembers, one per block with a trade. */
const OBSERVATIONS = 100;

/** Upper end of the full range, a multiple of the tick spacing. */
const TICK_MAX = 887_270;

const MINE_GAS = 6_000_000n;
const NO_DEADLINE = 2n ** 64n;

const positionsAbi = parseAbi([
  "function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address pool)",
  "struct Mint { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
  "function increaseObservationCardinalityNext(uint16 next)",
  "function mint(Mint params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
]);
const approveAbi = parseAbi(["function approve(address spender, uint256 amount) returns (bool)"]);

/** Contracts of Uniswap on one chain. */
export interface UniswapContracts {
  /** The wrapped native coin. */
  readonly weth: Address;
  readonly uniswapFactory: Address;
  /** `SwapRouter02`. */
  readonly swapRouter: Address;
  /** `QuoterV2`. */
  readonly quoter: Address;
  readonly positionManager: Address;
}

const PERIPHERY = "@uniswap/v3-periphery/artifacts/contracts";
const ARTIFACTS: Readonly<Record<keyof UniswapContracts, string>> = {
  weth: "canonical-weth/build/contracts/WETH9.json",
  uniswapFactory: "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
  swapRouter:
    "@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json",
  quoter: `${PERIPHERY}/lens/QuoterV2.sol/QuoterV2.json`,
  positionManager: `${PERIPHERY}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json`,
};

/** The contracts in the order of their deployment. */
// CAST: the record has all keys.
export const UNISWAP_STEPS = Object.keys(ARTIFACTS) as (keyof UniswapContracts)[];

/** Returns the creation code of each contract, with the addresses that the contracts will have. */
export function uniswapInitCodes(
  at: UniswapContracts,
): Readonly<Record<keyof UniswapContracts, Hex>> {
  const factoryAndWeth = encodeAbiParameters(parseAbiParameters("address, address"), [
    at.uniswapFactory,
    at.weth,
  ]);
  // The first address is Uniswap v2, which the sandbox does not deploy.
  const withPositions = encodeAbiParameters(
    parseAbiParameters("address, address, address, address"),
    [zeroAddress, at.uniswapFactory, at.positionManager, at.weth],
  );
  // The last address is the token descriptor, which the sandbox does not need.
  const withDescriptor = encodeAbiParameters(parseAbiParameters("address, address, address"), [
    at.uniswapFactory,
    at.weth,
    zeroAddress,
  ]);
  return {
    weth: readBytecode("weth"),
    uniswapFactory: readBytecode("uniswapFactory"),
    swapRouter: concatHex([readBytecode("swapRouter"), withPositions]),
    quoter: concatHex([readBytecode("quoter"), factoryAndWeth]),
    positionManager: concatHex([readBytecode("positionManager"), withDescriptor]),
  };
}

/** Contracts that the pool depends on. */
type PoolParts = UniswapContracts & { readonly token: Address };

const toCall = (label: string, to: Address, data: Hex): Call => ({
  label,
  to,
  data,
  gas: MINE_GAS,
});

/** Returns two values in the order of the pool's tokens. */
function inPoolOrder<T>(at: PoolParts, ofToken: T, ofCoin: T): readonly [T, T] {
  return at.token.toLowerCase() < at.weth.toLowerCase() ? [ofToken, ofCoin] : [ofCoin, ofToken];
}

/** Returns the data with which the position manager creates the pool, before the token has code. */
export function poolCreationData(at: PoolParts): Hex {
  const [token0, token1] = inPoolOrder(at, at.token, at.weth);
  const [value0, value1] = inPoolOrder(
    at,
    NATIVE_PRICE * 10n ** BigInt(USDC.decimals),
    10n ** BigInt(NATIVE_DECIMALS),
  );
  return encodeFunctionData({
    abi: positionsAbi,
    functionName: "createAndInitializePoolIfNecessary",
    args: [token0, token1, POOL_FEE, sqrt((value1 << 192n) / value0)],
  });
}

/** Returns the calls that fill the pool, sent by an account that has the coin and the token. */
export function poolCalls(at: PoolParts, provider: Address): readonly Call[] {
  const [token0, token1] = inPoolOrder(at, at.token, at.weth);
  const [amount0Desired, amount1Desired] = inPoolOrder(at, POOL_USDC, POOL_NATIVE);
  const position = {
    token0,
    token1,
    fee: POOL_FEE,
    tickLower: -TICK_MAX,
    tickUpper: TICK_MAX,
    amount0Desired,
    amount1Desired,
    amount0Min: 0n,
    amount1Min: 0n,
    recipient: provider,
    deadline: NO_DEADLINE,
  };
  const abi = positionsAbi;
  return [
    toCall(
      "token.approve",
      at.token,
      encodeFunctionData({
        abi: approveAbi,
        functionName: "approve",
        args: [at.positionManager, POOL_USDC],
      }),
    ),
    {
      ...toCall(
        "pool liquidity",
        at.positionManager,
        encodeFunctionData({ abi, functionName: "mint", args: [position] }),
      ),
      value: POOL_NATIVE,
    },
    toCall(
      "pool memory",
      addressOfPool(at),
      encodeFunctionData({
        abi,
        functionName: "increaseObservationCardinalityNext",
        args: [OBSERVATIONS],
      }),
    ),
  ];
}

function addressOfPool(at: PoolParts): Address {
  const [token0, token1] = inPoolOrder(at, at.token, at.weth);
  const key = encodeAbiParameters(parseAbiParameters("address, address, uint24"), [
    token0,
    token1,
    POOL_FEE,
  ]);
  return getContractAddress({
    opcode: "CREATE2",
    from: at.uniswapFactory,
    salt: keccak256(key),
    bytecode: readArtifact(
      "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
    ),
  });
}

/** Returns the integer square root, rounded down. */
function sqrt(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) / 2n;
    if (next >= guess) return guess;
    guess = next;
  }
}

const readBytecode = (name: keyof UniswapContracts): Hex => readArtifact(ARTIFACTS[name]);

function readArtifact(path: string): Hex {
  const artifact: unknown = createRequire(import.meta.url)(path);
  const bytecode = asRecord(artifact)?.["bytecode"];
  if (isHex(bytecode)) return bytecode;
  throw new SandboxError(`${path} has no bytecode: run npm ci`);
}
