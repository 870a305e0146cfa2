// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";

/// @title The wallet at a deposit address
/// @notice Obeys only its factory, which proves the commitment by deriving this address from it.
interface IDepositWallet {
    /// @notice The caller is not the factory.
    error NotFactory(address caller);

    /// @notice The recipient received less than the plan requires.
    error ReceivedLess(uint256 received, uint256 least);

    /// @notice Pays or locks `amount` of `token` as planned, and leaves no allowance.
    /// @param c The commitment of this wallet; for a lock.
    /// @return received The amount that arrived at `plan.to`; for a lock, the amount given.
    function execute(Commitment calldata c, address token, uint256 amount, Plan calldata plan)
        external
        returns (uint256 received);

    /// @notice Sends the balance of `token`, at most `maxAmount`, to `to`, which the factory takes from
    /// the commitment.
    /// @param bounded Whether `to` gets 100,000 gas with native coin, as every recipient whom others pay.
    /// @return amount The amount sent.
    function refund(address token, uint256 maxAmount, address to, bool bounded)
        external
        returns (uint256 amount);
}
