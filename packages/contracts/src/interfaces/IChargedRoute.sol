// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IRoute } from "./IRoute.sol";

/// @title A route that takes its fee out of the deposit
/// @notice The relayer passes a `RouteFee`, paid to a recipient that is part of the route's code.
/// Together with the most that a bridge may keep, it stays within `c.maxFeeBps` of the deposit and
/// below the deposit. The rest is paid to the committed wallet, or to the route itself, which passes
/// it on in the same call.
interface IChargedRoute is IRoute {
    /// @notice The fees exceed the committed cap. `fee` is their sum, including the most that a bridge
    /// may keep.
    error FeeAboveCap(uint256 fee, uint256 cap);

    /// @notice The recipient received less than the minimum.
    error ReceivedLess(uint256 received, uint256 least);

    /// @notice The caller is not the factory.
    error NotFactory(address caller);

    /// @notice Completes a settlement after the wallet has paid: passes on what the plan sent to the
    /// route itself, and reports the result. Factory only, with the arguments of `plan`.
    /// @param received The amount that arrived at the recipient of the plan.
    function complete(
        Commitment calldata c,
        address wallet,
        address token,
        uint256 amount,
        uint256 received,
        bytes calldata data
    ) external;
}
