// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDailyCaps } from "../src/interfaces/IDailyCaps.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { AnyTokenRoute } from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Owner, guardian and delay, on the factory and on the delivery.
contract GovernedTest is Fixture {
    bytes32 private _route;
    bytes32 private _attestor;
    bytes32 private _guardian;
    bytes32 private _settler;
    address private _newRoute;
    uint256 private _taken;

    function setUp() public override {
        super.setUp();
        _route = factory.ROUTE();
        _attestor = factory.ATTESTOR();
        _guardian = factory.GUARDIAN();
        _settler = delivery.SETTLER();
        _newRoute = address(new AnyTokenRoute());
    }

    function test_constructor_RevertsWhenOwnerOrGuardianIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        new DepositFactory(address(0), GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        new DepositFactory(OWNER, address(0), DELAY);
    }

    function test_constructor_RevertsWhenOwnerIsGuardian() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.OwnerIsGuardian.selector, OWNER));
        new DepositFactory(OWNER, OWNER, DELAY);
    }

    function test_constructor_RevertsWhenTheDelayIsShorterThanSevenDays() public {
        vm.chainId(1);
        bytes memory tooShort =
            abi.encodeWithSelector(IGoverned.DelayTooShort.selector, 7 days - 1, 7 days);
        vm.expectRevert(tooShort);
        new DepositFactory(OWNER, GUARDIAN, 7 days - 1);
        vm.expectRevert(tooShort);
        new Delivery(OWNER, GUARDIAN, 7 days - 1, address(factory), THERE, WINDOW);
        assertEq(new DepositFactory(OWNER, GUARDIAN, 7 days).delay(), 7 days, "delay");
    }

    /// @dev Chain ids next to those of test chains are not test chains.
    function testFuzz_constructor_RefusesEveryShorterDelay(uint256 delay, uint64 chainId) public {
        chainId = uint64(bound(chainId, 1, type(uint64).max));
        vm.assume(chainId != 31_337 && chainId != 900_002 && chainId != 900_030);
        delay = bound(delay, 0, 7 days - 1);
        vm.chainId(chainId);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.DelayTooShort.selector, delay, 7 days));
        new DepositFactory(OWNER, GUARDIAN, delay);
    }

    function test_constructor_AcceptsAnyDelayOnTestChains() public {
        uint64[3] memory testChains = [uint64(31_337), 900_002, 900_030];
        for (uint256 i; i < testChains.length; ++i) {
            vm.chainId(testChains[i]);
            assertEq(new DepositFactory(OWNER, GUARDIAN, 0).delay(), 0, "delay");
            vm.chainId(testChains[i] + 1);
            vm.expectRevert(abi.encodeWithSelector(IGoverned.DelayTooShort.selector, 0, 7 days));
            new DepositFactory(OWNER, GUARDIAN, 0);
        }
    }

    function test_acceptOwnership_RevertsForTheGuardian() public {
        vm.prank(OWNER);
        factory.transferOwnership(GUARDIAN);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.OwnerIsGuardian.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.acceptOwnership();
    }

    /// @dev Scheduled before it became the owner.
    function test_execute_RevertsWhenTheNewGuardianIsOwner() public {
        _schedule(_guardian, STRANGER);
        vm.prank(OWNER);
        factory.transferOwnership(STRANGER);
        vm.prank(STRANGER);
        factory.acceptOwnership();
        vm.warp(START + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.OwnerIsGuardian.selector, STRANGER));
        vm.prank(STRANGER);
        factory.execute(_guardian, STRANGER);
        assertEq(factory.guardian(), GUARDIAN, "still the old one");
    }

    function test_transferOwnership_TakesTwoSteps() public {
        vm.prank(OWNER);
        factory.transferOwnership(STRANGER);
        assertEq(factory.owner(), OWNER, "still the old owner");
        assertEq(factory.pendingOwner(), STRANGER, "pending");
        vm.prank(STRANGER);
        factory.acceptOwnership();
        assertEq(factory.owner(), STRANGER, "new owner");
        assertEq(factory.pendingOwner(), address(0), "none pending");
    }

    function test_transferOwnership_RevertsWhenCallerIsNotOwner() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.transferOwnership(GUARDIAN);
    }

    function test_acceptOwnership_RevertsWhenCallerIsNotPending() public {
        vm.prank(OWNER);
        factory.transferOwnership(STRANGER);
        vm.prank(OWNER);
        factory.transferOwnership(address(0));
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotPendingOwner.selector, STRANGER));
        vm.prank(STRANGER);
        factory.acceptOwnership();
    }

    function test_execute_ListsARouteOnceTheDelayHasPassed() public {
        vm.expectEmit(address(factory));
        emit IGoverned.Scheduled(_route, _newRoute, START + DELAY);
        _schedule(_route, _newRoute);
        assertEq(factory.eta(_route, _newRoute), START + DELAY, "eta");
        vm.warp(START + DELAY);
        vm.expectEmit(address(factory));
        emit IGoverned.RoleGranted(_route, _newRoute);
        _execute(_route, _newRoute);
        assertTrue(factory.isRoute(_newRoute), "listed");
        assertEq(factory.eta(_route, _newRoute), 0, "no longer pending");
    }

    function test_execute_ListsAnAttestor() public {
        _schedule(_attestor, STRANGER);
        vm.warp(START + DELAY);
        _execute(_attestor, STRANGER);
        assertTrue(factory.isAttestor(STRANGER), "listed");
    }

    function test_execute_ListsASettler() public {
        vm.prank(OWNER);
        delivery.schedule(_settler, STRANGER);
        vm.warp(START + DELAY);
        vm.prank(OWNER);
        delivery.execute(_settler, STRANGER);
        assertTrue(delivery.isSettler(STRANGER), "listed");
    }

    /// @dev Otherwise a removed member could return by a pending addition.
    function testFuzz_members_AreNeverPendingAndListed(uint8[64] calldata steps) public {
        for (uint256 i; i < steps.length; ++i) {
            _act(steps[i]);
            bool isListed = factory.isAttestor(STRANGER);
            assertTrue(!isListed || factory.eta(_attestor, STRANGER) == 0, "pending and listed");
        }
    }

    /// @dev Any step of owner or guardian; the refused ones change nothing.
    function _act(uint8 step) private {
        bytes4[4] memory calls = [
            IGoverned.schedule.selector,
            IGoverned.execute.selector,
            IGoverned.cancel.selector,
            IGoverned.remove.selector
        ];
        if (step % 5 == 4) {
            vm.warp(block.timestamp + DELAY);
            return;
        }
        vm.prank(step >= 64 ? OWNER : GUARDIAN);
        (bool ok,) =
            address(factory).call(abi.encodeWithSelector(calls[step % 4], _attestor, STRANGER));
        if (ok) ++_taken;
    }

    function test_execute_ReplacesTheGuardian() public {
        _schedule(_guardian, STRANGER);
        vm.warp(START + DELAY);
        _execute(_guardian, STRANGER);
        assertEq(factory.guardian(), STRANGER, "guardian");
        assertTrue(factory.hasRole(_guardian, STRANGER), "has the role");
        assertTrue(!factory.hasRole(_guardian, GUARDIAN), "the old one has not");
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotGuardian.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.pause();
    }

    function test_execute_AFormerGuardianWaitsOutTheDelayAgain() public {
        _schedule(_guardian, STRANGER);
        vm.warp(START + DELAY);
        _execute(_guardian, STRANGER);
        _schedule(_guardian, GUARDIAN);
        vm.warp(START + 2 * DELAY);
        _execute(_guardian, GUARDIAN);
        vm.expectRevert(
            abi.encodeWithSelector(IGoverned.NotScheduled.selector, _guardian, STRANGER)
        );
        _execute(_guardian, STRANGER);
    }

    function test_execute_RevertsWhenTooEarly() public {
        _schedule(_route, _newRoute);
        vm.warp(START + DELAY - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IGoverned.TooEarly.selector, START + DELAY, START + DELAY - 1)
        );
        _execute(_route, _newRoute);
    }

    function test_execute_RevertsWhenNotScheduled() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotScheduled.selector, _route, _newRoute));
        _execute(_route, _newRoute);
    }

    function test_execute_RevertsWhenExecutedAlready() public {
        listRoute(_newRoute);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotScheduled.selector, _route, _newRoute));
        _execute(_route, _newRoute);
    }

    function test_schedule_RevertsWhenRouteHasNoCode() public {
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NoCode.selector, STRANGER));
        _schedule(_route, STRANGER);
    }

    function test_execute_RevertsWhenCallerIsNotOwner() public {
        _schedule(_route, _newRoute);
        vm.warp(START + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.execute(_route, _newRoute);
    }

    function test_schedule_RevertsWhenCallerIsNotOwner() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.schedule(_route, _newRoute);
    }

    function test_schedule_RevertsWhenRoleIsUnknown() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.UnknownRole.selector, _settler));
        _schedule(_settler, STRANGER);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.UnknownRole.selector, _route));
        vm.prank(OWNER);
        delivery.schedule(_route, STRANGER);
    }

    function test_schedule_RevertsWhenAddressIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        _schedule(_guardian, address(0));
    }

    function test_schedule_RevertsWhenMemberAlready() public {
        address listed = address(transferRoute);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.AlreadyMember.selector, _route, listed));
        _schedule(_route, listed);
        vm.expectRevert(
            abi.encodeWithSelector(IGoverned.AlreadyMember.selector, _guardian, GUARDIAN)
        );
        _schedule(_guardian, GUARDIAN);
    }

    function test_schedule_RevertsWhenScheduledAlready() public {
        _schedule(_route, _newRoute);
        vm.expectRevert(
            abi.encodeWithSelector(IGoverned.AlreadyScheduled.selector, _route, _newRoute)
        );
        _schedule(_route, _newRoute);
    }

    function test_cancel_GuardianStopsWhatIsPending() public {
        _schedule(_route, _newRoute);
        vm.expectEmit(address(factory));
        emit IGoverned.Cancelled(_route, _newRoute);
        vm.prank(GUARDIAN);
        factory.cancel(_route, _newRoute);
        vm.warp(START + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotScheduled.selector, _route, _newRoute));
        _execute(_route, _newRoute);
    }

    function test_cancel_OwnerTakesBackItsOwn() public {
        _schedule(_attestor, STRANGER);
        vm.prank(OWNER);
        factory.cancel(_attestor, STRANGER);
        assertEq(factory.eta(_attestor, STRANGER), 0, "eta");
    }

    function test_cancel_RevertsWhenNotScheduled() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotScheduled.selector, _route, _newRoute));
        vm.prank(GUARDIAN);
        factory.cancel(_route, _newRoute);
    }

    function test_cancel_RevertsWhenCallerIsStranger() public {
        _schedule(_route, _newRoute);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, RELAYER));
        vm.prank(RELAYER);
        factory.cancel(_route, _newRoute);
    }

    function test_remove_IsImmediateForGuardianAndOwner() public {
        address signer = vm.addr(ATTESTOR_KEY);
        vm.expectEmit(address(factory));
        emit IGoverned.RoleRevoked(_attestor, signer);
        vm.prank(GUARDIAN);
        factory.remove(_attestor, signer);
        assertTrue(!factory.isAttestor(signer), "attestor removed");
        vm.prank(OWNER);
        delivery.remove(_settler, SETTLER);
        assertTrue(!delivery.isSettler(SETTLER), "settler removed");
    }

    function test_remove_LeavesNothingPendingBehind() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.prank(OWNER);
        fresh.schedule(_route, _newRoute);
        vm.prank(OWNER);
        fresh.seal(listOf(_newRoute), none(), none(), 1, TREASURY);
        vm.prank(GUARDIAN);
        fresh.remove(_route, _newRoute);
        vm.warp(START + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotScheduled.selector, _route, _newRoute));
        vm.prank(OWNER);
        fresh.execute(_route, _newRoute);
    }

    function test_remove_RevertsWhenRoleIsGuardian() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.UnknownRole.selector, _guardian));
        vm.prank(OWNER);
        factory.remove(_guardian, GUARDIAN);
    }

    function test_remove_RevertsWhenNotMember() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotMember.selector, _route, _newRoute));
        vm.prank(GUARDIAN);
        factory.remove(_route, _newRoute);
    }

    function test_remove_RevertsWhenCallerIsStranger() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, RELAYER));
        vm.prank(RELAYER);
        factory.remove(_route, address(transferRoute));
    }

    function test_pause_GuardianPausesAndOwnerLifts() public {
        vm.prank(GUARDIAN);
        factory.pause();
        assertTrue(factory.paused(), "paused");
        vm.prank(OWNER);
        factory.unpause();
        assertTrue(!factory.paused(), "lifted");
    }

    function test_pause_RevertsWhenCallerIsNotGuardian() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotGuardian.selector, OWNER));
        vm.prank(OWNER);
        factory.pause();
    }

    function test_pause_RevertsWhenPausedAlready() public {
        vm.prank(GUARDIAN);
        factory.pause();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.IsPaused.selector));
        vm.prank(GUARDIAN);
        factory.pause();
    }

    function test_unpause_RevertsWhenCallerIsGuardian() public {
        vm.prank(GUARDIAN);
        factory.pause();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.unpause();
    }

    function test_unpause_RevertsWhenNotPaused() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotPaused.selector));
        vm.prank(OWNER);
        factory.unpause();
    }

    function test_seal_DeliverySealsOnceByTheOwner() public {
        Delivery fresh = newDelivery();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, STRANGER));
        vm.prank(STRANGER);
        fresh.seal(none(), new IDailyCaps.DailyCap[](0));
        vm.prank(OWNER);
        fresh.seal(none(), new IDailyCaps.DailyCap[](0));
        vm.expectRevert(abi.encodeWithSelector(IGoverned.AlreadySealed.selector));
        vm.prank(OWNER);
        fresh.seal(none(), new IDailyCaps.DailyCap[](0));
    }

    function _schedule(bytes32 role, address who) private {
        vm.prank(OWNER);
        factory.schedule(role, who);
    }

    function _execute(bytes32 role, address who) private {
        vm.prank(OWNER);
        factory.execute(role, who);
    }
}
