// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";

/// @title Decides where a deposit goes
/// @notice A route's code never runs in a deposit wallet. It returns a plan, and the wallet itself
/// pays or locks its balance of the one token that is settled. The plan must move all of `amount`
/// towards `c` and nothing elsewhere, except a fee within `c.maxFeeBps`, and take every limit from `c`
/// or from the route's own code. A listed route decides where the deposits go that are settled
/// through it, hence the delay; it can reach nothing else, neither other tokens nor later deposits.
interface IRoute {
    /// @notice The chain is not the one that this route was deployed for (a fork, or a wrong
    /// deployment).
    error WrongEvmChain(uint256 chainId, uint256 expected);

    /// @notice The commitment names another destination chain.
    error WrongDestChain(uint16 destChain, uint16 expected);

    /// @notice The commitment names another destination token.
    error WrongDestToken(bytes32 destToken, bytes32 expected);

    /// @notice This route moves another token.
    error WrongToken(address token, address expected);

    /// @notice The relayer's parameters are malformed.
    error InvalidData(uint256 length);

    /// @notice A value in the route's own configuration is invalid.
    error InvalidConfig();

    /// @notice Decides what the wallet does with its balance. Called by the factory before anything
    /// moves; changes nothing.
    /// @param c The commitment; the factory has proved that it is this wallet's.
    /// @param wallet The deposit wallet.
    /// @param token The token to move; zero is the native coin.
    /// @param amount Base units that the wallet sends, at most its balance and never zero.
    /// @param data The relayer's choice inside the route's bounds.
    function plan(
        Commitment calldata c,
        address wallet,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory);
}
