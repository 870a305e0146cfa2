// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What the routes call of Uniswap's SwapRouter
/// @notice Of the npm package @uniswap/v3-periphery 1.4.4 (ISwapRouter, IPeripheryPayments and
/// IPeripheryImmutableState).
interface ISwapRouter {
    struct ExactInputSingleParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    /// @notice Pays with the value sent where `tokenIn` is WETH9 and the router holds enough of it.
    function exactInputSingle(ExactInputSingleParams calldata params)
        external
        payable
        returns (uint256 amountOut);

    /// @notice Unwraps all WETH9 that the router holds, to `recipient`.
    function unwrapWETH9(uint256 amountMinimum, address recipient) external payable;

    function WETH9() external view returns (address);
}
