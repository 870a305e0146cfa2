// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "./IChargedRoute.sol";
import { IUnattendedRoute } from "./IUnattendedRoute.sol";

/// @title Transfers to the committed wallet on the same chain
/// @notice `data` is `abi.encode(RouteFee fee)`.
interface ITransferRoute is IChargedRoute, IUnattendedRoute {
    /// @param evmChainId `block.chainid` of its chain.
    /// @param bridgeId Bridge chain id of the same chain.
    /// @param factory The deposit factory, its only caller.
    /// @param token The one token it moves; zero is the native coin.
    /// @param feeRecipient Receives the fee; fixed in the code.
    struct Config {
        uint256 evmChainId;
        uint16 bridgeId;
        address factory;
        address token;
        address feeRecipient;
    }

    /// @notice `to` received `amount`, the fee recipient `fee`.
    event Transferred(
        address indexed wallet, address indexed to, address token, uint256 amount, uint256 fee
    );

    /// @notice The configuration that this route was deployed with.
    function config() external view returns (Config memory);
}
