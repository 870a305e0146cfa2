// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "./IChargedRoute.sol";

/// @title Same chain, same token: straight to the committed wallet
/// @notice `data` is `abi.encode(RouteFee fee)`.
interface ITransferRoute is IChargedRoute {
    /// @param evmChainId `block.chainid` of the one chain it works on.
    /// @param bridgeId Bridge chain id of the same chain.
    /// @param token The one token it moves; zero is the native coin.
    /// @param feeRecipient Who receives the fee; nobody can pass in another.
    struct Config {
        uint256 evmChainId;
        uint16 bridgeId;
        address token;
        address feeRecipient;
    }

    /// @notice Emitted by the wallet. `amount` reached `to`, `fee` reached the fee recipient.
    event Transferred(
        address indexed wallet, address indexed to, address token, uint256 amount, uint256 fee
    );

    /// @notice What this route was built for.
    function config() external view returns (Config memory);
}
