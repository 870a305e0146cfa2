// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDailyCaps } from "../../src/interfaces/IDailyCaps.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../../src/interfaces/IGoverned.sol";
import { ISwapRoute } from "../../src/interfaces/ISwapRoute.sol";
import { SwapRoute } from "../../src/routes/SwapRoute.sol";
import { Market } from "../support/Market.sol";

/// @notice The bounds of a swap that no signature moves: the pool's averaged price, and the daily cap.
/// The attestors sign any price for the relayer in all of them.
contract SwapLimitsTest is Market {
    uint256 private constant DOLLARS = 3000e6;
    uint256 private constant SWAPPED = 2997e6;
    uint256 private constant FLOOR = SWAPPED * 1e18 / 3000e6 * 97 / 100;

    function test_bandMinOut_IsTheAveragedPriceLessTheTolerance() public view {
        // A tick is a hundredth of a percent.
        assertNear(usdcToEth.bandMinOut(3000e6), 0.97 ether);
        assertNear(usdcToWeth.bandMinOut(3000e6), 0.97 ether);
        assertNear(ethToUsdc.bandMinOut(1 ether), 2910e6);
        assertNear(ethToCctp.bandMinOut(1 ether), 2910e6);
        assertEq(ethToUsdc.bandMinOut(0), 0, "nothing for nothing");
    }

    function test_T140_deliver_AColludingPriceBuysNothingBelowTheBand() public {
        IDepositFactory.Job memory job = _collude(DOLLARS);
        _crash(30_000_000e6);
        vm.expectRevert(bytes("Too little received"));
        settle(job);
        assertEq(usdc.balanceOf(factory.predict(job.c)), DOLLARS, "the deposit stays");
    }

    function testFuzz_T140_deliver_ACollusionTakesNoMoreThanTheTolerance(uint96 size) public {
        IDepositFactory.Job memory job = _collude(DOLLARS);
        uint256 attack = bound(size, 1e6, 1_000_000e6);
        uint256 coins = _crash(attack);
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(RECIPIENT.balance >= FLOOR * 9999 / 10_000, "the band holds");
        } catch {
            assertEq(usdc.balanceOf(factory.predict(job.c)), DOLLARS, "or everything stays");
        }
        trade(STRANGER, address(weth), coins);
    }

    function test_T140_deliver_ABridgedSwapHasTheSameBand() public {
        IDepositFactory.Job memory job = swapCctpJob(ethToCctp, fairAsk(1e15));
        vm.deal(factory.predict(job.c), 1 ether);
        giveWeth(STRANGER, 1000 ether);
        trade(STRANGER, address(weth), 1000 ether);
        vm.expectRevert(bytes("Too little received"));
        settle(job);
    }

    /// @dev What remains, as the table of keys states it: who holds the pool's price away for the whole
    /// window can have the swaps of a daily cap.
    function test_T140_deliver_APriceHeldForTheWholeWindowCosts() public {
        IDepositFactory.Job memory job = _collude(DOLLARS);
        _crash(30_000_000e6);
        vm.warp(block.timestamp + AVERAGED / 2);
        job.data = swapData(job, fairAsk(1e9));
        vm.expectRevert(bytes("Too little received"));
        settle(job);
        vm.warp(block.timestamp + AVERAGED / 2);
        job.data = swapData(job, fairAsk(1e9));
        settle(job);
        assertTrue(RECIPIENT.balance < 0.01 ether, "a hundredth");
    }

    function test_deliver_RevertsWhileThePoolIsYoungerThanTheWindow() public {
        ISwapRoute.Config memory config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.limits.window = AVERAGED + uint32(DELAY) + 1;
        SwapRoute route = new SwapRoute(config);
        listRoute(address(route));
        IDepositFactory.Job memory job = swapJob(route, fairAsk(USDC_IN_ETH));
        usdc.mint(factory.predict(job.c), DOLLARS);
        vm.expectRevert(bytes("OLD"));
        settle(job);
        vm.warp(block.timestamp + 1);
        job.data = swapData(job, fairAsk(USDC_IN_ETH));
        settle(job);
    }

    function test_T141_deliver_SwapsUpToTheCapAndNoMore() public {
        _lower(usdcToEth, SWAPPED + 10);
        settle(_collude(DOLLARS));
        assertEq(usdcToEth.capLeft(address(usdc)), 10, "the fee does not count");
        IDepositFactory.Job memory job = _collude(12);
        vm.expectRevert(
            abi.encodeWithSelector(IDailyCaps.AboveDailyCap.selector, address(usdc), 12, 10)
        );
        settle(job);
        assertEq(usdc.balanceOf(factory.predict(job.c)), 12, "the deposit stays");
        vm.warp(block.timestamp + 25 hours);
        job.data = swapData(job, fairAsk(1e9));
        vm.expectRevert();
        settle(job);
        assertEq(usdcToEth.capLeft(address(usdc)), SWAPPED + 10, "a failed swap spends nothing");
    }

    function test_T141_deliver_TheCapIsFreeAgainADayLater() public {
        _lower(usdcToEth, SWAPPED);
        settle(_collude(DOLLARS));
        vm.warp(block.timestamp + 25 hours);
        settle(_collude(DOLLARS));
        assertEq(usdcToEth.capLeft(address(usdc)), 0, "used up again");
    }

    function test_T141_deliver_ABridgedSwapHasACapOfItsOwn() public {
        vm.prank(GUARDIAN);
        ethToCctp.lowerCap(NATIVE, 1 ether);
        IDepositFactory.Job memory job = swapCctpJob(ethToCctp, fairAsk(1e15));
        vm.deal(factory.predict(job.c), 2 ether);
        vm.expectRevert(
            abi.encodeWithSelector(IDailyCaps.AboveDailyCap.selector, NATIVE, 1.998 ether, 1 ether)
        );
        settle(job);
        assertEq(ethToUsdc.capLeft(NATIVE), SWAP_CAP, "the other route's is untouched");
    }

    function test_T141_lowerCap_IsForOwnerAndGuardianAtOnce() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, RELAYER));
        vm.prank(RELAYER);
        usdcToEth.lowerCap(address(usdc), 1);
        vm.prank(OWNER);
        usdcToEth.lowerCap(address(usdc), 2);
        vm.prank(GUARDIAN);
        usdcToEth.lowerCap(address(usdc), 0);
        assertEq(usdcToEth.capOf(address(usdc)), 0, "closed");
    }

    function test_T141_raiseCap_IsForTheOwnerAfterTheDelay() public {
        _lower(usdcToEth, 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        usdcToEth.scheduleCapRaise(address(usdc), 2);
        vm.prank(OWNER);
        usdcToEth.scheduleCapRaise(address(usdc), 2);
        uint256 ready = block.timestamp + DELAY;
        vm.warp(ready - 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.TooEarly.selector, ready, ready - 1));
        vm.prank(OWNER);
        usdcToEth.executeCapRaise(address(usdc));
        vm.warp(ready);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        usdcToEth.executeCapRaise(address(usdc));
        vm.prank(OWNER);
        usdcToEth.executeCapRaise(address(usdc));
        assertEq(usdcToEth.capOf(address(usdc)), 2, "raised");
    }

    function test_T141_cancelCapRaise_IsForOwnerAndGuardian() public {
        _lower(usdcToEth, 1);
        vm.prank(OWNER);
        usdcToEth.scheduleCapRaise(address(usdc), 2);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwnerOrGuardian.selector, RELAYER));
        vm.prank(RELAYER);
        usdcToEth.cancelCapRaise(address(usdc));
        vm.prank(GUARDIAN);
        usdcToEth.cancelCapRaise(address(usdc));
        (uint256 perDay, uint256 eta) = usdcToEth.capRaiseOf(address(usdc));
        assertEq(perDay + eta, 0, "cancelled");
    }

    /// @dev A deposit whose price is a third of a millionth of the fair one.
    function _collude(uint256 amount) private returns (IDepositFactory.Job memory job) {
        job = swapJob(usdcToEth, fairAsk(1e9));
        usdc.mint(factory.predict(job.c), amount);
    }

    function _crash(uint256 dollars) private returns (uint256) {
        usdc.mint(STRANGER, dollars);
        return trade(STRANGER, address(usdc), dollars);
    }

    function _lower(SwapRoute route, uint256 perDay) private {
        vm.prank(GUARDIAN);
        route.lowerCap(address(usdc), uint112(perDay));
    }

    /// @dev To a tick.
    function assertNear(uint256 value, uint256 expected) private pure {
        assertTrue(value * 10_002 >= expected * 10_000, "not less");
        assertTrue(value * 10_000 <= expected * 10_002, "not more");
    }
}
