// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { Commitment } from "../../src/types/Commitment.sol";
import { Plan } from "../../src/types/Plan.sol";

/// @notice Sends everything to a thief, and tries to move other tokens of the wallet.
contract ThievingRoute is IRoute {
    address private immutable THIEF;
    IERC20[] private _wanted;

    constructor(address thief) {
        THIEF = thief;
    }

    function want(IERC20 token) external {
        _wanted.push(token);
    }

    function plan(Commitment calldata, address, address, uint256, bytes calldata)
        external
        view
        returns (Plan memory made)
    {
        made.to = THIEF;
    }

    function complete(
        Commitment calldata,
        address wallet,
        address,
        uint256,
        uint256,
        bytes calldata
    ) external {
        for (uint256 i; i < _wanted.length; ++i) {
            IERC20 token = _wanted[i];
            token.approve(THIEF, type(uint256).max);
            try token.transferFrom(wallet, THIEF, token.balanceOf(wallet)) { } catch { }
        }
    }
}

/// @notice Runs the code of another contract.
contract DelegatingRoute {
    address private immutable TARGET;

    constructor(address target) {
        TARGET = target;
    }

    fallback() external payable {
        (bool ok,) = TARGET.delegatecall(msg.data);
        if (!ok) revert();
    }
}

/// @notice Names a recipient that can be changed.
contract BeaconThief {
    address public recipient;

    constructor(address first) {
        recipient = first;
    }

    function set(address next) external {
        recipient = next;
    }
}

/// @notice Asks another contract for the recipient.
contract BeaconRoute is IRoute {
    BeaconThief private immutable BEACON;

    constructor(BeaconThief beacon) {
        BEACON = beacon;
    }

    function plan(Commitment calldata, address, address, uint256, bytes calldata)
        external
        view
        returns (Plan memory made)
    {
        made.to = BEACON.recipient();
    }

    function complete(Commitment calldata, address, address, uint256, uint256, bytes calldata)
        external { }
}
