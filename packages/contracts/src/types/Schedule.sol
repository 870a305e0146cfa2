// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IGoverned } from "../interfaces/IGoverned.sol";

/// @title The time at which an announced change may be executed
library Schedule {
    /// @dev From the end of the delay; an announcement that nobody watches any more expires.
    uint256 internal constant EXECUTE_WITHIN = 14 days;

    /// @notice Requires that the delay has passed, and not long ago.
    function checkReady(uint256 readyAt) internal view {
        if (block.timestamp < readyAt) revert IGoverned.TooEarly(readyAt, block.timestamp);
        uint256 latest = readyAt + EXECUTE_WITHIN;
        if (block.timestamp > latest) revert IGoverned.TooLate(latest, block.timestamp);
    }
}
