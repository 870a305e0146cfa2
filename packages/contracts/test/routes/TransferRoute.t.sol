// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "../../src/interfaces/IChargedRoute.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { ITransferRoute } from "../../src/interfaces/ITransferRoute.sol";
import { TransferRoute } from "../../src/routes/TransferRoute.sol";
import { Address32 } from "../../src/types/Address32.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";
import { Fixture } from "../support/Fixture.sol";

/// @notice Same chain, same token.
contract TransferRouteTest is Fixture {
    function test_config_IsWhatWasBuiltIn() public view {
        ITransferRoute.Config memory config = transferRoute.config();
        assertEq(config.evmChainId, block.chainid, "chain");
        assertEq(config.bridgeId, HERE, "bridge id");
        assertEq(config.factory, address(factory), "factory");
        assertEq(config.token, address(usdc), "token");
        assertEq(config.feeRecipient, FEES, "fee recipient");
    }

    function test_constructor_RevertsWhenFactoryOrFeeRecipientIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new TransferRoute(
            ITransferRoute.Config(block.chainid, HERE, address(factory), address(usdc), address(0))
        );
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new TransferRoute(
            ITransferRoute.Config(block.chainid, HERE, address(0), address(usdc), FEES)
        );
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
        // A deposit of 100,000, with at most 500 of fees under the cap of 50 basis points.
        _expectFee(RouteFee(51, 0), 50, 510, 500);
        _expectFee(RouteFee(0, 501), 50, 501, 500);
        _expectFee(RouteFee(25, 251), 50, 501, 500);
        _expectFee(RouteFee(1, type(uint256).max), 50, type(uint256).max, 500);
    }

    function test_deliver_TakesAShareAndAFlatFeeUpToTheCap() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.data = abi.encode(RouteFee(25, 250));
        _fundAndSettle(job, 100_000);
        assertEq(usdc.balanceOf(FEES), 500, "fee");
        assertEq(usdc.balanceOf(RECIPIENT), 99_500, "recipient");
    }

    function test_deliver_RevertsWhenFeeIsNotBelowTheAmount() public {
        _expectFee(RouteFee(10_000, 0), 10_000, 100_000, 99_999);
        _expectFee(RouteFee(0, 100_000), type(uint16).max, 100_000, 99_999);
    }

    function test_deliver_RevertsWhenDataHasAnotherForm() public {
        IDepositFactory.Job memory job = transferJob(0);
        job.data = "";
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 0));
        job.data = abi.encode(RouteFee(0, 0), STRANGER);
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 96));
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

    function testFuzz_deliver_FeeStaysWithinTheCap(
        uint128 amount,
        uint16 feeBps,
        uint256 flat,
        uint16 maxFeeBps
    ) public {
        vm.assume(amount > 0);
        IDepositFactory.Job memory job = transferJob(0);
        // Mostly near the cap.
        if (flat % 4 != 0) flat = flat % (uint256(amount) * maxFeeBps / 5000 + 2);
        job.data = abi.encode(RouteFee(feeBps, flat));
        job.c.maxFeeBps = maxFeeBps;
        uint256 share = uint256(amount) * feeBps / 10_000;
        bool fits = flat < 2 ** 200 && (share + flat) * 10_000 <= uint256(amount) * maxFeeBps
            && share + flat < amount;
        usdc.mint(factory.predict(job.c), amount);
        vm.prank(RELAYER);
        try factory.settle(job) {
            uint256 fee = usdc.balanceOf(FEES);
            assertTrue(fits, "allowed");
            assertEq(fee, share + flat, "as asked");
            assertTrue(fee * 10_000 <= uint256(amount) * maxFeeBps, "within the cap");
            assertEq(usdc.balanceOf(RECIPIENT), amount - fee, "the rest arrives");
        } catch {
            assertTrue(!fits, "refused for the fee only");
        }
    }

    function _expectFee(RouteFee memory asked, uint16 maxFeeBps, uint256 fee, uint256 cap) private {
        IDepositFactory.Job memory job = transferJob(0);
        job.data = abi.encode(asked);
        job.c.maxFeeBps = maxFeeBps;
        usdc.mint(factory.predict(job.c), 100_000 - usdc.balanceOf(factory.predict(job.c)));
        vm.expectRevert(abi.encodeWithSelector(IChargedRoute.FeeAboveCap.selector, fee, cap));
        settle(job);
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
