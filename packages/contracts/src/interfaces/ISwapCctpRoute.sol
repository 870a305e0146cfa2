// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpBurn } from "./ICctpBurn.sol";
import { IChargedRoute } from "./IChargedRoute.sol";
import { IUniswapSwap } from "./IUniswapSwap.sol";

/// @title Any token to USDC of another EVM chain: swapped into the wallet, then burned for CCTP v2
/// @notice `data` is `abi.encode(Price price, bytes signature, RouteFee fee, uint256 minOut, uint256
/// deadline, uint256 maxFee, uint32 minFinalityThreshold)`, with the meaning they have on `ISwapRoute`
/// and `ICctpRoute`; the price is that of a whole `tokenIn` in USDC. The fee is taken in `tokenIn`;
/// what it leaves of the committed cap, at the price of the swap, is the most that `maxFee` may be.
/// What is burned is what the swap gained: USDC that lay in the wallet before stays there.
interface ISwapCctpRoute is IUniswapSwap, IChargedRoute, ICctpBurn {
    /// @param evmChainId `block.chainid` of the source.
    /// @param factory The deposit factory whose attestors it listens to.
    /// @param router Uniswap's SwapRouter02.
    /// @param weth What that router wraps the native coin into; it must say the same.
    /// @param tokenIn The token it takes; zero is the native coin.
    /// @param decimalsIn Its decimals.
    /// @param usdc The USDC of the source.
    /// @param usdcDecimals Its decimals.
    /// @param poolFee The pool's fee, in hundredths of a basis point.
    /// @param messenger Circle's TokenMessengerV2.
    /// @param destChain Bridge chain id of the destination.
    /// @param destToken The USDC there, which is what Circle mints for `usdc`.
    /// @param destDomain Circle's domain of the destination.
    /// @param feeRecipient Who receives the fee; nobody can pass in another.
    struct Config {
        uint256 evmChainId;
        address factory;
        address router;
        address weth;
        address tokenIn;
        uint8 decimalsIn;
        address usdc;
        uint8 usdcDecimals;
        uint24 poolFee;
        address messenger;
        uint16 destChain;
        bytes32 destToken;
        uint32 destDomain;
        address feeRecipient;
    }

    /// @notice What this route was built for.
    function config() external view returns (Config memory);
}
