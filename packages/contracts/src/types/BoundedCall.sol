// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Calls with bounded return data
/// @notice Plain `try` copies everything that the callee returns, at the caller's cost: one job that
/// reverts with a huge payload would fail its whole batch. This copies at most `maxReason` bytes.
/// Assembly, because neither the language nor OpenZeppelin offers a bounded copy.
library BoundedCall {
    /// @notice The recipient of native coin refused it, or needs more than 100,000 gas.
    error RecipientRefused(address to);

    /// @notice The remaining gas does not cover a payment of native coin.
    error TooLittleGas(uint256 available, uint256 needed);

    /// @dev Enough for a smart account to receive native coin, too little to make payouts expensive.
    uint256 internal constant PAYOUT_GAS = 100_000;

    /// @dev The most that a call with value costs by itself: a cold account (2,600), the value (9,000),
    /// a new account (25,000), and what surrounds it.
    uint256 private constant SEND_COST = 40_000;

    function tryCall(address target, uint256 gasLimit, bytes memory payload, uint256 maxReason)
        internal
        returns (bool ok, bytes memory reason)
    {
        assembly ("memory-safe") {
            ok := call(gasLimit, target, 0, add(payload, 0x20), mload(payload), 0, 0)
            reason := mload(0x40)
            let size := 0
            if iszero(ok) {
                size := returndatasize()
                if gt(size, maxReason) { size := maxReason }
            }
            mstore(reason, size)
            returndatacopy(add(reason, 0x20), 0, size)
            mstore(0x40, add(reason, and(add(size, 0x3f), not(0x1f))))
        }
    }

    /// @notice Sends native coin with `gasLimit` gas (and the 2,300 that come with value), and copies
    /// no return data. Reverts when less gas than that is left: otherwise the caller would choose how
    /// much its recipient gets, and a recipient that forgives its own failure would be paid without
    /// noticing it.
    function trySend(address to, uint256 amount, uint256 gasLimit) internal returns (bool ok) {
        // A call passes on at most 63/64 of the gas that remains after its own cost.
        uint256 needed = SEND_COST + gasLimit + gasLimit / 63;
        if (gasleft() < needed) revert TooLittleGas(gasleft(), needed);
        assembly ("memory-safe") {
            ok := call(gasLimit, to, amount, 0, 0, 0, 0)
        }
    }

    /// @notice Sends native coin, or reverts.
    function pay(address to, uint256 amount) internal {
        if (!trySend(to, amount, PAYOUT_GAS)) revert RecipientRefused(to);
    }
}
