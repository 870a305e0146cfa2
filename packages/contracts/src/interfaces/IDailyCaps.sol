// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Caps on the amount of a token that moves in any 24 hours
/// @notice A cap is lowered at once, by the owner or the guardian, and raised by the owner behind the
/// delay. The last hour may count up to an hour longer; no window of 24 hours exceeds the cap.
interface IDailyCaps {
    /// @param token The token that moves; zero is the native coin.
    /// @param perDay Maximum in any 24 hours, in base units.
    struct DailyCap {
        address token;
        uint112 perDay;
    }

    event CapSet(address indexed token, uint256 perDay);
    event CapRaiseScheduled(address indexed token, uint256 perDay, uint256 eta);
    event CapRaiseCancelled(address indexed token);

    /// @notice Above the unused part of the token's daily cap.
    error AboveDailyCap(address token, uint256 amount, uint256 left);

    /// @notice A cap is lowered by `lowerCap` and raised by `scheduleCapRaise`.
    error NotLower(uint256 perDay, uint256 cap);
    error NotHigher(uint256 perDay, uint256 cap);
    error CapRaisePending(address token);
    error NoCapRaisePending(address token);

    /// @notice Returns the maximum of a token in any 24 hours. Zero until it is set: a token without a
    /// cap does not move.
    function capOf(address token) external view returns (uint256);

    /// @notice Returns the unused part of the daily cap of a token.
    function capLeft(address token) external view returns (uint256);

    /// @notice Returns the pending raise of a cap; both zero without one.
    function capRaiseOf(address token) external view returns (uint256 perDay, uint256 eta);

    /// @notice Announces a higher cap. Owner only.
    function scheduleCapRaise(address token, uint112 perDay) external;

    /// @notice Executes it after the delay. Owner only.
    function executeCapRaise(address token) external;

    /// @notice Withdraws a pending raise. Owner or guardian.
    function cancelCapRaise(address token) external;

    /// @notice Lowers a cap at once, zero included, and withdraws a pending raise. Owner or
    /// guardian.
    function lowerCap(address token, uint112 perDay) external;
}
