// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice A lock ends in exactly one of three ways: claimed, returned, taken back.
contract LockEndingsTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant PAID = 0.999 ether;

    bytes32 private _id;
    address private _wallet;

    function setUp() public override {
        super.setUp();
        _id = lockDeposit(AMOUNT);
        _wallet = factory.predict(remoteCommitment());
    }

    function test_returnToWallet_GivesTheLockBackToItsAddress() public {
        vm.expectEmit(address(escrow));
        emit IEscrow.Returned(_id, _wallet, address(usdc), AMOUNT);
        _return(ATTESTOR_KEY, block.timestamp);
        assertEq(usdc.balanceOf(_wallet), AMOUNT, "wallet");
        assertEq(usdc.balanceOf(address(escrow)), 0, "escrow");
        assertTrue(escrow.stateOf(_id) == IEscrow.LockState.Returned, "state");
    }

    function test_returnToWallet_TheNextLockHasTheNextNumber() public {
        _return(ATTESTOR_KEY, block.timestamp);
        settle(escrowJob());
        assertTrue(newestLock != _id, "another id");
        assertEq(lockOf(newestLock).seq, 1, "the next number");
        assertEq(lockOf(newestLock).amount, AMOUNT, "locked again");
    }

    function test_returnToWallet_RevertsWhenCallerIsNotARelayer() public {
        bytes memory signature = signReturn(ATTESTOR_KEY, _id, block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotRelayer.selector, SETTLER));
        vm.prank(SETTLER);
        escrow.returnToWallet(lockOf(_id), block.timestamp, signature);
    }

    function test_returnToWallet_RevertsWithoutTheAttestor() public {
        bytes memory signature = signReturn(STRANGER_KEY, _id, block.timestamp);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(STRANGER_KEY))
        );
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(_id), block.timestamp, signature);
    }

    function test_returnToWallet_RevertsWhenTheDeadlineHasPassed() public {
        bytes memory signature = signReturn(ATTESTOR_KEY, _id, block.timestamp);
        uint256 deadline = block.timestamp;
        vm.warp(deadline + 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.Expired.selector, deadline, deadline + 1));
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(_id), deadline, signature);
    }

    function test_T143_returnToWallet_RevertsWhenTheDeadlineIsMoreThanADayAhead() public {
        uint256 latest = block.timestamp + 24 hours;
        bytes memory signature = signReturn(ATTESTOR_KEY, _id, latest + 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.DeadlineTooFar.selector, latest + 1, latest));
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(_id), latest + 1, signature);
        _return(ATTESTOR_KEY, latest);
    }

    function test_T71_returnToWallet_RevertsForAnotherLockOrChain() public {
        bytes32 other = lockDeposit(AMOUNT);
        bytes memory signature = signReturn(ATTESTOR_KEY, _id, block.timestamp);
        vm.expectRevert();
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(other), block.timestamp, signature);
        vm.chainId(99);
        vm.expectRevert();
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(_id), block.timestamp, signature);
    }

    function test_returnToWallet_AClaimsSignatureIsNoReturn() public {
        bytes memory signature = signClaim(ATTESTOR_KEY, _id, PAID, block.timestamp);
        vm.expectRevert();
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(_id), block.timestamp, signature);
    }

    function test_endings_WorkWhilePaused() public {
        bytes32 second = lockDeposit(AMOUNT);
        bytes32 third = lockDeposit(AMOUNT);
        vm.prank(GUARDIAN);
        factory.pause();
        _return(ATTESTOR_KEY, block.timestamp);
        bytes memory signature = signClaim(ATTESTOR_KEY, second, PAID, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(second), PAID, block.timestamp, signature);
        announceTakeBack(remoteCommitment(), address(usdc));
        vm.warp(START + 72 hours);
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(third), remoteCommitment());
        assertEq(usdc.balanceOf(address(escrow)), 0, "nothing is stuck");
        vm.prank(REFUNDEE);
        factory.refund(remoteCommitment(), address(usdc), ALL);
        assertEq(usdc.balanceOf(REFUNDEE), 2 * AMOUNT, "refund while paused");
    }

    function test_endings_OfNativeCoin() public {
        SameAssetRoute route = new SameAssetRoute(nativePair());
        listRoute(address(route));
        IDepositFactory.Job memory job = nativeEscrowJob(address(route));
        address wallet = factory.predict(job.c);
        bytes32[] memory ids = new bytes32[](3);
        for (uint64 i; i < 3; ++i) {
            vm.deal(wallet, 1 ether);
            settle(job);
            ids[i] = newestLock;
            assertEq(lockOf(ids[i]).amount, 1 ether, "locked");
        }
        bytes memory signature = signReturn(ATTESTOR_KEY, ids[0], block.timestamp);
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(ids[0]), block.timestamp, signature);
        assertEq(wallet.balance, 1 ether, "wallet");
        signature = signClaim(ATTESTOR_KEY, ids[1], 1 ether, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(ids[1]), 1 ether, block.timestamp, signature);
        assertEq(TREASURY.balance, 1 ether, "treasury");
        announceTakeBack(job.c, NATIVE);
        vm.warp(block.timestamp + 72 hours);
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(ids[2]), job.c);
        assertEq(REFUNDEE.balance, 1 ether, "refund authority");
        assertEq(address(escrow).balance, 0, "escrow");
    }

    function test_lock_RevertsWhenTheValueIsNotTheAmount() public {
        Commitment memory c = remoteCommitment();
        vm.deal(_wallet, 2);
        bytes32 to = word(address(delivery));
        vm.expectRevert(abi.encodeWithSelector(IEscrow.WrongValue.selector, 1, 2));
        vm.prank(_wallet);
        escrow.lock{ value: 1 }(c, NATIVE, 2, 1, to);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.WrongValue.selector, 1, 0));
        vm.prank(_wallet);
        escrow.lock{ value: 1 }(c, address(usdc), 2, 1, to);
    }

    /// @dev With any attempts in any order, one ending succeeds and the amount moves once.
    function testFuzz_endings_ExactlyOneSucceeds(uint8[6] calldata order) public {
        announceTakeBack(remoteCommitment(), address(usdc));
        vm.warp(START + 72 hours);
        uint256 succeeded;
        for (uint256 i; i < order.length; ++i) {
            if (_try(order[i] % 3)) ++succeeded;
        }
        assertEq(succeeded, 1, "once");
        assertEq(
            usdc.balanceOf(_wallet) + usdc.balanceOf(TREASURY) + usdc.balanceOf(REFUNDEE),
            AMOUNT,
            "one amount"
        );
        assertEq(usdc.balanceOf(address(escrow)), 0, "escrow");
    }

    function _try(uint256 ending) private returns (bool) {
        if (ending == 0) {
            bytes memory signature = signClaim(ATTESTOR_KEY, _id, PAID, block.timestamp);
            vm.prank(RELAYER);
            try escrow.claim(lockOf(_id), PAID, block.timestamp, signature) {
                return true;
            } catch {
                return false;
            }
        }
        if (ending == 1) {
            bytes memory signature = signReturn(ATTESTOR_KEY, _id, block.timestamp);
            vm.prank(RELAYER);
            try escrow.returnToWallet(lockOf(_id), block.timestamp, signature) {
                return true;
            } catch {
                return false;
            }
        }
        vm.prank(REFUNDEE);
        try escrow.takeBack(lockOf(_id), remoteCommitment()) {
            return true;
        } catch {
            return false;
        }
    }

    function _return(uint256 key, uint256 deadline) private {
        bytes memory signature = signReturn(key, _id, deadline);
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(_id), deadline, signature);
    }
}
