// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { DepositFactory } from "../src/DepositFactory.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Signatures } from "../src/types/Signatures.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Attestations by two of three attestors, and how the number two changes.
contract AttestorsTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant PAID = 0.999 ether;
    uint256 private constant N = 3;

    /// @dev Sorted by address.
    uint256[N] private _keys = [uint256(0xa1), 0xa2, 0xa3];
    bytes32 private _threshold;
    bytes32 private _role;

    function setUp() public override {
        super.setUp();
        _threshold = factory.THRESHOLD();
        _role = factory.ATTESTOR();
        for (uint256 i; i < N; ++i) {
            for (uint256 j = i + 1; j < N; ++j) {
                if (vm.addr(_keys[j]) < vm.addr(_keys[i])) {
                    (_keys[i], _keys[j]) = (_keys[j], _keys[i]);
                }
            }
        }
        for (uint256 i; i < N; ++i) {
            _schedule(_role, vm.addr(_keys[i]));
        }
        _schedule(_threshold, address(2));
        vm.warp(block.timestamp + DELAY);
        for (uint256 i; i < N; ++i) {
            _execute(_role, vm.addr(_keys[i]));
        }
        _execute(_threshold, address(2));
        vm.prank(GUARDIAN);
        factory.remove(_role, vm.addr(ATTESTOR_KEY));
        vm.warp(block.timestamp + 1);
        usdcThere.mint(address(delivery), 100 ether);
    }

    function test_deliver_NeedsTheThreshold() public {
        lockDeposit(AMOUNT);
        IDelivery.Order memory order = orderOf(0, PAID);
        bytes memory one = signDeliver(_keys[0], order);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 1, 2));
        vm.prank(SETTLER);
        delivery.deliver(order, one);
        bytes memory two = bytes.concat(one, signDeliver(_keys[2], order));
        vm.prank(SETTLER);
        delivery.deliver(order, two);
        assertEq(usdcThere.balanceOf(RECIPIENT), PAID, "paid");
    }

    function test_returnToWallet_NeedsTheThreshold() public {
        bytes32 id = lockDeposit(AMOUNT);
        bytes memory one = signReturn(_keys[1], id, block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 1, 2));
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(id), block.timestamp, one);
        bytes memory two = bytes.concat(one, signReturn(_keys[2], id, block.timestamp));
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(id), block.timestamp, two);
    }

    function test_refundBySignature_NeedsTheThreshold() public {
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        usdc.mint(wallet, AMOUNT);
        uint256 deadline = block.timestamp;
        bytes memory one = signRefund(_keys[0], wallet, address(usdc), AMOUNT, 3, deadline);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 1, 2));
        vm.prank(RELAYER);
        factory.refundBySignature(c, address(usdc), AMOUNT, 3, deadline, one);
        bytes memory other = signRefund(_keys[1], wallet, address(usdc), AMOUNT, 4, deadline);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(c, address(usdc), AMOUNT, 3, deadline, bytes.concat(one, other));
        other = signRefund(_keys[1], wallet, address(usdc), AMOUNT, 3, deadline);
        vm.prank(RELAYER);
        factory.refundBySignature(c, address(usdc), AMOUNT, 3, deadline, bytes.concat(one, other));
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    function test_checkAttested_AcceptsMoreThanTheThreshold() public view {
        factory.checkAttested("all", _sign("all", 7));
    }

    function testFuzz_checkAttested_AcceptsExactlySubsetsOfTwoOrMore(uint8 subset) public {
        subset %= 8;
        uint256 count = (subset & 1) + (subset >> 1 & 1) + (subset >> 2);
        if (count < 2) {
            vm.expectRevert(
                abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, count, 2)
            );
        }
        this.check("any", _sign("any", subset));
    }

    function test_checkAttested_RevertsWhenOneSignsTwice() public {
        bytes memory one = _sign("twice", 1);
        address signer = vm.addr(_keys[0]);
        vm.expectRevert(
            abi.encodeWithSelector(Signatures.UnsortedSignatures.selector, signer, signer)
        );
        factory.checkAttested("twice", bytes.concat(one, one));
    }

    function test_checkAttested_RevertsWhenUnsorted() public {
        vm.expectRevert(
            abi.encodeWithSelector(
                Signatures.UnsortedSignatures.selector, vm.addr(_keys[0]), vm.addr(_keys[1])
            )
        );
        factory.checkAttested("order", bytes.concat(_sign("order", 2), _sign("order", 1)));
    }

    function test_checkAttested_RevertsForAStrangerAmongMembers() public {
        bytes memory signatures = _sign("stranger", 7);
        address stranger = vm.addr(STRANGER_KEY);
        bytes memory foreign = _signWith(STRANGER_KEY, "stranger");
        // Wherever the stranger sorts, one of the two errors names it.
        vm.expectRevert();
        factory.checkAttested("stranger", bytes.concat(signatures, foreign));
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, stranger));
        factory.checkAttested("stranger", bytes.concat(foreign, signatures));
    }

    function test_checkAttested_RevertsForARemovedMember() public {
        bytes memory signatures = _sign("removed", 3);
        vm.prank(GUARDIAN);
        factory.remove(_role, vm.addr(_keys[0]));
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(_keys[0]))
        );
        factory.checkAttested("removed", signatures);
    }

    function test_checkAttested_RevertsForPartsOfSignatures() public {
        bytes memory signatures = bytes.concat(_sign("parts", 3), hex"00");
        vm.expectRevert(abi.encodeWithSelector(Signatures.MalformedSignatures.selector, 131));
        factory.checkAttested("parts", signatures);
    }

    function test_checkAttested_RevertsBeforeTheSeal() public {
        factory = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 0, 0));
        factory.checkAttested("unsealed", "");
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 0, 0));
        factory.checkAttestedAt("unsealed", "", block.timestamp);
    }

    /// @dev Any subset of two may claim, also of members of then and now.
    function test_claim_AcceptsMembersOfThenAndNowTogether() public {
        bytes32 id = lockDeposit(AMOUNT);
        vm.prank(GUARDIAN);
        factory.remove(_role, vm.addr(_keys[0]));
        vm.warp(block.timestamp + 1 days);
        _claim(id, 3, "");
        assertEq(usdc.balanceOf(TREASURY), AMOUNT, "claimed");
    }

    function test_claim_HigherThresholdDoesNotKeepTheOperatorFromIt() public {
        bytes32 id = lockDeposit(AMOUNT);
        _setThreshold(3);
        _claim(id, 5, "");
    }

    function test_claim_LowerThresholdHelpsIt() public {
        bytes32 id = lockDeposit(AMOUNT);
        _setThreshold(1);
        _claim(id, 2, "");
    }

    function test_claim_NeedsTheThresholdOfThenAndNow() public {
        bytes32 id = lockDeposit(AMOUNT);
        _claim(id, 4, abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 1, 2));
        _setThreshold(3);
        _claim(id, 4, abi.encodeWithSelector(IDepositFactory.TooFewSignatures.selector, 1, 2));
    }

    /// @dev A lock in the second of a change, before or after it.
    function test_claim_TakesTheLowerThresholdOfTheSecondOfAChange() public {
        _schedule(_threshold, address(1));
        _schedule(_threshold, address(3));
        vm.warp(block.timestamp + DELAY);
        _execute(_threshold, address(1));
        bytes32 id = lockDeposit(AMOUNT);
        _execute(_threshold, address(3));
        assertEq(factory.threshold(), 3, "now");
        assertEq(factory.lowestThresholdAt(block.timestamp), 1, "in this second");
        assertEq(factory.lowestThresholdAt(block.timestamp - 1), 2, "before");
        vm.warp(block.timestamp + 1);
        assertEq(factory.lowestThresholdAt(block.timestamp), 3, "after");
        _claim(id, 1, "");
    }

    function test_lock_RevertsBelowTheThresholdAndClaimsGoOn() public {
        bytes32 id = lockDeposit(AMOUNT);
        vm.prank(GUARDIAN);
        factory.remove(_role, vm.addr(_keys[0]));
        assertTrue(factory.hasEnoughAttestors(), "two of two");
        vm.prank(GUARDIAN);
        factory.remove(_role, vm.addr(_keys[1]));
        assertTrue(!factory.hasEnoughAttestors(), "one of two");
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(factory.predict(job.c), AMOUNT);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.TooFewAttestors.selector));
        settle(job);
        vm.warp(block.timestamp + 1 days);
        _claim(id, 3, "");
    }

    function test_threshold_WaitsOutTheDelayInBothDirections() public {
        _schedule(_threshold, address(1));
        _schedule(_threshold, address(3));
        uint256 eta = block.timestamp + DELAY;
        vm.warp(eta - 1);
        for (uint160 count = 1; count <= 3; count += 2) {
            vm.expectRevert(abi.encodeWithSelector(IGoverned.TooEarly.selector, eta, eta - 1));
            _execute(_threshold, address(count));
        }
        vm.prank(GUARDIAN);
        factory.cancel(_threshold, address(1));
        vm.warp(eta);
        _execute(_threshold, address(3));
        assertEq(factory.threshold(), 3, "raised");
        assertTrue(factory.hasRole(_threshold, address(3)), "its holder");
        vm.expectRevert(
            abi.encodeWithSelector(IGoverned.NotScheduled.selector, _threshold, address(1))
        );
        _execute(_threshold, address(1));
    }

    function test_threshold_RevertsWhenZeroOrAboveSeven() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        _schedule(_threshold, address(0));
        _schedule(_threshold, address(8));
        vm.warp(block.timestamp + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.InvalidThreshold.selector, 8, 7));
        _execute(_threshold, address(8));
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.InvalidThreshold.selector, 0, 7));
        vm.prank(OWNER);
        fresh.seal(none(), none(), none(), 0, TREASURY);
    }

    function test_threshold_CannotBeRemoved() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.UnknownRole.selector, _threshold));
        vm.prank(OWNER);
        factory.remove(_threshold, address(2));
    }

    function check(bytes32 digest, bytes calldata signatures) external view {
        factory.checkAttested(digest, signatures);
    }

    function _claim(bytes32 id, uint8 subset, bytes memory reason) private {
        bytes memory signatures;
        for (uint256 i; i < N; ++i) {
            if (subset >> i & 1 == 0) continue;
            signatures = bytes.concat(signatures, signClaim(_keys[i], id, PAID, block.timestamp));
        }
        if (reason.length != 0) vm.expectRevert(reason);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), PAID, block.timestamp, signatures);
    }

    /// @dev By the members whose bit is set, in their order.
    function _sign(bytes32 digest, uint8 subset) private view returns (bytes memory signatures) {
        for (uint256 i; i < N; ++i) {
            if (subset >> i & 1 == 1) {
                signatures = bytes.concat(signatures, _signWith(_keys[i], digest));
            }
        }
    }

    function _signWith(uint256 key, bytes32 digest) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _setThreshold(uint160 count) private {
        _schedule(_threshold, address(count));
        vm.warp(block.timestamp + DELAY);
        _execute(_threshold, address(count));
    }

    function _schedule(bytes32 role, address who) private {
        vm.prank(OWNER);
        factory.schedule(role, who);
    }

    function _execute(bytes32 role, address who) private {
        vm.prank(OWNER);
        factory.execute(role, who);
    }
}
