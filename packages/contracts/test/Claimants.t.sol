// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { DepositFactory } from "../src/DepositFactory.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Who may claim a lock: members of now, and members of the time of the lock. Everything else
/// is for members of now.
contract ClaimantsTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant PAID = 0.999 ether;
    uint256 private constant OTHER_KEY = 0xbeef;
    address private constant OTHER_RELAYER = address(0xbeef);

    bytes32 private _role;
    bytes32 private _id;

    function setUp() public override {
        super.setUp();
        _role = factory.ATTESTOR();
        usdcThere.mint(address(delivery), 100 ether);
        _id = lockDeposit(AMOUNT);
        IDelivery.Order memory order = payoutOf(_id, PAID);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function test_claim_GuardianCannotKeepTheOperatorFromIt() public {
        _removeAttestor(GUARDIAN);
        _claimAndCheck();
    }

    function test_claim_OwnerCannotKeepTheOperatorFromIt() public {
        _removeAttestor(OWNER);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        _claimAndCheck();
    }

    function test_claim_WorksAYearAfterTheRemovals() public {
        _removeAttestor(GUARDIAN);
        vm.prank(GUARDIAN);
        factory.setRelayer(RELAYER, false);
        vm.warp(block.timestamp + 365 days);
        _claimAndCheck();
    }

    function test_claim_WorksAfterRemovalInTheBlockOfTheLock() public {
        bytes32 second = lockDeposit(AMOUNT);
        _removeAttestor(GUARDIAN);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        vm.warp(block.timestamp + 1);
        _claim(RELAYER, ATTESTOR_KEY, second, "");
    }

    /// @dev Short listings, as often as the owner likes: they hide nothing and cost the claim little.
    function test_claim_WorksAfterAThousandListings() public {
        for (uint256 i; i < 1000; ++i) {
            vm.warp(block.timestamp + 1);
            vm.prank(OWNER);
            factory.setRelayer(RELAYER, i % 2 == 1);
        }
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        bytes memory signature = signClaim(ATTESTOR_KEY, _id, PAID, block.timestamp);
        uint256 before = gasleft();
        vm.prank(RELAYER);
        escrow.claim(lockOf(_id), PAID, block.timestamp, signature);
        assertTrue(before - gasleft() < 150_000, "gas");
    }

    function test_claim_AcceptsMembersListedSinceTheLock() public {
        _listOthers();
        _removeAttestor(GUARDIAN);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        _claim(OTHER_RELAYER, OTHER_KEY, _id, "");
        assertEq(usdc.balanceOf(TREASURY), AMOUNT, "treasury");
    }

    function test_claim_RevertsForMembersThatWereListedOnlyBeforeOrAfterTheLock() public {
        _listOthers();
        vm.prank(OWNER);
        factory.remove(_role, vm.addr(OTHER_KEY));
        vm.prank(OWNER);
        factory.setRelayer(OTHER_RELAYER, false);
        bytes memory noRelayer = abi.encodeWithSelector(IEscrow.NotRelayer.selector, OTHER_RELAYER);
        bytes memory noAttestor =
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(OTHER_KEY));
        _claim(OTHER_RELAYER, ATTESTOR_KEY, _id, noRelayer);
        _claim(RELAYER, OTHER_KEY, _id, noAttestor);
        vm.warp(block.timestamp + 1);
        bytes32 later = lockDeposit(AMOUNT);
        _claim(OTHER_RELAYER, ATTESTOR_KEY, later, noRelayer);
        _claim(RELAYER, OTHER_KEY, later, noAttestor);
    }

    function test_returnToWallet_RevertsForRemovedMembers() public {
        bytes32 second = lockDeposit(AMOUNT);
        bytes memory signature = signReturn(ATTESTOR_KEY, second, block.timestamp);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotRelayer.selector, RELAYER));
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(second), block.timestamp, signature);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, true);
        _removeAttestor(GUARDIAN);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(ATTESTOR_KEY))
        );
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(second), block.timestamp, signature);
    }

    function test_deliverAndRefund_RevertForARemovedAttestor() public {
        IDelivery.Order memory order = orderOf(1, PAID);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        address wallet = factory.predict(order.c);
        bytes memory refund = signRefund(ATTESTOR_KEY, wallet, address(usdc), ALL, block.timestamp);
        _removeAttestor(GUARDIAN);
        address removed = vm.addr(ATTESTOR_KEY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, removed));
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, removed));
        vm.prank(RELAYER);
        factory.refundBySignature(order.c, address(usdc), ALL, 1, block.timestamp, refund);
    }

    function test_lock_RevertsWithoutAnAttestorToClaimIt() public {
        _removeAttestor(GUARDIAN);
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(factory.predict(job.c), AMOUNT);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.TooFewAttestors.selector));
        settle(job);
    }

    function test_hasEnoughAttestors_CountsPresentMembers() public {
        _listOthers();
        _removeAttestor(GUARDIAN);
        assertTrue(factory.hasEnoughAttestors(), "the other one");
        vm.prank(GUARDIAN);
        factory.remove(_role, vm.addr(OTHER_KEY));
        assertTrue(!factory.hasEnoughAttestors(), "none");
    }

    function test_hasEnoughAttestors_CountsARepeatedEntryOfTheSealOnce() public {
        factory = new DepositFactory(OWNER, GUARDIAN, DELAY);
        address[] memory twice = new address[](2);
        (twice[0], twice[1]) = (STRANGER, STRANGER);
        vm.prank(OWNER);
        factory.seal(none(), none(), twice, 1, TREASURY);
        assertTrue(factory.hasEnoughAttestors(), "one");
        vm.prank(GUARDIAN);
        factory.remove(_role, STRANGER);
        assertTrue(!factory.hasEnoughAttestors(), "none");
    }

    function test_wasMember_KeepsPastListings() public {
        uint256 listed = block.timestamp;
        vm.warp(listed + 10);
        _removeAttestor(GUARDIAN);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        vm.warp(listed + 20);
        address attestor = vm.addr(ATTESTOR_KEY);
        assertTrue(!factory.isAttestor(attestor) && !factory.isRelayer(RELAYER), "removed");
        assertTrue(factory.wasAttestor(attestor, listed + 10), "attestor");
        assertTrue(!factory.wasAttestor(attestor, listed + 11), "no attestor any more");
        assertTrue(factory.wasRelayer(RELAYER, listed + 10), "relayer");
        assertTrue(!factory.wasRelayer(RELAYER, listed + 11), "no relayer any more");
    }

    function _removeAttestor(address by) private {
        vm.prank(by);
        factory.remove(_role, vm.addr(ATTESTOR_KEY));
    }

    /// @dev A second attestor and a second relayer, after the lock.
    function _listOthers() private {
        address other = vm.addr(OTHER_KEY);
        vm.prank(OWNER);
        factory.schedule(_role, other);
        vm.warp(block.timestamp + DELAY);
        vm.prank(OWNER);
        factory.execute(_role, other);
        vm.prank(OWNER);
        factory.setRelayer(OTHER_RELAYER, true);
    }

    /// @dev The guarantee: the operator is paid, and the refund authority is not.
    function _claimAndCheck() private {
        _claim(RELAYER, ATTESTOR_KEY, _id, "");
        assertEq(usdc.balanceOf(TREASURY), AMOUNT, "treasury");
        vm.warp(block.timestamp + 96 hours);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.NotLocked.selector, _id, IEscrow.LockState.Claimed)
        );
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(_id), remoteCommitment());
    }

    function _claim(address relayer, uint256 key, bytes32 id, bytes memory reason) private {
        bytes memory signature = signClaim(key, id, PAID, block.timestamp);
        if (reason.length != 0) vm.expectRevert(reason);
        vm.prank(relayer);
        escrow.claim(lockOf(id), PAID, block.timestamp, signature);
    }
}
