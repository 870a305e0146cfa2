// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The times at which an account was listed and removed
/// @notice Nothing is ever forgotten: an account that was listed at a time stays listed at that time,
/// however often it is removed and listed again. Both ends of an interval belong to it, so a removal
/// in the block of a lock changes nothing for that lock.
library Listing {
    /// @param times Block timestamps in turn of a listing and of its removal.
    struct History {
        uint256[] times;
    }

    /// @notice Lists the account from now on. Returns false if it is listed already.
    function list(History storage history) internal returns (bool) {
        if (isListed(history)) return false;
        history.times.push(block.timestamp);
        return true;
    }

    /// @notice Removes the account. Returns false if it is not listed.
    function unlist(History storage history) internal returns (bool) {
        if (!isListed(history)) return false;
        history.times.push(block.timestamp);
        return true;
    }

    function isListed(History storage history) internal view returns (bool) {
        return history.times.length % 2 == 1;
    }

    /// @notice Returns whether the account was listed at a time that is not in the future.
    /// @dev A binary search: many short listings cannot make a claim too expensive.
    function wasListed(History storage history, uint256 time) internal view returns (bool) {
        (uint256 low, uint256 high) = (0, history.times.length);
        while (low < high) {
            uint256 middle = (low + high) / 2;
            if (history.times[middle] > time) high = middle;
            else low = middle + 1;
        }
        // `low` changes were made up to that time.
        return low % 2 == 1 || (low != 0 && history.times[low - 1] == time);
    }
}
