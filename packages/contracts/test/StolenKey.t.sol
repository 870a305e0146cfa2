// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { RouteFee } from "../src/types/RouteFee.sol";
import { GameTest } from "./support/GameTest.sol";
import { Users } from "./support/Users.sol";

/// @notice Honest use by three users, and the means of every thief: an account, time, and every
/// signature that was ever public. Each game below adds one stolen key.
abstract contract StolenKeyGame is Users {
    uint256 private constant USERS = 3;
    uint112 internal constant CAP = 1e24;
    address internal constant THIEF = address(0xbad);

    uint256 public paidHonestly;
    uint256 public fundedNative;
    bytes32[] internal ids;
    /// @dev Signatures that the attestor gave for honest work.
    IDelivery.Order[] internal signedOrders;
    bytes[] internal signedDeliveries;

    function setUp() public virtual override {
        if (address(factory) != address(0)) return;
        super.setUp();
        for (uint256 i; i < USERS; ++i) {
            Commitment memory c = i == 0 ? localCommitment(address(usdc)) : remoteCommitment();
            addUser(c);
        }
        usdcThere.mint(address(delivery), 1e40);
        vm.prank(OWNER);
        delivery.lowerCap(address(usdcThere), CAP);
    }

    function fundNative(uint256 user, uint64 amount) external {
        address wallet = factory.predict(commitments[user % USERS]);
        vm.deal(wallet, wallet.balance + amount);
        fundedNative += amount;
    }

    function honestSettle(uint256 user) external {
        Commitment memory c = commitments[user % USERS];
        bool stays = c.destChain == HERE;
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: c,
            token: address(usdc),
            maxAmount: 0,
            route: stays ? address(transferRoute) : address(escrowRoute),
            data: stays ? feeOf(10) : bytes(""),
            proof: noProof()
        });
        vm.recordLogs();
        vm.prank(RELAYER);
        try factory.settle(job) {
            noteLocks();
            if (!stays) ids.push(newestLock);
        } catch { }
    }

    /// @dev The attestor signs each lock's payout once, and the settler pays it.
    function honestDeliver(uint256 index) external {
        if (ids.length == 0) return;
        bytes32 id = ids[index % ids.length];
        if (uint8(escrow.stateOf(id)) != 1) return;
        IDelivery.Order memory order = payoutOf(id, commitmentOf(id), lockOf(id).minOut);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        signedOrders.push(order);
        signedDeliveries.push(signature);
        vm.prank(SETTLER);
        try delivery.deliver(order, signature) {
            paidHonestly += order.amount;
        } catch { }
    }

    function honestClaim(uint256 index) external {
        if (ids.length == 0) return;
        bytes32 id = ids[index % ids.length];
        if (!isDelivered(id)) return;
        uint256 paid = lockOf(id).minOut;
        bytes memory signature = signClaim(ATTESTOR_KEY, id, paid, block.timestamp);
        vm.prank(RELAYER);
        try escrow.claim(lockOf(id), paid, block.timestamp, signature) { } catch { }
    }

    /// @dev Hours, never reaching the delay of the owner's additions in one run.
    function pass(uint256 time) external {
        uint256 next = block.timestamp + time % 6 hours;
        if (next < START + DELAY) vm.warp(next);
    }

    /// @dev The thief's balance of anything.
    function gained() public view returns (uint256) {
        return usdc.balanceOf(THIEF) + usdcThere.balanceOf(THIEF) + THIEF.balance;
    }

    function usdcOf(address owner) external view returns (uint256) {
        return usdc.balanceOf(owner);
    }

    function inPlaceNative() public view returns (uint256 sum) {
        for (uint256 i; i < USERS; ++i) {
            sum += factory.predict(commitments[i]).balance + authorityOf(i).balance;
        }
    }

    function inventoryLeft() public view returns (uint256) {
        return usdcThere.balanceOf(address(delivery));
    }

    function inventoryAtTreasury() public view returns (uint256) {
        return usdcThere.balanceOf(TREASURY);
    }

    /// @dev A refund by its authority always works; afterwards the wallet is empty.
    function checkRefund(uint256 user) external {
        Commitment memory c = commitments[user % USERS];
        address wallet = factory.predict(c);
        address authority = authorityOf(user % USERS);
        uint256 before = usdc.balanceOf(authority);
        uint256 held = usdc.balanceOf(wallet);
        if (held == 0) return;
        vm.prank(authority);
        factory.refund(c, address(usdc), ALL);
        assertEq(usdc.balanceOf(authority), before + held, "the refund");
    }

    /// @dev Of a lock.
    function commitmentOf(bytes32 id) internal view returns (Commitment memory c) {
        for (uint256 i; i < commitments.length; ++i) {
            c = commitments[i];
            if (factory.hashOf(c) == lockOf(id).commitment) return c;
        }
    }

    /// @dev Of a user, or one that leads to the thief.
    function anyCommitment(uint256 user, bool own) internal view returns (Commitment memory c) {
        c = commitments[user % USERS];
        if (own) (c.destWallet, c.refundAuthority) = (word(THIEF), word(THIEF));
    }
}

/// @notice The lane keys: relayer and settler. They give gas and the choice of time.
contract LaneKeysGame is StolenKeyGame {
    function settleAny(uint256 user, bool own, uint256 route, bytes calldata data, uint16 fee)
        external
    {
        address[5] memory routes = [
            address(transferRoute), address(nativeRoute), address(escrowRoute), THIEF, address(usdc)
        ];
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: anyCommitment(user, own),
            token: route % 2 == 0 ? address(usdc) : NATIVE,
            maxAmount: 0,
            route: routes[route % 5],
            data: fee % 2 == 0 ? data : abi.encode(RouteFee(fee % 60, fee / 60)),
            proof: noProof()
        });
        vm.recordLogs();
        vm.prank(RELAYER);
        try factory.settle(job) {
            noteLocks();
            if (job.route == address(escrowRoute)) ids.push(newestLock);
        } catch { }
    }

    /// @dev Without the attestor's signature, or with one over something else.
    function deliverAny(uint256 index, uint256 user, bool own, uint64 amount, uint8 change)
        external
    {
        IDelivery.Order memory order = orderOf(uint64(index % 4), amount);
        bytes memory signature = signDeliver(STRANGER_KEY, order);
        if (signedOrders.length > 0 && change % 2 == 0) {
            order = signedOrders[index % signedOrders.length];
            signature = signedDeliveries[index % signedOrders.length];
            if (change % 8 == 2) order.amount = amount;
            if (change % 8 == 4) order.seq += 1;
            if (change % 8 == 6) order.windowStart += 1;
        } else {
            order.c = anyCommitment(user, own);
            order.c.destChain = THERE;
        }
        bool known = change % 8 == 0 && !isDelivered(order);
        vm.prank(SETTLER);
        try delivery.deliver(order, signature) {
            assertTrue(known, "only what the attestor signed, to the unit, once");
            paidHonestly += order.amount;
        } catch { }
    }

    function claimAny(uint256 index, uint128 paid) external {
        if (ids.length == 0) return;
        bytes32 id = ids[index % ids.length];
        bytes memory signature = signClaim(STRANGER_KEY, id, paid, block.timestamp);
        vm.prank(RELAYER);
        (bool done,) = address(escrow)
            .call(abi.encodeCall(escrow.claim, (lockOf(id), paid, block.timestamp, signature)));
        assertTrue(!done, "no claim without the attestor");
        signature = signReturn(STRANGER_KEY, id, block.timestamp);
        vm.prank(RELAYER);
        (done,) = address(escrow)
            .call(abi.encodeCall(escrow.returnToWallet, (lockOf(id), block.timestamp, signature)));
        assertTrue(!done, "no return without the attestor");
    }

    function refundAny(uint256 user, bool own) external {
        Commitment memory c = anyCommitment(user, own);
        address wallet = factory.predict(c);
        bytes memory signature =
            signRefund(STRANGER_KEY, wallet, address(usdc), ALL, block.timestamp);
        vm.prank(RELAYER);
        (bool done,) = address(factory)
            .call(
                abi.encodeCall(
                    factory.refundBySignature,
                    (c, address(usdc), ALL, 1, block.timestamp, signature)
                )
            );
        assertTrue(!done, "no refund without the attestor");
    }
}

/// @notice The attestor's key alone: its signatures are useless without a lane key.
contract AttestorKeyGame is StolenKeyGame {
    function deliverAny(uint256 user, uint8 seq, uint64 amount, bool own) external {
        IDelivery.Order memory order = orderOf(seq % 4, amount);
        order.c = anyCommitment(user, own);
        order.c.destChain = THERE;
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(THIEF);
        (bool done,) = address(delivery).call(abi.encodeCall(delivery.deliver, (order, signature)));
        assertTrue(!done, "only a settler delivers");
    }

    function endAny(uint256 index, uint128 paid) external {
        if (ids.length == 0) return;
        bytes32 id = ids[index % ids.length];
        bytes memory claim = signClaim(ATTESTOR_KEY, id, paid, block.timestamp);
        bytes memory giveBack = signReturn(ATTESTOR_KEY, id, block.timestamp);
        vm.prank(THIEF);
        (bool done,) = address(escrow)
            .call(abi.encodeCall(escrow.claim, (lockOf(id), paid, block.timestamp, claim)));
        assertTrue(!done, "only a relayer claims");
        vm.prank(THIEF);
        (done,) = address(escrow)
            .call(abi.encodeCall(escrow.returnToWallet, (lockOf(id), block.timestamp, giveBack)));
        assertTrue(!done, "only a relayer returns");
    }

    function refundAny(uint256 user) external {
        Commitment memory c = commitments[user % commitments.length];
        address wallet = factory.predict(c);
        bytes memory signature =
            signRefund(ATTESTOR_KEY, wallet, address(usdc), ALL, block.timestamp);
        vm.prank(THIEF);
        (bool done,) = address(factory)
            .call(
                abi.encodeCall(
                    factory.refundBySignature,
                    (c, address(usdc), ALL, 1, block.timestamp, signature)
                )
            );
        assertTrue(!done, "only a relayer refunds");
    }
}

/// @notice Lane keys and attestor together: inventory at the daily cap per day, and deposits to the
/// treasury undelivered. Never a deposit to anybody else.
contract BothKeysGame is StolenKeyGame {
    uint256[] private _paidAt;
    uint256[] private _paid;

    function deliverAny(uint256 user, uint8 seq, uint88 amount, bool own) external {
        IDelivery.Order memory order = orderOf(seq, uint256(amount));
        order.c = anyCommitment(user, own);
        order.c.destChain = THERE;
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        try delivery.deliver(order, signature) {
            _paidAt.push(block.timestamp);
            _paid.push(order.amount);
        } catch { }
    }

    function claimAny(uint256 index) external {
        if (ids.length == 0) return;
        bytes32 id = ids[index % ids.length];
        uint256 paid = lockOf(id).minOut;
        bytes memory signature = signClaim(ATTESTOR_KEY, id, paid, block.timestamp);
        vm.prank(RELAYER);
        try escrow.claim(lockOf(id), paid, block.timestamp, signature) { } catch { }
    }

    function settleOwn(uint256 user, uint16 fee) external {
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: commitments[user % commitments.length],
            token: address(usdc),
            maxAmount: 0,
            route: address(transferRoute),
            data: feeOf(fee),
            proof: noProof()
        });
        vm.prank(RELAYER);
        try factory.settle(job) { } catch { }
    }

    function refundAny(uint256 user) external {
        Commitment memory c = commitments[user % commitments.length];
        address wallet = factory.predict(c);
        bytes memory signature =
            signRefund(ATTESTOR_KEY, wallet, address(usdc), ALL, block.timestamp);
        vm.prank(RELAYER);
        try factory.refundBySignature(c, address(usdc), ALL, 1, block.timestamp, signature) { }
            catch { }
    }

    /// @dev The most that the theft paid in 24 hours, by a list of it; honest use only leaves less.
    function mostInADay() external view returns (uint256 most) {
        for (uint256 i; i < _paid.length; ++i) {
            uint256 sum;
            for (uint256 k = i; k < _paid.length; ++k) {
                if (_paidAt[k] < _paidAt[i] + 24 hours) sum += _paid[k];
            }
            if (sum > most) most = sum;
        }
    }

    function stolenInventory() external view returns (uint256) {
        return usdcThere.balanceOf(THIEF);
    }
}

/// @notice The guardian's key pauses. It moves nothing, and refunds stay open.
contract GuardianKeyGame is StolenKeyGame {
    function guard(uint256 what, address who, uint112 cap) external {
        address[4] memory members = [RELAYER, SETTLER, address(transferRoute), who];
        bytes32[3] memory roles = [factory.ROUTE(), factory.ATTESTOR(), delivery.SETTLER()];
        bytes[8] memory calls = [
            abi.encodeCall(factory.pause, ()),
            abi.encodeCall(factory.unpause, ()),
            abi.encodeCall(factory.remove, (roles[cap % 3], members[cap % 4])),
            abi.encodeCall(factory.cancel, (roles[cap % 3], members[cap % 4])),
            abi.encodeCall(factory.schedule, (roles[cap % 3], THIEF)),
            abi.encodeCall(factory.setRelayer, (THIEF, true)),
            abi.encodeCall(delivery.lowerCap, (address(usdcThere), cap)),
            abi.encodeCall(delivery.withdraw, (address(usdcThere), cap))
        ];
        address target = what % 8 > 5 || cap % 2 == 0 ? address(delivery) : address(factory);
        vm.prank(GUARDIAN);
        (bool done,) = target.call(calls[what % 8]);
        bool forbidden = what % 8 == 1 || what % 8 == 4 || what % 8 == 5 || what % 8 == 7;
        assertTrue(!done || !forbidden, "the guardian only stops");
    }
}

/// @notice The owner's key inside the delay: additions wait; immediate actions only pay the treasury or
/// remove powers.
contract OwnerKeyGame is StolenKeyGame {
    function own(uint256 what, uint112 amount) external {
        bytes32[4] memory roles =
            [factory.ROUTE(), factory.ATTESTOR(), delivery.SETTLER(), delivery.GUARDIAN()];
        bytes32 role = roles[amount % 4];
        bytes[9] memory calls = [
            abi.encodeCall(factory.schedule, (role, THIEF)),
            abi.encodeCall(factory.execute, (role, THIEF)),
            abi.encodeCall(factory.remove, (role, RELAYER)),
            abi.encodeCall(factory.setRelayer, (THIEF, true)),
            abi.encodeCall(factory.transferOwnership, (THIEF)),
            abi.encodeCall(delivery.scheduleCapRaise, (address(usdcThere), type(uint112).max)),
            abi.encodeCall(delivery.executeCapRaise, (address(usdcThere))),
            abi.encodeCall(delivery.withdraw, (address(usdcThere), amount)),
            abi.encodeCall(factory.unpause, ())
        ];
        address target = what % 9 > 4 || amount % 2 == 0 ? address(delivery) : address(factory);
        vm.prank(target == address(factory) ? factory.owner() : delivery.owner());
        (bool done,) = target.call(calls[what % 9]);
        assertTrue(!done || (what % 9 != 1 && what % 9 != 6), "nothing is added inside the delay");
    }

    function accept(bool here) external {
        vm.prank(THIEF);
        (bool done,) = (here ? address(factory) : address(delivery))
        .call(abi.encodeCall(factory.acceptOwnership, ()));
        if (done && here) assertEq(factory.owner(), THIEF, "who was named accepts");
    }

    /// @dev As a relayer that the owner added at once, with an attestor and a route that still wait.
    function useRelayer(uint256 user, uint16 fee, uint128 paid) external {
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: commitments[user % commitments.length],
            token: address(usdc),
            maxAmount: 0,
            route: fee % 2 == 0 ? THIEF : address(transferRoute),
            data: feeOf(fee),
            proof: noProof()
        });
        vm.prank(THIEF);
        try factory.settle(job) { } catch { }
        if (ids.length == 0) return;
        bytes32 id = ids[user % ids.length];
        bytes memory signature = signClaim(STRANGER_KEY, id, paid, block.timestamp);
        vm.prank(THIEF);
        (bool done,) = address(escrow)
            .call(abi.encodeCall(escrow.claim, (lockOf(id), paid, block.timestamp, signature)));
        assertTrue(!done, "an attestor that waits says nothing");
    }
}

/// @notice Law of every game: source tokens stay with their owners.
abstract contract StolenKeyTest is GameTest {
    StolenKeyGame internal immutable game;

    constructor(StolenKeyGame theft) {
        game = theft;
    }

    function setUp() public override {
        game.setUp();
    }

    function played() internal view override returns (address) {
        return address(game);
    }

    /// @dev A game in which nothing happens would prove nothing.
    function test_HonestBusinessIsReal() public {
        game.fund(0, 1e6);
        game.fund(1, 1e6);
        game.honestSettle(0);
        game.honestSettle(1);
        game.honestDeliver(0);
        game.honestClaim(0);
        assertEq(game.paidHonestly(), 995e15, "paid");
        assertEq(game.inventoryAtRecipients(), 995e15, "received");
        assertEq(game.feesTaken(), 1e3, "the fee of the settlement that stays");
        checkDeposits();
    }

    /// @dev Deposits are where a commitment or the code sent them, and fees within the cap of 50.
    function checkDeposits() internal view {
        assertEq(game.inPlace(), game.funded(), "deposits");
        assertEq(game.inPlaceNative(), game.fundedNative(), "native deposits");
        assertTrue(game.feesTaken() * 10_000 <= game.funded() * 50, "fees");
    }

    /// @dev Inventory goes only to committed recipients, for their locks.
    function checkAll() internal view {
        checkDeposits();
        assertEq(game.gained(), 0, "the thief");
        assertEq(game.inventoryAtRecipients(), game.paidHonestly(), "payouts");
        uint256 left = game.inventoryLeft() + game.inventoryAtTreasury();
        assertEq(left + game.paidHonestly(), 1e40, "inventory");
    }
}

contract StolenLaneKeysTest is StolenKeyTest(new LaneKeysGame()) {
    function invariant_LaneKeysGainNothing() public view {
        checkAll();
    }
}

contract StolenAttestorKeyTest is StolenKeyTest(new AttestorKeyGame()) {
    function invariant_AttestorKeyMovesNothing() public view {
        checkAll();
    }
}

contract StolenBothKeysTest is StolenKeyTest(new BothKeysGame()) {
    /// @dev The loss that the table of keys states: proves that the law above is not empty.
    function test_TheLossIsReal() public {
        _theft().deliverAny(1, 0, 1e24, true);
        _theft().deliverAny(1, 1, 1, true);
        assertEq(_theft().stolenInventory(), 1e24, "the daily cap, and no unit more");
    }

    function invariant_BothKeysTakeInventoryAtTheCapAndNoDeposit() public view {
        checkDeposits();
        assertEq(game.gained(), _theft().stolenInventory(), "nothing but inventory");
        assertTrue(_theft().mostInADay() <= 1e24, "the daily cap");
    }

    function _theft() private view returns (BothKeysGame) {
        return BothKeysGame(address(game));
    }
}

contract StolenGuardianKeyTest is StolenKeyTest(new GuardianKeyGame()) {
    function invariant_GuardianKeyMovesNothing() public view {
        checkAll();
        assertEq(game.inventoryAtTreasury(), 0, "withdrawals");
    }
}

contract StolenOwnerKeyTest is StolenKeyTest(new OwnerKeyGame()) {
    function invariant_OwnerKeyGainsNothingInsideTheDelay() public view {
        checkAll();
    }
}
