// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The id of one delivery from inventory
/// @notice Source and destination compute it independently, so each lock can be paid only once.
/// The amount is not part of it: a corrected amount must not become a second delivery.
/// Never change it: escrow and delivery contracts on different chains must agree.
library DeliveryIdLib {
    bytes32 internal constant DOMAIN = keccak256("sluice.delivery.v1");

    /// @param srcChain Bridge chain id of the chain that holds the lock.
    /// @param escrow The escrow, padded on the left.
    /// @param wallet The deposit address, padded on the left.
    /// @param token The locked token, padded on the left.
    /// @param seq The escrow's counter for this wallet and token, from 0.
    function compute(uint16 srcChain, bytes32 escrow, bytes32 wallet, bytes32 token, uint64 seq)
        internal
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(DOMAIN, srcChain, escrow, wallet, token, seq));
    }
}
