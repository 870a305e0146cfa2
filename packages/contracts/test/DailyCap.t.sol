// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { IDailyCaps } from "../src/interfaces/IDailyCaps.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { RollingCap } from "../src/types/RollingCap.sol";
import { Fixture } from "./support/Fixture.sol";
import { Test } from "./support/Vm.sol";

/// @notice The daily cap on payouts from inventory, and its changes.
contract DailyCapTest is Fixture {
    uint112 private constant CAP = 100 ether;

    uint64 private _seq;

    function setUp() public override {
        super.setUp();
        delivery = newDelivery();
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), capsOf(address(usdcThere), CAP));
        usdcThere.mint(address(delivery), 1000 ether);
    }

    function test_seal_SetsTheFirstCaps() public view {
        assertEq(delivery.capOf(address(usdcThere)), CAP, "cap");
        assertEq(delivery.capLeft(address(usdcThere)), CAP, "left");
        assertEq(delivery.capOf(NATIVE), 0, "no cap is zero");
    }

    function test_deliver_RevertsForATokenWithoutACap() public {
        vm.deal(address(delivery), 1 ether);
        IDelivery.Order memory order = orderOf(0, 1);
        order.c.destToken = 0;
        _expectAboveCap(order, NATIVE, 0);
    }

    function test_deliver_PaysUpToTheCapAndNoMore() public {
        _deliver(60 ether);
        assertEq(delivery.capLeft(address(usdcThere)), 40 ether, "left");
        IDelivery.Order memory order = orderOf(_seq, 40 ether + 1);
        _expectAboveCap(order, address(usdcThere), 40 ether);
        assertTrue(!isDelivered(order), "still to be delivered");
        _deliver(40 ether);
        assertEq(delivery.capLeft(address(usdcThere)), 0, "used up");
        assertEq(usdcThere.balanceOf(RECIPIENT), CAP, "the cap");
    }

    function test_deliver_IsFreeAgainADayLater() public {
        _deliver(CAP);
        vm.warp(block.timestamp + 24 hours);
        assertEq(delivery.capLeft(address(usdcThere)), 0, "not before the hour is over");
        vm.warp(block.timestamp + 1 hours);
        _deliver(CAP);
        assertEq(usdcThere.balanceOf(RECIPIENT), 2 * uint256(CAP), "both");
    }

    function test_T111_deliver_HotKeysTakeNoMoreThanTheCapPerDay() public {
        for (uint256 hour; hour < 72; ++hour) {
            uint256 left = delivery.capLeft(address(usdcThere));
            if (left != 0) _deliver(left);
            vm.warp(block.timestamp + 1 hours);
        }
        assertTrue(usdcThere.balanceOf(RECIPIENT) <= 3 * uint256(CAP), "three days");
    }

    function test_raise_WaitsOutTheDelay() public {
        vm.prank(OWNER);
        delivery.scheduleCapRaise(address(usdcThere), CAP + 1);
        (uint256 perDay, uint256 eta) = delivery.capRaiseOf(address(usdcThere));
        assertEq(perDay, CAP + 1, "raise");
        assertEq(eta, block.timestamp + DELAY, "eta");
        vm.warp(eta - 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.TooEarly.selector, eta, eta - 1));
        vm.prank(OWNER);
        delivery.executeCapRaise(address(usdcThere));
        vm.warp(eta);
        vm.expectEmit(address(delivery));
        emit IDailyCaps.CapSet(address(usdcThere), CAP + 1);
        vm.prank(OWNER);
        delivery.executeCapRaise(address(usdcThere));
        assertEq(delivery.capOf(address(usdcThere)), CAP + 1, "raised");
        vm.expectRevert(
            abi.encodeWithSelector(IDailyCaps.NoCapRaisePending.selector, address(usdcThere))
        );
        vm.prank(OWNER);
        delivery.executeCapRaise(address(usdcThere));
    }

    function test_raise_IsTheOwnersOnly() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        delivery.scheduleCapRaise(address(usdcThere), CAP + 1);
        _schedule(CAP + 1);
        vm.warp(block.timestamp + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        delivery.executeCapRaise(address(usdcThere));
    }

    function test_raise_RevertsWhenItIsNoneOrOneIsPending() public {
        vm.expectRevert(abi.encodeWithSelector(IDailyCaps.NotHigher.selector, CAP, CAP));
        _schedule(CAP);
        _schedule(CAP + 1);
        vm.expectRevert(
            abi.encodeWithSelector(IDailyCaps.CapRaisePending.selector, address(usdcThere))
        );
        _schedule(CAP + 2);
    }

    function test_raise_TheGuardianCancelsIt() public {
        _schedule(CAP + 1);
        vm.prank(GUARDIAN);
        delivery.cancelCapRaise(address(usdcThere));
        (, uint256 eta) = delivery.capRaiseOf(address(usdcThere));
        assertEq(eta, 0, "none");
        vm.expectRevert(
            abi.encodeWithSelector(IDailyCaps.NoCapRaisePending.selector, address(usdcThere))
        );
        vm.prank(GUARDIAN);
        delivery.cancelCapRaise(address(usdcThere));
        _schedule(CAP + 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, SETTLER));
        vm.prank(SETTLER);
        delivery.cancelCapRaise(address(usdcThere));
    }

    function test_lower_IsImmediateAndWithdrawsARaise() public {
        _schedule(CAP + 1);
        vm.prank(GUARDIAN);
        delivery.lowerCap(address(usdcThere), 0);
        assertEq(delivery.capLeft(address(usdcThere)), 0, "stopped");
        (, uint256 eta) = delivery.capRaiseOf(address(usdcThere));
        assertEq(eta, 0, "no raise is left behind");
        _expectAboveCap(orderOf(0, 1), address(usdcThere), 0);
    }

    function test_lower_RevertsForOthersAndWhenItIsNone() public {
        vm.expectRevert(abi.encodeWithSelector(IDailyCaps.NotLower.selector, CAP, CAP));
        vm.prank(OWNER);
        delivery.lowerCap(address(usdcThere), CAP);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, SETTLER));
        vm.prank(SETTLER);
        delivery.lowerCap(address(usdcThere), 1);
    }

    function test_lower_BelowWhatWasSpentLeavesNothing() public {
        _deliver(60 ether);
        vm.prank(OWNER);
        delivery.lowerCap(address(usdcThere), 50 ether);
        assertEq(delivery.capLeft(address(usdcThere)), 0, "nothing");
        vm.warp(block.timestamp + 25 hours);
        assertEq(delivery.capLeft(address(usdcThere)), 50 ether, "the new cap");
    }

    function _schedule(uint112 perDay) private {
        vm.prank(OWNER);
        delivery.scheduleCapRaise(address(usdcThere), perDay);
    }

    function _deliver(uint256 amount) private {
        IDelivery.Order memory order = orderOf(_seq++, amount);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function _expectAboveCap(IDelivery.Order memory order, address token, uint256 left) private {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.expectRevert(
            abi.encodeWithSelector(IDailyCaps.AboveDailyCap.selector, token, order.amount, left)
        );
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }
}

/// @notice Compares the window with a list of all spending.
contract RollingCapTest is Test {
    using RollingCap for RollingCap.Window;

    struct Spent {
        uint256 at;
        uint256 amount;
    }

    uint112 private constant CAP = 1000;

    RollingCap.Window private _window;
    Spent[] private _spent;

    function testFuzz_spend_NoDayExceedsTheCap(uint32[24] calldata gaps, uint16[24] calldata wishes)
        public
    {
        vm.warp(1_750_000_000);
        _window.cap = CAP;
        for (uint256 i; i < gaps.length; ++i) {
            vm.warp(block.timestamp + uint256(gaps[i]) % 12 hours);
            uint256 amount = uint256(wishes[i]) % (CAP + 200);
            uint256 left = _window.left();
            // At least a day back, at most an hour more.
            assertTrue(left <= CAP - _sumSince(block.timestamp - 24 hours), "a day");
            assertTrue(left >= CAP - _sumSince(block.timestamp - 25 hours), "no more than 25 hours");
            bool done = _window.spend(amount);
            assertTrue(done == (amount <= left), "left and spend agree");
            if (!done) continue;
            _spent.push(Spent(block.timestamp, amount));
            assertEq(_window.left(), left - amount, "spent");
        }
    }

    function testFuzz_left_IsTheCapAfterALongSilence(uint64 silence, uint16 wish) public {
        vm.warp(1_750_000_000);
        _window.cap = CAP;
        _window.spend(uint256(wish) % CAP);
        vm.warp(block.timestamp + 25 hours + uint256(silence) % 365 days);
        assertEq(_window.left(), CAP, "all of it");
        assertTrue(_window.spend(CAP), "to be spent");
        assertTrue(!_window.spend(1), "and no more");
    }

    function test_spend_RefusesWhatDoesNotFitItsNumbers() public {
        _window.cap = type(uint112).max;
        assertTrue(!_window.spend(uint256(type(uint112).max) + 1), "too large");
        assertTrue(_window.spend(type(uint112).max), "the largest");
        assertTrue(!_window.spend(1), "full");
    }

    function _sumSince(uint256 from) private view returns (uint256 sum) {
        for (uint256 i; i < _spent.length; ++i) {
            if (_spent[i].at >= from) sum += _spent[i].amount;
        }
        if (sum > CAP) sum = CAP;
    }
}
