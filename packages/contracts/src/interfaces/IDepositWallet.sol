// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";

/// @title What stands behind a deposit address
/// @notice Obeys only its factory, which proves the commitment by deriving this address from it.
interface IDepositWallet {
    /// @notice Somebody other than the factory called.
    error NotFactory(address caller);

    /// @notice Runs `route` inside this wallet over its whole balance of `token`.
    /// @return amount What the wallet held; zero when there was nothing to do.
    function run(address route, Commitment calldata c, address token, bytes calldata data)
        external
        returns (uint256 amount);

    /// @notice Sends the whole balance of `token` to `to`, which the factory takes from the
    /// commitment.
    /// @return amount What the wallet held.
    function refund(address token, address to) external returns (uint256 amount);
}
