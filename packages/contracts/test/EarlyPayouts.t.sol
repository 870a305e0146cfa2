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
import { FactoryThere } from "./TwoChains.t.sol";

/// @notice Payouts before finality. Three attestors, two of which must sign. A thief has the settler's keys and one
/// attestor's, and reorganises the source at will above its final block: locks go, come back the same, with another
/// amount, or with another's number. The honest attestors sign by their own policy, as the service's signer does: a
/// tier for the amount, their part of the exposure, and nothing while a lock that they signed for is missing.
contract EarlyPayoutsGame is Fixture {
    uint256 public constant EXPOSURE = 100 ether;
    /// @dev Paid per day, twice as much at most over a turn of the window.
    uint112 public constant DAILY_CAP = 150 ether;

    uint256 private constant USERS = 2;
    uint256 private constant HONEST = 2;
    uint256 private constant K = 2;

    /// @dev A lock of the first tier is so old, one of the second, a final one.
    uint256 private constant FIRST_AFTER = 2 seconds;
    uint256 private constant FIRST_UP_TO = 15 ether;
    uint256 private constant SECOND_AFTER = 5 minutes;
    uint256 private constant SECOND_UP_TO = 45 ether;
    uint256 private constant FINAL_AFTER = 15 minutes;

    /// @dev Slots of the escrow (`release/storage.json`).
    uint256 private constant RECORDS = 0;
    uint256 private constant NEXT_SEQS = 1;

    struct Count {
        bytes32 id;
        uint256 worth;
        uint256 usableUntil;
    }

    /// @dev Of an honest attestor.
    struct Attestor {
        Count[] counted;
        bool closed;
    }

    uint256 public payments;
    uint256 public undone;
    uint256 public cameBack;
    uint256 public paidForAnother;

    bytes32[] private _chain;
    bytes32[] private _paid;
    mapping(bytes32 id => IDelivery.Order) private _orders;
    mapping(bytes32 id => bool) private _isKnown;
    mapping(bytes32 id => bool) private _isPaid;
    bytes32[] private _known;
    mapping(uint256 attestor => mapping(bytes32 id => uint64 windowStart)) private _signed;
    uint256[3] private _keys = [uint256(0xb1), 0xb2, 0xb3];
    Attestor[HONEST] private _honest;
    Commitment[] private _commitments;

    /// @dev The fuzzer calls this too; a second call must not start over.
    function setUp() public override {
        if (address(factory) != address(0)) return;
        super.setUp();
        DepositFactory there = new DepositFactory(OWNER, GUARDIAN, DELAY);
        address[] memory attestors = new address[](3);
        for (uint256 i; i < 3; ++i) {
            attestors[i] = vm.addr(_keys[i]);
        }
        vm.prank(OWNER);
        there.seal(none(), none(), attestors, K, TREASURY);
        address twin = address(new FactoryThere(there));
        delivery = new Delivery(OWNER, GUARDIAN, DELAY, twin, THERE, WINDOW);
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), capsOf(address(usdcThere), DAILY_CAP));
        escrowRoute = new SameAssetRoute(pairOf(address(usdc)));
        listRoute(address(escrowRoute));
        usdcThere.mint(address(delivery), 1e40);
        for (uint256 i; i < USERS; ++i) {
            Commitment memory c = remoteCommitment();
            c.userId = bytes32(i);
            _commitments.push(c);
        }
    }

    // The source chain.

    /// @dev 10, 20 or 30 dollars, so that a later lock is often the same as one that went.
    function lock(uint256 user, uint256 amount) external {
        Commitment memory c = _commitments[user % USERS];
        usdc.mint(factory.predict(c), (1 + amount % 3) * 10e6);
        vm.recordLogs();
        vm.prank(RELAYER);
        factory.settle(
            IDepositFactory.Job(c, address(usdc), 0, address(escrowRoute), "", noProof())
        );
        noteLocks();
        _chain.push(newestLock);
        if (_isKnown[newestLock]) ++cameBack;
        else _known.push(newestLock);
        _isKnown[newestLock] = true;
        _orders[newestLock] = payoutOf(newestLock, c, lockOf(newestLock).minOut);
    }

    /// @dev The newest locks go, as far as they are not final; their deposits stay in the wallet or go too.
    function reorg(uint256 count, bool keepsDeposits) external {
        for (uint256 left = 1 + count % 4; left > 0 && _chain.length > 0; --left) {
            bytes32 id = _chain[_chain.length - 1];
            if (block.timestamp >= lockedAtOf(id) + FINAL_AFTER) return;
            IEscrow.Lock memory held = lockOf(id);
            vm.store(address(escrow), keccak256(abi.encode(id, RECORDS)), 0);
            bytes32 seqSlot = keccak256(abi.encode(word(address(delivery)), NEXT_SEQS));
            vm.store(address(escrow), seqSlot, bytes32(uint256(held.seq)));
            assertTrue(escrow.stateOf(id) == IEscrow.LockState.None, "gone");
            assertEq(nextSeq(), held.seq, "its number is free");
            address wallet = factory.predict(_orders[id].c);
            vm.prank(address(escrow));
            require(usdc.transfer(keepsDeposits ? wallet : STRANGER, held.amount));
            _chain.pop();
            ++undone;
        }
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + time % 20 minutes);
    }

    function passWindow() external {
        vm.warp(block.timestamp + WINDOW);
    }

    // The honest attestors.

    /// @dev The thief asks for a signature, for a lock that is on the chain.
    function sign(uint256 attestor, uint256 which) external {
        if (_chain.length == 0) return;
        attestor %= HONEST;
        bytes32 id = _chain[which % _chain.length];
        uint256 age = block.timestamp - lockedAtOf(id);
        uint64 windowStart = lockedAtOf(id);
        if (isDelivered(_orders[id])) return;
        if (age < FINAL_AFTER) {
            windowStart = uint64(block.timestamp - FINAL_AFTER);
            if (!_mayCount(attestor, id, age)) return;
            _count(attestor, id, windowStart + WINDOW);
        }
        _signed[attestor][id] = windowStart;
    }

    /// @dev Covers final locks and payouts that can no longer be made, and closes while a paid lock is missing.
    function look(uint256 attestor) public {
        Attestor storage own = _honest[attestor % HONEST];
        own.closed = false;
        for (uint256 i = own.counted.length; i > 0; --i) {
            Count memory one = own.counted[i - 1];
            bool isThere = escrow.stateOf(one.id) != IEscrow.LockState.None;
            bool isFinal = isThere && block.timestamp >= lockedAtOf(one.id) + FINAL_AFTER;
            bool isOver = block.timestamp > one.usableUntil && !isDelivered(_orders[one.id]);
            if (isFinal || isOver) {
                own.counted[i - 1] = own.counted[own.counted.length - 1];
                own.counted.pop();
            } else if (!isThere && isDelivered(_orders[one.id])) {
                own.closed = true;
            }
        }
    }

    // The thief.

    /// @dev Pays with whatever signatures there are, with the stolen one or without.
    function pay(uint256 which, uint256 windowOf, bool withStolen) external {
        if (_known.length == 0) return;
        IDelivery.Order memory order = _orders[_known[which % _known.length]];
        bytes32 id = delivery.deliveryIdOf(order);
        order.windowStart = _signed[windowOf % HONEST][id];
        if (order.windowStart == 0) return;
        // The stolen key is the last; the contract takes signatures in the order of their accounts.
        bytes memory signatures;
        for (uint256 account; account < 3; ++account) {
            uint256 index = _byAccount(account);
            bool has = index < HONEST ? _signed[index][id] == order.windowStart : withStolen;
            if (has) signatures = bytes.concat(signatures, signDeliver(_keys[index], order));
        }
        vm.prank(SETTLER);
        try delivery.deliver(order, signatures) {
            ++payments;
            if (_isPaid[id]) ++paidForAnother;
            _isPaid[id] = true;
            _paid.push(id);
        } catch { }
    }

    /// @dev Nobody signed another amount, another lock or another recipient.
    function forge(uint256 which, uint128 amount, uint64 seq) external {
        if (_known.length == 0) return;
        IDelivery.Order memory order = _orders[_known[which % _known.length]];
        (order.amount, order.seq) = (uint256(amount) + order.amount + 1, seq);
        order.windowStart = uint64(block.timestamp);
        vm.prank(SETTLER);
        try delivery.deliver(order, signDeliver(_keys[2], order)) {
            ++paidForAnother;
        } catch { }
    }

    /// @dev The payouts for locks that are not final, in US dollars times 1e18.
    function atRisk() external view returns (uint256 sum) {
        for (uint256 i; i < _paid.length; ++i) {
            uint64 lockedAt = lockedAtOf(_paid[i]);
            if (lockedAt != 0 && block.timestamp >= lockedAt + FINAL_AFTER) continue;
            sum += _orders[_paid[i]].amount;
        }
    }

    /// @dev Every lock on the chain is paid once, for itself, or can still be paid or returned.
    function countConfused() external view returns (uint256 count) {
        for (uint256 i; i < _known.length; ++i) {
            if (isDelivered(_orders[_known[i]]) != _isPaid[_known[i]]) ++count;
        }
    }

    /// @dev An equal part for each attestor whose signature completes one by the stolen key.
    function partOfExposure() internal pure virtual returns (uint256) {
        return EXPOSURE / (3 - K + 1);
    }

    function _mayCount(uint256 attestor, bytes32 id, uint256 age) private view returns (bool) {
        Attestor storage own = _honest[attestor];
        uint256 worth = _orders[id].amount;
        uint256 after_ = worth <= FIRST_UP_TO ? FIRST_AFTER : SECOND_AFTER;
        if (own.closed || worth > SECOND_UP_TO || age < after_) return false;
        uint256 sum = worth;
        for (uint256 i; i < own.counted.length; ++i) {
            if (own.counted[i].id != id) sum += own.counted[i].worth;
        }
        return sum <= partOfExposure();
    }

    function _count(uint256 attestor, bytes32 id, uint256 usableUntil) private {
        Count[] storage counted = _honest[attestor].counted;
        for (uint256 i; i < counted.length; ++i) {
            if (counted[i].id != id) continue;
            if (usableUntil > counted[i].usableUntil) counted[i].usableUntil = usableUntil;
            return;
        }
        counted.push(Count(id, _orders[id].amount, usableUntil));
    }

    /// @dev The key with the account that has so many smaller ones.
    function _byAccount(uint256 rank) private view returns (uint256) {
        for (uint256 i; i < 3; ++i) {
            uint256 smaller;
            for (uint256 j; j < 3; ++j) {
                if (vm.addr(_keys[j]) < vm.addr(_keys[i])) ++smaller;
            }
            if (smaller == rank) return i;
        }
        revert("no such rank");
    }
}

/// @notice Attestors of which each signs the whole exposure: shows why it is divided.
contract UndividedGame is EarlyPayoutsGame {
    function partOfExposure() internal pure override returns (uint256) {
        return EXPOSURE;
    }
}

/// @notice The laws of payouts before finality.
contract EarlyPayoutsTest is GameTest {
    EarlyPayoutsGame private _game;

    function setUp() public override {
        _game = new EarlyPayoutsGame();
        _game.setUp();
    }

    function played() internal view override returns (address) {
        return address(_game);
    }

    function invariant_T270_TheExposureIsTheMostAtRisk() public view {
        assertTrue(_game.atRisk() <= _game.EXPOSURE(), "above the exposure");
    }

    function invariant_T270_NoPayoutTakesTheLockOfAnother() public view {
        assertEq(_game.paidForAnother(), 0, "paid without signatures, or twice");
        assertEq(_game.countConfused(), 0, "a lock counts as paid that is not");
    }

    /// @dev A game in which nothing happens would prove nothing.
    function test_TheGameIsReal() public {
        _game.lock(0, 0);
        _game.sign(0, 0);
        _game.pay(0, 0, true);
        assertEq(_game.payments(), 0, "too young");
        _game.pass(10 seconds);
        _game.sign(0, 0);
        _game.pay(0, 0, false);
        assertEq(_game.payments(), 0, "one signature");
        _game.pay(0, 0, true);
        assertEq(_game.payments(), 1, "paid early, with the stolen key");
        assertEq(_game.atRisk(), 9.95 ether, "at risk, without the fee");
        _game.reorg(0, false);
        assertEq(_game.undone(), 1, "gone");
        _game.pass(19 minutes);
        _game.look(0);
        _game.lock(1, 0);
        _game.pass(10 seconds);
        _game.sign(0, 0);
        _game.pay(1, 0, true);
        assertEq(_game.payments(), 1, "closed: the lock is missing");
        _game.reorg(0, false);
        _game.lock(0, 0);
        assertEq(_game.cameBack(), 1, "the same lock");
        _game.pass(19 minutes);
        assertEq(_game.atRisk(), 0, "covered");
        _game.lock(1, 1);
        _game.pass(19 minutes);
        _game.sign(1, 1);
        _game.sign(0, 1);
        _game.pay(2, 0, false);
        assertEq(_game.payments(), 2, "a final lock");
        assertEq(_game.atRisk(), 0, "no risk");
    }

    /// @dev Both honest attestors sign the exposure, for other locks, and the thief adds the stolen signature.
    function test_TheLawNeedsTheDivision() public {
        _game = new UndividedGame();
        _game.setUp();
        for (uint256 i; i < 14; ++i) {
            _game.lock(0, 0);
        }
        _game.pass(10 seconds);
        for (uint256 i; i < 14; ++i) {
            _game.sign(i % 2, i);
            _game.pay(i, i % 2, true);
        }
        assertTrue(_game.atRisk() > _game.EXPOSURE(), "above the exposure");
    }
}
