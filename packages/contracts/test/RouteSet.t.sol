// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { TransferRoute } from "../src/routes/TransferRoute.sol";
import { RouteSetLib } from "../src/types/RouteSet.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice An address that commits its routes: the owner's list narrows the set, and a route that
/// the owner adds later never settles the address.
contract RouteSetTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;

    /// @dev Listed, but in no set: what an owner could add after seven days.
    TransferRoute private _added;

    function setUp() public override {
        super.setUp();
        _added = newTransferRoute(address(usdc));
        listRoute(address(_added));
    }

    function test_settle_TakesARouteOfTheSet() public {
        settle(_jobOf(_leaf(address(transferRoute)), noProof()));
        assertEq(usdc.balanceOf(RECIPIENT), AMOUNT, "delivered");
    }

    function test_settle_TakesEveryRouteOfALargerSet() public {
        bytes32 one = _leaf(address(transferRoute));
        bytes32 other = _leaf(address(_added));
        bytes32 third = RouteSetLib.leafOf(8453, address(transferRoute));
        bytes32 root = _pair(_pair(one, other), third);
        bytes32[] memory proof = new bytes32[](2);
        (proof[0], proof[1]) = (other, third);
        settle(_jobOf(root, proof));
        proof[0] = one;
        IDepositFactory.Job memory job = _jobOf(root, proof);
        job.route = address(_added);
        settle(job);
        assertEq(usdc.balanceOf(RECIPIENT), 2 * AMOUNT, "delivered by both");
    }

    function test_T122_settle_RevertsForAListedRouteOutsideTheSet() public {
        bytes32 root = _leaf(address(transferRoute));
        IDepositFactory.Job memory job = _jobOf(root, noProof());
        job.route = address(_added);
        _expectNotCommitted(job);
        job.proof = _listOf(root);
        _expectNotCommitted(job);
        assertEq(usdc.balanceOf(factory.predict(job.c)), AMOUNT, "kept");
    }

    function test_settle_RevertsForARouteCommittedOnAnotherChain() public {
        bytes32 elsewhere = RouteSetLib.leafOf(block.chainid + 1, address(transferRoute));
        _expectNotCommitted(_jobOf(elsewhere, noProof()));
    }

    function test_settle_RevertsForAnInnerNodeShownAsALeaf() public {
        bytes32 inner = keccak256(abi.encode(block.chainid, address(transferRoute)));
        _expectNotCommitted(_jobOf(inner, noProof()));
    }

    function testFuzz_settle_NoProofAdmitsARouteOutsideTheSet(bytes32 root, bytes32[] memory proof)
        public
    {
        vm.assume(root != 0);
        IDepositFactory.Job memory job = _jobOf(root, proof);
        job.route = address(_added);
        _expectNotCommitted(job);
    }

    function test_settle_RevertsForACommittedRouteThatIsNoLongerListed() public {
        IDepositFactory.Job memory job = _jobOf(_leaf(address(transferRoute)), noProof());
        bytes32 role = factory.ROUTE();
        vm.prank(GUARDIAN);
        factory.remove(role, address(transferRoute));
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotRoute.selector, address(transferRoute))
        );
        settle(job);
        vm.prank(REFUNDEE);
        factory.refund(job.c, address(usdc), type(uint256).max);
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "only the refund remains");
    }

    function test_refund_NeedsNoRouteOfTheSet() public {
        IDepositFactory.Job memory job = _jobOf(bytes32("no such set"), noProof());
        vm.prank(REFUNDEE);
        factory.refund(job.c, address(usdc), type(uint256).max);
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    function test_settleMany_AJobOutsideItsSetFailsAlone() public {
        IDepositFactory.Job[] memory jobs = new IDepositFactory.Job[](2);
        jobs[0] = _jobOf(bytes32("no such set"), noProof());
        jobs[1] = transferJob(0);
        usdc.mint(factory.predict(jobs[1].c), AMOUNT);
        vm.prank(RELAYER);
        assertEq(factory.settleMany(jobs, 500_000), 1, "one settled");
        assertEq(usdc.balanceOf(factory.predict(jobs[0].c)), AMOUNT, "kept");
    }

    function test_settle_AcceptsAnyListedRouteWithoutASet() public {
        IDepositFactory.Job memory job = _jobOf(0, noProof());
        job.route = address(_added);
        settle(job);
        assertEq(usdc.balanceOf(RECIPIENT), AMOUNT, "delivered");
    }

    function testFuzz_settle_RevertsForUnknownFlags(uint16 flags) public {
        IDepositFactory.Job memory job = transferJob(0);
        job.c.flags = flags;
        usdc.mint(factory.predict(job.c), AMOUNT);
        if (flags > 1) {
            vm.expectRevert(abi.encodeWithSelector(IDepositFactory.UnknownFlags.selector, flags));
        }
        settle(job);
        if (flags <= 1) return;
        vm.prank(REFUNDEE);
        factory.refund(job.c, address(usdc), type(uint256).max);
        assertEq(usdc.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    function _jobOf(bytes32 root, bytes32[] memory proof)
        private
        returns (IDepositFactory.Job memory job)
    {
        job = transferJob(0);
        job.c.routes = root;
        job.proof = proof;
        usdc.mint(factory.predict(job.c), AMOUNT);
    }

    function _expectNotCommitted(IDepositFactory.Job memory job) private {
        vm.expectRevert(
            abi.encodeWithSelector(
                IDepositFactory.RouteNotCommitted.selector, job.route, job.c.routes
            )
        );
        settle(job);
    }

    function _leaf(address route) private view returns (bytes32) {
        return RouteSetLib.leafOf(block.chainid, route);
    }

    function _pair(bytes32 one, bytes32 other) private pure returns (bytes32) {
        return one < other ? keccak256(abi.encode(one, other)) : keccak256(abi.encode(other, one));
    }

    function _listOf(bytes32 word_) private pure returns (bytes32[] memory list) {
        list = new bytes32[](1);
        list[0] = word_;
    }
}
