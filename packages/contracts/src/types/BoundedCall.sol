// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Calls with bounded return data
/// @notice Plain `try` copies everything that the callee returns, at the caller's cost: one job that
/// reverts with a huge payload would fail its whole batch. This copies at most `maxReason` bytes.
/// Assembly, because neither the language nor OpenZeppelin offers a bounded copy.
library BoundedCall {
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

    /// @notice Sends native coin with at most `gasLimit` gas (and the 2,300 that come with value),
    /// and copies no return data.
    function trySend(address to, uint256 amount, uint256 gasLimit) internal returns (bool ok) {
        assembly ("memory-safe") {
            ok := call(gasLimit, to, amount, 0, 0, 0, 0)
        }
    }
}
