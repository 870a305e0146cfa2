// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpBurn } from "../../src/interfaces/ICctpBurn.sol";
import { ICctpRoute } from "../../src/interfaces/ICctpRoute.sol";
import { IChargedRoute } from "../../src/interfaces/IChargedRoute.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { IMessageTransmitterV2 } from "../../src/interfaces/external/IMessageTransmitterV2.sol";
import { ITokenMessengerV2 } from "../../src/interfaces/external/ITokenMessengerV2.sol";
import { CctpRoute } from "../../src/routes/CctpRoute.sol";
import { Address32 } from "../../src/types/Address32.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";
import { StickyAllowanceToken } from "../doubles/Doubles.sol";
import { TakingMessenger } from "../doubles/Markets.sol";
import { Market } from "../support/Market.sol";
import { Vm } from "../support/Vm.sol";

/// @notice USDC here to USDC there, burned and minted.
contract CctpRouteTest is Market {
    uint256 private constant AMOUNT = 1_000_000;

    function test_config_IsWhatWasBuiltIn() public view {
        assertEq(
            keccak256(abi.encode(cctpRoute.config())),
            keccak256(abi.encode(cctpConfig())),
            "configuration"
        );
    }

    function test_constructor_RevertsWhenSomethingIsMissing() public {
        ICctpRoute.Config memory config = cctpConfig();
        config.token = address(0);
        _expectInvalid(config);
        config = cctpConfig();
        config.messenger = address(0);
        _expectInvalid(config);
        config = cctpConfig();
        config.destToken = 0;
        _expectInvalid(config);
        config = cctpConfig();
        config.feeRecipient = address(0);
        _expectInvalid(config);
    }

    function test_deliver_BurnsTowardsTheCommittedWallet() public {
        IDepositFactory.Job memory job = cctpJob(RouteFee(10, 500), 3000, 1000);
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, AMOUNT);
        uint256 supply = usdc.totalSupply();
        vm.expectEmit(address(messengerHere));
        emit ITokenMessengerV2.DepositForBurn(
            address(usdc),
            998_500,
            job.route,
            word(RECIPIENT),
            DOMAIN_THERE,
            word(address(messengerThere)),
            bytes32(0),
            3000,
            1000,
            abi.encode(wallet)
        );
        vm.expectEmit(job.route);
        emit ICctpBurn.Burned(
            wallet, address(usdc), 998_500, 1500, 3000, DOMAIN_THERE, word(RECIPIENT)
        );
        settle(job);
        assertEq(usdc.balanceOf(FEES), 1500, "fee");
        assertEq(usdc.balanceOf(wallet), 0, "wallet");
        assertEq(supply - usdc.totalSupply(), 998_500, "burned");
        assertEq(usdc.allowance(job.route, address(messengerHere)), 0, "allowance");
    }

    function test_deliver_TheMessageIsMintedToTheCommittedWallet() public {
        bytes memory message = _burn(3000);
        (bytes memory filled, bytes memory attestation) = attest(message, "n", 1000, 1200, 0);
        assertTrue(transmitterThere.receiveMessage(filled, attestation), "received");
        assertEq(minted.balanceOf(RECIPIENT), AMOUNT - 1200, "recipient");
        assertEq(minted.balanceOf(CIRCLE_FEES), 1200, "Circle");
        assertEq(minted.totalSupply(), AMOUNT, "supply");
    }

    function test_T72_deliver_AStrangerMintsToTheCommittedWallet() public {
        bytes memory message = _burn(0);
        (bytes memory filled, bytes memory attestation) = attest(message, "n", 2000, 0, 0);
        vm.prank(STRANGER);
        transmitterThere.receiveMessage(filled, attestation);
        assertEq(minted.balanceOf(RECIPIENT), AMOUNT, "recipient");
        assertEq(transmitterThere.usedNonces("n"), 1, "used");
        vm.prank(RELAYER);
        vm.expectRevert(bytes("Nonce already used"));
        transmitterThere.receiveMessage(filled, attestation);
        assertEq(minted.balanceOf(RECIPIENT), AMOUNT, "once");
    }

    function test_deliver_RevertsWhenFeeAndBridgeTogetherAreAboveTheCap() public {
        // The cap leaves 5,000.
        _fund(AMOUNT);
        _expect(cctpJob(RouteFee(50, 0), 1, 1000), _feeAboveCap(5001, 5000));
        _expect(cctpJob(RouteFee(0, 2000), 3001, 1000), _feeAboveCap(5001, 5000));
        _expect(
            cctpJob(RouteFee(0, 1), type(uint256).max, 1000), _feeAboveCap(type(uint256).max, 5000)
        );
        settle(cctpJob(RouteFee(20, 0), 3000, 1000));
    }

    function test_deliver_RevertsWhenNothingWouldBeLeft() public {
        IDepositFactory.Job memory job = cctpJob(RouteFee(0, 400_000), 600_000, 1000);
        job.c.maxFeeBps = type(uint16).max;
        usdc.mint(factory.predict(job.c), AMOUNT);
        _expect(job, _feeAboveCap(AMOUNT, AMOUNT - 1));
        job.data = abi.encode(RouteFee(0, 400_000), 599_999, 1000);
        settle(job);
    }

    function test_deliver_PaysTheBridgeForAStandardTransferWhenItsFeeSwitchIsOn() public {
        messengerHere.setMinFee(10_000);
        assertEq(messengerHere.getMinFeeAmount(AMOUNT), 1000, "ten basis points");
        _fund(AMOUNT);
        _expect(cctpJob(RouteFee(0, 0), 999, 2000), bytes("Insufficient max fee"), true);
        settle(cctpJob(RouteFee(0, 0), 1000, 2000));
    }

    function test_deliver_RevertsForAnotherFinality() public {
        _fund(AMOUNT);
        uint32[4] memory thresholds = [uint32(0), 999, 1001, type(uint32).max];
        for (uint256 i; i < thresholds.length; ++i) {
            _expect(
                cctpJob(RouteFee(0, 0), 0, thresholds[i]),
                abi.encodeWithSelector(ICctpBurn.InvalidFinality.selector, thresholds[i])
            );
        }
    }

    function test_deliver_RevertsWhenDataHasAnotherForm() public {
        _fund(AMOUNT);
        IDepositFactory.Job memory job = cctpJob(RouteFee(0, 0), 0, 1000);
        job.data = feeOf(0);
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 64));
        job.data = abi.encode(RouteFee(0, 0), 0, 1000, STRANGER);
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 160));
    }

    function test_deliver_RevertsForAnotherChainTokenOrDestination() public {
        IDepositFactory.Job memory job = cctpJob(RouteFee(0, 0), 0, 1000);
        job.c.destChain = THERE;
        usdc.mint(factory.predict(job.c), 1);
        _expect(job, abi.encodeWithSelector(IRoute.WrongDestChain.selector, THERE, CCTP_CHAIN));
        job = cctpJob(RouteFee(0, 0), 0, 1000);
        job.c.destToken = word(address(usdc));
        usdc.mint(factory.predict(job.c), 1);
        _expect(
            job,
            abi.encodeWithSelector(
                IRoute.WrongDestToken.selector, job.c.destToken, word(address(minted))
            )
        );
        job = cctpJob(RouteFee(0, 0), 0, 1000);
        job.token = NATIVE;
        vm.deal(factory.predict(job.c), 1);
        _expect(job, abi.encodeWithSelector(IRoute.WrongToken.selector, NATIVE, address(usdc)));
        _fund(AMOUNT);
        uint256 home = block.chainid;
        vm.chainId(99);
        _expect(
            cctpJob(RouteFee(0, 0), 0, 1000),
            abi.encodeWithSelector(IRoute.WrongEvmChain.selector, 99, home)
        );
    }

    function test_deliver_RevertsWhenRecipientIsZeroOrOfAnotherFamily() public {
        bytes32[2] memory recipients = [bytes32(0), bytes32(type(uint256).max)];
        for (uint256 i; i < recipients.length; ++i) {
            IDepositFactory.Job memory job = cctpJob(RouteFee(0, 0), 0, 1000);
            job.c.destWallet = recipients[i];
            usdc.mint(factory.predict(job.c), AMOUNT);
            _expect(job, abi.encodeWithSelector(Address32.NotAnAddress.selector, recipients[i]));
        }
    }

    /// @dev The limit of Circle's minter; the deposit leaves in parts of at most the limit.
    function test_T196_deliver_RevertsAboveTheBurnLimitAndBurnsAPart() public {
        IDepositFactory.Job memory job = cctpJob(RouteFee(10, 0), 300, 1000);
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, AMOUNT);
        uint256 supply = usdc.totalSupply();
        messengerHere.setMaxBurnAmountPerMessage(address(usdc), AMOUNT / 2);
        _expect(job, abi.encodeWithSignature("Error(string)", "Burn amount exceeds per tx limit"));
        job.maxAmount = AMOUNT / 2;
        settle(job);
        assertEq(usdc.balanceOf(wallet), AMOUNT / 2, "the rest");
        job.maxAmount = 0;
        settle(job);
        assertEq(usdc.balanceOf(wallet), 0, "wallet");
        assertEq(supply - usdc.totalSupply() + usdc.balanceOf(FEES), AMOUNT, "burned and fees");
    }

    function test_T196_deliver_ATokenThatTheBridgeDropsIsRefunded() public {
        IDepositFactory.Job memory job = cctpJob(RouteFee(10, 0), 300, 1000);
        usdc.mint(factory.predict(job.c), AMOUNT);
        messengerHere.setMaxBurnAmountPerMessage(address(usdc), 0);
        _expect(job, abi.encodeWithSignature("Error(string)", "Burn token not supported"));
        vm.prank(REFUNDEE);
        factory.refund(job.c, address(usdc), ALL);
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    function test_deliver_RevertsWhenTheMessengerTakesLess() public {
        ICctpRoute.Config memory config = cctpConfig();
        config.messenger = address(new TakingMessenger(1, 1));
        IDepositFactory.Job memory job = _listed(config);
        usdc.mint(factory.predict(job.c), AMOUNT);
        _expect(
            job,
            abi.encodeWithSelector(ICctpBurn.BurnedOther.selector, AMOUNT - 1001, AMOUNT - 1000)
        );
    }

    function test_deliver_LeavesNoAllowance() public {
        StickyAllowanceToken token = new StickyAllowanceToken();
        ICctpRoute.Config memory config = cctpConfig();
        config.token = address(token);
        config.messenger = address(new TakingMessenger(1, 0));
        IDepositFactory.Job memory job = _listed(config);
        job.token = address(token);
        address wallet = factory.predict(job.c);
        token.mint(wallet, AMOUNT);
        settle(job);
        assertEq(token.allowance(job.route, config.messenger), 0, "allowance");
    }

    function testFuzz_deliver_FeeAndBridgeStayWithinTheCap(
        uint96 amount,
        uint16 bps,
        uint256 flat,
        uint256 maxFee,
        uint16 maxFeeBps
    ) public {
        vm.assume(amount > 0);
        uint256 near = uint256(amount) * maxFeeBps / 5000 + 2;
        (flat, maxFee, bps) = (flat % near, maxFee % near, bps % 100);
        IDepositFactory.Job memory job = cctpJob(RouteFee(bps, flat), maxFee, 1000);
        job.c.maxFeeBps = maxFeeBps;
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, amount);
        uint256 fee = uint256(amount) * bps / 10_000 + flat;
        uint256 cost = fee + maxFee;
        bool fits = cost * 10_000 <= uint256(amount) * maxFeeBps && cost < amount;
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(fits, "allowed");
            assertEq(usdc.balanceOf(FEES), fee, "fee");
            assertEq(usdc.balanceOf(wallet), 0, "burned");
        } catch {
            assertTrue(!fits, "refused for the fee only");
            assertEq(usdc.balanceOf(wallet), amount, "kept");
        }
    }

    /// @dev Settles and returns the message that was emitted.
    function _burn(uint256 maxFee) private returns (bytes memory) {
        _fund(AMOUNT);
        IDepositFactory.Job memory job = cctpJob(RouteFee(0, 0), maxFee, 1000);
        vm.recordLogs();
        vm.prank(RELAYER);
        factory.settle(job);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].topics[0] == IMessageTransmitterV2.MessageSent.selector) {
                return abi.decode(logs[i].data, (bytes));
            }
        }
        revert();
    }

    function _fund(uint256 amount) private {
        usdc.mint(factory.predict(cctpCommitment()), amount);
    }

    function _listed(ICctpRoute.Config memory config)
        private
        returns (IDepositFactory.Job memory job)
    {
        job = cctpJob(RouteFee(10, 0), 0, 1000);
        job.route = address(new CctpRoute(config));
        listRoute(job.route);
    }

    function _feeAboveCap(uint256 fee, uint256 cap) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IChargedRoute.FeeAboveCap.selector, fee, cap);
    }

    function _expect(IDepositFactory.Job memory job, bytes memory reason) private {
        _expect(job, reason, false);
    }

    function _expect(IDepositFactory.Job memory job, bytes memory reason, bool isText) private {
        uint256 before = usdc.totalSupply();
        vm.expectRevert(isText ? abi.encodeWithSignature("Error(string)", reason) : reason);
        settle(job);
        assertEq(usdc.totalSupply(), before, "nothing burned");
    }

    function _expectInvalid(ICctpRoute.Config memory config) private {
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new CctpRoute(config);
    }
}
