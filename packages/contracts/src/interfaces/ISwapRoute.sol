// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "./IChargedRoute.sol";
import { IUniswapSwap } from "./IUniswapSwap.sol";

/// @title Swaps to the committed wallet, into another token on the same chain
/// @notice `data` is `abi.encode(Price price, bytes signatures, RouteFee fee, uint256 minOut, uint256
/// deadline)`: the attested price of a whole `tokenIn` in `tokenOut`, the relayer's fee (in
/// `tokenIn`, taken before the swap), the minimum of its quote, and the last second at which to swap,
/// at most ten minutes ahead.
interface ISwapRoute is IUniswapSwap, IChargedRoute {
    /// @param evmChainId `block.chainid` of its chain.
    /// @param bridgeId Bridge chain id of the same chain.
    /// @param factory The deposit factory whose attestors may sign.
    /// @param router Uniswap's SwapRouter02.
    /// @param weth Wrapped native coin of the router; must equal the router's.
    /// @param tokenIn Input token; zero is the native coin.
    /// @param decimalsIn Its decimals.
    /// @param tokenOut Output token; zero is the native coin.
    /// @param decimalsOut Its decimals.
    /// @param poolFee The pool's fee, in hundredths of a basis point.
    /// @param feeRecipient Receives the fee; fixed in the code.
    /// @param limits Price band and first daily cap.
    struct Config {
        uint256 evmChainId;
        uint16 bridgeId;
        address factory;
        address router;
        address weth;
        address tokenIn;
        uint8 decimalsIn;
        address tokenOut;
        uint8 decimalsOut;
        uint24 poolFee;
        address feeRecipient;
        Limits limits;
    }

    /// @notice The configuration that this route was deployed with.
    function config() external view returns (Config memory);
}
