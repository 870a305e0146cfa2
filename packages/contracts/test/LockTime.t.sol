// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { Fixture } from "./support/Fixture.sol";
import { Vm } from "./support/Vm.sol";

/// @notice The time of a lock: stored by the escrow, and no part of its id.
contract LockTimeTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant PAID = 0.999 ether;
    uint256 private constant LATER = START + 60;

    function setUp() public override {
        super.setUp();
        usdcThere.mint(address(delivery), 1000 ether);
    }

    function test_T240_lock_IsTheSameInAnotherBlock() public {
        (bytes32 id, bytes32 again) = _lockTwice();
        assertEq(again, id, "id");
        assertEq(lockedAtOf(id), LATER, "the time of the block that holds it");
        assertTrue(escrow.stateOf(id) == IEscrow.LockState.Locked, "state");
    }

    function test_lock_AnnouncesTheTimeThatItStores() public {
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(factory.predict(job.c), AMOUNT);
        vm.warp(LATER);
        vm.recordLogs();
        vm.prank(RELAYER);
        factory.settle(job);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 announced;
        for (uint256 i; i < logs.length; ++i) {
            if (!noteLock(logs[i])) continue;
            (,,,, uint64 lockedAt,) =
                abi.decode(logs[i].data, (address, uint256, uint256, uint64, uint64, bytes32));
            announced = lockedAt;
        }
        assertEq(announced, LATER, "announced");
        assertEq(lockedAtOf(newestLock), LATER, "stored");
    }

    /// @dev The attestors may have signed the payout before and after the reorganisation.
    function test_T240_deliver_PaysTheSameLockOnceForAnyWindow() public {
        IDelivery.Order memory order = _orderBefore();
        (bytes32 id,) = _lockTwice();
        _deliver(order);
        assertTrue(isDelivered(id), "paid");
        order.windowStart = lockedAtOf(id);
        _expect(order, abi.encodeWithSelector(IDelivery.AlreadyDelivered.selector, id));
        assertEq(usdcThere.balanceOf(RECIPIENT), PAID, "once");
        bytes memory signature = signClaim(ATTESTOR_KEY, id, PAID, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), PAID, block.timestamp, signature);
        assertEq(usdc.balanceOf(TREASURY), AMOUNT, "claimed");
    }

    /// @dev Earlier than the lock, as a return requires: it waits for the window of the lock.
    function test_T241_deliver_EndsWithTheAttestedWindow() public {
        IDelivery.Order memory order = _orderBefore();
        (bytes32 id,) = _lockTwice();
        vm.warp(START + WINDOW + 1);
        bytes memory over = abi.encodeWithSelector(
            IDelivery.PayoutWindowOver.selector, START + WINDOW, START + WINDOW + 1
        );
        _expect(order, over);
        order.windowStart = lockedAtOf(id);
        _deliver(order);
    }

    /// @dev Claims and take-backs ask for it, and the service after their end.
    function test_recordOf_KeepsTheTimeWhenTheLockEnds() public {
        bytes32 claimed = lockDeposit(AMOUNT);
        bytes memory signature = signClaim(ATTESTOR_KEY, claimed, PAID, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(claimed), PAID, block.timestamp, signature);
        _expectRecord(claimed, IEscrow.LockState.Claimed);

        bytes32 returned = lockDeposit(AMOUNT);
        signature = signReturn(ATTESTOR_KEY, returned, block.timestamp);
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(returned), block.timestamp, signature);
        _expectRecord(returned, IEscrow.LockState.Returned);

        bytes32 takenBack = lockDeposit(AMOUNT);
        announceTakeBack(remoteCommitment(), address(usdc));
        vm.warp(START + 72 hours);
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(takenBack), remoteCommitment());
        _expectRecord(takenBack, IEscrow.LockState.TakenBack);
    }

    function test_recordOf_IsEmptyForAnUnknownLock() public view {
        (IEscrow.LockState state, uint256 lockedAt) = escrow.recordOf(bytes32(uint256(1)));
        assertTrue(state == IEscrow.LockState.None, "state");
        assertEq(lockedAt, 0, "time");
    }

    /// @dev The source mines a lock, loses the block, and mines the same lock a minute later.
    function _lockTwice() private returns (bytes32 before, bytes32 again) {
        uint256 source = vm.snapshotState();
        before = lockDeposit(AMOUNT);
        assertEq(lockedAtOf(before), START, "the time of the first block");
        vm.revertToState(source);
        assertEq(lockedAtOf(before), 0, "orphaned");
        vm.warp(LATER);
        again = lockDeposit(AMOUNT);
    }

    /// @dev A payout of the lock in its first block.
    function _orderBefore() private view returns (IDelivery.Order memory order) {
        order = orderOf(0, PAID);
        (order.lockedAmount, order.minOut) = (AMOUNT, 0.995 ether);
    }

    function _expectRecord(bytes32 id, IEscrow.LockState expected) private view {
        (IEscrow.LockState state, uint256 lockedAt) = escrow.recordOf(id);
        assertTrue(state == expected, "state");
        assertEq(lockedAt, START, "time");
    }

    function _deliver(IDelivery.Order memory order) private {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function _expect(IDelivery.Order memory order, bytes memory reason) private {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.expectRevert(reason);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }
}
