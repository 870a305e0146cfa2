// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { Address32 } from "../src/types/Address32.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Payouts from inventory.
contract DeliveryTest is Fixture {
    uint256 private constant INVENTORY = 1000 ether;
    uint256 private constant PAID = 0.999 ether;

    function setUp() public override {
        super.setUp();
        usdcThere.mint(address(delivery), INVENTORY);
    }

    function test_constructor_RevertsWhenFactoryIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        new Delivery(OWNER, GUARDIAN, DELAY, address(0), THERE, WINDOW);
    }

    /// @dev The window must end far before the first take-back.
    function test_constructor_RevertsWhenTheWindowIsNoneOrTooLong() public {
        uint256[2] memory windows = [uint256(0), 24 hours + 1];
        for (uint256 i; i < windows.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(IDelivery.InvalidPayoutWindow.selector, windows[i], 24 hours)
            );
            new Delivery(OWNER, GUARDIAN, DELAY, address(factory), THERE, windows[i]);
        }
        new Delivery(OWNER, GUARDIAN, DELAY, address(factory), THERE, 24 hours);
    }

    function test_getters_AreWhatWasBuiltIn() public view {
        assertEq(delivery.PAYOUT_WINDOW(), WINDOW, "payout window");
        assertEq(delivery.factory(), address(factory), "factory");
        assertEq(delivery.bridgeId(), THERE, "bridge id");
        assertTrue(delivery.isSettler(SETTLER), "settler");
        assertTrue(delivery.isSealed(), "sealed");
    }

    function test_deliver_LockDeliverClaimFromEndToEnd() public {
        bytes32 id = lockDeposit(1_000_000);
        assertEq(_deliver(payoutOf(id, PAID)), id, "both sides agree on the id");
        assertEq(usdcThere.balanceOf(RECIPIENT), PAID, "recipient");
        assertTrue(isDelivered(id), "delivered");
        bytes memory signature = signClaim(ATTESTOR_KEY, id, PAID, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), PAID, block.timestamp, signature);
        assertEq(usdc.balanceOf(TREASURY), 1_000_000, "treasury");
    }

    function test_deliver_EmitsWhatWasPaid() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        bytes32 id = delivery.deliveryIdOf(order);
        vm.expectEmit(address(delivery));
        emit IDelivery.Delivered(id, factory.hashOf(order.c), RECIPIENT, address(usdcThere), PAID);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function test_deliver_PaysNativeCoin() public {
        vm.deal(address(this), 1 ether);
        (bool ok,) = address(delivery).call{ value: 1 ether }("");
        assertTrue(ok, "inventory in native coin");
        IDelivery.Order memory order = orderOf(0, 0.4 ether);
        order.c.destToken = 0;
        _deliver(order);
        assertEq(RECIPIENT.balance, 0.4 ether, "recipient");
    }

    function test_deliver_RevertsWhenDeliveredAlready() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes32 id = _deliver(order);
        order.amount = 1;
        _expect(order, abi.encodeWithSelector(IDelivery.AlreadyDelivered.selector, id));
        assertEq(usdcThere.balanceOf(RECIPIENT), PAID, "once");
    }

    function test_deliver_RevertsWhenCallerIsNotSettler() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.expectRevert(abi.encodeWithSelector(IDelivery.NotSettler.selector, RELAYER));
        vm.prank(RELAYER);
        delivery.deliver(order, signature);
    }

    function test_deliver_RevertsWhenNobodyWasListed() public {
        delivery = newDelivery();
        _expect(orderOf(0, PAID), abi.encodeWithSelector(IDelivery.NotSettler.selector, SETTLER));
    }

    function test_deliver_RevertsWhenPaused() public {
        vm.prank(GUARDIAN);
        delivery.pause();
        _expect(orderOf(0, PAID), abi.encodeWithSelector(IGoverned.IsPaused.selector));
    }

    function test_deliver_RevertsWhenDestinationIsAnotherChain() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        order.c.destChain = HERE;
        _expect(order, abi.encodeWithSelector(IDelivery.WrongDestChain.selector, HERE, THERE));
    }

    function test_deliver_PaysUntilTheEndOfTheWindow() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        vm.warp(START + WINDOW);
        _deliver(order);
        order = orderOf(1, PAID);
        order.windowStart = uint64(START - 1);
        _expect(
            order,
            abi.encodeWithSelector(
                IDelivery.PayoutWindowOver.selector, START - 1 + WINDOW, START + WINDOW
            )
        );
    }

    function test_deliver_RevertsBelowTheMinimumOfTheLock() public {
        bytes32 id = lockDeposit(1_000_000);
        uint256 minOut = lockOf(id).minOut;
        _expect(
            payoutOf(id, minOut - 1),
            abi.encodeWithSelector(IDelivery.BelowMinimum.selector, minOut - 1, minOut)
        );
        _deliver(payoutOf(id, minOut));
    }

    function test_deliver_RevertsWhenAmountIsZero() public {
        _expect(orderOf(0, 0), abi.encodeWithSelector(IDelivery.ZeroAmount.selector));
    }

    function test_deliver_RevertsWhenRecipientOrTokenIsOfAnotherFamily() public {
        bytes32 wide = bytes32(type(uint256).max);
        IDelivery.Order memory order = orderOf(0, PAID);
        order.c.destWallet = wide;
        _expect(order, abi.encodeWithSelector(Address32.NotAnAddress.selector, wide));
        order = orderOf(0, PAID);
        order.c.destToken = wide;
        _expect(order, abi.encodeWithSelector(Address32.NotAnAddress.selector, wide));
        order = orderOf(0, PAID);
        order.c.destWallet = 0;
        _expect(order, abi.encodeWithSelector(Address32.NotAnAddress.selector, bytes32(0)));
    }

    function test_deliver_RevertsWhenInventoryIsShortAndCanBeSentAgain() public {
        IDelivery.Order memory order = orderOf(0, INVENTORY + 1);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.expectRevert();
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        usdcThere.mint(address(delivery), 1);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        assertEq(usdcThere.balanceOf(RECIPIENT), INVENTORY + 1, "paid");
    }

    function test_deliver_RevertsWhenSignerIsNotAttestor() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory signature = signDeliver(STRANGER_KEY, order);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(STRANGER_KEY))
        );
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function test_deliver_RevertsWhenSignatureIsMalleated() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory signature = malleate(signDeliver(ATTESTOR_KEY, order));
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, address(0)));
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function test_deliver_RevertsWhenSignatureIsForAnotherDelivery() public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        delivery = newDelivery();
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), capsOf(address(usdcThere), 1 ether));
        vm.expectRevert();
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function testFuzz_deliver_SignatureFitsOnlyWhatWasSigned(uint256 field, uint256 value) public {
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        bytes32 before = keccak256(abi.encode(order));
        field = field % 10;
        if (field == 0) order.c.destWallet = bytes32(uint256(uint160(value)));
        if (field == 1) order.c.userId = bytes32(value);
        if (field == 2) order.srcChain = uint16(value);
        if (field == 3) order.escrow = bytes32(value);
        if (field == 4) order.srcToken = bytes32(value);
        if (field == 5) order.seq = uint64(value);
        if (field == 6) order.amount = value;
        if (field == 7) order.lockedAmount = value;
        if (field == 8) order.minOut = value;
        if (field == 9) order.windowStart = uint64(value);
        vm.assume(keccak256(abi.encode(order)) != before);
        vm.expectRevert();
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function test_withdraw_OwnerMovesInventoryToTheTreasuryOnly() public {
        vm.expectEmit(address(delivery));
        emit IDelivery.Withdrawn(address(usdcThere), 5);
        vm.prank(OWNER);
        delivery.withdraw(address(usdcThere), 5);
        assertEq(usdcThere.balanceOf(TREASURY), 5, "token");
        vm.deal(address(delivery), 3);
        vm.prank(OWNER);
        delivery.withdraw(NATIVE, 3);
        assertEq(TREASURY.balance, 3, "native");
    }

    function test_withdraw_RevertsWhenCallerIsNotOwner() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        delivery.withdraw(address(usdcThere), 1);
    }

    function _deliver(IDelivery.Order memory order) private returns (bytes32) {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        return delivery.deliver(order, signature);
    }

    function _expect(IDelivery.Order memory order, bytes memory reason) private {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.expectRevert(reason);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }
}
