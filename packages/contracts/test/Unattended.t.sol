// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { RouteFee } from "../src/types/RouteFee.sol";
import { RouteSetLib } from "../src/types/RouteSet.sol";
import { Market } from "./support/Market.sol";

/// @notice Settlements without the operator: announced, 72 hours later, without a fee, by anybody.
contract UnattendedTest is Market {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant WAIT = 72 hours;
    uint256 private constant UNATTENDED = 14 days;

    Commitment private _c;
    address private _wallet;

    function setUp() public override {
        super.setUp();
        _c = localCommitment(address(usdc));
        _c.flags = 1;
        _wallet = factory.predict(_c);
        usdc.mint(_wallet, AMOUNT);
    }

    function test_T123_settleUnattended_PaysTheWholeDepositWithoutAFee() public {
        _announce();
        vm.warp(block.timestamp + WAIT);
        vm.expectEmit(address(factory));
        emit IDepositFactory.SettledUnattended(
            _wallet, address(usdc), address(transferRoute), AMOUNT
        );
        _settleAsStranger();
        assertEq(usdc.balanceOf(RECIPIENT), AMOUNT, "whole deposit");
        assertEq(usdc.balanceOf(FEES), 0, "no fee");
        assertEq(factory.settlementAnnouncedAt(_wallet, address(usdc)), 0, "ended");
    }

    function test_settleUnattended_PaysNativeCoin() public {
        Commitment memory c = localCommitment(NATIVE);
        c.flags = 1;
        vm.deal(factory.predict(c), 1 ether);
        factory.announceSettlement(c, NATIVE);
        vm.warp(block.timestamp + WAIT);
        factory.settleUnattended(c, NATIVE, address(nativeRoute), noProof());
        assertEq(RECIPIENT.balance, 1 ether, "whole deposit");
    }

    function test_settleUnattended_BurnsWithStandardFinalityAndTheLeastFee() public {
        messengerHere.setMinFee(10_000);
        Commitment memory c = cctpCommitment();
        c.flags = 1;
        address wallet = factory.predict(c);
        usdc.mint(wallet, AMOUNT);
        factory.announceSettlement(c, address(usdc));
        vm.warp(block.timestamp + WAIT);
        bytes memory data = abi.encode(RouteFee(0, 0), uint256(1000), uint32(2000));
        assertTrue(
            keccak256(cctpRoute.unattendedData(AMOUNT)) == keccak256(data), "the route chooses"
        );
        factory.settleUnattended(c, address(usdc), address(cctpRoute), noProof());
        assertEq(usdc.balanceOf(wallet), 0, "burned");
        assertEq(usdc.balanceOf(FEES), 0, "no fee");
    }

    function test_settleUnattended_RevertsBeforeAndAfterItsTime() public {
        uint256 readyAt = block.timestamp + WAIT;
        _announce();
        vm.warp(readyAt - 1);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.TooEarly.selector, readyAt, readyAt - 1));
        _settleAsStranger();
        vm.warp(readyAt + UNATTENDED + 1);
        _expectNotAnnounced();
        _announce();
        vm.warp(block.timestamp + WAIT + UNATTENDED);
        _settleAsStranger();
    }

    function test_settleUnattended_RevertsWithoutAnAnnouncement() public {
        _expectNotAnnounced();
    }

    function test_settleUnattended_RevertsForARouteThatDoesNotDeclareIt() public {
        Commitment memory c = remoteCommitment();
        c.flags = 1;
        usdc.mint(factory.predict(c), AMOUNT);
        factory.announceSettlement(c, address(usdc));
        vm.warp(block.timestamp + WAIT);
        vm.expectRevert();
        factory.settleUnattended(c, address(usdc), address(escrowRoute), noProof());
        assertEq(usdc.balanceOf(factory.predict(c)), AMOUNT, "kept");
    }

    function test_settleUnattended_RevertsForARouteThatIsNotListedOrCommitted() public {
        address other = address(newTransferRoute(address(usdc)));
        _announce();
        vm.warp(block.timestamp + WAIT);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRoute.selector, other));
        factory.settleUnattended(_c, address(usdc), other, noProof());

        _c.routes = RouteSetLib.leafOf(block.chainid, other);
        usdc.mint(factory.predict(_c), AMOUNT);
        _announce();
        vm.warp(block.timestamp + WAIT);
        vm.expectRevert(
            abi.encodeWithSelector(
                IDepositFactory.RouteNotCommitted.selector, address(transferRoute), _c.routes
            )
        );
        _settleAsStranger();
    }

    function test_settleUnattended_RevertsWhenPaused() public {
        _announce();
        vm.warp(block.timestamp + WAIT);
        vm.prank(GUARDIAN);
        factory.pause();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.IsPaused.selector));
        _settleAsStranger();
    }

    function test_settle_EndsTheAnnouncement() public {
        _announce();
        IDepositFactory.Job memory job = transferJob(10);
        job.c = _c;
        settle(job);
        usdc.mint(_wallet, AMOUNT);
        vm.warp(block.timestamp + WAIT);
        _expectNotAnnounced();
    }

    function test_T191_settle_OfAPartDoesNotEndTheAnnouncement() public {
        _announce();
        IDepositFactory.Job memory job = transferJob(10);
        job.c = _c;
        job.maxAmount = 1;
        settle(job);
        vm.warp(block.timestamp + WAIT);
        _settleAsStranger();
        assertEq(usdc.balanceOf(_wallet), 0, "wallet");
    }

    function test_refund_EndsTheAnnouncement() public {
        _announce();
        vm.prank(REFUNDEE);
        factory.refund(_c, address(usdc), type(uint256).max);
        usdc.mint(_wallet, AMOUNT);
        vm.warp(block.timestamp + WAIT);
        _expectNotAnnounced();
    }

    function test_announceSettlement_CannotPutAnAnnouncementOff() public {
        _announce();
        uint256 until = block.timestamp + WAIT + UNATTENDED;
        vm.warp(block.timestamp + WAIT - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IDepositFactory.AlreadyAnnounced.selector, _wallet, address(usdc), until
            )
        );
        _announce();
    }

    function test_announceSettlement_IsOfOneTokenOnly() public {
        _announce();
        vm.warp(block.timestamp + WAIT);
        vm.deal(_wallet, 1 ether);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAnnounced.selector, _wallet, NATIVE)
        );
        factory.settleUnattended(_c, NATIVE, address(nativeRoute), noProof());
    }

    function test_announceSettlement_RevertsForAnEmptyWallet() public {
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.Nothing.selector, _wallet, NATIVE));
        factory.announceSettlement(_c, NATIVE);
    }

    function testFuzz_announceSettlement_RevertsUnlessTheCommitmentAllowsIt(uint16 flags) public {
        vm.assume(flags != 1);
        _c.flags = flags;
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotUnattended.selector, flags));
        _announce();
    }

    /// @dev For every caller, time and number of payments, the value is in the wallet or at the
    /// committed recipient.
    function testFuzz_settleUnattended_ValueGoesOnlyToTheRecipient(
        address caller,
        uint32 wait,
        uint64 more
    ) public {
        vm.assume(caller != address(0));
        _announce();
        usdc.mint(_wallet, more);
        vm.warp(block.timestamp + wait);
        vm.prank(caller);
        try factory.settleUnattended(_c, address(usdc), address(transferRoute), noProof()) {
            assertTrue(wait >= WAIT && wait <= WAIT + UNATTENDED, "in its time only");
            assertEq(usdc.balanceOf(RECIPIENT), AMOUNT + more, "recipient");
        } catch {
            assertTrue(wait < WAIT || wait > WAIT + UNATTENDED, "out of its time only");
            assertEq(usdc.balanceOf(_wallet), AMOUNT + more, "kept");
        }
    }

    function _announce() private {
        vm.prank(STRANGER);
        factory.announceSettlement(_c, address(usdc));
    }

    function _settleAsStranger() private {
        vm.prank(STRANGER);
        factory.settleUnattended(_c, address(usdc), address(transferRoute), noProof());
    }

    function _expectNotAnnounced() private {
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAnnounced.selector, _wallet, address(usdc))
        );
        _settleAsStranger();
    }
}
