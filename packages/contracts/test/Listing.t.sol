// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Listing } from "../src/types/Listing.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice The record of listings, against a plain list of intervals.
contract ListingTest is Fixture {
    using Listing for Listing.History;

    /// @dev `to` is zero while the account is listed.
    struct Interval {
        uint256 from;
        uint256 to;
    }

    Listing.History private _history;
    Interval[] private _intervals;

    function test_wasListed_IncludesBothEndsOfAnInterval() public {
        vm.warp(START);
        assertTrue(_history.list(), "listed");
        vm.warp(START + 10);
        assertTrue(_history.unlist(), "removed");
        assertTrue(!_history.wasListed(START - 1), "before");
        assertTrue(_history.wasListed(START), "at the listing");
        assertTrue(_history.wasListed(START + 5), "between");
        assertTrue(_history.wasListed(START + 10), "at the removal");
        assertTrue(!_history.wasListed(START + 11), "after");
    }

    /// @dev Also when it was listed and removed in one block.
    function test_wasListed_ForgetsNothingOfOneBlock() public {
        _history.list();
        _history.unlist();
        _history.list();
        _history.unlist();
        assertTrue(!_history.isListed(), "not listed");
        assertTrue(_history.wasListed(block.timestamp), "but was");
    }

    function test_list_ChangesNothingTwice() public {
        assertTrue(!_history.unlist(), "was not listed");
        assertTrue(_history.list(), "listed");
        assertTrue(!_history.list(), "listed already");
        assertEq(_history.times.length, 1, "one entry");
    }

    function testFuzz_wasListed_EqualsAListOfIntervals(uint8[12] calldata steps, uint16 asked)
        public
    {
        vm.warp(START);
        for (uint256 i; i < steps.length; ++i) {
            vm.warp(block.timestamp + steps[i] % 4);
            if (steps[i] % 8 < 4) _list();
            else _unlist();
        }
        uint256 time = START + asked % 40;
        assertTrue(_history.wasListed(time) == _wasListed(time), "the same answer");
    }

    function _list() private {
        if (_history.list()) _intervals.push(Interval(block.timestamp, 0));
    }

    function _unlist() private {
        if (_history.unlist()) _intervals[_intervals.length - 1].to = block.timestamp;
    }

    function _wasListed(uint256 time) private view returns (bool) {
        for (uint256 i; i < _intervals.length; ++i) {
            Interval memory interval = _intervals[i];
            if (interval.from <= time && (interval.to == 0 || time <= interval.to)) return true;
        }
        return false;
    }
}
