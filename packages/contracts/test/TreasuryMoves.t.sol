// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { ITreasury } from "../src/interfaces/ITreasury.sol";
import { Treasury } from "../src/Treasury.sol";
import { BoundedCall } from "../src/types/BoundedCall.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Refuser } from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Moves in listed directions, and withdrawals behind the delay.
contract TreasuryMovesTest is Fixture {
    uint112 private constant CAP = 100e6;
    address private constant MOVER = address(0x0a11ce0c);

    Treasury private _treasury;
    address private _pocket;

    function setUp() public override {
        super.setUp();
        _treasury = new Treasury(OWNER, GUARDIAN, DELAY);
        _pocket = factory.predict(_refill());
        ITreasury.Direction[] memory directions = new ITreasury.Direction[](2);
        directions[0] = ITreasury.Direction(address(usdc), _pocket, CAP);
        directions[1] = ITreasury.Direction(NATIVE, address(delivery), 5 ether);
        vm.prank(OWNER);
        _treasury.seal(listOf(MOVER), directions);
        usdc.mint(address(_treasury), 1000e6);
        vm.deal(address(_treasury), 10 ether);
    }

    function test_move_RefillsTheDeliveryOfAnotherChain() public {
        vm.prank(MOVER);
        _treasury.move(address(usdc), _pocket, 40e6);
        settle(
            IDepositFactory.Job(_refill(), address(usdc), 0, address(escrowRoute), "", noProof())
        );
        assertEq(lockOf(newestLock).amount, 40e6, "locked towards the delivery");
        assertEq(_treasury.capLeft(address(usdc), _pocket), 60e6, "left");
    }

    function test_move_RefillsTheDeliveryOfThisChain() public {
        vm.expectEmit(address(_treasury));
        emit ITreasury.Moved(NATIVE, address(delivery), 2 ether);
        vm.prank(MOVER);
        _treasury.move(NATIVE, address(delivery), 2 ether);
        assertEq(address(delivery).balance, 2 ether, "inventory");
    }

    function test_T310_move_ReachesNoAccountThatIsNotListed() public {
        _expectAboveCap(address(usdc), STRANGER, 1, 0);
        _expectAboveCap(address(usdc), MOVER, 1, 0);
        _expectAboveCap(NATIVE, _pocket, 1, 0);
        _expectAboveCap(address(usdcThere), _pocket, 1, 0);
    }

    function test_T310_move_TakesNoMoreThanTheCapPerDay() public {
        uint256 began = block.timestamp;
        for (uint256 hour; hour < 72; ++hour) {
            uint256 left = _treasury.capLeft(address(usdc), _pocket);
            if (left != 0) _move(address(usdc), _pocket, left);
            vm.warp(began + (hour + 1) * 1 hours);
        }
        assertTrue(usdc.balanceOf(_pocket) <= 3 * uint256(CAP), "three days");
        _move(NATIVE, address(delivery), 5 ether);
    }

    function test_move_RevertsAboveTheCapAndForNothing() public {
        _move(address(usdc), _pocket, 60e6);
        _expectAboveCap(address(usdc), _pocket, 40e6 + 1, 40e6);
        vm.expectRevert(abi.encodeWithSelector(ITreasury.NothingToMove.selector));
        vm.prank(MOVER);
        _treasury.move(address(usdc), _pocket, 0);
    }

    function test_move_LeavesTheFloor() public {
        vm.prank(OWNER);
        _treasury.setFloor(address(usdc), 950e6);
        _expectRevertOfMove(
            abi.encodeWithSelector(
                ITreasury.BelowFloor.selector, address(usdc), 950e6 - 1, uint256(950e6)
            ),
            address(usdc),
            50e6 + 1
        );
        assertEq(_treasury.movable(address(usdc), _pocket), 50e6, "above the floor");
        _move(address(usdc), _pocket, 50e6);
        assertEq(_treasury.movable(address(usdc), _pocket), 0, "nothing above it");
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        _treasury.setFloor(address(usdc), 0);
    }

    function test_move_IsForMoversWhileNotPaused() public {
        vm.expectRevert(abi.encodeWithSelector(ITreasury.NotMover.selector, OWNER));
        vm.prank(OWNER);
        _treasury.move(address(usdc), _pocket, 1);
        assertEq(_treasury.movable(address(usdc), _pocket), CAP, "the cap");
        vm.prank(GUARDIAN);
        _treasury.pause();
        _expectRevertOfMove(abi.encodeWithSelector(IGoverned.IsPaused.selector), address(usdc), 1);
        vm.prank(OWNER);
        _treasury.unpause();
        bytes32 role = _treasury.MOVER();
        vm.prank(GUARDIAN);
        _treasury.remove(role, MOVER);
        _expectRevertOfMove(
            abi.encodeWithSelector(ITreasury.NotMover.selector, MOVER), address(usdc), 1
        );
    }

    function test_direction_WaitsOutTheDelay() public {
        vm.prank(OWNER);
        _treasury.scheduleDirection(address(usdc), STRANGER, 7);
        (uint256 perDay, uint256 eta) = _treasury.pendingDirection(address(usdc), STRANGER);
        assertEq(perDay, 7, "cap");
        assertEq(eta, block.timestamp + DELAY, "eta");
        vm.expectRevert(
            abi.encodeWithSelector(ITreasury.DirectionPending.selector, address(usdc), STRANGER)
        );
        vm.prank(OWNER);
        _treasury.scheduleDirection(address(usdc), STRANGER, 8);
        vm.warp(eta - 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.TooEarly.selector, eta, eta - 1));
        vm.prank(OWNER);
        _treasury.executeDirection(address(usdc), STRANGER);
        vm.warp(eta);
        vm.prank(OWNER);
        _treasury.executeDirection(address(usdc), STRANGER);
        assertEq(_treasury.capOf(address(usdc), STRANGER), 7, "listed");
        vm.expectRevert(
            abi.encodeWithSelector(ITreasury.NoDirectionPending.selector, address(usdc), STRANGER)
        );
        vm.prank(OWNER);
        _treasury.executeDirection(address(usdc), STRANGER);
    }

    function test_direction_IsCancelledAndLoweredAtOnce() public {
        vm.prank(OWNER);
        _treasury.scheduleDirection(address(usdc), _pocket, CAP + 1);
        vm.prank(GUARDIAN);
        _treasury.cancelDirection(address(usdc), _pocket);
        vm.prank(OWNER);
        _treasury.scheduleDirection(address(usdc), _pocket, CAP + 1);
        vm.prank(GUARDIAN);
        _treasury.lowerDirection(address(usdc), _pocket, 0);
        (, uint256 eta) = _treasury.pendingDirection(address(usdc), _pocket);
        assertEq(eta, 0, "withdrawn with the cap");
        _expectAboveCap(address(usdc), _pocket, 1, 0);
        vm.expectRevert(abi.encodeWithSelector(ITreasury.DirectionNotLower.selector, 0, 0));
        vm.prank(OWNER);
        _treasury.lowerDirection(address(usdc), _pocket, 0);
        vm.expectRevert(abi.encodeWithSelector(ITreasury.DirectionNotHigher.selector, 0, 0));
        vm.prank(OWNER);
        _treasury.scheduleDirection(address(usdc), _pocket, 0);
        vm.expectRevert(
            abi.encodeWithSelector(ITreasury.NoDirectionPending.selector, address(usdc), _pocket)
        );
        vm.prank(GUARDIAN);
        _treasury.cancelDirection(address(usdc), _pocket);
    }

    function test_withdrawal_PaysTheOwnerAfterTheDelay() public {
        vm.prank(OWNER);
        _treasury.scheduleWithdrawal(address(usdc), 300e6);
        (uint256 amount, uint256 eta) = _treasury.pendingWithdrawal(address(usdc));
        assertEq(amount, 300e6, "amount");
        vm.expectRevert(abi.encodeWithSelector(ITreasury.WithdrawalPending.selector, address(usdc)));
        vm.prank(OWNER);
        _treasury.scheduleWithdrawal(address(usdc), 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.TooEarly.selector, eta, block.timestamp));
        vm.prank(OWNER);
        _treasury.executeWithdrawal(address(usdc));
        vm.warp(eta);
        vm.prank(GUARDIAN);
        _treasury.pause();
        vm.expectEmit(address(_treasury));
        emit ITreasury.Withdrawn(address(usdc), OWNER, 300e6);
        vm.prank(OWNER);
        _treasury.executeWithdrawal(address(usdc));
        assertEq(usdc.balanceOf(OWNER), 300e6, "paid");
        vm.expectRevert(
            abi.encodeWithSelector(ITreasury.NoWithdrawalPending.selector, address(usdc))
        );
        vm.prank(OWNER);
        _treasury.executeWithdrawal(address(usdc));
    }

    function test_withdrawal_OfCoinThatTheOwnerRefusesReverts() public {
        vm.prank(OWNER);
        _treasury.scheduleWithdrawal(NATIVE, 1 ether);
        vm.warp(block.timestamp + DELAY);
        vm.etch(OWNER, address(new Refuser()).code);
        vm.expectRevert(abi.encodeWithSelector(BoundedCall.RecipientRefused.selector, OWNER));
        vm.prank(OWNER);
        _treasury.executeWithdrawal(NATIVE);
        vm.etch(OWNER, "");
        vm.prank(OWNER);
        _treasury.executeWithdrawal(NATIVE);
        assertEq(OWNER.balance, 1 ether, "paid");
    }

    function test_T311_withdrawal_IsCancelledByTheGuardian() public {
        vm.prank(OWNER);
        _treasury.scheduleWithdrawal(address(usdc), 1000e6);
        vm.prank(GUARDIAN);
        _treasury.cancelWithdrawal(address(usdc));
        vm.warp(block.timestamp + DELAY);
        vm.expectRevert(
            abi.encodeWithSelector(ITreasury.NoWithdrawalPending.selector, address(usdc))
        );
        vm.prank(OWNER);
        _treasury.executeWithdrawal(address(usdc));
    }

    function test_onlyTheOwnerListsAndWithdraws() public {
        address[3] memory others = [GUARDIAN, MOVER, STRANGER];
        for (uint256 i; i < others.length; ++i) {
            bytes memory notOwner = abi.encodeWithSelector(IGoverned.NotOwner.selector, others[i]);
            vm.startPrank(others[i]);
            vm.expectRevert(notOwner);
            _treasury.seal(listOf(others[i]), new ITreasury.Direction[](0));
            vm.expectRevert(notOwner);
            _treasury.scheduleDirection(address(usdc), others[i], 1);
            vm.expectRevert(notOwner);
            _treasury.executeDirection(address(usdc), others[i]);
            vm.expectRevert(notOwner);
            _treasury.scheduleWithdrawal(address(usdc), 1);
            vm.expectRevert(notOwner);
            _treasury.executeWithdrawal(address(usdc));
            vm.stopPrank();
        }
        vm.startPrank(MOVER);
        bytes memory notEither =
            abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, MOVER);
        vm.expectRevert(notEither);
        _treasury.cancelDirection(address(usdc), _pocket);
        vm.expectRevert(notEither);
        _treasury.lowerDirection(address(usdc), _pocket, 0);
        vm.expectRevert(notEither);
        _treasury.cancelWithdrawal(address(usdc));
        vm.stopPrank();
    }

    function test_seal_IsOnceAndNamesNoZeroAddress() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.AlreadySealed.selector));
        vm.prank(OWNER);
        _treasury.seal(listOf(MOVER), new ITreasury.Direction[](0));
        Treasury other = new Treasury(OWNER, GUARDIAN, DELAY);
        ITreasury.Direction[] memory directions = new ITreasury.Direction[](1);
        directions[0] = ITreasury.Direction(address(usdc), address(0), CAP);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        vm.prank(OWNER);
        other.seal(listOf(MOVER), directions);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        vm.prank(OWNER);
        other.scheduleDirection(address(usdc), address(0), CAP);
    }

    /// @dev A deposit address of the operator: it pays the delivery of the other chain.
    function _refill() private view returns (Commitment memory c) {
        c = remoteCommitment();
        c.destWallet = word(address(delivery));
        c.refundAuthority = word(OWNER);
    }

    function _move(address token, address to, uint256 amount) private {
        vm.prank(MOVER);
        _treasury.move(token, to, amount);
    }

    function _expectAboveCap(address token, address to, uint256 amount, uint256 left) private {
        vm.expectRevert(
            abi.encodeWithSelector(ITreasury.AboveDirectionCap.selector, token, to, amount, left)
        );
        _move(token, to, amount);
    }

    function _expectRevertOfMove(bytes memory reason, address token, uint256 amount) private {
        vm.expectRevert(reason);
        vm.prank(MOVER);
        _treasury.move(token, _pocket, amount);
    }
}
