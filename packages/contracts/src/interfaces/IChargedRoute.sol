// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IRoute } from "./IRoute.sol";

/// @title A route that takes its fee out of the deposit
/// @notice The relayer passes a `RouteFee`, paid to a recipient that is part of the route's code.
/// Together with the most that a bridge may keep, it stays within `c.maxFeeBps` of the deposit and
/// below the deposit.
interface IChargedRoute is IRoute {
    /// @notice The fees exceed the committed cap. `fee` is their sum, including the most that a bridge
    /// may keep.
    error FeeAboveCap(uint256 fee, uint256 cap);

    /// @notice The recipient received less than the minimum.
    error ReceivedLess(uint256 received, uint256 least);
}
