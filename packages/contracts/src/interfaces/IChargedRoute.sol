// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IRoute } from "./IRoute.sol";

/// @title A route that takes its fee out of the deposit
/// @notice The relayer asks for a `RouteFee`; it goes to a recipient that is part of the route's
/// code, and together with whatever a bridge may keep it stays within `c.maxFeeBps` of the deposit,
/// and below the deposit.
interface IChargedRoute is IRoute {
    /// @notice The relayer asked for more than the address allows. `fee` is all of it together, with
    /// what a bridge may keep.
    error FeeAboveCap(uint256 fee, uint256 cap);

    /// @notice Less reached the recipient than it must.
    error ReceivedLess(uint256 received, uint256 least);
}
