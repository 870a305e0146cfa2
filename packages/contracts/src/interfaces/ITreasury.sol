// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IGoverned } from "./IGoverned.sol";

/// @title Holds the claims of locks, and refills the inventory with them
/// @notice Money leaves in two ways: to the owner, behind the delay; and in a listed direction, by a
/// mover, up to the daily cap of the direction. A direction is a token and an account of the operator: the
/// `Delivery` of this chain, or a deposit address whose commitment pays the `Delivery` of another. The
/// commitment fixes chain, recipient, token and the most that a bridge may keep, so a mover chooses the
/// time and the amount, and no recipient.
interface ITreasury is IGoverned {
    /// @param token The token that moves; zero is the native coin.
    /// @param to The account that receives it.
    /// @param perDay Maximum in any 24 hours, in base units.
    struct Direction {
        address token;
        address to;
        uint112 perDay;
    }

    event Moved(address indexed token, address indexed to, uint256 amount);
    event DirectionSet(address indexed token, address indexed to, uint256 perDay);
    event DirectionScheduled(
        address indexed token, address indexed to, uint256 perDay, uint256 eta
    );
    event DirectionCancelled(address indexed token, address indexed to);
    event FloorSet(address indexed token, uint256 amount);
    event WithdrawalScheduled(address indexed token, uint256 amount, uint256 eta);
    event WithdrawalCancelled(address indexed token);
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    error NotMover(address caller);

    /// @notice Above the unused part of the direction's daily cap; nothing is left of one that is not
    /// listed.
    error AboveDirectionCap(address token, address to, uint256 amount, uint256 left);

    /// @notice The move would leave less than the token's floor.
    error BelowFloor(address token, uint256 left, uint256 floor);

    /// @notice A cap is lowered by `lowerDirection` and raised by `scheduleDirection`.
    error DirectionNotLower(uint256 perDay, uint256 cap);
    error DirectionNotHigher(uint256 perDay, uint256 cap);
    error DirectionPending(address token, address to);
    error NoDirectionPending(address token, address to);
    error WithdrawalPending(address token);
    error NoWithdrawalPending(address token);
    error NothingToMove();

    /// @notice The role of the accounts that may move money in listed directions.
    function MOVER() external view returns (bytes32);

    /// @notice Returns whether an account may move money in listed directions.
    function isMover(address who) external view returns (bool);

    /// @notice Returns the maximum of a direction in any 24 hours; zero if it is not listed.
    function capOf(address token, address to) external view returns (uint256);

    /// @notice Returns the unused part of it.
    function capLeft(address token, address to) external view returns (uint256);

    /// @notice Returns the most that a move may take now: the smaller of the unused part of the cap and the
    /// balance above the floor.
    function movable(address token, address to) external view returns (uint256);

    /// @notice Returns the pending cap of a direction; both zero without one.
    function pendingDirection(address token, address to)
        external
        view
        returns (uint256 perDay, uint256 eta);

    /// @notice Returns the base units of a token that no move may take.
    function floorOf(address token) external view returns (uint256);

    /// @notice Returns the pending withdrawal of a token; both zero without one.
    function pendingWithdrawal(address token) external view returns (uint256 amount, uint256 eta);

    /// @notice Lists the first movers and directions without the delay. Owner only, once.
    function seal(address[] calldata movers, Direction[] calldata directions) external;

    /// @notice Sends a token in a listed direction. A mover only, and not while paused.
    function move(address token, address to, uint256 amount) external;

    /// @notice Announces a direction, or a higher cap of one. Owner only.
    function scheduleDirection(address token, address to, uint112 perDay) external;

    /// @notice Executes it after the delay. Owner only.
    function executeDirection(address token, address to) external;

    /// @notice Withdraws it before. Owner or guardian.
    function cancelDirection(address token, address to) external;

    /// @notice Lowers the cap of a direction at once, zero included, and withdraws a pending one. Owner
    /// or guardian.
    function lowerDirection(address token, address to, uint112 perDay) external;

    /// @notice Sets the base units of a token that no move may take. Owner only, at once: in every
    /// direction the money stays the operator's.
    function setFloor(address token, uint256 amount) external;

    /// @notice Announces a withdrawal to the owner, one for each token. Owner only.
    function scheduleWithdrawal(address token, uint256 amount) external;

    /// @notice Pays it to the owner after the delay, also while paused: the guardian cancels what must
    /// not be paid. Owner only.
    function executeWithdrawal(address token) external;

    /// @notice Withdraws the announcement. Owner or guardian.
    function cancelWithdrawal(address token) external;
}
