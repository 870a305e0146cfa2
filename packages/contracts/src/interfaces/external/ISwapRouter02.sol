// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What the routes call of Uniswap's SwapRouter02
/// @notice Of Uniswap's npm packages swap-router-contracts 1.3.1 (IV3SwapRouter) and v3-periphery
/// 1.4.4 (IPeripheryPayments and IPeripheryImmutableState).
interface ISwapRouter02 {
    /// @param recipient Here `address(1)` stands for the caller and `address(2)` for the router.
    /// @param amountIn Zero stands for all of `tokenIn` that the router holds.
    struct ExactInputSingleParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    /// @notice Pays with coin where `tokenIn` is WETH9 and the router holds enough of it, the value
    /// sent with the call among it; else takes `tokenIn` from the caller.
    function exactInputSingle(ExactInputSingleParams calldata params)
        external
        payable
        returns (uint256 amountOut);

    /// @notice Unwraps all WETH9 that the router holds, to `recipient`, who is taken literally.
    function unwrapWETH9(uint256 amountMinimum, address recipient) external payable;

    function WETH9() external view returns (address);

    /// @notice The factory of its pools.
    function factory() external view returns (address);
}
