// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpBurn } from "./ICctpBurn.sol";
import { IChargedRoute } from "./IChargedRoute.sol";
import { IUniswapSwap } from "./IUniswapSwap.sol";

/// @title Swaps a token into USDC, then burns it for CCTP v2
/// @notice `data` is `abi.encode(Price price, bytes signatures, RouteFee fee, uint256 minOut, uint256
/// deadline, uint256 maxFee, uint32 minFinalityThreshold)`, as defined in `ISwapRoute` and `ICctpRoute`;
/// the price is that of a whole `tokenIn` in USDC. The fee is taken in `tokenIn`; the unused part of
/// the committed cap, at the price of the pool swap, bounds `maxFee`. Burns exactly the output of the
/// pool swap: USDC that was in the wallet before stays there, and so does USDC that somebody sent to the
/// route.
interface ISwapCctpRoute is IUniswapSwap, IChargedRoute, ICctpBurn {
    /// @param evmChainId `block.chainid` of the source.
    /// @param factory The deposit factory whose attestors may sign.
    /// @param router Uniswap's SwapRouter02.
    /// @param weth Wrapped native coin of the router; must equal the router's.
    /// @param tokenIn Input token; zero is the native coin.
    /// @param decimalsIn Its decimals.
    /// @param usdc The USDC of the source.
    /// @param usdcDecimals Its decimals.
    /// @param poolFee The pool's fee, in hundredths of a basis point.
    /// @param messenger Circle's TokenMessengerV2.
    /// @param destChain Bridge chain id of the destination.
    /// @param destToken The USDC there, which Circle mints for `usdc`.
    /// @param destDomain Circle's domain of the destination.
    /// @param feeRecipient Receives the fee; fixed in the code.
    /// @param limits Price band and first daily cap.
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
        Limits limits;
    }

    /// @notice The configuration that this route was deployed with.
    function config() external view returns (Config memory);
}
