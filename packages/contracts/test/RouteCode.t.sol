// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import { TestToken } from "../sandbox/TestToken.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { RouteCode } from "../src/types/RouteCode.sol";
import { BeaconRoute, BeaconThief, DelegatingRoute, ThievingRoute } from "./doubles/Routes.sol";
import { Market } from "./support/Market.sol";

/// @notice What the code of a route may contain, when it may change, and how far a hostile route that
/// the owner listed reaches.
contract RouteCodeTest is Market {
    address private constant THIEF = address(0xbad);

    function test_schedule_RefusesCodeThatRunsOtherCode() public {
        _refuses(address(new DelegatingRoute(address(transferRoute))), 0xf4);
        _refuses(_etched(hex"6000f2"), 0xf2);
        _refuses(_etched(hex"6000ff"), 0xff);
        // An account that delegates by EIP-7702, whose owner may change the code at any time.
        _refuses(_etched(abi.encodePacked(hex"ef0100", address(transferRoute))), 0xef);
    }

    function test_schedule_RefusesNothingInTheOperandsOfAPush() public {
        bytes32 role = factory.ROUTE();
        address plain = _etched(
            hex"60f461f4ff63efeff2f47ff4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4fd"
        );
        vm.prank(OWNER);
        factory.schedule(role, plain);
        // The last push takes the bytes that are missing as zeros.
        plain = _etched(hex"61f4");
        vm.prank(OWNER);
        factory.schedule(role, plain);
    }

    function testFuzz_findForbidden_FindsExactlyWhatAnInterpreterWouldRun(bytes memory code)
        public
        pure
    {
        (uint8 opcode, uint256 offset) = RouteCode.findForbidden(code);
        uint256 i;
        while (i < code.length) {
            uint8 here = uint8(code[i]);
            bool bad = here == 0xf2 || here == 0xf4 || here == 0xff || (here == 0xef && i == 0);
            if (bad) {
                assertEq(opcode, here, "the instruction");
                assertEq(offset, i, "its offset");
                return;
            }
            i += here >= 0x60 && here <= 0x7f ? here - 0x5e : 1;
        }
        assertEq(opcode, 0, "nothing");
    }

    function test_seal_RefusesCodeThatRunsOtherCode() public {
        address route = address(new DelegatingRoute(address(transferRoute)));
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(
            abi.encodeWithSelector(
                IDepositFactory.ForbiddenCode.selector, route, 0xf4, _offset(route)
            )
        );
        vm.prank(OWNER);
        fresh.seal(listOf(route), none(), none(), 1, TREASURY);
        vm.prank(OWNER);
        fresh.seal(listOf(address(transferRoute)), none(), none(), 1, TREASURY);
    }

    function test_execute_RefusesOtherCodeThanWasScheduled() public {
        bytes32 role = factory.ROUTE();
        address route = address(newTransferRoute(address(usdcThere)));
        vm.prank(OWNER);
        factory.schedule(role, route);
        vm.warp(block.timestamp + DELAY);
        vm.etch(route, address(new ThievingRoute(THIEF)).code);
        vm.prank(OWNER);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.CodeChanged.selector, route));
        factory.execute(role, route);
        assertTrue(!factory.isRoute(route), "not listed");
    }

    function test_settle_RefusesOtherCodeThanWasListed() public {
        IDepositFactory.Job memory job = transferJob(10);
        usdc.mint(factory.predict(job.c), 1000);
        bytes memory code = job.route.code;
        vm.etch(job.route, address(new ThievingRoute(THIEF)).code);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.CodeChanged.selector, job.route));
        settle(job);
        vm.etch(job.route, "");
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.CodeChanged.selector, job.route));
        settle(job);
        vm.etch(job.route, code);
        settle(job);
    }

    function test_execute_RefusesAnAdditionThatWasForgotten() public {
        bytes32 role = factory.ATTESTOR();
        vm.prank(OWNER);
        factory.schedule(role, THIEF);
        uint256 latest = block.timestamp + DELAY + 14 days;
        vm.warp(latest + 1);
        vm.prank(OWNER);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.TooLate.selector, latest, latest + 1));
        factory.execute(role, THIEF);
        vm.warp(latest);
        vm.prank(OWNER);
        factory.execute(role, THIEF);
        assertTrue(factory.isAttestor(THIEF), "at the last second");
    }

    function test_schedule_AnExpiredAdditionIsCancelledAndAnnouncedAgain() public {
        bytes32 role = factory.ATTESTOR();
        vm.prank(OWNER);
        factory.schedule(role, STRANGER);
        vm.warp(block.timestamp + DELAY + 14 days + 1);
        vm.prank(OWNER);
        vm.expectRevert(abi.encodeWithSelector(IGoverned.AlreadyScheduled.selector, role, STRANGER));
        factory.schedule(role, STRANGER);
        vm.prank(OWNER);
        factory.cancel(role, STRANGER);
        vm.prank(OWNER);
        factory.schedule(role, STRANGER);
        assertEq(factory.eta(role, STRANGER), block.timestamp + DELAY, "the whole delay again");
    }

    /// @dev A hostile route, listed after the delay and with a relayer of its own, takes the wallet's
    /// balance of the settled token. It reaches nothing else and leaves no allowance or code behind.
    function test_aHostileRouteReachesNothingButTheSettledToken() public {
        TestToken other = new TestToken("Other", "OTH", 18);
        Commitment memory c = remoteCommitment();
        address wallet = factory.predict(c);
        usdc.mint(wallet, 500);
        other.mint(wallet, 600);
        vm.deal(wallet, 700);
        ThievingRoute thief = new ThievingRoute(THIEF);
        thief.want(IERC20(address(usdc)));
        thief.want(IERC20(address(other)));
        listRoute(address(thief));
        TestToken junk = new TestToken("Junk", "JNK", 18);
        junk.mint(wallet, 1);
        settle(IDepositFactory.Job(c, address(junk), 0, address(thief), "", new bytes32[](0)));
        assertEq(junk.balanceOf(THIEF), 1, "the settled token");
        assertEq(usdc.balanceOf(THIEF) + other.balanceOf(THIEF) + THIEF.balance, 0, "no other");
        assertEq(usdc.balanceOf(wallet), 500, "earlier deposits stay");
        bytes32 role = factory.ROUTE();
        vm.prank(GUARDIAN);
        factory.remove(role, address(thief));
        assertEq(usdc.allowance(wallet, THIEF) + usdc.allowance(wallet, address(thief)), 0, "none");
        usdc.mint(wallet, 1_000_000);
        vm.prank(THIEF);
        vm.expectRevert();
        usdc.transferFrom(wallet, THIEF, 1);
        settle(_escrowed(c));
        assertEq(usdc.balanceOf(address(escrow)), 1_000_500, "later deposits are safe");
    }

    /// @dev The indirection that remains: a route that asks another contract where to pay. The delay shows
    /// only its own code, which names that contract.
    function test_aRouteThatAsksAnotherContractStaysPossible() public {
        BeaconThief beacon = new BeaconThief(RECIPIENT);
        address route = address(new BeaconRoute(beacon));
        listRoute(route);
        IDepositFactory.Job memory job = transferJob(10);
        job.route = route;
        usdc.mint(factory.predict(job.c), 1000);
        settle(job);
        assertEq(usdc.balanceOf(RECIPIENT), 1000, "benign");
        beacon.set(THIEF);
        usdc.mint(factory.predict(job.c), 1000);
        settle(job);
        assertEq(usdc.balanceOf(THIEF), 1000, "as its code allows");
    }

    function _escrowed(Commitment memory c) private view returns (IDepositFactory.Job memory job) {
        job = escrowJob();
        job.c = c;
    }

    function _offset(address route) private view returns (uint256 offset) {
        (, offset) = RouteCode.findForbidden(route.code);
    }

    function _etched(bytes memory code) private returns (address where) {
        where = address(uint160(uint256(keccak256(code))));
        vm.etch(where, code);
    }

    function _refuses(address route, uint8 opcode) private {
        bytes32 role = factory.ROUTE();
        vm.prank(OWNER);
        try factory.schedule(role, route) {
            assertTrue(false, "refused");
        } catch (bytes memory reason) {
            assertEq(
                bytes32(bytes4(reason)),
                bytes32(IDepositFactory.ForbiddenCode.selector),
                "the reason"
            );
            (address where, uint8 found) = _decode(reason);
            assertEq(where, route, "the route");
            assertEq(found, opcode, "the instruction");
        }
    }

    function _decode(bytes memory reason) private pure returns (address where, uint8 opcode) {
        assembly ("memory-safe") {
            where := mload(add(reason, 0x24))
            opcode := mload(add(reason, 0x44))
        }
    }
}
