// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
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

    /// @dev The refund authority of a stranger's address, at the expense of the lane that sends the refund.
    function test_refundBySignature_AnAuthorityCannotBurnTheGasOfTheLane() public {
        (Commitment memory c, address wallet) = _depositOf(address(new GasGuzzler()));
        bytes memory signature = _signRefundOf(wallet);
        uint256 before = gasleft();
        vm.prank(RELAYER);
        vm.expectRevert();
        factory.refundBySignature{ gas: 8_000_000 }(c, NATIVE, ALL, 1, block.timestamp, signature);
        assertTrue(before - gasleft() < 500_000, "the lane's gas");
        assertEq(wallet.balance, 1 ether, "the deposit stays");
    }

    /// @dev Its own refund costs nobody else anything.
    function test_refund_AnAuthorityThatNeedsMoreGasRefundsByItself() public {
        address slow = address(new SlowRecipient());
        (Commitment memory c, address wallet) = _depositOf(slow);
        bytes memory signature = _signRefundOf(wallet);
        vm.expectRevert(abi.encodeWithSelector(BoundedCall.RecipientRefused.selector, slow));
        vm.prank(RELAYER);
        factory.refundBySignature(c, NATIVE, ALL, 1, block.timestamp, signature);
        vm.prank(slow);
        assertEq(factory.refund(c, NATIVE, ALL), 1 ether, "by itself");
    }

    function _depositOf(address authority) private returns (Commitment memory c, address wallet) {
        c = localCommitment(NATIVE);
        c.refundAuthority = word(authority);
        wallet = factory.predict(c);
        vm.deal(wallet, 1 ether);
    }

    function _signRefundOf(address wallet) private view returns (bytes memory) {
        return signRefund(ATTESTOR_KEY, wallet, NATIVE, ALL, block.timestamp);
    }

    function _jobTo(address to) private returns (IDepositFactory.Job memory job) {
        job = nativeJob();
        job.c.destWallet = word(to);
        vm.deal(factory.predict(job.c), 1 ether);
    }
}
