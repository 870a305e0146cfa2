// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { ISwapRouter02 } from "../../src/interfaces/external/ISwapRouter02.sol";

/// @notice A router that pays a configured amount from its own balance, takes a configured amount and
/// always reports success.
contract LyingRouter {
    address public immutable WETH9;
    address public immutable factory;
    uint256 private _takes;
    uint256 private _pays;

    constructor(address weth, address pools) {
        WETH9 = weth;
        factory = pools;
    }

    function behave(uint256 takes, uint256 pays) external {
        (_takes, _pays) = (takes, pays);
    }

    function exactInputSingle(ISwapRouter02.ExactInputSingleParams calldata params)
        external
        payable
        returns (uint256)
    {
        if (msg.value == 0) {
            IERC20(params.tokenIn).transferFrom(msg.sender, address(this), _takes);
        } else {
            (bool ok,) = WETH9.call{ value: _takes }("");
            if (!ok) revert();
        }
        IERC20(params.tokenOut).transfer(params.recipient, _pays);
        return params.amountOutMinimum;
    }
}

/// @notice A messenger that takes another amount than requested, and burns nothing.
contract TakingMessenger {
    uint256 private immutable TIMES;
    uint256 private immutable LESS;

    constructor(uint256 times, uint256 less) {
        (TIMES, LESS) = (times, less);
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32,
        bytes32,
        address burnToken,
        bytes32,
        uint256,
        uint32,
        bytes calldata
    ) external {
        for (uint256 i; i < TIMES; ++i) {
            IERC20(burnToken).transferFrom(msg.sender, address(this), amount - LESS);
        }
    }
}

/// @notice Passes native coin on as soon as it has some.
contract Forwarder {
    receive() external payable {
        (bool ok,) = address(0xdead).call{ value: msg.value }("");
        if (!ok) revert();
    }
}
