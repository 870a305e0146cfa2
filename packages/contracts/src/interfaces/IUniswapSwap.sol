// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "./IAttestedPrice.sol";
import { IDailyCaps } from "./IDailyCaps.sol";

/// @title A route that swaps the deposit in one pool of Uniswap v3
/// @notice A manipulated pool price costs no more than the committed slippage: the minimum output
/// follows from a price that the attestors signed, not from the pool or the relayer, who may only raise
/// it. Nor is it ever below the pool's own price averaged over `window`, less `toleranceBps`, whatever
/// the attestors signed; and the input of all swaps in any 24 hours is within `perDay`. The owner of the
/// factory raises that cap behind the factory's delay; owner or guardian lowers it at once. The increase of the recipient's balance counts as output; of native coin, which the recipient may
/// pass on, that of the route's own, through which it goes.
interface IUniswapSwap is IAttestedPrice, IDailyCaps {
    /// @param window Seconds over which the pool's price is averaged.
    /// @param toleranceBps How far below that price a swap may end, in basis points: fee of the pool,
    /// impact of the swap, and honest movement within the window.
    /// @param perDay First daily cap of the input, in base units.
    struct Limits {
        uint32 window;
        uint16 toleranceBps;
        uint112 perDay;
    }

    /// @notice `fee` of `tokenIn` was paid to the fee recipient, `amountIn` to the pool, and `to`
    /// received `amountOut`. A zero token is the native coin.
    event Swapped(
        address indexed wallet,
        address indexed to,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee
    );

    /// @notice The router gives this recipient a special meaning.
    error SpecialRecipient(address to);

    /// @notice The price and the committed slippage give a minimum of zero.
    error NoMinimum(uint256 amountIn, uint16 maxSlippageBps);

    /// @notice The router did not spend all of the input, since the pool could not take it or the router
    /// had coin of its own.
    error NotSpent(uint256 left);

    /// @notice Returns the minimum output for `amountIn` that the averaged price of the pool allows, in
    /// base units of the output token. Reverts if the history of the pool is shorter than the window.
    function bandMinOut(uint256 amountIn) external view returns (uint256);

    /// @notice Returns the minimum output for `amountIn` at `rate`, in base units of the output
    /// token: the fair amount, amountIn x rate x 10^decimalsOut / (10^18 x
    /// 10^decimalsIn), rounded down; and its
    /// share (10000 - maxSlippageBps) / 10000, rounded up.
    function minOut(uint256 amountIn, uint256 rate, uint16 maxSlippageBps)
        external
        view
        returns (uint256);
}
