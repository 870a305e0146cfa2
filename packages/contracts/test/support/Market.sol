// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IAttestedPrice } from "../../src/interfaces/IAttestedPrice.sol";
import { ICctpRoute } from "../../src/interfaces/ICctpRoute.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { ISwapCctpRoute } from "../../src/interfaces/ISwapCctpRoute.sol";
import { ISwapRoute } from "../../src/interfaces/ISwapRoute.sol";
import { IUniswapSwap } from "../../src/interfaces/IUniswapSwap.sol";
import { ISwapRouter02 } from "../../src/interfaces/external/ISwapRouter02.sol";
import { CctpRoute } from "../../src/routes/CctpRoute.sol";
import { SwapCctpRoute } from "../../src/routes/SwapCctpRoute.sol";
import { SwapRoute } from "../../src/routes/SwapRoute.sol";
import { SandboxMessageTransmitterV2 } from "../../sandbox/SandboxMessageTransmitterV2.sol";
import { SandboxTokenMessengerV2 } from "../../sandbox/SandboxTokenMessengerV2.sol";
import { TestToken } from "../../sandbox/TestToken.sol";
import { Commitment } from "../../src/types/Commitment.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";
import { Fixture } from "./Fixture.sol";

interface IPoolFactory {
    function createPool(address tokenA, address tokenB, uint24 fee) external returns (address);
}

interface IPool {
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address to, int24 lower, int24 upper, uint128 liquidity, bytes calldata data)
        external;
    function increaseObservationCardinalityNext(uint16 next) external;
    function token0() external view returns (address);
}

interface IWeth is IERC20 {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// @notice The means of the swap and bridge routes: Uniswap v3 and WETH9 as their authors compiled
/// them, with one pool of USDC and WETH at 3,000; and the doubles of CCTP v2 on both chains.
abstract contract Market is Fixture {
    uint32 internal constant DOMAIN_HERE = 0;
    uint32 internal constant DOMAIN_THERE = 6;
    uint16 internal constant CCTP_CHAIN = 31;
    uint24 internal constant POOL_FEE = 3000;
    /// @dev The price band of every swap route.
    uint32 internal constant AVERAGED = 30 minutes;
    uint16 internal constant TOLERANCE_BPS = 300;
    uint112 internal constant SWAP_CAP = 1e30;
    /// @dev Held by Circle.
    uint256 internal constant CIRCLE_KEY = 0xc19c1e;
    address internal constant CIRCLE_FEES = address(0x0a11ce0a);
    /// @dev One native coin is 3,000 USDC.
    uint256 internal constant ETH_IN_USDC = 3000e18;
    uint256 internal constant USDC_IN_ETH = 333_333_333_333_333;

    IWeth internal weth;
    ISwapRouter02 internal router;
    /// @dev Uniswap's factory.
    address internal pools;
    IPool internal pool;
    /// @dev The token that Circle mints there.
    TestToken internal minted;
    SandboxMessageTransmitterV2 internal transmitterHere;
    SandboxMessageTransmitterV2 internal transmitterThere;
    SandboxTokenMessengerV2 internal messengerHere;
    SandboxTokenMessengerV2 internal messengerThere;

    CctpRoute internal cctpRoute;
    SwapRoute internal usdcToEth;
    SwapRoute internal usdcToWeth;
    SwapRoute internal ethToUsdc;
    SwapCctpRoute internal ethToCctp;
    SwapCctpRoute internal wethToCctp;

    /// @dev A price that an attestor would sign, and the rest of a relayer's parameters.
    struct Ask {
        uint256 key;
        IAttestedPrice.Price price;
        RouteFee fee;
        uint256 minOut;
        uint256 deadline;
        uint256 maxFee;
        uint32 threshold;
    }

    function moreRoutes() internal override returns (address[] memory routes) {
        openPool();
        openBridge();
        cctpRoute = new CctpRoute(cctpConfig());
        usdcToEth = new SwapRoute(swapConfig(address(usdc), 6, NATIVE, 18));
        usdcToWeth = new SwapRoute(swapConfig(address(usdc), 6, address(weth), 18));
        ethToUsdc = new SwapRoute(swapConfig(NATIVE, 18, address(usdc), 6));
        ethToCctp = new SwapCctpRoute(swapCctpConfig(NATIVE));
        wethToCctp = new SwapCctpRoute(swapCctpConfig(address(weth)));
        routes = new address[](6);
        routes[0] = address(cctpRoute);
        routes[1] = address(usdcToEth);
        routes[2] = address(usdcToWeth);
        routes[3] = address(ethToUsdc);
        routes[4] = address(ethToCctp);
        routes[5] = address(wethToCctp);
    }

    function openPool() private {
        string memory modules = "../../node_modules/";
        weth =
            IWeth(create(string.concat(modules, "canonical-weth/build/contracts/WETH9.json"), ""));
        string memory core = string.concat(modules, "@uniswap/v3-core/artifacts/contracts/");
        string memory routers =
            string.concat(modules, "@uniswap/swap-router-contracts/artifacts/contracts/");
        pools = create(string.concat(core, "UniswapV3Factory.sol/UniswapV3Factory.json"), "");
        router = ISwapRouter02(
            create(
                string.concat(routers, "SwapRouter02.sol/SwapRouter02.json"),
                // Without Uniswap v2 and positions, which v3 swaps do not need.
                abi.encode(address(0), pools, address(0), weth)
            )
        );
        // Long enough ago for an averaged price.
        vm.warp(START - AVERAGED);
        pool = IPool(IPoolFactory(pools).createPool(address(usdc), address(weth), POOL_FEE));
        // 3,000,000 USDC and 1,000 WETH, over the whole range.
        (uint256 amount0, uint256 amount1) = (3e12, 1e21);
        if (pool.token0() != address(usdc)) (amount0, amount1) = (amount1, amount0);
        pool.initialize(uint160(Math.sqrt(Math.mulDiv(amount1, 2 ** 192, amount0))));
        pool.mint(address(this), -887_220, 887_220, uint128(Math.sqrt(amount0 * amount1)), "");
        pool.increaseObservationCardinalityNext(200);
        vm.warp(START);
    }

    /// @dev A pool of another token with the wrapped coin, without liquidity; so many base units are
    /// worth a coin.
    function openPool(address token, uint256 worth) internal {
        address opened = IPoolFactory(pools).createPool(token, address(weth), POOL_FEE);
        (uint256 amount0, uint256 amount1) = (worth, 1e18);
        if (token > address(weth)) (amount0, amount1) = (amount1, amount0);
        IPool(opened).initialize(uint160(Math.sqrt(Math.mulDiv(amount1, 2 ** 192, amount0))));
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        if (msg.sender != address(pool)) return;
        (uint256 dollars, uint256 coins) =
            pool.token0() == address(usdc) ? (amount0, amount1) : (amount1, amount0);
        usdc.mint(address(pool), dollars);
        giveWeth(address(pool), coins);
    }

    function openBridge() private {
        minted = new TestToken("USD Coin", "USDC", 6);
        address[] memory circle = listOf(vm.addr(CIRCLE_KEY));
        transmitterHere = new SandboxMessageTransmitterV2(DOMAIN_HERE, circle, 1);
        transmitterThere = new SandboxMessageTransmitterV2(DOMAIN_THERE, circle, 1);
        messengerHere =
            new SandboxTokenMessengerV2(address(transmitterHere), address(usdc), CIRCLE_FEES);
        messengerThere =
            new SandboxTokenMessengerV2(address(transmitterThere), address(minted), CIRCLE_FEES);
        messengerHere.link(DOMAIN_THERE, word(address(messengerThere)), word(address(minted)));
        messengerThere.link(DOMAIN_HERE, word(address(messengerHere)), word(address(usdc)));
        usdc.addMinter(address(messengerHere));
        minted.addMinter(address(messengerThere));
    }

    function cctpConfig() internal view returns (ICctpRoute.Config memory) {
        return ICctpRoute.Config({
            evmChainId: block.chainid,
            factory: address(factory),
            token: address(usdc),
            messenger: address(messengerHere),
            destChain: CCTP_CHAIN,
            destToken: word(address(minted)),
            destDomain: DOMAIN_THERE,
            feeRecipient: FEES
        });
    }

    function swapConfig(address tokenIn, uint8 decimalsIn, address tokenOut, uint8 decimalsOut)
        internal
        view
        returns (ISwapRoute.Config memory)
    {
        return ISwapRoute.Config({
            evmChainId: block.chainid,
            bridgeId: HERE,
            factory: address(factory),
            router: address(router),
            weth: address(weth),
            tokenIn: tokenIn,
            decimalsIn: decimalsIn,
            tokenOut: tokenOut,
            decimalsOut: decimalsOut,
            poolFee: POOL_FEE,
            feeRecipient: FEES,
            limits: limits()
        });
    }

    function swapCctpConfig(address tokenIn) internal view returns (ISwapCctpRoute.Config memory) {
        return ISwapCctpRoute.Config({
            evmChainId: block.chainid,
            factory: address(factory),
            router: address(router),
            weth: address(weth),
            tokenIn: tokenIn,
            decimalsIn: 18,
            usdc: address(usdc),
            usdcDecimals: 6,
            poolFee: POOL_FEE,
            messenger: address(messengerHere),
            destChain: CCTP_CHAIN,
            destToken: word(address(minted)),
            destDomain: DOMAIN_THERE,
            feeRecipient: FEES,
            limits: limits()
        });
    }

    function limits() internal pure returns (IUniswapSwap.Limits memory) {
        return IUniswapSwap.Limits(AVERAGED, TOLERANCE_BPS, SWAP_CAP);
    }

    /// @dev Ends as Circle's USDC on the other chain.
    function cctpCommitment() internal view returns (Commitment memory c) {
        c = localCommitment(address(minted));
        c.destChain = CCTP_CHAIN;
    }

    function cctpJob(RouteFee memory fee, uint256 maxFee, uint32 threshold)
        internal
        view
        returns (IDepositFactory.Job memory)
    {
        return IDepositFactory.Job({
            c: cctpCommitment(),
            token: address(usdc),
            maxAmount: 0,
            route: address(cctpRoute),
            data: abi.encode(fee, maxFee, threshold),
            proof: noProof()
        });
    }

    /// @dev Honest parameters: the fair price, for any amount, a fee of ten basis points.
    function fairAsk(uint256 rate) internal view returns (Ask memory) {
        return Ask({
            key: ATTESTOR_KEY,
            price: IAttestedPrice.Price(rate, type(uint256).max, block.timestamp + 60),
            fee: RouteFee(10, 0),
            minOut: 0,
            deadline: block.timestamp + 60,
            maxFee: 0,
            threshold: 2000
        });
    }

    function swapJob(SwapRoute route, Ask memory ask)
        internal
        view
        returns (IDepositFactory.Job memory job)
    {
        ISwapRoute.Config memory config = route.config();
        job.c = localCommitment(config.tokenOut);
        job.token = config.tokenIn;
        job.route = address(route);
        job.data = swapData(job, ask);
    }

    function swapData(IDepositFactory.Job memory job, Ask memory ask)
        internal
        view
        returns (bytes memory)
    {
        return abi.encode(ask.price, signAsk(job, ask), ask.fee, ask.minOut, ask.deadline);
    }

    function swapCctpJob(SwapCctpRoute route, Ask memory ask)
        internal
        view
        returns (IDepositFactory.Job memory job)
    {
        job.c = cctpCommitment();
        job.token = route.config().tokenIn;
        job.route = address(route);
        job.data = swapCctpData(job, ask);
    }

    function swapCctpData(IDepositFactory.Job memory job, Ask memory ask)
        internal
        view
        returns (bytes memory)
    {
        return abi.encode(
            ask.price,
            signAsk(job, ask),
            ask.fee,
            ask.minOut,
            ask.deadline,
            ask.maxFee,
            ask.threshold
        );
    }

    function signAsk(IDepositFactory.Job memory job, Ask memory ask)
        internal
        view
        returns (bytes memory)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "Price(address factory,address wallet,address token,uint256 rate,uint256 maxAmount,uint256 deadline)"
                ),
                address(factory),
                factory.predict(job.c),
                job.token,
                ask.price.rate,
                ask.price.maxAmount,
                ask.price.deadline
            )
        );
        return signTyped(ask.key, IAttestedPrice(job.route).domainSeparator(), structHash);
    }

    function giveWeth(address to, uint256 amount) internal {
        vm.deal(address(this), address(this).balance + amount);
        weth.deposit{ value: amount }();
        weth.transfer(to, amount);
    }

    /// @dev A trade in the pool, wrapped coin for USDC or back.
    function trade(address who, address tokenIn, uint256 amount) internal returns (uint256 gained) {
        vm.startPrank(who);
        IERC20(tokenIn).approve(address(router), amount);
        gained = router.exactInputSingle(
            ISwapRouter02.ExactInputSingleParams({
                tokenIn: tokenIn,
                tokenOut: tokenIn == address(usdc) ? address(weth) : address(usdc),
                fee: POOL_FEE,
                recipient: who,
                amountIn: amount,
                amountOutMinimum: 0,
                sqrtPriceLimitX96: 0
            })
        );
        vm.stopPrank();
    }

    /// @dev Attests an emitted message as Circle's service does: sets the nonce, the executed fee and
    /// the expiry, and signs it with Circle's key.
    function attest(
        bytes memory message,
        bytes32 nonce,
        uint32 executed,
        uint256 feeExecuted,
        uint256 expirationBlock
    ) internal pure returns (bytes memory filled, bytes memory attestation) {
        filled = bytes.concat(message);
        put(filled, 12, nonce);
        put(filled, 148 + 164, bytes32(feeExecuted));
        put(filled, 148 + 196, bytes32(expirationBlock));
        for (uint256 i; i < 4; ++i) {
            filled[144 + i] = bytes4(executed)[i];
        }
        attestation = signMessage(CIRCLE_KEY, filled);
    }

    function signMessage(uint256 key, bytes memory message) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, keccak256(message));
        return abi.encodePacked(r, s, v);
    }

    function put(bytes memory message, uint256 index, bytes32 value) internal pure {
        assembly ("memory-safe") { mstore(add(add(message, 0x20), index), value) }
    }

    function create(string memory artifact, bytes memory arguments)
        private
        returns (address created)
    {
        bytes memory code = bytes.concat(vm.getCode(artifact), arguments);
        assembly ("memory-safe") { created := create(0, add(code, 0x20), mload(code)) }
        assertTrue(created != address(0), artifact);
    }

    receive() external payable { }
}
