// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { BoundedCall } from "../src/types/BoundedCall.sol";
import { ForgivingMerchant, GasGuzzler, SlowRecipient } from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Payouts of native coin: a recipient gets 100,000 gas, never more, and never less because its
/// payer chose a low limit.
contract NativePayoutTest is Fixture {
    function test_settle_ARecipientCannotBurnTheGasOfTheLane() public {
        IDepositFactory.Job memory job = _jobTo(address(new GasGuzzler()));
        uint256 before = gasleft();
        vm.prank(RELAYER);
        vm.expectRevert();
        factory.settle{ gas: 8_000_000 }(job);
        assertTrue(before - gasleft() < 500_000, "the lane's gas");
        assertEq(factory.predict(job.c).balance, 1 ether, "the deposit stays");
    }

    function test_settle_RevertsForARecipientThatNeedsMore() public {
        address slow = address(new SlowRecipient());
        IDepositFactory.Job memory job = _jobTo(slow);
        vm.expectRevert(abi.encodeWithSelector(BoundedCall.RecipientRefused.selector, slow));
        settle(job);
        vm.prank(REFUNDEE);
        assertEq(factory.refund(job.c, NATIVE, type(uint256).max), 1 ether, "refundable");
    }

    function test_settle_ARecipientIsPaidWithEnoughGasOrNotAtAll() public {
        ForgivingMerchant merchant = new ForgivingMerchant();
        IDepositFactory.Job memory job = _jobTo(address(merchant));
        uint256 least;
        for (uint256 limit = 60_000; least == 0; limit += 1000) {
            vm.prank(RELAYER);
            (bool done,) =
                address(factory).call{ gas: limit }(abi.encodeCall(factory.settle, (job)));
            if (done) least = limit;
        }
        assertEq(merchant.credited(), 0.995 ether, "credited at the least gas that settles");
    }

    function test_deliver_ARecipientIsPaidWithEnoughGasOrNotAtAll() public {
        ForgivingMerchant merchant = new ForgivingMerchant();
        vm.deal(address(delivery), 1 ether);
        IDelivery.Order memory order = orderOf(0, 1 ether);
        order.c.destToken = 0;
        order.c.destWallet = word(address(merchant));
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        bool done;
        for (uint256 limit = 60_000; !done; limit += 1000) {
            vm.prank(SETTLER);
            (done,) = address(delivery).call{ gas: limit }(
                abi.encodeCall(delivery.deliver, (order, signature))
            );
        }
        assertEq(merchant.credited(), 1 ether, "credited at the least gas that delivers");
    }

    function _jobTo(address to) private returns (IDepositFactory.Job memory job) {
        job = nativeJob();
        job.c.destWallet = word(to);
        vm.deal(factory.predict(job.c), 1 ether);
    }
}
