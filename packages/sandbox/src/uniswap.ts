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

/** Upper end of the full range, a multiple of the tick spacing. */
const TICK_MAX = 887_270;

const MINE_GAS = 6_000_000n;
const NO_DEADLINE = 2n ** 64n;

const positionsAbi = parseAbi([
  "function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address pool)",
  "struct Mint { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
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

/** Returns the calls that create the pool and add liquidity, sent by an account that has the coin and the token. */
export function poolCalls(
  at: UniswapContracts & { readonly token: Address },
  provider: Address,
): readonly Call[] {
  const isTokenFirst = at.token.toLowerCase() < at.weth.toLowerCase();
  const pick = <T>(ofToken: T, ofCoin: T): readonly [T, T] =>
    isTokenFirst ? [ofToken, ofCoin] : [ofCoin, ofToken];
  const [token0, token1] = pick(at.token, at.weth);
  const [amount0Desired, amount1Desired] = pick(POOL_USDC, POOL_NATIVE);
  const [value0, value1] = pick(
    NATIVE_PRICE * 10n ** BigInt(USDC.decimals),
    10n ** BigInt(NATIVE_DECIMALS),
  );
  const call = (label: string, to: Address, data: Hex): Call => ({
    label,
    to,
    data,
    gas: MINE_GAS,
  });
  const abi = positionsAbi;
  return [
    call(
      "token.approve",
      at.token,
      encodeFunctionData({
        abi: approveAbi,
        functionName: "approve",
        args: [at.positionManager, POOL_USDC],
      }),
    ),
    call(
      "pool creation",
      at.positionManager,
      encodeFunctionData({
        abi,
        functionName: "createAndInitializePoolIfNecessary",
        args: [token0, token1, POOL_FEE, sqrt((value1 << 192n) / value0)],
      }),
    ),
    {
      ...call(
        "pool liquidity",
        at.positionManager,
        encodeFunctionData({
          abi,
          functionName: "mint",
          args: [
            {
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
            },
          ],
        }),
      ),
      value: POOL_NATIVE,
    },
  ];
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

function readBytecode(name: keyof UniswapContracts): Hex {
  const artifact: unknown = createRequire(import.meta.url)(ARTIFACTS[name]);
  const bytecode = asRecord(artifact)?.["bytecode"];
  if (isHex(bytecode)) return bytecode;
  throw new SandboxError(`${ARTIFACTS[name]} has no bytecode: run npm ci`);
}
