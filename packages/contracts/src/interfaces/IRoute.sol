// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";

/// @title Delivers a deposit to its destination
/// @notice A route's code runs inside the deposit wallet by delegatecall: `address(this)` is the
/// wallet. It must move all of `amount` towards `c` and nothing elsewhere, except a fee within
/// `c.maxFeeBps`; take every limit from `c` or from its own code; and use no storage, which would be
/// the wallet's. A listed route has total power over future deposits, hence the delay.
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

    /// @param c The commitment; the factory has proved that it is this wallet's.
    /// @param token The token to move; zero is the native coin.
    /// @param amount The wallet's whole balance of it, never zero.
    /// @param data The relayer's choice inside the route's bounds.
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external;
}
