// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import { IDailyCaps } from "./interfaces/IDailyCaps.sol";
import { IGoverned } from "./interfaces/IGoverned.sol";
import { RollingCap } from "./types/RollingCap.sol";
import { Schedule } from "./types/Schedule.sol";

/// @title Daily caps and the rules for changing them
abstract contract DailyCaps is IDailyCaps {
    using RollingCap for RollingCap.Window;

    struct CapRaise {
        uint112 perDay;
        uint64 eta;
    }

    /// @dev Accounts and delay that a change of a cap obeys.
    struct CapPowers {
        address owner;
        address guardian;
        uint256 delay;
    }

    mapping(address token => RollingCap.Window) private _caps;
    mapping(address token => CapRaise) private _capRaises;

    /// @inheritdoc IDailyCaps
    function scheduleCapRaise(address token, uint112 perDay) external {
        CapPowers memory powers = _capPowers();
        if (msg.sender != powers.owner) revert IGoverned.NotOwner(msg.sender);
        uint256 cap = _caps[token].cap;
        if (perDay <= cap) revert NotHigher(perDay, cap);
        if (_capRaises[token].eta != 0) revert CapRaisePending(token);
        uint256 readyAt = block.timestamp + powers.delay;
        _capRaises[token] = CapRaise(perDay, SafeCast.toUint64(readyAt));
        emit CapRaiseScheduled(token, perDay, readyAt);
    }

    /// @inheritdoc IDailyCaps
    function executeCapRaise(address token) external {
        if (msg.sender != _capPowers().owner) revert IGoverned.NotOwner(msg.sender);
        CapRaise memory raise = _capRaises[token];
        if (raise.eta == 0) revert NoCapRaisePending(token);
        Schedule.checkReady(raise.eta);
        delete _capRaises[token];
        _setCap(token, raise.perDay);
    }

    /// @inheritdoc IDailyCaps
    function cancelCapRaise(address token) external {
        _requireOwnerOrGuardianOfCaps();
        if (_capRaises[token].eta == 0) revert NoCapRaisePending(token);
        delete _capRaises[token];
        emit CapRaiseCancelled(token);
    }

    /// @inheritdoc IDailyCaps
    function lowerCap(address token, uint112 perDay) external {
        _requireOwnerOrGuardianOfCaps();
        uint256 cap = _caps[token].cap;
        if (perDay >= cap) revert NotLower(perDay, cap);
        delete _capRaises[token];
        _setCap(token, perDay);
    }

    /// @inheritdoc IDailyCaps
    function capOf(address token) external view returns (uint256) {
        return _caps[token].cap;
    }

    /// @inheritdoc IDailyCaps
    function capLeft(address token) public view returns (uint256) {
        return _caps[token].left();
    }

    /// @inheritdoc IDailyCaps
    function capRaiseOf(address token) external view returns (uint256, uint256) {
        return (_capRaises[token].perDay, _capRaises[token].eta);
    }

    /// @dev Returns the owner, guardian and delay that rule the caps.
    function _capPowers() internal view virtual returns (CapPowers memory);

    function _setCap(address token, uint112 perDay) internal {
        _caps[token].cap = perDay;
        emit CapSet(token, perDay);
    }

    /// @dev Counts `amount` towards the cap of a token.
    function _spendCap(address token, uint256 amount) internal {
        if (!_caps[token].spend(amount)) revert AboveDailyCap(token, amount, capLeft(token));
    }

    function _requireOwnerOrGuardianOfCaps() private view {
        CapPowers memory powers = _capPowers();
        if (msg.sender != powers.owner && msg.sender != powers.guardian) {
            revert IGoverned.NotOwnerOrGuardian(msg.sender);
        }
    }
}
