// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { IEscrowRoute } from "../src/interfaces/IEscrowRoute.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Refuser } from "./doubles/Doubles.sol";
import { HostileToken } from "./doubles/HostileToken.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice One treasury for claims and withdrawals, which the owner replaces after the delay.
contract TreasuryTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant PAID = 0.999 ether;
    address private constant OTHER = address(0x0a11ce0a);

    bytes32 private _role;
    HostileToken private _token;
    Commitment private _c;
    bytes32 private _id;

    function setUp() public override {
        super.setUp();
        _role = factory.TREASURY();
        _c = remoteCommitment();
        _token = new HostileToken("T", "T", 6);
        address route = address(new SameAssetRoute(pairOf(address(_token))));
        listRoute(route);
        _token.mint(factory.predict(_c), AMOUNT);
        settle(IDepositFactory.Job(_c, address(_token), 0, route, "", noProof()));
        _id = newestLock;
    }

    function test_claim_OfATokenThatBlocksTheTreasuryIsNotLost() public {
        _token.blockAccount(TREASURY, true);
        vm.expectEmit(address(escrow));
        emit IEscrow.Uncollected(address(_token), AMOUNT);
        _claim(_id);
        assertEq(escrow.uncollected(address(_token)), AMOUNT, "waits");
        vm.expectRevert();
        escrow.collect(address(_token));

        announceTakeBack(_c, address(_token));
        vm.warp(block.timestamp + 96 hours);
        vm.expectRevert(
            abi.encodeWithSelector(IEscrow.NotLocked.selector, _id, IEscrow.LockState.Claimed)
        );
        vm.prank(REFUNDEE);
        escrow.takeBack(lockOf(_id), _c);

        _replaceTreasury();
        vm.expectEmit(address(escrow));
        emit IEscrow.Collected(address(_token), AMOUNT);
        vm.prank(STRANGER);
        assertEq(escrow.collect(address(_token)), AMOUNT, "collected");
        assertEq(_token.balanceOf(OTHER), AMOUNT, "by the treasury of now");
        assertEq(escrow.uncollected(address(_token)), 0, "nothing waits");
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NothingToCollect.selector, address(_token)));
        escrow.collect(address(_token));
    }

    function test_claim_OfCoinThatTheTreasuryRefusesIsNotLost() public {
        IEscrowRoute.Pair memory pair = nativePair();
        SameAssetRoute route = new SameAssetRoute(pair);
        listRoute(address(route));
        IDepositFactory.Job memory job = nativeEscrowJob(address(route));
        vm.deal(factory.predict(job.c), 1 ether);
        settle(job);
        vm.etch(TREASURY, address(new Refuser()).code);
        _claimFor(newestLock, 1 ether);
        assertEq(escrow.uncollected(NATIVE), 1 ether, "waits");
        vm.etch(TREASURY, "");
        escrow.collect(NATIVE);
        assertEq(TREASURY.balance, 1 ether, "collected");
    }

    function test_treasury_IsReplacedAfterTheDelayForClaimsAndWithdrawals() public {
        assertEq(factory.treasury(), TREASURY, "of the seal");
        vm.prank(OWNER);
        factory.schedule(_role, OTHER);
        _claim(_id);
        assertEq(_token.balanceOf(TREASURY), AMOUNT, "still the old one");
        vm.warp(block.timestamp + DELAY - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IGoverned.TooEarly.selector, block.timestamp + 1, block.timestamp
            )
        );
        vm.prank(OWNER);
        factory.execute(_role, OTHER);
        vm.warp(block.timestamp + 1);
        vm.prank(OWNER);
        factory.execute(_role, OTHER);
        usdcThere.mint(address(delivery), 5);
        vm.prank(OWNER);
        delivery.withdraw(address(usdcThere), 5);
        assertEq(usdcThere.balanceOf(OTHER), 5, "withdrawn");
    }

    function test_treasury_ReplacementIsCancelledByTheGuardian() public {
        vm.prank(OWNER);
        factory.schedule(_role, OTHER);
        vm.prank(GUARDIAN);
        factory.cancel(_role, OTHER);
        vm.warp(block.timestamp + DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotScheduled.selector, _role, OTHER));
        vm.prank(OWNER);
        factory.execute(_role, OTHER);
    }

    function test_seal_RevertsWithoutATreasury() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        vm.prank(OWNER);
        fresh.seal(none(), none(), none(), 1, address(0));
    }

    function test_withdraw_RevertsBeforeTheFactoryIsSealed() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        Delivery early = new Delivery(OWNER, GUARDIAN, DELAY, address(fresh), THERE, WINDOW);
        vm.deal(address(early), 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.ZeroAddress.selector));
        vm.prank(OWNER);
        early.withdraw(NATIVE, 1);
    }

    function test_securityContact_IsSetByTheOwnerAlone() public {
        vm.expectRevert(abi.encodeWithSelector(IGoverned.NotOwner.selector, GUARDIAN));
        vm.prank(GUARDIAN);
        factory.setSecurityContact("guardian@example.org");
        vm.prank(OWNER);
        factory.setSecurityContact("security@example.org");
        assertEq(
            keccak256(bytes(factory.securityContact())),
            keccak256("security@example.org"),
            "contact"
        );
    }

    function _claim(bytes32 id) private {
        _claimFor(id, PAID);
    }

    function _claimFor(bytes32 id, uint256 paid) private {
        bytes memory signature = signClaim(ATTESTOR_KEY, id, paid, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), paid, block.timestamp, signature);
    }

    function _replaceTreasury() private {
        vm.prank(OWNER);
        factory.schedule(_role, OTHER);
        vm.warp(block.timestamp + DELAY);
        vm.prank(OWNER);
        factory.execute(_role, OTHER);
    }
}
