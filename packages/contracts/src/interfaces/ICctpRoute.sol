// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpBurn } from "./ICctpBurn.sol";
import { IChargedRoute } from "./IChargedRoute.sol";
import { IUnattendedRoute } from "./IUnattendedRoute.sol";

/// @title USDC to USDC of another EVM chain, through Circle's CCTP v2
/// @notice `data` is `abi.encode(RouteFee fee, uint256 maxFee, uint32 minFinalityThreshold)`: the
/// relayer's fee, the most that the bridge may keep of the remainder, and whether Circle attests when the
/// burn is confirmed (1000) or finalized (2000). `fee` plus `maxFee` stay within the committed cap.
interface ICctpRoute is IChargedRoute, ICctpBurn, IUnattendedRoute {
    /// @param evmChainId `block.chainid` of the source.
    /// @param factory The deposit factory, its only caller.
    /// @param token The USDC of the source.
    /// @param messenger Circle's TokenMessengerV2 there.
    /// @param destChain Bridge chain id of the destination.
    /// @param destToken The USDC there, which Circle mints for `token`.
    /// @param destDomain Circle's domain of the destination.
    /// @param feeRecipient Receives the fee; fixed in the code.
    struct Config {
        uint256 evmChainId;
        address factory;
        address token;
        address messenger;
        uint16 destChain;
        bytes32 destToken;
        uint32 destDomain;
        address feeRecipient;
    }

    /// @notice The configuration that this route was deployed with.
    function config() external view returns (Config memory);
}
