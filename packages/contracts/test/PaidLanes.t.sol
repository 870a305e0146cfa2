// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice What `Delivery` remembers of the locks that it paid: a tag by the lock's number, and the
/// whole id where another lock took the number.
contract PaidLanesTest is Fixture {
    uint256 private constant PAID = 0.999 ether;

    function setUp() public override {
        super.setUp();
        usdcThere.mint(address(delivery), 1000 ether);
    }

    /// @dev The attack that a bitmap by number alone would allow: after a reorganisation of the source
    /// another lock has the number of a paid one. It is unpaid, and paid once itself.
    function test_deliver_PaysALockThatTookTheNumberOfAPaidOne() public {
        IDelivery.Order memory first = orderOf(5, PAID);
        IDelivery.Order memory second = orderOf(5, PAID);
        second.c.userId = bytes32(uint256(2));
        IDelivery.Order memory third = orderOf(5, PAID);
        third.lockedAmount += 1;
        _deliver(first);
        assertTrue(!isDelivered(second), "another lock");
        _deliver(second);
        _deliver(third);
        assertTrue(isDelivered(first) && isDelivered(second) && isDelivered(third), "all");
        _expectDelivered(first);
        _expectDelivered(second);
        _expectDelivered(third);
        assertEq(usdcThere.balanceOf(RECIPIENT), 3 * PAID, "each once");
    }

    /// @dev A change of any field of the payout but the window and the amount makes another lock.
    function testFuzz_deliver_AnotherFieldIsAnotherLock(uint256 field, uint256 value) public {
        IDelivery.Order memory order = orderOf(7, PAID);
        bytes32 id = delivery.deliveryIdOf(order);
        field = field % 8;
        if (field == 0) order.c.destWallet ^= bytes32(value);
        if (field == 1) order.srcChain ^= uint16(value);
        if (field == 2) order.escrow ^= bytes32(value);
        if (field == 3) order.srcToken ^= bytes32(value);
        if (field == 4) order.lockedAmount ^= value;
        if (field == 5) order.minOut ^= value;
        if (field == 6) order.seq ^= uint64(value);
        if (field == 7) order.c.refundAuthority ^= bytes32(value);
        bool same = keccak256(abi.encode(order)) == keccak256(abi.encode(orderOf(7, PAID)));
        assertTrue(same == (delivery.deliveryIdOf(order) == id), "id");
    }

    function testFuzz_isDelivered_IsExactForAnyNumbers(uint8[12] calldata numbers) public {
        bytes32[] memory paid = new bytes32[](numbers.length);
        for (uint256 i; i < numbers.length; ++i) {
            IDelivery.Order memory order = orderOf(numbers[i] % 16, PAID);
            order.minOut = i;
            assertTrue(!isDelivered(order), "before");
            paid[i] = _deliver(order);
            for (uint256 j; j <= i; ++j) {
                IDelivery.Order memory known = orderOf(numbers[j] % 16, PAID);
                known.minOut = j;
                assertTrue(isDelivered(known), "after");
            }
        }
    }

    function test_isDelivered_KeepsEscrowsAndChainsApart() public {
        IDelivery.Order memory order = orderOf(1, PAID);
        bytes32 id = _deliver(order);
        assertTrue(!delivery.isDelivered(id, HERE + 1, order.escrow, 1), "another chain");
        assertTrue(!delivery.isDelivered(id, HERE, word(STRANGER), 1), "another escrow");
        assertTrue(!delivery.isDelivered(id, HERE, order.escrow, 0), "another number");
        order.seq = type(uint64).max;
        _deliver(order);
        assertTrue(isDelivered(order), "the highest number");
    }

    function _deliver(IDelivery.Order memory order) private returns (bytes32) {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        return delivery.deliver(order, signature);
    }

    function _expectDelivered(IDelivery.Order memory order) private {
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        bytes32 id = delivery.deliveryIdOf(order);
        vm.expectRevert(abi.encodeWithSelector(IDelivery.AlreadyDelivered.selector, id));
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }
}
