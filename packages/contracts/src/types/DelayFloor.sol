// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IGoverned } from "../interfaces/IGoverned.sol";

/// @title The shortest delay of an owner
/// @notice A delay never changes, so the constructor is the only place that can refuse a short one.
library DelayFloor {
    /// @dev The time in which users can leave before an addition.
    uint256 internal constant MINIMUM = 7 days;

    /// @notice Requires the minimum on every chain that can hold real money.
    function check(uint256 delay) internal view {
        if (delay < MINIMUM && !_isTestChain(block.chainid)) {
            revert IGoverned.DelayTooShort(delay, MINIMUM);
        }
    }

    /// @dev Anvil's chain id, and those of the sandbox, whose owner cannot wait for days. Named here
    /// rather than passed in, so that the deployed code of every other chain proves its minimum.
    function _isTestChain(uint256 chainId) private pure returns (bool) {
        return chainId == 31_337 || chainId == 900_002 || chainId == 900_030;
    }
}
