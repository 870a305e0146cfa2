// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice What a wallet does with the amount that is settled: it pays the fee,
/// and pays or locks the rest. A wallet can do nothing else, so a route has no say about any other
/// token, about later deposits, or about allowances.
/// @param fee Base units for `feeRecipient`; zero for none.
/// @param feeRecipient Receives the fee, before the rest moves.
/// @param to Receives the rest; the escrow, if the rest is locked.
/// @param least Base units that must arrive at `to`; unused for a lock, which the escrow measures.
/// @param promised Zero for a payment. For a lock, the minimum that it promises at the destination.
/// @param delivery For a lock, the contract that pays at the destination.
struct Plan {
    uint256 fee;
    address feeRecipient;
    address to;
    uint256 least;
    uint256 promised;
    bytes32 delivery;
}
