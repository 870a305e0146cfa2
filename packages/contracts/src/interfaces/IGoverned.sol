// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Owner, guardian and a delay between them
/// @notice Changes that widen a power wait out the delay; changes that narrow one are immediate:
///
/// - The owner schedules an addition and, when the delay has passed, executes it within 14 days.
/// - The guardian cancels pending additions, removes members, and pauses. Only the owner lifts
///   a pause. A role with one holder, such as the guardian, is replaced after the delay, never
///   removed. Owner and guardian are different accounts.
/// - The first members come by `seal`, once, before the contract does anything.
///
/// Trust: a stolen guardian key can stop the service and veto its own replacement, but moves no
/// funds; refunds and claims still work. A stolen owner key is total after the delay, unless the
/// guardian cancels.
interface IGoverned {
    event Sealed();
    event OwnershipTransferStarted(address indexed owner, address indexed pendingOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed owner);
    event Scheduled(bytes32 indexed role, address indexed who, uint256 eta);
    event Cancelled(bytes32 indexed role, address indexed who);
    event RoleGranted(bytes32 indexed role, address indexed who);
    event RoleRevoked(bytes32 indexed role, address indexed who);
    event Paused(address indexed by);
    event Unpaused(address indexed by);

    error NotOwner(address caller);
    error NotPendingOwner(address caller);
    error NotGuardian(address caller);
    error NotOwnerOrGuardian(address caller);
    error ZeroAddress();
    error OwnerIsGuardian(address account);

    /// @notice The delay is shorter than the minimum of every chain that is not a test chain.
    error DelayTooShort(uint256 delay, uint256 minimum);
    error AlreadySealed();
    error IsPaused();
    error NotPaused();

    /// @notice This contract has no such role, or it cannot be removed.
    error UnknownRole(bytes32 role);
    error AlreadyMember(bytes32 role, address who);
    error NotMember(bytes32 role, address who);
    error AlreadyScheduled(bytes32 role, address who);
    error NotScheduled(bytes32 role, address who);

    /// @notice The delay has not passed yet.
    error TooEarly(uint256 eta, uint256 timestamp);

    /// @notice The change expired: everybody who watches has to see it announced again.
    error TooLate(uint256 latest, uint256 timestamp);

    /// @notice The role that may cancel, remove and pause.
    function GUARDIAN() external view returns (bytes32);

    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function guardian() external view returns (address);

    /// @notice Seconds between scheduling an addition and executing it. Never changes, and is at least
    /// seven days, except on test chains.
    function delay() external view returns (uint256);

    /// @notice Seconds after which a change that may be executed, and was not, expires. It can then only
    /// be cancelled and scheduled again.
    function EXECUTE_WITHIN() external view returns (uint256);
    function isSealed() external view returns (bool);
    function paused() external view returns (bool);

    /// @notice Returns the time from which an addition may be executed; zero if none is pending.
    function eta(bytes32 role, address who) external view returns (uint256);
    function hasRole(bytes32 role, address who) external view returns (bool);

    /// @notice First step of an ownership transfer; zero withdraws the offer. Owner only.
    function transferOwnership(address newOwner) external;

    /// @notice Second step, by the new owner: a mistyped address can never become the owner.
    function acceptOwnership() external;

    /// @notice Announces an addition (or, for a role with one holder, a replacement). Owner only.
    function schedule(bytes32 role, address who) external;

    /// @notice Executes it after the delay. Owner only.
    function execute(bytes32 role, address who) external;

    /// @notice Withdraws a pending addition. Owner or guardian.
    function cancel(bytes32 role, address who) external;

    /// @notice Removes a member at once. Owner or guardian; the holder of a role with one holder
    /// cannot be removed. The times of its membership stay on record.
    function remove(bytes32 role, address who) external;

    /// @notice Stops settlement, never refunds. Guardian only.
    function pause() external;

    /// @notice Lifts a pause. Owner only.
    function unpause() external;
}
