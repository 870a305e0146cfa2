// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "./IAttestedPrice.sol";

/// @title A route that swaps the deposit in one pool of Uniswap v3
/// @notice Whoever moves the pool's price can take no more than the committed slippage: the least that
/// must come out follows from a price that an attestor signed, not from the pool and not from the
/// relayer, who may only raise it. What counts is what the recipient's balance gained.
interface IUniswapSwap is IAttestedPrice {
    /// @notice Emitted by the wallet. `fee` of `tokenIn` reached the fee recipient, `amountIn` went
    /// into the pool and `amountOut` reached `to`. A zero token is the native coin.
    event Swapped(
        address indexed wallet,
        address indexed to,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee
    );

    /// @notice The router takes this recipient for somebody else.
    error SpecialRecipient(address to);

    /// @notice The price and the committed slippage leave not even one base unit to insist on.
    error NoMinimum(uint256 amountIn, uint16 maxSlippageBps);

    /// @notice The router kept native coin: the pool could not take all of it.
    error NotSpent(uint256 left);

    /// @notice The least that must come out of `amountIn` at `rate`, in base units of the token that
    /// comes out, rounded down twice: the fair amount, amountIn x rate x 10^decimalsOut / (10^18 x
    /// 10^decimalsIn); and of it the share (10000 - maxSlippageBps) / 10000.
    function minOut(uint256 amountIn, uint256 rate, uint16 maxSlippageBps)
        external
        view
        returns (uint256);
}
