// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { ITransferRoute } from "../../src/interfaces/ITransferRoute.sol";
import { TransferRoute } from "../../src/routes/TransferRoute.sol";
import { Address32 } from "../../src/types/Address32.sol";
import { Fixture } from "../support/Fixture.sol";

/// @notice Same chain, same token.
contract TransferRouteTest is Fixture {
    function test_config_IsWhatWasBuiltIn() public view {
        ITransferRoute.Config memory config = transferRoute.config();
        assertEq(config.evmChainId, block.chainid, "chain");
        assertEq(config.bridgeId, HERE, "bridge id");
        assertEq(config.token, address(usdc), "token");
        assertEq(config.feeRecipient, FEES, "fee recipient");
    }

    function test_constructor_RevertsWhenFeeRecipientIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new TransferRoute(ITransferRoute.Config(block.chainid, HERE, address(usdc), address(0)));
    }

    function test_deliver_PaysRecipientAndFee() public {
        _fundAndSettle(transferJob(50), 999);
        assertEq(usdc.balanceOf(FEES), 4, "fee is rounded down");
        assertEq(usdc.balanceOf(RECIPIENT), 995, "recipient");
    }

    function test_deliver_PaysNativeCoin() public {
        IDepositFactory.Job memory job = nativeJob();
        vm.deal(factory.predict(job.c), 1 ether);
        settle(job);
        assertEq(FEES.balance, 0.005 ether, "fee");
        assertEq(RECIPIENT.balance, 0.995 ether, "recipient");
    }

    function test_deliver_RevertsWhenFeeIsAboveTheCap() public {
        _expect(
            transferJob(51), abi.encodeWithSelector(ITransferRoute.FeeAboveCap.selector, 51, 50)
        );
    }

    function test_deliver_RevertsWhenFeeIsAboveTheAmount() public {
        IDepositFactory.Job memory job = transferJob(10_001);
        job.c.maxFeeBps = type(uint16).max;
        _expect(job, abi.encodeWithSelector(ITransferRoute.FeeAboveCap.selector, 10_001, 65_535));
    }

    function test_deliver_RevertsWhenDataHasAnotherForm() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.data = "";
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 0));
        job.data = abi.encode(uint16(0), STRANGER);
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 64));
    }

    function test_deliver_RevertsWhenDestinationIsAnotherChain() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.c.destChain = THERE;
        _expect(job, abi.encodeWithSelector(IRoute.WrongDestChain.selector, THERE, HERE));
    }

    function test_deliver_RevertsWhenDestinationTokenDiffers() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.c.destToken = word(address(usdcThere));
        _expect(
            job,
            abi.encodeWithSelector(
                IRoute.WrongDestToken.selector, job.c.destToken, word(address(usdc))
            )
        );
    }

    function test_deliver_RevertsWhenTokenDiffers() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.route = address(nativeRoute);
        _expect(job, abi.encodeWithSelector(IRoute.WrongToken.selector, address(usdc), NATIVE));
    }

    function test_deliver_RevertsWhenChainSplits() public {
        uint256 home = block.chainid;
        vm.chainId(99);
        _expect(transferJob(0), abi.encodeWithSelector(IRoute.WrongEvmChain.selector, 99, home));
    }

    function test_deliver_RevertsWhenRecipientIsZeroOrOfAnotherFamily() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.c.destWallet = 0;
        _expect(job, abi.encodeWithSelector(Address32.NotAnAddress.selector, bytes32(0)));
        job.c.destWallet = bytes32(type(uint256).max);
        _expect(job, abi.encodeWithSelector(Address32.NotAnAddress.selector, job.c.destWallet));
    }

    function testFuzz_deliver_FeeStaysWithinTheCap(uint128 amount, uint16 feeBps, uint16 maxFeeBps)
        public
    {
        vm.assume(amount > 0);
        IDepositFactory.Job memory job = transferJob(feeBps);
        job.c.maxFeeBps = maxFeeBps;
        usdc.mint(factory.predict(job.c), amount);
        vm.prank(RELAYER);
        try factory.settle(job) {
            uint256 fee = usdc.balanceOf(FEES);
            assertTrue(feeBps <= maxFeeBps, "allowed");
            assertTrue(fee * 10_000 <= uint256(amount) * maxFeeBps, "within the cap");
            assertEq(usdc.balanceOf(RECIPIENT), amount - fee, "the rest arrives");
        } catch {
            assertTrue(feeBps > maxFeeBps || feeBps > 10_000, "refused for the fee only");
        }
    }

    function _expect(IDepositFactory.Job memory job, bytes memory reason) private {
        usdc.mint(factory.predict(job.c), 100);
        vm.expectRevert(reason);
        settle(job);
    }

    function _fundAndSettle(IDepositFactory.Job memory job, uint256 amount) private {
        usdc.mint(factory.predict(job.c), amount);
        settle(job);
    }
}
