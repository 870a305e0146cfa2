// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEscrowRoute } from "./IEscrowRoute.sol";

/// @title Through the escrow to the same asset on another chain
/// @notice `data` must be empty: the relayer has nothing to choose, the promised minimum follows
/// from the amount and the committed fee cap.
interface ISameAssetRoute is IEscrowRoute {
    /// @notice The least that must be delivered for `amount`, in base units of the destination
    /// token, rounded down: amount x (10000 - maxFeeBps) x 10^destDecimals / (10000 x
    /// 10^sourceDecimals).
    function minOut(uint256 amount, uint16 maxFeeBps) external view returns (uint256);
}
