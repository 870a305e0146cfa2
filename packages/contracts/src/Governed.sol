// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IGoverned } from "./interfaces/IGoverned.sol";
import { DelayFloor } from "./types/DelayFloor.sol";
import { Listing } from "./types/Listing.sol";
import { Schedule } from "./types/Schedule.sol";

/// @title Owner, guardian, delay
/// @notice `IGoverned` defines the powers and their reasons.
/// Invariant: no account is a member of a role and pending for it at the same time, so a removed
/// member cannot return by a pending addition.
abstract contract Governed is IGoverned {
    using Listing for Listing.History;

    /// @inheritdoc IGoverned
    bytes32 public constant GUARDIAN = keccak256("sluice.role.guardian");

    /// @inheritdoc IGoverned
    uint256 public constant EXECUTE_WITHIN = Schedule.EXECUTE_WITHIN;

    uint256 private immutable DELAY;

    address private _owner;
    address private _pendingOwner;
    address private _guardian;
    bool private _sealed;
    bool private _paused;
    mapping(bytes32 role => mapping(address account => Listing.History)) private _members;
    mapping(bytes32 role => uint256) private _memberCounts;
    mapping(bytes32 role => mapping(address account => uint256)) private _etas;

    modifier onlyOwner() {
        if (msg.sender != _owner) revert NotOwner(msg.sender);
        _;
    }

    modifier onlyOwnerOrGuardian() {
        _requireOwnerOrGuardian();
        _;
    }

    modifier whenNotPaused() {
        if (_paused) revert IsPaused();
        _;
    }

    constructor(address owner_, address guardian_, uint256 delay_) {
        if (owner_ == address(0) || guardian_ == address(0)) revert ZeroAddress();
        _requireTwoAccounts(owner_, guardian_);
        DelayFloor.check(delay_);
        DELAY = delay_;
        _owner = owner_;
        _guardian = guardian_;
        emit OwnershipTransferred(address(0), owner_);
        emit RoleGranted(GUARDIAN, guardian_);
    }

    /// @inheritdoc IGoverned
    function transferOwnership(address newOwner) external onlyOwner {
        _pendingOwner = newOwner;
        emit OwnershipTransferStarted(msg.sender, newOwner);
    }

    /// @inheritdoc IGoverned
    function acceptOwnership() external {
        if (msg.sender != _pendingOwner) revert NotPendingOwner(msg.sender);
        _requireTwoAccounts(msg.sender, _guardian);
        address previous = _owner;
        _owner = msg.sender;
        _pendingOwner = address(0);
        emit OwnershipTransferred(previous, msg.sender);
    }

    /// @inheritdoc IGoverned
    function schedule(bytes32 role, address who) external onlyOwner {
        if (!_isListRole(role) && !_isSingleRole(role)) revert UnknownRole(role);
        if (who == address(0)) revert ZeroAddress();
        if (hasRole(role, who)) revert AlreadyMember(role, who);
        if (_etas[role][who] != 0) revert AlreadyScheduled(role, who);
        _checkScheduled(role, who);
        uint256 readyAt = block.timestamp + DELAY;
        _etas[role][who] = readyAt;
        emit Scheduled(role, who, readyAt);
    }

    /// @inheritdoc IGoverned
    function execute(bytes32 role, address who) external onlyOwner {
        uint256 readyAt = _etas[role][who];
        if (readyAt == 0) revert NotScheduled(role, who);
        Schedule.checkReady(readyAt);
        if (_isListRole(role)) _grant(role, who);
        else _replace(role, who);
    }

    /// @inheritdoc IGoverned
    function cancel(bytes32 role, address who) external onlyOwnerOrGuardian {
        if (_etas[role][who] == 0) revert NotScheduled(role, who);
        delete _etas[role][who];
        emit Cancelled(role, who);
    }

    /// @inheritdoc IGoverned
    function remove(bytes32 role, address who) external onlyOwnerOrGuardian {
        if (!_isListRole(role)) revert UnknownRole(role);
        if (!_members[role][who].unlist()) revert NotMember(role, who);
        --_memberCounts[role];
        emit RoleRevoked(role, who);
    }

    /// @inheritdoc IGoverned
    function pause() external whenNotPaused {
        if (msg.sender != _guardian) revert NotGuardian(msg.sender);
        _paused = true;
        emit Paused(msg.sender);
    }

    /// @inheritdoc IGoverned
    function unpause() external onlyOwner {
        if (!_paused) revert NotPaused();
        _paused = false;
        emit Unpaused(msg.sender);
    }

    /// @inheritdoc IGoverned
    function owner() public view returns (address) {
        return _owner;
    }

    /// @inheritdoc IGoverned
    function pendingOwner() external view returns (address) {
        return _pendingOwner;
    }

    /// @inheritdoc IGoverned
    function guardian() public view returns (address) {
        return _guardian;
    }

    /// @inheritdoc IGoverned
    function delay() public view returns (uint256) {
        return DELAY;
    }

    /// @inheritdoc IGoverned
    function paused() external view returns (bool) {
        return _paused;
    }

    /// @inheritdoc IGoverned
    function eta(bytes32 role, address who) external view returns (uint256) {
        return _etas[role][who];
    }

    /// @inheritdoc IGoverned
    function isSealed() public view returns (bool) {
        return _sealed;
    }

    /// @inheritdoc IGoverned
    function hasRole(bytes32 role, address who) public view returns (bool) {
        return _isSingleRole(role) ? who == _holderOf(role) : _isMember(role, who);
    }

    /// @dev Lets the owner grant roles without the delay, once.
    function _sealOnce() internal onlyOwner {
        if (_sealed) revert AlreadySealed();
        _sealed = true;
        emit Sealed();
    }

    /// @dev Idempotent, so that a repeated entry in a seal is harmless.
    function _grant(bytes32 role, address account) internal {
        if (account == address(0)) revert ZeroAddress();
        _checkMember(role, account);
        delete _etas[role][account];
        if (_members[role][account].list()) ++_memberCounts[role];
        emit RoleGranted(role, account);
    }

    /// @dev Checks the requirements of a role when an addition is scheduled.
    function _checkScheduled(bytes32 role, address account) internal virtual;

    /// @dev Checks the requirements of a role when a member is added.
    function _checkMember(bytes32 role, address account) internal virtual;

    /// @dev Returns whether a role is a list whose additions wait out the delay.
    function _isListRole(bytes32 role) internal pure virtual returns (bool);

    /// @dev Returns whether a role has exactly one holder, whose replacement waits out the delay.
    function _isSingleRole(bytes32 role) internal pure virtual returns (bool) {
        return role == GUARDIAN;
    }

    function _holderOf(bytes32) internal view virtual returns (address) {
        return _guardian;
    }

    function _setHolder(bytes32, address account) internal virtual {
        _requireTwoAccounts(_owner, account);
        _guardian = account;
    }

    function _isMember(bytes32 role, address account) internal view returns (bool) {
        return _members[role][account].isListed();
    }

    /// @dev Returns whether the account was a member at a time that is not in the future.
    function _wasMember(bytes32 role, address account, uint256 time) internal view returns (bool) {
        return _members[role][account].wasListed(time);
    }

    function _countMembers(bytes32 role) internal view returns (uint256) {
        return _memberCounts[role];
    }

    function _replace(bytes32 role, address account) private {
        delete _etas[role][account];
        emit RoleRevoked(role, _holderOf(role));
        _setHolder(role, account);
        emit RoleGranted(role, account);
    }

    /// @dev One key for both would leave nobody to cancel what a thief of it schedules.
    function _requireTwoAccounts(address owner_, address guardian_) private pure {
        if (owner_ == guardian_) revert OwnerIsGuardian(owner_);
    }

    function _requireOwnerOrGuardian() private view {
        if (msg.sender != _owner && msg.sender != _guardian) revert NotOwnerOrGuardian(msg.sender);
    }
}
