// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Escrow } from "../src/Escrow.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Signatures } from "../src/types/Signatures.sol";
import { FeeOnTransferToken } from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Locks and claims.
contract EscrowTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant MIN_OUT = 0.995 ether;

    function test_constructor_RevertsWhenFactoryIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(IEscrow.ZeroAddress.selector));
        new Escrow(address(0), HERE, 1);
    }

    function test_getters_AreWhatWasBuiltIn() public view {
        assertEq(escrow.factory(), address(factory), "factory");
        assertEq(escrow.bridgeId(), HERE, "bridge id");
        assertEq(escrow.evmChainId(), block.chainid, "chain");
    }

    function test_lock_RecordsEverything() public {
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        bytes32 commitment = factory.hashOf(c);
        IDelivery.Order memory order = orderOf(0, 1);
        (order.lockedAmount, order.minOut) = (AMOUNT, MIN_OUT);
        bytes32 id = delivery.deliveryIdOf(order);
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(wallet, AMOUNT);
        vm.expectEmit(address(escrow));
        emit IEscrow.Locked(
            id,
            wallet,
            commitment,
            address(usdc),
            AMOUNT,
            MIN_OUT,
            0,
            uint64(START),
            word(address(delivery))
        );
        settle(job);
        IEscrow.Lock memory held = lockOf(id);
        assertEq(held.token, address(usdc), "token");
        assertEq(held.commitment, commitment, "commitment");
        assertEq(held.amount, AMOUNT, "amount");
        assertEq(held.minOut, MIN_OUT, "minimum");
        assertEq(held.seq, 0, "seq");
        assertEq(lockedAtOf(id), START, "time");
        assertEq(held.delivery, word(address(delivery)), "delivery");
        assertEq(escrow.deliveryIdOf(held), id, "id");
        assertTrue(escrow.stateOf(id) == IEscrow.LockState.Locked, "state");
    }

    function test_lock_CountsPerDelivery() public {
        bytes32 first = lockDeposit(AMOUNT);
        bytes32 second = lockDeposit(AMOUNT);
        assertTrue(first != second, "two ids");
        assertEq(lockOf(second).seq, 1, "second");
        IDepositFactory.Job memory job = escrowJob();
        job.c.userId = bytes32(uint256(2));
        usdc.mint(factory.predict(job.c), AMOUNT);
        settle(job);
        assertEq(lockOf(newestLock).seq, 2, "another wallet");
        assertEq(nextSeq(), 3, "next");
        assertEq(escrow.nextSeq(word(STRANGER)), 0, "another delivery");
    }

    function test_lock_RevertsWhenCallerIsNotTheWallet() public {
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        usdc.mint(STRANGER, 100);
        vm.prank(STRANGER);
        usdc.approve(address(escrow), 100);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotWallet.selector, STRANGER, wallet));
        vm.prank(STRANGER);
        escrow.lock(c, address(usdc), 100, 1, word(address(delivery)));
    }

    function test_lock_RevertsWhenFactoryIsPaused() public {
        vm.prank(GUARDIAN);
        factory.pause();
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.IsPaused.selector));
        vm.prank(wallet);
        escrow.lock(c, address(usdc), 100, 1, word(address(delivery)));
    }

    function test_lock_RevertsWhenChainSplits() public {
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        uint256 home = block.chainid;
        vm.chainId(99);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.WrongEvmChain.selector, 99, home));
        vm.prank(wallet);
        escrow.lock(c, address(usdc), 100, 1, word(address(delivery)));
    }

    function test_lock_RevertsWhenTokenTakesAFee() public {
        FeeOnTransferToken token = new FeeOnTransferToken();
        SameAssetRoute route = new SameAssetRoute(pairOf(address(token)));
        listRoute(address(route));
        IDepositFactory.Job memory job = escrowJob();
        job.token = address(token);
        job.route = address(route);
        token.mint(factory.predict(job.c), 1000);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.ReceivedLess.selector, 990, 1000));
        settle(job);
    }

    function test_lock_RevertsWhenNothingArrives() public {
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.ReceivedLess.selector, 0, 0));
        vm.prank(wallet);
        escrow.lock(c, address(usdc), 0, 1, word(address(delivery)));
    }

    function test_claim_PaysTheLockToTheTreasury() public {
        bytes32 id = lockDeposit(AMOUNT);
        lockDeposit(5);
        bytes memory signature = signClaim(ATTESTOR_KEY, id, MIN_OUT + 1, block.timestamp);
        vm.expectEmit(address(escrow));
        emit IEscrow.Claimed(id, MIN_OUT + 1, AMOUNT);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), MIN_OUT + 1, block.timestamp, signature);
        assertEq(usdc.balanceOf(TREASURY), AMOUNT, "the lock's amount, nothing else");
        assertEq(usdc.balanceOf(address(escrow)), 5, "the other lock stays");
        assertTrue(escrow.stateOf(id) == IEscrow.LockState.Claimed, "state");
    }

    function test_claim_WorksWhilePaused() public {
        bytes32 id = lockDeposit(AMOUNT);
        vm.prank(GUARDIAN);
        factory.pause();
        _claim(ATTESTOR_KEY, id, MIN_OUT, block.timestamp);
        assertEq(usdc.balanceOf(TREASURY), AMOUNT, "treasury");
    }

    function test_claim_RevertsWhenClaimedAlready() public {
        bytes32 id = lockDeposit(AMOUNT);
        _claim(ATTESTOR_KEY, id, MIN_OUT, block.timestamp);
        _expectClaim(
            ATTESTOR_KEY,
            id,
            MIN_OUT,
            abi.encodeWithSelector(IEscrow.NotLocked.selector, id, IEscrow.LockState.Claimed)
        );
    }

    function test_claim_RevertsWhenLockIsUnknown() public {
        IEscrow.Lock memory held = lockOf(lockDeposit(AMOUNT));
        held.seq += 1;
        bytes32 id = escrow.deliveryIdOf(held);
        locks[id] = held;
        _expectClaim(
            ATTESTOR_KEY,
            id,
            MIN_OUT,
            abi.encodeWithSelector(IEscrow.NotLocked.selector, id, IEscrow.LockState.None)
        );
    }

    function test_claim_RevertsWhenPaidTooLittle() public {
        bytes32 id = lockDeposit(AMOUNT);
        _expectClaim(
            ATTESTOR_KEY,
            id,
            MIN_OUT - 1,
            abi.encodeWithSelector(IEscrow.PaidTooLittle.selector, MIN_OUT - 1, MIN_OUT)
        );
    }

    function test_claim_RevertsWhenCallerIsNotRelayer() public {
        bytes32 id = lockDeposit(AMOUNT);
        bytes memory signature = signClaim(ATTESTOR_KEY, id, MIN_OUT, block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotRelayer.selector, TREASURY));
        vm.prank(TREASURY);
        escrow.claim(lockOf(id), MIN_OUT, block.timestamp, signature);
    }

    function test_claim_RevertsWhenExpired() public {
        bytes32 id = lockDeposit(AMOUNT);
        bytes memory signature = signClaim(ATTESTOR_KEY, id, MIN_OUT, START);
        vm.warp(START + 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.Expired.selector, START, START + 1));
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), MIN_OUT, START, signature);
    }

    function test_T143_claim_RevertsWhenTheDeadlineIsMoreThanADayAhead() public {
        bytes32 id = lockDeposit(AMOUNT);
        uint256 latest = START + 24 hours;
        bytes memory signature = signClaim(ATTESTOR_KEY, id, MIN_OUT, latest + 1);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.DeadlineTooFar.selector, latest + 1, latest));
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), MIN_OUT, latest + 1, signature);
        _claim(ATTESTOR_KEY, id, MIN_OUT, latest);
    }

    function test_claim_RevertsWhenSignerIsNotAttestor() public {
        bytes32 id = lockDeposit(AMOUNT);
        _expectClaim(
            STRANGER_KEY,
            id,
            MIN_OUT,
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(STRANGER_KEY))
        );
    }

    function test_claim_RevertsWhenSignatureIsMalleatedOrCut() public {
        bytes32 id = lockDeposit(AMOUNT);
        bytes memory signature = signClaim(ATTESTOR_KEY, id, MIN_OUT, block.timestamp);
        bytes memory other = malleate(signature);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, address(0)));
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), MIN_OUT, block.timestamp, other);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 0, 1));
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), MIN_OUT, block.timestamp, "");
        vm.expectRevert(abi.encodeWithSelector(Signatures.MalformedSignatures.selector, 64));
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), MIN_OUT, block.timestamp, new bytes(64));
    }

    function testFuzz_claim_SignatureFitsOnlyWhatWasSigned(uint128 paidAmount, uint64 deadline)
        public
    {
        bytes32 id = lockDeposit(AMOUNT);
        uint256 signedDeadline = START + 100;
        bytes memory signature = signClaim(ATTESTOR_KEY, id, MIN_OUT, signedDeadline);
        deadline = uint64(bound(deadline, START, START + 24 hours));
        vm.assume(paidAmount != MIN_OUT || deadline != signedDeadline);
        vm.expectRevert();
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), paidAmount, deadline, signature);
    }

    function _claim(uint256 key, bytes32 id, uint256 paidAmount, uint256 deadline) private {
        bytes memory signature = signClaim(key, id, paidAmount, deadline);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), paidAmount, deadline, signature);
    }

    function _expectClaim(uint256 key, bytes32 id, uint256 paidAmount, bytes memory reason)
        private
    {
        bytes memory signature = signClaim(key, id, paidAmount, block.timestamp);
        vm.expectRevert(reason);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), paidAmount, block.timestamp, signature);
    }
}
