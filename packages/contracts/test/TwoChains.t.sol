// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Fixture } from "./support/Fixture.sol";
import { GameTest } from "./support/GameTest.sol";

/// @notice The destination's factory as its `Delivery` sees it: members of its own. The real one has the
/// source's address, which one EVM cannot give to two contracts.
contract FactoryThere {
    DepositFactory private immutable THERE;

    constructor(DepositFactory there) {
        THERE = there;
    }

    function checkAttested(bytes32 digest, bytes calldata signatures) external view {
        THERE.checkAttested(digest, signatures);
    }
}

/// @notice Two chains with a factory and a clock each. Hostile: owner and guardian on both chains,
/// refund authorities, a relayer of the owner's. Honest: the service, with two attestors and two
/// relayers, of which the hostile ones list and remove any at any time, beyond every delay. Only one
/// power is left out: an attestor whose key a thief has, after the owner's delay, together with a
/// relayer; the documents name it.
contract TwoChainsGame is Fixture {
    uint256 private constant USERS = 2;
    uint256 private constant CHAIN_THERE = 31_338;
    uint256 private constant OTHER_KEY = 0xb0b;
    address private constant OTHER_RELAYER = address(0x0a11ce13);
    address private constant THIEF = address(0xbad);

    /// @dev The service claims within 12 hours of the payout.
    uint256 private constant CLAIM_WITHIN = 12 hours;

    /// @dev A block of the source is final after so long; younger ones may come again at other times.
    uint256 private constant FINAL_AFTER = 15 minutes;

    /// @dev Slot of the escrow's records (`release/storage.json`).
    uint256 private constant RECORDS = 0;

    /// @dev Most that the clocks of the chains differ.
    uint256 private constant SKEW = 30 minutes;

    struct Payment {
        bytes32 id;
        uint256 key;
        address relayer;
        uint256 amount;
        uint256 paidAt;
    }

    uint256 public refusedClaims;
    uint256 public moved;
    uint256 public takenBack;
    uint256 public claimed;
    Payment[] public payments;

    DepositFactory private _there;
    uint256 private _timeHere;
    uint256 private _timeThere;
    uint256 private immutable CHAIN_HERE = block.chainid;
    Commitment[] private _commitments;
    IDelivery.Order[] private _orders;

    /// @dev The fuzzer calls this too; a second call must not start over.
    function setUp() public override {
        if (address(factory) != address(0)) return;
        super.setUp();
        _there = new DepositFactory(OWNER, GUARDIAN, DELAY);
        address twin = address(new FactoryThere(_there));
        delivery = new Delivery(OWNER, GUARDIAN, DELAY, twin, THERE, WINDOW);
        vm.prank(OWNER);
        _there.seal(none(), none(), listOf(vm.addr(ATTESTOR_KEY)), 1, TREASURY);
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), capsOf(address(usdcThere), type(uint112).max));
        escrowRoute = new SameAssetRoute(pairOf(address(usdc)));
        listRoute(address(escrowRoute));
        usdcThere.mint(address(delivery), 1e40);
        for (uint256 i; i < USERS; ++i) {
            Commitment memory c = remoteCommitment();
            c.userId = bytes32(i);
            c.refundAuthority = word(authorityOf(i));
            _commitments.push(c);
        }
        (_timeHere, _timeThere) = (block.timestamp, block.timestamp);
    }

    // The honest service.

    function lock(uint256 user, uint64 amount, uint256 by) external {
        _here();
        Commitment memory c = _commitments[user % USERS];
        address wallet = factory.predict(c);
        usdc.mint(wallet, uint256(amount) + 1e6);
        vm.recordLogs();
        vm.prank([RELAYER, OTHER_RELAYER, THIEF][by % 3]);
        try factory.settle(
            IDepositFactory.Job(c, address(usdc), 0, address(escrowRoute), "", noProof())
        ) {
            assertEq(escrow.takeBackAnnouncedAt(wallet, address(usdc)), 0, "announced");
            noteLocks();
            _orders.push(payoutOf(newestLock, c, lockOf(newestLock).minOut));
        } catch { }
    }

    /// @dev Pays only final locks, and only what the keys that it has can claim, as the source lists them at
    /// the lock.
    function pay(uint256 index, bool other) external {
        if (_orders.length == 0) return;
        _here();
        IDelivery.Order memory order = _orders[index % _orders.length];
        bytes32 id = _idOf(order);
        order.windowStart = lockedAtOf(id);
        uint256 key = other ? OTHER_KEY : ATTESTOR_KEY;
        address relayer = factory.wasRelayer(RELAYER, order.windowStart) ? RELAYER : OTHER_RELAYER;
        if (escrow.stateOf(id) != IEscrow.LockState.Locked) return;
        if (block.timestamp < order.windowStart + FINAL_AFTER) return;
        if (asksSource() && !factory.wasRelayer(relayer, order.windowStart)) return;
        if (asksSource() && !factory.wasAttestor(vm.addr(key), order.windowStart)) return;
        _atDestination();
        bytes memory signature = signDeliver(key, order);
        vm.prank(SETTLER);
        try delivery.deliver(order, signature) {
            payments.push(Payment(id, key, relayer, order.minOut, _timeHere));
        } catch { }
    }

    /// @dev The service has its claims in time; whether they are accepted is the law's question.
    function claim(uint256 index) public {
        if (payments.length == 0) return;
        _here();
        Payment memory paid = payments[index % payments.length];
        if (escrow.stateOf(paid.id) != IEscrow.LockState.Locked) return;
        bytes memory signature = signClaim(paid.key, paid.id, paid.amount, block.timestamp);
        vm.prank(paid.relayer);
        try escrow.claim(lockOf(paid.id), paid.amount, block.timestamp, signature) {
            ++claimed;
        } catch {
            ++refusedClaims;
        }
    }

    /// @dev A return once the destination's clock is past the window and the lock unpaid.
    function giveBack(uint256 index, bool other, bool otherRelayer) external {
        if (_orders.length == 0) return;
        _here();
        bytes32 id = _idOf(_orders[index % _orders.length]);
        if (_timeThere <= lockedAtOf(id) + WINDOW || isDelivered(id)) return;
        bytes memory signature = signReturn(other ? OTHER_KEY : ATTESTOR_KEY, id, block.timestamp);
        vm.prank(otherRelayer ? OTHER_RELAYER : RELAYER);
        try escrow.returnToWallet(lockOf(id), block.timestamp, signature) { } catch { }
    }

    // The chain.

    /// @dev A lock in a block that is not final comes again in another one: the same lock, at another time.
    function reorg(uint256 index, uint256 time) external {
        if (_orders.length == 0) return;
        _here();
        bytes32 id = _idOf(_orders[index % _orders.length]);
        (IEscrow.LockState state, uint256 lockedAt) = escrow.recordOf(id);
        if (state != IEscrow.LockState.Locked) return;
        if (block.timestamp >= lockedAt + FINAL_AFTER) return;
        lockedAt = bound(time, block.timestamp - FINAL_AFTER + 1, block.timestamp);
        bytes32 record = bytes32(lockedAt << 8 | uint256(state));
        vm.store(address(escrow), keccak256(abi.encode(id, RECORDS)), record);
        assertEq(lockedAtOf(id), lockedAt, "moved");
        ++moved;
    }

    // The hostile ones.

    function announce(uint256 user, bool cancels) external {
        _here();
        Commitment memory c = _commitments[user % USERS];
        vm.prank(authorityOf(user % USERS));
        if (cancels) {
            try escrow.cancelTakeBack(c, address(usdc)) { } catch { }
        } else {
            try escrow.announceTakeBack(c, address(usdc)) { } catch { }
        }
    }

    /// @dev Also asserts the depositor's side: an announced lock in its time can always be taken back.
    function takeBack(uint256 index) external {
        if (_orders.length == 0) return;
        _here();
        IDelivery.Order memory order = _orders[index % _orders.length];
        bytes32 id = _idOf(order);
        uint256 announcedAt = escrow.takeBackAnnouncedAt(factory.predict(order.c), address(usdc));
        bool isTime = block.timestamp >= lockedAtOf(id) + 72 hours
            && block.timestamp >= announcedAt + 24 hours && announcedAt != 0;
        vm.prank(authorityOf(uint256(order.c.userId)));
        try escrow.takeBack(lockOf(id), order.c) {
            assertTrue(isTime, "after its delays");
            ++takenBack;
        } catch {
            assertTrue(
                !isTime || escrow.stateOf(id) != IEscrow.LockState.Locked, "nobody puts it off"
            );
        }
    }

    function refund(uint256 user) external {
        _here();
        vm.prank(authorityOf(user % USERS));
        try factory.refund(_commitments[user % USERS], address(usdc), ALL) { } catch { }
    }

    /// @dev Members of either chain, by owner or guardian.
    function govern(uint256 action, uint256 which, bool there, bool byGuardian) external {
        if (there) _atDestination();
        else _here();
        DepositFactory target = there ? _there : factory;
        address attestor = vm.addr([ATTESTOR_KEY, OTHER_KEY, STRANGER_KEY][which % 3]);
        address relayer = [RELAYER, OTHER_RELAYER, THIEF][which % 3];
        bytes32 role = target.ATTESTOR();
        bytes[9] memory calls = [
            abi.encodeCall(target.remove, (role, attestor)),
            abi.encodeCall(target.setRelayer, (relayer, false)),
            abi.encodeCall(target.setRelayer, (relayer, true)),
            abi.encodeCall(target.schedule, (role, attestor)),
            abi.encodeCall(target.execute, (role, attestor)),
            abi.encodeCall(target.cancel, (role, attestor)),
            abi.encodeCall(target.pause, ()),
            abi.encodeCall(target.unpause, ()),
            abi.encodeCall(target.unpause, ())
        ];
        vm.prank(byGuardian ? GUARDIAN : OWNER);
        (bool done,) = address(target).call(calls[action % 9]);
        done; // Refused where the power is another's.
    }

    function pauseDelivery(bool lifts) external {
        _atDestination();
        vm.prank(lifts ? OWNER : GUARDIAN);
        if (lifts) try delivery.unpause() { } catch { } else try delivery.pause() { } catch { }
    }

    /// @dev Up to two days at once, often enough to pass every delay in a run.
    function pass(uint256 time, uint256 skew) external {
        _pass(time % 2 days, skew % SKEW);
    }

    function passDelay(uint256 skew) external {
        _pass(DELAY, skew % SKEW);
    }

    /// @dev Payments that are neither claimed nor still locked.
    function lost() external view returns (uint256 count) {
        for (uint256 i; i < payments.length; ++i) {
            IEscrow.LockState state = escrow.stateOf(payments[i].id);
            if (state != IEscrow.LockState.Locked && state != IEscrow.LockState.Claimed) ++count;
        }
    }

    /// @dev The source amounts of all payments, and what of it the treasury has or will have.
    function owed() external view returns (uint256 paid, uint256 covered) {
        covered = usdc.balanceOf(TREASURY);
        for (uint256 i; i < payments.length; ++i) {
            IEscrow.Lock memory held = lockOf(payments[i].id);
            paid += held.amount;
            if (escrow.stateOf(payments[i].id) == IEscrow.LockState.Locked) covered += held.amount;
        }
    }

    function countPayments() external view returns (uint256) {
        return payments.length;
    }

    /// @dev Whether the service asks the source's list before it pays.
    function asksSource() internal pure virtual returns (bool) {
        return true;
    }

    /// @dev Claims due meanwhile come first: the service claims within its 12 hours.
    function _pass(uint256 time, uint256 skew) private {
        for (uint256 i; i < payments.length; ++i) {
            if (_timeHere + time > payments[i].paidAt + CLAIM_WITHIN) claim(i);
        }
        _timeHere += time;
        uint256 there = _timeHere + SKEW / 2 - skew;
        if (there > _timeThere) _timeThere = there;
    }

    function _idOf(IDelivery.Order memory order) private view returns (bytes32) {
        return delivery.deliveryIdOf(order);
    }

    function authorityOf(uint256 user) private pure returns (address) {
        return address(uint160(0xf0000 + user));
    }

    function _here() private {
        vm.chainId(CHAIN_HERE);
        vm.warp(_timeHere);
    }

    function _atDestination() private {
        vm.chainId(CHAIN_THERE);
        vm.warp(_timeThere);
    }
}

/// @notice A service that pays without asking the source: shows why it must ask.
contract CarelessGame is TwoChainsGame {
    function asksSource() internal pure override returns (bool) {
        return false;
    }
}

/// @notice The law of the operator's money (V11): a paid lock is claimed or still locked, and never
/// taken back.
contract TwoChainsTest is GameTest {
    uint256 private constant ACTION_REMOVE = 0;
    uint256 private constant ACTION_UNLIST_RELAYER = 1;
    uint256 private constant ACTION_SCHEDULE = 3;
    uint256 private constant ACTION_EXECUTE = 4;
    uint256 private constant STRANGERS = 2;

    TwoChainsGame private _game;

    function setUp() public override {
        _game = new TwoChainsGame();
        _game.setUp();
    }

    function played() internal view override returns (address) {
        return address(_game);
    }

    function invariant_WhatWasPaidIsClaimedOrStillLocked() public view {
        assertEq(_game.refusedClaims(), 0, "a claim was refused");
        assertEq(_game.lost(), 0, "paid, and ended otherwise");
        (uint256 paid, uint256 covered) = _game.owed();
        assertEq(covered, paid, "the operator's value");
    }

    /// @dev A game in which nothing happens would prove nothing.
    function test_TheGameIsReal() public {
        _game.lock(0, 1e6, 0);
        _game.lock(1, 1e6, 0);
        _game.pay(0, false);
        assertEq(_game.countPayments(), 0, "not final");
        _game.reorg(0, 1);
        assertEq(_game.moved(), 1, "moved");
        _game.pass(30 minutes, 0);
        _game.reorg(0, 2);
        assertEq(_game.moved(), 1, "final");
        _game.pay(0, false);
        assertEq(_game.countPayments(), 1, "paid");
        _game.govern(ACTION_REMOVE, 0, false, true);
        _game.govern(ACTION_UNLIST_RELAYER, 0, false, false);
        _game.announce(0, false);
        _game.announce(1, false);
        _game.pass(2 days - 1, 0);
        assertEq(_game.claimed(), 1, "claimed by removed keys");
        _game.pass(2 days - 1, 0);
        _game.takeBack(0);
        _game.takeBack(1);
        assertEq(_game.takenBack(), 1, "an unpaid lock is taken back");
        invariant_WhatWasPaidIsClaimedOrStillLocked();
    }

    /// @dev The escrow alone cannot know that the destination lists another attestor than the source.
    function test_TheLawNeedsTheQuestionBeforeThePayout() public {
        _game = new CarelessGame();
        _game.setUp();
        _game.govern(ACTION_SCHEDULE, STRANGERS, false, false);
        _game.passDelay(0);
        _game.govern(ACTION_EXECUTE, STRANGERS, false, false);
        _game.govern(ACTION_REMOVE, 0, false, true);
        _game.pass(1 hours, 0);
        _game.lock(0, 1e6, 0);
        _game.pass(30 minutes, 0);
        _game.pay(0, false);
        assertEq(_game.countPayments(), 1, "paid");
        _game.announce(0, false);
        _game.pass(2 days - 1, 0);
        _game.pass(2 days - 1, 0);
        _game.takeBack(0);
        assertTrue(_game.refusedClaims() > 0, "not claimable");
        assertEq(_game.lost(), 1, "and taken back");
    }
}
