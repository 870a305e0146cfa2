// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import { Governed } from "./Governed.sol";
import { ITreasury } from "./interfaces/ITreasury.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { RollingCap } from "./types/RollingCap.sol";
import { Schedule } from "./types/Schedule.sol";

/// @title The treasury
/// @notice Trust: a mover alone can only carry money between accounts of the operator, up to the daily cap of
/// each direction, for the price of the transfers. The owner lists directions and withdraws behind the
/// delay, and the guardian can cancel both.
contract Treasury is ITreasury, Governed {
    using RollingCap for RollingCap.Window;
    using SafeERC20 for IERC20;

    /// @dev Something announced; without a time, nothing is.
    struct Pending {
        uint192 amount;
        uint64 eta;
    }

    /// @inheritdoc ITreasury
    bytes32 public constant MOVER = keccak256("sluice.role.mover");

    mapping(address token => mapping(address to => RollingCap.Window)) private _directions;
    mapping(address token => mapping(address to => Pending)) private _pendingDirections;
    mapping(address token => Pending) private _pendingWithdrawals;

    /// @inheritdoc ITreasury
    mapping(address token => uint256) public floorOf;

    constructor(address owner_, address guardian_, uint256 delay_)
        Governed(owner_, guardian_, delay_)
    { }

    /// @dev Claims and withdrawals of native coin.
    receive() external payable { }

    /// @inheritdoc ITreasury
    function seal(address[] calldata movers, Direction[] calldata directions) external {
        _sealOnce();
        for (uint256 i; i < movers.length; ++i) {
            _grant(MOVER, movers[i]);
        }
        for (uint256 i; i < directions.length; ++i) {
            Direction calldata direction = directions[i];
            _setDirection(direction.token, direction.to, direction.perDay);
        }
    }

    /// @inheritdoc ITreasury
    function move(address token, address to, uint256 amount) external whenNotPaused {
        if (!isMover(msg.sender)) revert NotMover(msg.sender);
        if (amount == 0) revert NothingToMove();
        RollingCap.Window storage direction = _directions[token][to];
        if (!direction.spend(amount)) {
            revert AboveDirectionCap(token, to, amount, direction.left());
        }
        emit Moved(token, to, amount);
        _send(token, to, amount);
        uint256 left = _balanceOf(token);
        if (left < floorOf[token]) revert BelowFloor(token, left, floorOf[token]);
    }

    /// @inheritdoc ITreasury
    function scheduleDirection(address token, address to, uint112 perDay) external onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        uint256 cap = _directions[token][to].cap;
        if (perDay <= cap) revert DirectionNotHigher(perDay, cap);
        if (_pendingDirections[token][to].eta != 0) revert DirectionPending(token, to);
        uint64 eta = _etaFromNow();
        _pendingDirections[token][to] = Pending(perDay, eta);
        emit DirectionScheduled(token, to, perDay, eta);
    }

    /// @inheritdoc ITreasury
    function executeDirection(address token, address to) external onlyOwner {
        Pending memory pending = _pendingDirections[token][to];
        if (pending.eta == 0) revert NoDirectionPending(token, to);
        Schedule.checkReady(pending.eta);
        _setDirection(token, to, uint112(pending.amount));
    }

    /// @inheritdoc ITreasury
    function cancelDirection(address token, address to) external onlyOwnerOrGuardian {
        if (_pendingDirections[token][to].eta == 0) revert NoDirectionPending(token, to);
        delete _pendingDirections[token][to];
        emit DirectionCancelled(token, to);
    }

    /// @inheritdoc ITreasury
    function lowerDirection(address token, address to, uint112 perDay)
        external
        onlyOwnerOrGuardian
    {
        uint256 cap = _directions[token][to].cap;
        if (perDay >= cap) revert DirectionNotLower(perDay, cap);
        _setDirection(token, to, perDay);
    }

    /// @inheritdoc ITreasury
    function setFloor(address token, uint256 amount) external onlyOwner {
        floorOf[token] = amount;
        emit FloorSet(token, amount);
    }

    /// @inheritdoc ITreasury
    function scheduleWithdrawal(address token, uint256 amount) external onlyOwner {
        if (amount == 0) revert NothingToMove();
        if (_pendingWithdrawals[token].eta != 0) revert WithdrawalPending(token);
        uint64 eta = _etaFromNow();
        _pendingWithdrawals[token] = Pending(SafeCast.toUint192(amount), eta);
        emit WithdrawalScheduled(token, amount, eta);
    }

    /// @inheritdoc ITreasury
    function executeWithdrawal(address token) external onlyOwner {
        Pending memory pending = _pendingWithdrawals[token];
        if (pending.eta == 0) revert NoWithdrawalPending(token);
        Schedule.checkReady(pending.eta);
        delete _pendingWithdrawals[token];
        emit Withdrawn(token, msg.sender, pending.amount);
        _send(token, msg.sender, pending.amount);
    }

    /// @inheritdoc ITreasury
    function cancelWithdrawal(address token) external onlyOwnerOrGuardian {
        if (_pendingWithdrawals[token].eta == 0) revert NoWithdrawalPending(token);
        delete _pendingWithdrawals[token];
        emit WithdrawalCancelled(token);
    }

    /// @inheritdoc ITreasury
    function capOf(address token, address to) external view returns (uint256) {
        return _directions[token][to].cap;
    }

    /// @inheritdoc ITreasury
    function capLeft(address token, address to) public view returns (uint256) {
        return _directions[token][to].left();
    }

    /// @inheritdoc ITreasury
    function movable(address token, address to) external view returns (uint256) {
        uint256 balance = _balanceOf(token);
        uint256 floor = floorOf[token];
        if (balance <= floor) return 0;
        uint256 left = capLeft(token, to);
        return balance - floor < left ? balance - floor : left;
    }

    /// @inheritdoc ITreasury
    function pendingDirection(address token, address to) external view returns (uint256, uint256) {
        Pending memory pending = _pendingDirections[token][to];
        return (pending.amount, pending.eta);
    }

    /// @inheritdoc ITreasury
    function pendingWithdrawal(address token) external view returns (uint256, uint256) {
        Pending memory pending = _pendingWithdrawals[token];
        return (pending.amount, pending.eta);
    }

    /// @inheritdoc ITreasury
    function isMover(address who) public view returns (bool) {
        return _isMember(MOVER, who);
    }

    function _checkScheduled(bytes32, address) internal override { }

    function _checkMember(bytes32, address) internal override { }

    function _isListRole(bytes32 role) internal pure override returns (bool) {
        return role == MOVER;
    }

    function _setDirection(address token, address to, uint112 perDay) private {
        if (to == address(0)) revert ZeroAddress();
        delete _pendingDirections[token][to];
        _directions[token][to].cap = perDay;
        emit DirectionSet(token, to, perDay);
    }

    function _send(address token, address to, uint256 amount) private {
        if (token == address(0)) BoundedCall.pay(to, amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _balanceOf(address token) private view returns (uint256) {
        if (token == address(0)) return address(this).balance;
        return IERC20(token).balanceOf(address(this));
    }

    function _etaFromNow() private view returns (uint64) {
        return SafeCast.toUint64(block.timestamp + delay());
    }
}
