// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { StolenKeyGame, StolenKeyTest } from "./StolenKey.t.sol";

/// @notice Two stolen keys at once, within the owner's delay: every pair but the lanes with the
/// attestor, which `StolenBothKeysTest` plays. The first theft of a game draws the pair. A key that the
/// thief lacks signs nothing: a stranger's signature or account stands in its place.
contract StolenPairsGame is StolenKeyGame {
    uint8 public constant LANE = 1;
    uint8 public constant ATTESTOR = 2;
    uint8 public constant GUARD = 4;
    uint8 public constant OWN = 8;
    /// @dev The refund authority of one user.
    uint8 public constant AUTHORITY = 16;
    uint256 private constant VICTIM = 1;

    uint8 private _pair;

    modifier plays(uint256 seed) {
        if (_pair == 0) choose(seed);
        _;
    }

    function choose(uint256 seed) public {
        if (_pair != 0) return;
        uint8[9] memory pairs = [
            LANE | GUARD,
            LANE | OWN,
            LANE | AUTHORITY,
            ATTESTOR | GUARD,
            ATTESTOR | OWN,
            ATTESTOR | AUTHORITY,
            GUARD | OWN,
            GUARD | AUTHORITY,
            OWN | AUTHORITY
        ];
        _pair = pairs[seed % 9];
    }

    function settleAny(uint256 seed, uint256 user, bool mine, bytes calldata data, uint16 fee)
        external
        plays(seed)
    {
        address[4] memory routes =
            [address(transferRoute), address(nativeRoute), address(escrowRoute), THIEF];
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: anyCommitment(user, mine),
            token: seed % 2 == 0 ? address(usdc) : NATIVE,
            maxAmount: seed % 3 == 0 ? fee : 0,
            route: routes[seed % 4],
            data: fee % 2 == 0 ? data : feeOf(fee),
            proof: noProof()
        });
        vm.recordLogs();
        vm.prank(_relayer());
        try factory.settle(job) {
            assertTrue(_has(LANE) || _has(OWN), "a relayer settles");
            noteLocks();
            if (job.route == address(escrowRoute)) ids.push(newestLock);
        } catch { }
    }

    /// @dev An order of the thief's, or one of the honest attestor's again, changed or not.
    function deliverAny(uint256 seed, uint256 index, uint256 user, bool mine, uint64 amount)
        external
        plays(seed)
    {
        IDelivery.Order memory order = orderOf(uint64(index % 4), amount);
        order.c = anyCommitment(user, mine);
        order.c.destChain = THERE;
        bool repeats = signedOrders.length > 0 && seed % 2 == 0;
        if (repeats) order = signedOrders[index % signedOrders.length];
        if (repeats && mine) order.amount = amount;
        bytes memory signature = repeats
            ? signedDeliveries[index % signedOrders.length]
            : signDeliver(_attestorKey(), order);
        bool isKnown = repeats && !mine && !isDelivered(order);
        vm.prank(_has(LANE) ? SETTLER : THIEF);
        try delivery.deliver(order, signature) {
            assertTrue(isKnown, "only what the honest attestor signed");
            paidHonestly += order.amount;
        } catch { }
    }

    /// @dev Claims or returns a lock, paid or not.
    function endAny(uint256 seed, uint256 index, uint128 paid) external plays(seed) {
        if (ids.length == 0) return;
        bytes32 id = ids[index % ids.length];
        bytes memory call = seed % 2 == 0
            ? abi.encodeCall(
                escrow.claim,
                (
                    lockOf(id),
                    paid,
                    block.timestamp,
                    signClaim(_attestorKey(), id, paid, block.timestamp)
                )
            )
            : abi.encodeCall(
                escrow.returnToWallet,
                (lockOf(id), block.timestamp, signReturn(_attestorKey(), id, block.timestamp))
            );
        vm.prank(_relayer());
        (bool done,) = address(escrow).call(call);
        assertTrue(!done || _mayRelayWords(), "a lock ends by relayer and attestor");
    }

    function refundAny(uint256 seed, uint256 user, bool mine) external plays(seed) {
        Commitment memory c = anyCommitment(user, mine);
        bytes memory signature =
            signRefund(_attestorKey(), factory.predict(c), address(usdc), ALL, block.timestamp);
        vm.prank(_relayer());
        try factory.refundBySignature(c, address(usdc), ALL, 1, block.timestamp, signature) {
            assertTrue(_mayRelayWords(), "a refund by signatures needs both");
        } catch { }
    }

    function guard(uint256 seed, uint8 what, uint112 cap) external plays(seed) {
        if (!_has(GUARD)) return;
        address[4] memory members = [RELAYER, SETTLER, address(escrowRoute), vm.addr(ATTESTOR_KEY)];
        bytes32[3] memory roles = [factory.ROUTE(), factory.ATTESTOR(), delivery.SETTLER()];
        bytes[6] memory calls = [
            abi.encodeCall(factory.pause, ()),
            abi.encodeCall(factory.remove, (roles[cap % 3], members[cap % 4])),
            abi.encodeCall(factory.cancel, (roles[cap % 3], THIEF)),
            abi.encodeCall(factory.setRelayer, (members[cap % 4], false)),
            abi.encodeCall(delivery.lowerCap, (address(usdcThere), cap)),
            abi.encodeCall(delivery.withdraw, (address(usdcThere), cap))
        ];
        vm.prank(GUARDIAN);
        (bool done,) = (cap % 2 == 0 ? address(delivery) : address(factory)).call(calls[what % 6]);
        assertTrue(!done || what % 6 != 5, "the guardian withdraws nothing");
    }

    /// @dev Additions are scheduled for an account of the thief's and tried at once and later.
    function own(uint256 seed, uint8 what, uint112 amount) external plays(seed) {
        if (!_has(OWN)) return;
        bytes32[4] memory roles =
            [factory.ROUTE(), factory.ATTESTOR(), delivery.SETTLER(), factory.GUARDIAN()];
        bytes32 role = roles[amount % 4];
        bytes[10] memory calls = [
            abi.encodeCall(factory.schedule, (role, THIEF)),
            abi.encodeCall(factory.execute, (role, THIEF)),
            abi.encodeCall(factory.remove, (role, vm.addr(ATTESTOR_KEY))),
            abi.encodeCall(factory.setRelayer, (THIEF, true)),
            abi.encodeCall(factory.schedule, (factory.TREASURY(), THIEF)),
            abi.encodeCall(factory.execute, (factory.TREASURY(), THIEF)),
            abi.encodeCall(delivery.scheduleCapRaise, (address(usdcThere), type(uint112).max)),
            abi.encodeCall(delivery.executeCapRaise, (address(usdcThere))),
            abi.encodeCall(delivery.withdraw, (address(usdcThere), amount)),
            abi.encodeCall(factory.unpause, ())
        ];
        bool isHere = what % 10 < 6 && amount % 2 == 1;
        vm.prank(OWNER);
        (bool done,) = (isHere ? address(factory) : address(delivery)).call(calls[what % 10]);
        bool adds = what % 10 == 1 || what % 10 == 5 || what % 10 == 7;
        assertTrue(!done || !adds, "nothing is added within the delay");
    }

    /// @dev The authority of one user takes back its own locks, and tries the others'.
    function takeBack(uint256 seed, uint8 what, uint256 index) external plays(seed) {
        if (!_has(AUTHORITY)) return;
        Commitment memory c = commitments[index % 2 == 0 ? VICTIM : index % commitments.length];
        if (what % 4 == 3 && ids.length == 0) return;
        bytes32 id = what % 4 == 3 ? ids[index % ids.length] : bytes32(0);
        bytes[4] memory calls = [
            abi.encodeCall(factory.refund, (c, address(usdc), ALL)),
            abi.encodeCall(escrow.announceTakeBack, (c, address(usdc))),
            abi.encodeCall(escrow.cancelTakeBack, (c, address(usdc))),
            abi.encodeCall(escrow.takeBack, (lockOf(id), commitmentOf(id)))
        ];
        address target = what % 4 == 0 ? address(factory) : address(escrow);
        address authority = authorityOf(VICTIM);
        vm.prank(authority);
        (bool done,) = target.call(calls[what % 4]);
        if (what % 4 == 3) c = commitmentOf(id);
        assertTrue(!done || c.refundAuthority == word(authority), "its own addresses only");
    }

    /// @dev Without the relayer's key, the account that the owner lists at once.
    function _relayer() private view returns (address) {
        return _has(LANE) ? RELAYER : THIEF;
    }

    /// @dev Of the pairs here only the attestor's with the owner's, who lists a relayer.
    function _mayRelayWords() private view returns (bool) {
        return _has(ATTESTOR) && _has(OWN);
    }

    function _attestorKey() private view returns (uint256) {
        return _has(ATTESTOR) ? ATTESTOR_KEY : STRANGER_KEY;
    }

    function _has(uint8 key) private view returns (bool) {
        return _pair & key != 0;
    }
}

contract StolenPairsTest is StolenKeyTest(new StolenPairsGame()) {
    uint256 private constant ATTESTOR_AND_OWNER = 4;
    uint256 private constant ATTESTOR_AND_AUTHORITY = 5;
    uint256 private constant OWNER_AND_AUTHORITY = 8;
    uint8 private constant SET_RELAYER = 3;
    uint8 private constant ANNOUNCE = 1;
    uint8 private constant TAKE_BACK = 3;

    function invariant_NoOtherPairGainsAnything() public view {
        checkAll();
    }

    /// @dev The owner lists a relayer at once; with the attestor's key, locks end at the treasury.
    function test_OwnerAndAttestorClaimAnUndeliveredLock() public {
        StolenPairsGame pairs = _play(ATTESTOR_AND_OWNER);
        pairs.own(0, SET_RELAYER, 1);
        pairs.endAny(0, 0, 1e30);
        assertEq(game.usdcOf(TREASURY), 1e6, "the lock");
        checkAll();
    }

    /// @dev A refund authority needs neither, and takes only its own.
    function test_OwnerAndRefundAuthorityTakeBackItsOwnLock() public {
        StolenPairsGame pairs = _play(OWNER_AND_AUTHORITY);
        pairs.takeBack(0, ANNOUNCE, 0);
        for (uint256 i; i < 13; ++i) {
            pairs.pass(6 hours - 1);
        }
        pairs.takeBack(0, TAKE_BACK, 0);
        assertEq(game.usdcOf(address(0xf0001)), 1e6, "the lock");
        checkAll();
    }

    function test_AttestorAndRefundAuthorityEndNoLock() public {
        StolenPairsGame pairs = _play(ATTESTOR_AND_AUTHORITY);
        pairs.endAny(0, 0, 1e30);
        pairs.endAny(1, 0, 1);
        pairs.refundAny(0, 1, false);
        assertEq(game.usdcOf(TREASURY) + game.usdcOf(address(0xf0001)), 0, "still locked");
        checkAll();
    }

    /// @dev A deposit of the user whose authority may be stolen, locked by the honest service.
    function _play(uint256 pair) private returns (StolenPairsGame pairs) {
        pairs = StolenPairsGame(address(game));
        pairs.choose(pair);
        pairs.fund(1, 1e6);
        pairs.honestSettle(1);
    }
}
