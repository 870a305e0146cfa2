// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A route that settles without the operator
/// @notice Only a route that needs no trust in its caller declares this. It chooses every parameter
/// of an unattended settlement itself: no fee of the operator's, and standard finality.
interface IUnattendedRoute {
    /// @notice The `data` of `IRoute.plan` for an unattended settlement of `amount`.
    function unattendedData(uint256 amount) external view returns (bytes memory);
}
