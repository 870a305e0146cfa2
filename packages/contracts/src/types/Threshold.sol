// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title How many attestors must sign, and since when
/// @notice Nothing is ever forgotten, since a claim rests on the threshold at its lock.
library Threshold {
    /// @param count Signatures that an attestation needs.
    /// @param since Block timestamp from which it does.
    struct Change {
        uint8 count;
        uint64 since;
    }

    /// @param changes In the order of time.
    struct History {
        Change[] changes;
    }

    function set(History storage history, uint8 count) internal {
        history.changes.push(Change({ count: count, since: uint64(block.timestamp) }));
    }

    /// @notice Returns the present threshold; zero before the first.
    function current(History storage history) internal view returns (uint256) {
        uint256 length = history.changes.length;
        return length == 0 ? 0 : history.changes[length - 1].count;
    }

    /// @notice Returns the lowest threshold in force during the second `time`, which is not in the
    /// future: before and after a change in that second, the lower of both. Zero before the first.
    /// @dev From the end, since the times asked for are recent and each change waits out a delay.
    function lowestAt(History storage history, uint256 time)
        internal
        view
        returns (uint256 lowest)
    {
        lowest = type(uint256).max;
        for (uint256 i = history.changes.length; i != 0; --i) {
            Change storage change = history.changes[i - 1];
            if (change.since > time) continue;
            if (change.count < lowest) lowest = change.count;
            if (change.since < time) return lowest;
        }
        if (lowest == type(uint256).max) return 0;
    }
}
