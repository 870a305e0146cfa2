// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What the routes read of Uniswap's factory
/// @notice Of Uniswap's npm package v3-core 1.0.1, IUniswapV3Factory.
interface IUniswapV3Factory {
    /// @notice Returns the pool of two tokens in any order; zero without one.
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address);
}

/// @title What the routes read of a pool
/// @notice Of the same package, IUniswapV3PoolDerivedState.
interface IUniswapV3Pool {
    /// @notice Returns the sums of the tick and of the inverse liquidity over time, as of so many seconds
    /// ago. Reverts if the pool's history does not reach that far.
    function observe(uint32[] calldata secondsAgos)
        external
        view
        returns (
            int56[] memory tickCumulatives,
            uint160[] memory secondsPerLiquidityCumulativeX128s
        );
}
