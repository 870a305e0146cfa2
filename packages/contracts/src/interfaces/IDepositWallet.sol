// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";

/// @title The wallet at a deposit address
/// @notice Obeys only its factory, which proves the commitment by deriving this address from it.
interface IDepositWallet {
    /// @notice The caller is not the factory.
    error NotFactory(address caller);

    /// @notice Runs `route` inside this wallet over its whole balance of `token`.
    /// @return amount The wallet's balance; zero if there was none.
    function run(address route, Commitment calldata c, address token, bytes calldata data)
        external
        returns (uint256 amount);

    /// @notice Sends the whole balance of `token` to `to`, which the factory takes from the
    /// commitment.
    /// @return amount The wallet's balance.
    function refund(address token, address to) external returns (uint256 amount);
}
