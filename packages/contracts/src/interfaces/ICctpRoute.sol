// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpBurn } from "./ICctpBurn.sol";
import { IChargedRoute } from "./IChargedRoute.sol";

/// @title USDC to USDC of another EVM chain, through Circle's CCTP v2
/// @notice `data` is `abi.encode(RouteFee fee, uint256 maxFee, uint32 minFinalityThreshold)`: what the
/// relayer asks, the most that the bridge may keep of the rest, and whether it attests when the burn
/// is confirmed (1000) or finalized (2000). Fee and `maxFee` together stay within the committed cap.
interface ICctpRoute is IChargedRoute, ICctpBurn {
    /// @param evmChainId `block.chainid` of the source.
    /// @param token The USDC of the source.
    /// @param messenger Circle's TokenMessengerV2 there.
    /// @param destChain Bridge chain id of the destination.
    /// @param destToken The USDC there, which is what Circle mints for `token`.
    /// @param destDomain Circle's domain of the destination.
    /// @param feeRecipient Who receives the fee; nobody can pass in another.
    struct Config {
        uint256 evmChainId;
        address token;
        address messenger;
        uint16 destChain;
        bytes32 destToken;
        uint32 destDomain;
        address feeRecipient;
    }

    /// @notice What this route was built for.
    function config() external view returns (Config memory);
}
