// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { BoundedCall } from "../src/types/BoundedCall.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice A merchant whose receipt needs 60,000 gas and forgives its own failure.
contract ForgivingMerchant {
    uint256 public credited;

    receive() external payable {
        try this.credit{ gas: 60_000 }(msg.value) { } catch { }
    }

    function credit(uint256 amount) external {
        uint256 spent;
        while (gasleft() > 25_000) ++spent;
        credited += amount;
    }
}

/// @notice Batches of payouts and claims: a member that fails undoes no other.
contract LockBatchesTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant PAID = 0.999 ether;
    uint256 private constant GAS_EACH = 200_000;

    function setUp() public override {
        super.setUp();
        usdcThere.mint(address(delivery), 1000 ether);
    }

    function test_deliverMany_PaysEachAndReportsTheOneThatFails() public {
        IDelivery.SignedOrder[] memory orders = new IDelivery.SignedOrder[](3);
        for (uint64 i; i < 3; ++i) {
            orders[i] = _signed(orderOf(i, PAID), i == 1 ? STRANGER_KEY : ATTESTOR_KEY);
        }
        bytes memory reason =
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(STRANGER_KEY));
        bytes32 failing = delivery.deliveryIdOf(orders[1].order);
        vm.expectEmit(address(delivery));
        emit IDelivery.DeliveryFailed(1, failing, reason);
        vm.prank(SETTLER);
        assertEq(delivery.deliverMany(orders, GAS_EACH), 2, "paid");
        assertTrue(isDelivered(orders[0].order) && isDelivered(orders[2].order), "the others");
        assertTrue(!isDelivered(orders[1].order), "the failing one");
        assertEq(usdcThere.balanceOf(RECIPIENT), 2 * PAID, "recipient");
    }

    function test_deliverMany_PaysARepeatedOrderOnce() public {
        IDelivery.SignedOrder[] memory orders = new IDelivery.SignedOrder[](2);
        orders[0] = _signed(orderOf(0, PAID), ATTESTOR_KEY);
        orders[1] = orders[0];
        vm.prank(SETTLER);
        assertEq(delivery.deliverMany(orders, GAS_EACH), 1, "once");
        assertEq(usdcThere.balanceOf(RECIPIENT), PAID, "recipient");
    }

    function test_deliverMany_RevertsForOthersWhilePausedAndWithTooLittleGas() public {
        IDelivery.SignedOrder[] memory orders = new IDelivery.SignedOrder[](1);
        orders[0] = _signed(orderOf(0, PAID), ATTESTOR_KEY);
        vm.expectRevert(abi.encodeWithSelector(IDelivery.NotSettler.selector, RELAYER));
        vm.prank(RELAYER);
        delivery.deliverMany(orders, GAS_EACH);
        vm.expectRevert(abi.encodeWithSelector(IDelivery.NotSelf.selector, SETTLER));
        vm.prank(SETTLER);
        delivery.deliverOne(orders[0]);
        vm.prank(SETTLER);
        (bool done,) = address(delivery).call{ gas: GAS_EACH }(
            abi.encodeCall(delivery.deliverMany, (orders, GAS_EACH))
        );
        assertTrue(!done, "too little gas");
        vm.prank(GUARDIAN);
        delivery.pause();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.IsPaused.selector));
        vm.prank(SETTLER);
        delivery.deliverMany(orders, GAS_EACH);
    }

    function test_claimMany_ClaimsEachAndReportsTheOneThatFails() public {
        IEscrow.Claim[] memory claims = _claims(3);
        claims[1].paidAmount -= 1;
        bytes32 failing = escrow.deliveryIdOf(claims[1].held);
        claims[1].signatures = signClaim(STRANGER_KEY, failing, PAID, block.timestamp);
        vm.prank(RELAYER);
        assertEq(escrow.claimMany(claims, GAS_EACH), 2, "claimed");
        assertEq(usdc.balanceOf(TREASURY), 2 * AMOUNT, "treasury");
        assertTrue(escrow.stateOf(failing) == IEscrow.LockState.Locked, "still locked");
    }

    function test_claimMany_EmitsWhyAMemberFailed() public {
        IEscrow.Claim[] memory claims = _claims(2);
        claims[1] = claims[0];
        bytes32 id = escrow.deliveryIdOf(claims[0].held);
        vm.expectEmit(address(escrow));
        emit IEscrow.ClaimFailed(
            1, id, abi.encodeWithSelector(IEscrow.NotLocked.selector, id, IEscrow.LockState.Claimed)
        );
        vm.prank(RELAYER);
        assertEq(escrow.claimMany(claims, GAS_EACH), 1, "once");
    }

    /// @dev As a single claim does: removed relayers claim the locks of their time, nobody else any.
    function test_claimMany_TakesTheRelayersOfTheLocks() public {
        IEscrow.Claim[] memory claims = _claims(2);
        vm.prank(STRANGER);
        assertEq(escrow.claimMany(claims, GAS_EACH), 0, "a stranger");
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotSelf.selector, STRANGER));
        vm.prank(STRANGER);
        escrow.claimFor(RELAYER, claims[0]);
        vm.prank(OWNER);
        factory.setRelayer(RELAYER, false);
        vm.warp(block.timestamp + 1);
        for (uint256 i; i < 2; ++i) {
            bytes32 id = escrow.deliveryIdOf(claims[i].held);
            claims[i].deadline = block.timestamp;
            claims[i].signatures = signClaim(ATTESTOR_KEY, id, PAID, block.timestamp);
        }
        vm.prank(RELAYER);
        assertEq(escrow.claimMany(claims, GAS_EACH), 2, "a relayer of then");
        vm.expectRevert();
        vm.prank(RELAYER);
        escrow.claimMany{ gas: GAS_EACH }(claims, GAS_EACH);
    }

    /// @dev A settler could choose a gas limit with which a recipient gets its coin but not the credit.
    function test_deliver_NativeRecipientsGetTheirGasWhateverTheLimit() public {
        ForgivingMerchant merchant = new ForgivingMerchant();
        vm.deal(address(delivery), 1 ether);
        IDelivery.Order memory order = orderOf(0, 1 ether);
        order.c.destToken = 0;
        order.c.destWallet = word(address(merchant));
        bytes memory payload =
            abi.encodeCall(delivery.deliver, (order, signDeliver(ATTESTOR_KEY, order)));
        bool done;
        for (uint256 limit = 60_000; limit < 500_000 && !done; limit += 1000) {
            vm.prank(SETTLER);
            (done,) = address(delivery).call{ gas: limit }(payload);
        }
        assertTrue(done, "delivered");
        assertEq(merchant.credited(), 1 ether, "credited");
    }

    function test_trySend_NamesTheMissingGas() public {
        IDelivery.Order memory order = orderOf(0, 1);
        order.c.destToken = 0;
        vm.deal(address(delivery), 1);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        (bool done, bytes memory reason) = address(delivery).call{ gas: 180_000 }(
            abi.encodeCall(delivery.deliver, (order, signature))
        );
        assertTrue(!done && bytes4(reason) == BoundedCall.TooLittleGas.selector, "reason");
    }

    function _signed(IDelivery.Order memory order, uint256 key)
        private
        view
        returns (IDelivery.SignedOrder memory)
    {
        return IDelivery.SignedOrder(order, signDeliver(key, order));
    }

    function _claims(uint256 count) private returns (IEscrow.Claim[] memory claims) {
        claims = new IEscrow.Claim[](count);
        for (uint256 i; i < count; ++i) {
            bytes32 id = lockDeposit(AMOUNT);
            claims[i] = IEscrow.Claim(
                lockOf(id),
                PAID,
                block.timestamp,
                signClaim(ATTESTOR_KEY, id, PAID, block.timestamp)
            );
        }
    }
}
