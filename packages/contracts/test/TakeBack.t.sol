// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice A refund authority announces a take-back and executes it later; nobody can put it off.
contract TakeBackTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;

    bytes32 private _id;
    address private _wallet;

    function setUp() public override {
        super.setUp();
        _id = lockDeposit(AMOUNT);
        _wallet = factory.predict(remoteCommitment());
    }

    function test_takeBack_PaysTheRefundAuthority() public {
        _announce();
        vm.warp(START + 72 hours);
        vm.expectEmit(address(escrow));
        emit IEscrow.TakenBack(_id, REFUNDEE, AMOUNT);
        _takeBack();
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refund authority");
        assertTrue(escrow.stateOf(_id) == IEscrow.LockState.TakenBack, "state");
    }

    function test_takeBack_RevertsWithinThreeDaysOfTheLock() public {
        _announce();
        uint256 earliest = START + escrow.TAKE_BACK_AFTER();
        assertEq(earliest, START + 72 hours, "the promise");
        vm.warp(earliest - 1);
        _expectTooEarly(earliest);
    }

    function test_takeBack_RevertsWithinADayOfTheAnnouncement() public {
        vm.warp(START + 100 hours);
        _announce();
        uint256 earliest = block.timestamp + escrow.TAKE_BACK_NOTICE();
        assertEq(earliest, START + 124 hours, "the notice");
        vm.warp(earliest - 1);
        _expectTooEarly(earliest);
        vm.warp(earliest);
        _takeBack();
    }

    function test_takeBack_RevertsUnlessAnnounced() public {
        vm.warp(START + 365 days);
        bytes memory reason =
            abi.encodeWithSelector(IEscrow.NotAnnounced.selector, _wallet, address(usdc));
        vm.expectRevert(reason);
        _takeBack();
        vm.prank(REFUNDEE);
        escrow.announceTakeBack(remoteCommitment(), NATIVE);
        vm.warp(block.timestamp + 24 hours);
        vm.expectRevert(reason);
        _takeBack();
    }

    /// @dev One announcement serves every lock of the wallet and token.
    function test_takeBack_TakesEveryLockOfTheWalletAndToken() public {
        vm.warp(START + 10 hours);
        bytes32 second = lockDeposit(AMOUNT);
        _announce();
        vm.warp(START + 82 hours);
        _takeBack();
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(second), remoteCommitment());
        assertEq(usdc.balanceOf(REFUNDEE), 2 * AMOUNT, "both");
    }

    function test_takeBack_RevertsForAnybodyElse() public {
        _announce();
        vm.warp(START + 72 hours);
        Commitment memory c = remoteCommitment();
        address[5] memory others = [RELAYER, SETTLER, OWNER, GUARDIAN, vm.addr(ATTESTOR_KEY)];
        for (uint256 i; i < others.length; ++i) {
            bytes memory reason = abi.encodeWithSelector(
                IEscrow.NotRefundAuthority.selector, others[i], c.refundAuthority
            );
            vm.expectRevert(reason);
            vm.prank(others[i]);
            escrow.takeBack(lockOf(_id), c);
            vm.expectRevert(reason);
            vm.prank(others[i]);
            escrow.announceTakeBack(c, NATIVE);
            vm.expectRevert(reason);
            vm.prank(others[i]);
            escrow.cancelTakeBack(c, address(usdc));
        }
    }

    /// @dev A commitment of the caller's own is another wallet.
    function test_takeBack_RevertsForAnotherCommitment() public {
        Commitment memory c = remoteCommitment();
        bytes32 expected = factory.hashOf(c);
        c.refundAuthority = word(STRANGER);
        vm.prank(STRANGER);
        escrow.announceTakeBack(c, address(usdc));
        assertEq(escrow.takeBackAnnouncedAt(_wallet, address(usdc)), 0, "not this wallet's");
        vm.warp(START + 72 hours);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.WrongCommitment.selector, factory.hashOf(c), expected)
        );
        vm.prank(STRANGER);
        escrow.takeBack(lockOf(_id), c);
    }

    function test_takeBack_RevertsForAnUnknownLock() public {
        IEscrow.Lock memory held = lockOf(_id);
        held.amount += 1;
        bytes32 other = escrow.deliveryIdOf(held);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.NotLocked.selector, other, IEscrow.LockState.None)
        );
        vm.prank(REFUNDEE);
        escrow.takeBack(held, remoteCommitment());
    }

    function test_announceTakeBack_RecordsItsTime() public {
        vm.warp(START + 5);
        vm.expectEmit(address(escrow));
        emit IEscrow.TakeBackAnnounced(_wallet, address(usdc), START + 5);
        _announce();
        assertEq(escrow.takeBackAnnouncedAt(_wallet, address(usdc)), START + 5, "time");
    }

    function test_announceTakeBack_RevertsWhileOneStands() public {
        _announce();
        vm.expectRevert(_pending());
        _announce();
    }

    function test_announceTakeBack_WorksWhilePausedAndWithoutAnyMember() public {
        bytes32 role = factory.ATTESTOR();
        vm.prank(GUARDIAN);
        factory.pause();
        vm.prank(GUARDIAN);
        factory.remove(role, vm.addr(ATTESTOR_KEY));
        vm.prank(GUARDIAN);
        factory.setRelayer(RELAYER, false);
        _announce();
        vm.warp(START + 72 hours);
        _takeBack();
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refund authority");
    }

    function test_cancelTakeBack_LetsTheWalletLockAgain() public {
        _announce();
        vm.expectEmit(address(escrow));
        emit IEscrow.TakeBackCancelled(_wallet, address(usdc));
        _cancel();
        lockDeposit(AMOUNT);
        assertEq(nextSeq(), 2, "the counter goes on");
        vm.warp(START + 72 hours);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.NotAnnounced.selector, _wallet, address(usdc))
        );
        _takeBack();
    }

    function test_cancelTakeBack_RevertsUnlessAnnounced() public {
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.NotAnnounced.selector, _wallet, address(usdc))
        );
        _cancel();
    }

    /// @dev Notice begins again with each announcement.
    function test_cancelTakeBack_StartsTheNoticeAgain() public {
        _announce();
        vm.warp(START + 90 hours);
        _cancel();
        _announce();
        _expectTooEarly(START + 114 hours);
    }

    function test_lock_RevertsWhileATakeBackIsAnnounced() public {
        _announce();
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(_wallet, AMOUNT);
        vm.expectRevert(_pending());
        settle(job);
        assertEq(usdc.balanceOf(_wallet), AMOUNT, "stays refundable");
        job.c.userId = bytes32(uint256(2));
        usdc.mint(factory.predict(job.c), AMOUNT);
        settle(job);
        assertEq(usdc.balanceOf(address(escrow)), 2 * AMOUNT, "another wallet locks");
    }

    /// @dev A thief of a relayer key locks again behind each return. The announcement ends that: the
    /// next return stays in the wallet, for the refund authority.
    function test_takeBack_NoNewLockCanPutItOff() public {
        bytes32 id = _id;
        for (uint64 i; i < 5; ++i) {
            vm.warp(block.timestamp + 13 hours);
            _return(id);
            settle(escrowJob());
            id = newestLock;
        }
        _announce();
        _return(id);
        vm.expectRevert(_pending());
        settle(escrowJob());
        vm.prank(REFUNDEE);
        factory.refund(remoteCommitment(), address(usdc), ALL);
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    function _return(bytes32 id) private {
        bytes memory signature = signReturn(ATTESTOR_KEY, id, block.timestamp);
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(id), block.timestamp, signature);
    }

    function _announce() private {
        announceTakeBack(remoteCommitment(), address(usdc));
    }

    function _cancel() private {
        vm.prank(REFUNDEE);
        escrow.cancelTakeBack(remoteCommitment(), address(usdc));
    }

    function _takeBack() private {
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(_id), remoteCommitment());
    }

    function _expectTooEarly(uint256 earliest) private {
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.TooEarly.selector, earliest, block.timestamp)
        );
        _takeBack();
    }

    function _pending() private view returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.TakeBackPending.selector, _wallet, address(usdc));
    }
}
