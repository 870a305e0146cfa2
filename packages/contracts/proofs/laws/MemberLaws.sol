// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Governed } from "../../src/Governed.sol";

/// @title The rules of members, with one role whose members wait out the delay
contract MemberLaws is Governed {
    constructor() Governed(address(1), address(2), 7 days) { }

    function seal(bytes32 role, address who) external {
        _sealOnce();
        _grant(role, who);
    }

    function _checkScheduled(bytes32, address) internal override { }

    function _checkMember(bytes32, address) internal override { }

    function _isListRole(bytes32 role) internal pure override returns (bool) {
        return uint256(role) == 1;
    }
}
