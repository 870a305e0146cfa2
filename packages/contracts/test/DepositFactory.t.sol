// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { ITransferRoute } from "../src/interfaces/ITransferRoute.sol";
import { Commitment } from "../src/types/Commitment.sol";
import {
    AnyTokenRoute,
    Bouncer,
    LeavesOneBehindToken,
    PretendingToken,
    ReentrantToken
} from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Sealing, deploying and settling one job.
contract DepositFactoryTest is Fixture {
    function test_seal_ListsTheFirstMembers() public view {
        assertTrue(factory.isSealed(), "sealed");
        assertTrue(factory.isRoute(address(transferRoute)), "route");
        assertTrue(factory.isRelayer(RELAYER), "relayer");
        assertTrue(factory.isAttestor(vm.addr(ATTESTOR_KEY)), "attestor");
        assertTrue(!factory.isRoute(STRANGER), "stranger is no route");
        assertEq(factory.delay(), DELAY, "delay");
    }

    function test_seal_RevertsWhenSealedAlready() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.AlreadySealed.selector));
        vm.prank(OWNER);
        factory.seal(none(), none(), none(), 1, TREASURY);
    }

    function test_seal_RevertsWhenCallerIsNotOwner() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        fresh.seal(none(), none(), none(), 1, TREASURY);
    }

    function test_seal_RevertsWhenRouteHasNoCode() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NoCode.selector, STRANGER));
        vm.prank(OWNER);
        fresh.seal(listOf(STRANGER), none(), none(), 1, TREASURY);
    }

    function test_seal_RevertsWhenAttestorIsZero() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        vm.prank(OWNER);
        fresh.seal(none(), none(), listOf(address(0)), 1, TREASURY);
    }

    function test_setRelayer_OwnerSwitchesOnAndGuardianOff() public {
        vm.prank(OWNER);
        factory.setRelayer(STRANGER, true);
        assertTrue(factory.isRelayer(STRANGER), "on");
        vm.prank(GUARDIAN);
        factory.setRelayer(STRANGER, false);
        assertTrue(!factory.isRelayer(STRANGER), "off");
    }

    function test_setRelayer_RevertsWhenGuardianSwitchesOn() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.setRelayer(STRANGER, true);
    }

    function test_setRelayer_RevertsWhenRelayerIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        vm.prank(OWNER);
        factory.setRelayer(address(0), true);
    }

    function test_T20_deploy_AnyoneDeploysAndTheSecondTimeNothingHappens() public {
        Commitment memory c = localCommitment(address(usdc));
        address wallet = factory.predict(c);
        vm.expectEmit(address(factory));
        emit IDepositFactory.WalletDeployed(wallet, factory.hashOf(c));
        vm.prank(STRANGER);
        assertEq(factory.deploy(c), wallet, "address");
        vm.recordLogs();
        assertEq(factory.deploy(c), wallet, "same address");
        assertEq(vm.getRecordedLogs().length, 0, "no second event");
    }

    function test_deploy_RevertsWhenNotSealed() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        Commitment memory c = localCommitment(address(usdc));
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotSealed.selector));
        fresh.deploy(c);
    }

    function test_deployMany_DeploysEach() public {
        Commitment[] memory list = new Commitment[](3);
        for (uint256 i; i < list.length; ++i) {
            list[i] = localCommitment(address(usdc));
            list[i].userId = bytes32(i);
        }
        address[] memory wallets = factory.deployMany(list);
        assertEq(wallets.length, 3, "count");
        for (uint256 i; i < list.length; ++i) {
            assertEq(wallets[i], factory.predict(list[i]), "address");
            assertEq(wallets[i].code.length, 51, "code");
        }
    }

    function test_deployMany_RevertsWhenNotSealed() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotSealed.selector));
        fresh.deployMany(new Commitment[](0));
    }

    function test_settle_DeploysMissingWalletAndSweepsTwice() public {
        IDepositFactory.Job memory job = transferJob(50);
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, 10_000);
        vm.expectEmit(job.route);
        emit ITransferRoute.Transferred(wallet, RECIPIENT, address(usdc), 9950, 50);
        vm.expectEmit(address(factory));
        emit IDepositFactory.Settled(wallet, address(usdc), address(transferRoute), 10_000);
        assertEq(settle(job), 10_000, "amount");
        usdc.mint(wallet, 20_000);
        assertEq(settle(job), 20_000, "second amount");
        assertEq(usdc.balanceOf(RECIPIENT), 29_850, "recipient");
        assertEq(usdc.balanceOf(FEES), 150, "fees");
        assertEq(usdc.balanceOf(wallet), 0, "wallet");
    }

    function test_T191_settle_TakesAPart() public {
        IDepositFactory.Job memory job = transferJob(50);
        job.maxAmount = 6000;
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, 10_000);
        vm.expectEmit(address(factory));
        emit IDepositFactory.Settled(wallet, address(usdc), address(transferRoute), 6000);
        assertEq(settle(job), 6000, "part");
        assertEq(usdc.balanceOf(wallet), 4000, "left");
        assertEq(settle(job), 4000, "rest");
        assertEq(usdc.balanceOf(RECIPIENT), 9950, "recipient");
        assertEq(usdc.balanceOf(FEES), 50, "fees");
    }

    function test_T191_settle_RevertsWhenAPartTakesTooLittle() public {
        LeavesOneBehindToken token = new LeavesOneBehindToken();
        IDepositFactory.Job memory job = _anyTokenJob(address(token));
        job.maxAmount = 60;
        address wallet = factory.predict(job.c);
        token.mint(wallet, 100);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Leftover.selector, wallet, address(token), 41)
        );
        settle(job);
    }

    function testFuzz_T191_settle_PartsTakeNoMoreFeeThanTheWhole(
        uint96 balance,
        uint96 part,
        uint16 feeBps
    ) public {
        IDepositFactory.Job memory job = transferJob(uint16(bound(feeBps, 0, 50)));
        job.maxAmount = bound(part, 1, type(uint96).max);
        uint256 total = bound(balance, 1, 20 * job.maxAmount);
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, total);
        while (usdc.balanceOf(wallet) != 0) settle(job);
        assertEq(usdc.balanceOf(RECIPIENT) + usdc.balanceOf(FEES), total, "all");
        assertTrue(usdc.balanceOf(FEES) <= total * job.c.maxFeeBps / 10_000, "fees");
    }

    function test_settle_RevertsWhenNotSealed() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        IDepositFactory.Job memory job = transferJob(0);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotSealed.selector));
        fresh.settle(job);
    }

    function test_settle_RevertsWhenPaused() public {
        IDepositFactory.Job memory job = _fundedJob();
        vm.prank(GUARDIAN);
        factory.pause();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.IsPaused.selector));
        settle(job);
    }

    function test_settle_RevertsWhenCallerIsNotRelayer() public {
        IDepositFactory.Job memory job = _fundedJob();
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRelayer.selector, OWNER));
        vm.prank(OWNER);
        factory.settle(job);
    }

    function test_settle_RevertsWhenRouteIsNotListed() public {
        IDepositFactory.Job memory job = _fundedJob();
        job.route = address(new AnyTokenRoute());
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRoute.selector, job.route));
        settle(job);
    }

    function test_settle_RevertsWhenRouteIsRemoved() public {
        IDepositFactory.Job memory job = _fundedJob();
        bytes32 role = factory.ROUTE();
        vm.prank(GUARDIAN);
        factory.remove(role, job.route);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRoute.selector, job.route));
        settle(job);
    }

    function test_settle_RevertsWhenWalletIsEmpty() public {
        IDepositFactory.Job memory job = transferJob(0);
        address wallet = factory.predict(job.c);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Nothing.selector, wallet, address(usdc))
        );
        settle(job);
    }

    function test_settle_RevertsWhenTokenLeavesARest() public {
        LeavesOneBehindToken token = new LeavesOneBehindToken();
        IDepositFactory.Job memory job = _anyTokenJob(address(token));
        address wallet = factory.predict(job.c);
        token.mint(wallet, 100);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Leftover.selector, wallet, address(token), 1)
        );
        settle(job);
    }

    function test_T02_settle_RevertsWhenTokenOnlyPretendsToMove() public {
        PretendingToken token = new PretendingToken();
        IDepositFactory.Job memory job = _anyTokenJob(address(token));
        address wallet = factory.predict(job.c);
        token.mint(wallet, 100);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Leftover.selector, wallet, address(token), 100)
        );
        settle(job);
    }

    function test_settle_RevertsWhenNativeCoinComesBack() public {
        IDepositFactory.Job memory job = nativeJob();
        job.c.destWallet = word(address(new Bouncer()));
        address wallet = factory.predict(job.c);
        vm.deal(wallet, 1 ether);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Leftover.selector, wallet, NATIVE, 1)
        );
        settle(job);
    }

    function test_T11_settle_RevertsWhenTokenReenters() public {
        ReentrantToken token = new ReentrantToken();
        IDepositFactory.Job memory job = _anyTokenJob(address(token));
        token.mint(factory.predict(job.c), 100);
        vm.prank(OWNER);
        factory.setRelayer(address(token), true);
        token.arm(address(factory), abi.encodeCall(factory.settle, (job)));
        settle(job);
        assertTrue(!token.succeeded(), "inner settle fails");
        assertEq(
            bytes32(bytes4(token.reason())),
            bytes32(ReentrancyGuard.ReentrancyGuardReentrantCall.selector),
            "by the guard"
        );
        assertEq(token.balanceOf(RECIPIENT), 100, "outer settle succeeds");
    }

    function test_T11_settle_TokenCannotReachAnotherWalletMidway() public {
        ReentrantToken token = new ReentrantToken();
        IDepositFactory.Job memory job = _anyTokenJob(address(token));
        token.mint(factory.predict(job.c), 100);
        Commitment memory other = localCommitment(address(usdc));
        other.refundAuthority = word(address(token));
        usdc.mint(factory.predict(other), 100);
        token.arm(address(factory), abi.encodeCall(factory.refund, (other, address(usdc), ALL)));
        settle(job);
        assertTrue(!token.succeeded(), "inner refund fails");
        assertEq(usdc.balanceOf(factory.predict(other)), 100, "other wallet untouched");
    }

    function test_settleJob_RevertsWhenCallerIsNotTheFactory() public {
        IDepositFactory.Job memory job = _fundedJob();
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotSelf.selector, RELAYER));
        vm.prank(RELAYER);
        factory.settleJob(job);
    }

    function test_domainSeparator_IsTheDocumentedOne() public {
        bytes32 first = factory.domainSeparator();
        assertEq(first, domainOf("Sluice DepositFactory", address(factory)), "factory");
        assertEq(escrow.domainSeparator(), domainOf("Sluice Escrow", address(escrow)), "escrow");
        assertEq(
            delivery.domainSeparator(), domainOf("Sluice Delivery", address(delivery)), "delivery"
        );
        vm.chainId(99);
        assertTrue(factory.domainSeparator() != first, "follows the chain id");
    }

    function testFuzz_settle_ValueGoesOnlyToCommittedPlaces(
        Commitment memory c,
        uint160 recipient,
        uint96 amount,
        uint16 feeBps
    ) public {
        vm.assume(amount > 0 && recipient != 0);
        (c.routes, c.flags) = (0, c.flags % 2);
        c.destChain = HERE;
        c.destToken = word(address(usdc));
        c.destWallet = word(address(recipient));
        address wallet = factory.predict(c);
        vm.assume(address(recipient) != wallet && address(recipient) != FEES);
        usdc.mint(wallet, amount);
        IDepositFactory.Job memory job = IDepositFactory.Job(
            c, address(usdc), 0, address(transferRoute), feeOf(feeBps), noProof()
        );
        vm.prank(RELAYER);
        try factory.settle(job) {
            uint256 fee = usdc.balanceOf(FEES);
            assertTrue(fee * 10_000 <= uint256(amount) * c.maxFeeBps, "fee within the cap");
            assertEq(usdc.balanceOf(address(recipient)) + fee, amount, "nothing else moved");
        } catch {
            assertTrue(feeBps > c.maxFeeBps || feeBps >= 10_000, "refused for the fee only");
            assertEq(usdc.balanceOf(wallet), amount, "kept");
        }
    }

    function testFuzz_settle_OtherCommitmentCannotTouch(uint256 field, uint256 value) public {
        Commitment memory c = localCommitment(address(usdc));
        address wallet = factory.predict(c);
        usdc.mint(wallet, 100);
        Commitment memory other = _changed(c, field % 10, value);
        vm.assume(factory.hashOf(other) != factory.hashOf(c));
        assertTrue(factory.predict(other) != wallet, "another address");
        IDepositFactory.Job memory job = transferJob(0);
        job.c = other;
        vm.expectRevert();
        settle(job);
        if (uint256(other.refundAuthority) <= type(uint160).max) {
            vm.expectRevert();
            vm.prank(address(uint160(uint256(other.refundAuthority))));
            factory.refund(other, address(usdc), ALL);
        }
        assertEq(usdc.balanceOf(wallet), 100, "untouched");
    }

    function testFuzz_settle_RevertsWhenCallerIsNotRelayer(address caller) public {
        vm.assume(caller != RELAYER);
        IDepositFactory.Job memory job = _fundedJob();
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRelayer.selector, caller));
        vm.prank(caller);
        factory.settle(job);
    }

    function _fundedJob() private returns (IDepositFactory.Job memory job) {
        job = transferJob(10);
        usdc.mint(factory.predict(job.c), 1000);
    }

    function _anyTokenJob(address token) private returns (IDepositFactory.Job memory) {
        AnyTokenRoute route = new AnyTokenRoute();
        listRoute(address(route));
        return IDepositFactory.Job(localCommitment(token), token, 0, address(route), "", noProof());
    }

    function _changed(Commitment memory c, uint256 field, uint256 value)
        private
        pure
        returns (Commitment memory other)
    {
        other = Commitment({
            integrator: field == 0 ? bytes32(value) : c.integrator,
            userId: field == 1 ? bytes32(value) : c.userId,
            destChain: field == 2 ? uint16(value) : c.destChain,
            destWallet: field == 3 ? bytes32(value) : c.destWallet,
            destToken: field == 4 ? bytes32(value) : c.destToken,
            refundAuthority: field == 5 ? bytes32(value) : c.refundAuthority,
            maxFeeBps: field == 6 ? uint16(value) : c.maxFeeBps,
            maxSlippageBps: field == 7 ? uint16(value) : c.maxSlippageBps,
            routes: field == 8 ? bytes32(value) : c.routes,
            flags: field == 9 ? uint16(value) : c.flags
        });
    }
}
