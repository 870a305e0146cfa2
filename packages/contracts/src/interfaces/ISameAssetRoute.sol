// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEscrowRoute } from "./IEscrowRoute.sol";

/// @title Locks for the same asset on another chain
/// @notice `data` must be empty: the relayer chooses nothing. The promised minimum follows from the
/// amount and the committed fee cap.
interface ISameAssetRoute is IEscrowRoute {
    /// @notice Returns the minimum delivery for `amount`, in base units of the destination token,
    /// rounded up: amount x (10000 - maxFeeBps) x 10^destDecimals / (10000 x 10^sourceDecimals); but
    /// never more than the amount itself, rounded down to the units of the destination.
    function minOut(uint256 amount, uint16 maxFeeBps) external view returns (uint256);
}
