// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice All facts that determine the payout of a lock. The wallet follows from the commitment.
/// @param srcChain Bridge chain id of the chain that holds the lock.
/// @param escrow The escrow there, padded on the left.
/// @param delivery The contract that pays the lock on the destination chain, padded on the left.
/// @param commitment Hash of the wallet's commitment.
/// @param token The locked token, padded on the left; zero is the native coin.
/// @param amount Locked amount, in base units of `token`.
/// @param minOut Minimum delivery, in base units of the committed token.
/// @param seq The escrow's counter for `delivery`, from 0.
struct LockFacts {
    uint16 srcChain;
    bytes32 escrow;
    bytes32 delivery;
    bytes32 commitment;
    bytes32 token;
    uint256 amount;
    uint256 minOut;
    uint64 seq;
}

/// @title The id of one delivery from inventory
/// @notice The hash of the lock that it pays. Source and destination compute it independently, so
/// each lock can be paid only once, and a lock that comes back otherwise after a reorganisation is
/// another delivery. The time of the lock is no part of it: a lock that comes back the same in another
/// block is the same delivery.
/// Never change it: escrow and delivery contracts on different chains must agree.
library DeliveryIdLib {
    bytes32 internal constant DOMAIN = keccak256("sluice.delivery.v1");

    function compute(LockFacts memory facts) internal pure returns (bytes32) {
        return keccak256(abi.encode(DOMAIN, facts));
    }
}
