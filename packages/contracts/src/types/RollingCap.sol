// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A cap on any 24 hours
/// @notice Spending is recorded by the hour. The sum over the current hour and the 24 before it never
/// exceeds the cap, so no window of 24 hours does; an amount is free again after 24 to 25 hours. A
/// steadily refilling bucket would be cheaper, but allows twice the cap in one day.
library RollingCap {
    uint256 internal constant HOURS = 25;

    /// @param cap Maximum spending in any 24 hours, in base units.
    /// @param spent The sum of `byHour`.
    /// @param hour The hour since the epoch of the last update of `byHour`.
    /// @param byHour Spent per hour, at the hour's number modulo 25.
    struct Window {
        uint112 cap;
        uint112 spent;
        uint32 hour;
        mapping(uint256 => uint256) byHour;
    }

    /// @notice Spends `amount`, or returns false.
    function spend(Window storage window, uint256 amount) internal returns (bool) {
        uint256 hour = block.timestamp / 1 hours;
        uint256 spent = _advance(window, hour);
        bool fits = amount <= type(uint112).max && spent + amount <= window.cap;
        if (fits) {
            spent += amount;
            window.byHour[hour % HOURS] += amount;
        }
        // Both fit: the sum is at most a cap, and 2^32 hours are half a million years.
        window.spent = uint112(spent);
        window.hour = uint32(hour);
        return fits;
    }

    /// @notice Returns the unused part of the cap.
    function left(Window storage window) internal view returns (uint256) {
        uint256 spent = window.spent;
        uint256 hour = block.timestamp / 1 hours;
        uint256 steps = _steps(window, hour);
        for (uint256 i = 1; i <= steps; ++i) {
            spent -= window.byHour[(window.hour + i) % HOURS];
        }
        return spent >= window.cap ? 0 : window.cap - spent;
    }

    /// @dev Clears the hours that left the window; the caller writes the sum and the hour.
    function _advance(Window storage window, uint256 hour) private returns (uint256 spent) {
        spent = window.spent;
        uint256 steps = _steps(window, hour);
        for (uint256 i = 1; i <= steps; ++i) {
            uint256 index = (window.hour + i) % HOURS;
            uint256 expired = window.byHour[index];
            if (expired == 0) continue;
            spent -= expired;
            delete window.byHour[index];
        }
    }

    /// @dev Returns the hours to clear; a whole turn clears everything, and without spending there is
    /// nothing to clear.
    function _steps(Window storage window, uint256 hour) private view returns (uint256) {
        if (window.spent == 0) return 0;
        uint256 passed = hour - window.hour;
        return passed < HOURS ? passed : HOURS;
    }
}
