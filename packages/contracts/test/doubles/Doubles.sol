// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { Commitment } from "../../src/types/Commitment.sol";
import { Plan } from "../../src/types/Plan.sol";

/// @notice Anyone mints.
abstract contract OpenToken is ERC20("Token", "TKN") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice Takes one percent of every transfer.
contract FeeOnTransferToken is OpenToken {
    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0) && to != address(0)) super._update(to, address(0), value / 100);
    }
}

/// @notice Leaves one unit behind on every transfer.
contract LeavesOneBehindToken is OpenToken {
    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, from == address(0) ? value : value - 1);
    }
}

/// @notice Never uses allowances up.
contract StickyAllowanceToken is OpenToken {
    function _spendAllowance(address, address, uint256) internal override { }
}

/// @notice Moves nothing in a transfer, and reports success.
contract PretendingToken is OpenToken {
    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, from == address(0) ? value : 0);
    }
}

/// @notice Returns nothing from `transfer`, like several old tokens.
contract SilentToken {
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transfer(address to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
    }
}

/// @notice Makes a prepared call in the middle of every transfer and stores the result.
contract ReentrantToken is OpenToken {
    address private _target;
    bytes private _payload;
    bool public succeeded;
    bytes public reason;

    function arm(address target, bytes calldata payload) external {
        _target = target;
        _payload = payload;
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0) && _target != address(0)) {
            (succeeded, reason) = _target.call(_payload);
        }
    }
}

/// @notice Reverts with a megabyte.
contract ReturnBombToken {
    function balanceOf(address) external pure returns (uint256) {
        return 1;
    }

    function transfer(address, uint256) external pure {
        assembly ("memory-safe") { revert(0, 1000000) }
    }
}

/// @notice Takes a fee from the sender on top of the amount.
contract FeeOnTopToken is ERC20 {
    uint256 private immutable FEE;

    constructor(uint256 fee) ERC20("Fee on top", "FOT") {
        FEE = fee;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (from != address(0) && to != address(0)) super._update(from, address(0), FEE);
    }
}

/// @notice Passes every deposit on without checking the token.
contract AnyTokenRoute is IRoute {
    function plan(Commitment calldata c, address, address, uint256, bytes calldata)
        external
        pure
        returns (Plan memory made)
    {
        made.to = address(uint160(uint256(c.destWallet)));
    }

    function complete(Commitment calldata, address, address, uint256, uint256, bytes calldata)
        external { }
}

/// @notice Burns all the gas that it gets.
contract GasGuzzler {
    receive() external payable {
        while (true) { }
    }
}

/// @notice Needs two million gas to take native coin.
contract SlowRecipient {
    receive() external payable {
        uint256 start = gasleft();
        while (start - gasleft() < 2_000_000) { }
    }
}

/// @notice Refuses native coin.
contract Refuser {
    error NoThanks();

    receive() external payable {
        revert NoThanks();
    }
}

/// @notice Sends back part of what it receives.
contract Bouncer {
    receive() external payable {
        (bool ok,) = msg.sender.call{ value: 1 }("");
        ok;
    }
}

/// @notice Calls the factory's refund from inside a native transfer.
contract ReenteringRefundee {
    IDepositFactory private immutable FACTORY;
    Commitment private _c;
    bytes public reason;

    constructor(IDepositFactory factory) {
        FACTORY = factory;
    }

    function refund(Commitment calldata c) external {
        _c = c;
        FACTORY.refund(c, address(0), type(uint256).max);
    }

    receive() external payable {
        try FACTORY.refund(_c, address(0), type(uint256).max) { }
        catch (bytes memory why) {
            reason = why;
        }
    }
}

/// @notice Sends with 2,300 gas, as old contracts do.
contract OldSender {
    function send(address payable to) external payable {
        to.transfer(msg.value);
    }
}

/// @notice A relayer that tries a batch under a gas limit and reverts it.
contract RelayerProbe {
    error Result(bool ok, uint256 done);

    IDepositFactory private immutable FACTORY;

    constructor(IDepositFactory factory) {
        FACTORY = factory;
    }

    function trial(IDepositFactory.Job[] calldata jobs, uint256 gasPerJob, uint256 gasLimit)
        external
        returns (bool ok, uint256 done)
    {
        try this.run(jobs, gasPerJob, gasLimit) { }
        catch (bytes memory reason) {
            assembly ("memory-safe") {
                ok := mload(add(reason, 0x24))
                done := mload(add(reason, 0x44))
            }
        }
    }

    function run(IDepositFactory.Job[] calldata jobs, uint256 gasPerJob, uint256 gasLimit)
        external
    {
        try FACTORY.settleMany{ gas: gasLimit }(jobs, gasPerJob) returns (uint256 done) {
            revert Result(true, done);
        } catch {
            revert Result(false, 0);
        }
    }
}

/// @notice An escrow that takes one unit less than it may.
contract TakesLess {
    function lock(Commitment calldata, address token, uint256 amount, uint256, bytes32)
        external
        returns (bytes32)
    {
        ERC20(token).transferFrom(msg.sender, address(this), amount - 1);
        return 0;
    }
}

/// @notice Needs 60,000 gas to credit what it receives, and forgives its own failure.
contract ForgivingMerchant {
    uint256 public credited;

    receive() external payable {
        try this.credit{ gas: 60_000 }(msg.value) { } catch { }
    }

    function credit(uint256 amount) external {
        uint256 work;
        while (gasleft() > 25_000) ++work;
        credited += amount;
    }
}
