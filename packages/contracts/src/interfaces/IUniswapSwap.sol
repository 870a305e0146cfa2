// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "./IAttestedPrice.sol";

/// @title A route that swaps the deposit in one pool of Uniswap v3
/// @notice A manipulated pool price costs no more than the committed slippage: the minimum output
/// follows from a price that an attestor signed, not from the pool or the relayer, who may only raise
/// it. The increase of the recipient's balance counts as output.
interface IUniswapSwap is IAttestedPrice {
    /// @notice Emitted by the wallet. `fee` of `tokenIn` was paid to the fee recipient, `amountIn` to
    /// the pool, and `to` received `amountOut`. A zero token is the native coin.
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

    /// @notice The router kept native coin, since the pool could not take all of it.
    error NotSpent(uint256 left);

    /// @notice Returns the minimum output for `amountIn` at `rate`, in base units of the output
    /// token, rounded down twice: the fair amount, amountIn x rate x 10^decimalsOut / (10^18 x
    /// 10^decimalsIn); and its share (10000 - maxSlippageBps) / 10000.
    function minOut(uint256 amountIn, uint256 rate, uint16 maxSlippageBps)
        external
        view
        returns (uint256);
}
