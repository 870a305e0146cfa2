// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "./IChargedRoute.sol";
import { IUniswapSwap } from "./IUniswapSwap.sol";

/// @title Same chain, another token: swapped straight to the committed wallet
/// @notice `data` is `abi.encode(Price price, bytes signature, RouteFee fee, uint256 minOut, uint256
/// deadline)`: the attested price of a whole `tokenIn` in `tokenOut`, what the relayer asks (of
/// `tokenIn`, taken before the swap), the least that its quote promised, and the last second at which
/// to swap, at most ten minutes ahead.
interface ISwapRoute is IUniswapSwap, IChargedRoute {
    /// @param evmChainId `block.chainid` of the one chain it works on.
    /// @param bridgeId Bridge chain id of the same chain.
    /// @param factory The deposit factory whose attestors it listens to.
    /// @param router Uniswap's SwapRouter02.
    /// @param weth What that router wraps the native coin into; it must say the same.
    /// @param tokenIn The token it takes; zero is the native coin.
    /// @param decimalsIn Its decimals.
    /// @param tokenOut The token it pays out; zero is the native coin.
    /// @param decimalsOut Its decimals.
    /// @param poolFee The pool's fee, in hundredths of a basis point.
    /// @param feeRecipient Who receives the fee; nobody can pass in another.
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
    }

    /// @notice What this route was built for.
    function config() external view returns (Config memory);
}
