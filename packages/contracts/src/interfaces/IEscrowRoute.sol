// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IRoute } from "./IRoute.sol";

/// @title Locks a deposit in the escrow, to be delivered from inventory on the destination chain
/// @notice One route is one pair of tokens on two chains.
interface IEscrowRoute is IRoute {
    /// @param evmChainId `block.chainid` of the source.
    /// @param sourceChain Bridge chain id of the source; must equal the escrow's.
    /// @param sourceToken The token it locks; zero is the native coin.
    /// @param sourceDecimals Its decimals.
    /// @param escrow The escrow that holds the locks.
    /// @param destChain Bridge chain id of the destination.
    /// @param destToken The token paid out there; zero is the native coin.
    /// @param destDecimals Its decimals there.
    /// @param delivery The contract that pays out there.
    struct Pair {
        uint256 evmChainId;
        uint16 sourceChain;
        address sourceToken;
        uint8 sourceDecimals;
        address escrow;
        uint16 destChain;
        bytes32 destToken;
        uint8 destDecimals;
        bytes32 delivery;
    }

    /// @notice The amount is too small to promise even one base unit at the destination.
    error NothingPromised(uint256 amount, uint16 maxFeeBps);

    /// @notice The pair that this route was deployed for.
    function pair() external view returns (Pair memory);
}
