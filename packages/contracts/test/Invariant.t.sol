// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { RouteFee } from "../src/types/RouteFee.sol";
import { GameTest } from "./support/GameTest.sol";
import { Users } from "./support/Users.sol";

/// @notice Has the relayer's, the settler's and (for refunds, claims and honest deliveries) the
/// attestor's key, and uses them in any order against a few users.
contract ThiefHandler is Users {
    uint256 private constant USERS = 4;

    uint256 public delivered;
    bytes32[] private _ids;

    /// @dev The fuzzer calls this too; a second call must not start over.
    function setUp() public override {
        if (address(factory) != address(0)) return;
        super.setUp();
        for (uint256 i; i < USERS; ++i) {
            Commitment memory c = i % 2 == 0 ? localCommitment(address(usdc)) : remoteCommitment();
            addUser(c);
        }
        usdcThere.mint(address(delivery), 1e40);
    }

    function settleAny(uint256 user, uint256 route, bytes32 data, bool plain) external {
        address[3] memory routes =
            [address(transferRoute), address(nativeRoute), address(escrowRoute)];
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: commitments[user % USERS],
            token: address(usdc),
            maxAmount: 0,
            route: routes[route % 3],
            data: plain
                ? bytes("")
                : abi.encode(RouteFee(uint16(uint256(data) % 60), uint256(data) >> 240)),
            proof: noProof()
        });
        bool barred = escrow.takeBackAnnouncedAt(factory.predict(job.c), address(usdc)) != 0;
        vm.recordLogs();
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(!barred || job.route != address(escrowRoute), "no lock while announced");
            noteLocks();
            if (job.route == address(escrowRoute)) _ids.push(newestLock);
        } catch { }
    }

    function settleTampered(uint256 user, Commitment memory c, uint16 feeBps) external {
        Commitment memory own = commitments[user % USERS];
        (c.integrator, c.userId, c.destChain) = (own.integrator, own.userId, own.destChain);
        c.destToken = own.destToken;
        IDepositFactory.Job[] memory jobs = new IDepositFactory.Job[](1);
        jobs[0] = IDepositFactory.Job(
            c, address(usdc), 0, address(transferRoute), feeOf(feeBps), noProof()
        );
        vm.prank(RELAYER);
        try factory.settleMany(jobs, 300_000) { } catch { }
    }

    function deliverAny(uint256 user, uint8 seq, uint64 amount, bool signed) external {
        IDelivery.Order memory order = orderOf(seq % 8, amount);
        order.c = commitments[user % USERS];
        bytes memory signature = signDeliver(signed ? ATTESTOR_KEY : STRANGER_KEY, order);
        bool before = isDelivered(order);
        vm.prank(SETTLER);
        try delivery.deliver(order, signature) {
            assertTrue(signed && !before, "only signed, only once");
            delivered += amount;
        } catch { }
    }

    function claimAny(uint256 index, uint128 paidAmount, bool signed) external {
        if (_ids.length == 0) return;
        bytes32 id = _ids[index % _ids.length];
        bytes memory signature =
            signClaim(signed ? ATTESTOR_KEY : STRANGER_KEY, id, paidAmount, block.timestamp);
        vm.prank(RELAYER);
        try escrow.claim(lockOf(id), paidAmount, block.timestamp, signature) { } catch { }
    }

    function returnAny(uint256 index, bool signed) external {
        if (_ids.length == 0) return;
        bytes32 id = _ids[index % _ids.length];
        bytes memory signature =
            signReturn(signed ? ATTESTOR_KEY : STRANGER_KEY, id, block.timestamp);
        vm.prank(RELAYER);
        try escrow.returnToWallet(lockOf(id), block.timestamp, signature) {
            assertTrue(signed, "only with the attestor");
        } catch { }
    }

    /// @dev Any user's authority, any user's commitment.
    function announceAny(uint256 caller, uint256 user, bool cancels) external {
        Commitment memory c = commitments[user % USERS];
        bytes memory change = cancels
            ? abi.encodeCall(escrow.cancelTakeBack, (c, address(usdc)))
            : abi.encodeCall(escrow.announceTakeBack, (c, address(usdc)));
        vm.prank(authorityOf(caller % USERS));
        (bool done,) = address(escrow).call(change);
        assertTrue(!done || caller % USERS == user % USERS, "by the authority of the commitment");
    }

    /// @dev Any user's authority, any lock, any user's commitment.
    function takeBackAny(uint256 index, uint256 caller, uint256 user) external {
        if (_ids.length == 0) return;
        bytes32 id = _ids[index % _ids.length];
        uint256 lockedAt = lockedAtOf(id);
        uint256 announcedAt =
            escrow.takeBackAnnouncedAt(factory.predict(commitments[user % USERS]), address(usdc));
        vm.prank(authorityOf(caller % USERS));
        try escrow.takeBack(lockOf(id), commitments[user % USERS]) {
            assertTrue(caller % USERS == user % USERS, "by the authority of the commitment");
            assertTrue(block.timestamp >= lockedAt + 72 hours, "after 72 hours");
            assertTrue(announcedAt != 0, "announced");
            assertTrue(block.timestamp >= announcedAt + 24 hours, "after 24 hours' notice");
        } catch { }
    }

    function refundByAuthority(uint256 user, uint256 caller) external {
        vm.prank(authorityOf(caller % USERS));
        try factory.refund(commitments[user % USERS], address(usdc), ALL) {
            assertTrue(caller % USERS == user % USERS, "by the authority of the commitment");
        } catch { }
    }

    /// @dev The guardian may pause at any time; the owner continues, and may only schedule meanwhile.
    function guardAndOwn(uint256 what, address who) external {
        bytes32 route = factory.ROUTE();
        bytes32 attestor = factory.ATTESTOR();
        what = what % 5;
        vm.prank(what == 0 ? GUARDIAN : OWNER);
        if (what == 0) try factory.pause() { } catch { }
        if (what == 1) try factory.unpause() { } catch { }
        if (what == 2) try factory.schedule(route, who) { } catch { }
        if (what == 3) try factory.schedule(attestor, who) { } catch { }
        if (what == 4) {
            try delivery.scheduleCapRaise(address(usdcThere), type(uint112).max) { } catch { }
        }
    }

    /// @dev Never reaches the delay of the owner's additions in one run.
    function pass(uint256 time) external {
        if (block.timestamp < START + DELAY - 1 hours) vm.warp(block.timestamp + time % 1 hours);
    }

    /// @dev Sometimes far enough for a take-back.
    function passFar() external {
        if (block.timestamp < START + 72 hours) vm.warp(START + 72 hours);
    }

    function refundAny(uint256 user, bool signed) external {
        Commitment memory c = commitments[user % USERS];
        bytes memory signature = signRefund(
            signed ? ATTESTOR_KEY : STRANGER_KEY,
            factory.predict(c),
            address(usdc),
            ALL,
            block.timestamp
        );
        vm.prank(RELAYER);
        try factory.refundBySignature(c, address(usdc), ALL, 1, block.timestamp, signature) { }
            catch { }
    }

    function locked() external view returns (uint256 sum) {
        for (uint256 i; i < _ids.length; ++i) {
            if (uint8(escrow.stateOf(_ids[i])) == 1) sum += lockOf(_ids[i]).amount;
        }
    }

    function inEscrow() external view returns (uint256) {
        return usdc.balanceOf(address(escrow));
    }
}

/// @notice With any use of the hot keys, value is only where a commitment or the code sent it.
contract InvariantTest is GameTest {
    ThiefHandler private _handler;

    function setUp() public override {
        _handler = new ThiefHandler();
        _handler.setUp();
    }

    function played() internal view override returns (address) {
        return address(_handler);
    }

    function invariant_ValueIsOnlyAtCommittedPlaces() public view {
        assertEq(_handler.inPlace(), _handler.funded(), "source tokens");
        assertEq(_handler.inventoryAtRecipients(), _handler.delivered(), "inventory");
    }

    function invariant_EscrowHoldsExactlyItsLocks() public view {
        assertEq(_handler.inEscrow(), _handler.locked(), "escrow");
    }

    /// @dev The cap is 50 basis points for every user, of at most everything ever funded.
    function invariant_FeesStayWithinTheCap() public view {
        assertTrue(_handler.feesTaken() * 10_000 <= _handler.funded() * 50, "fees");
    }
}
