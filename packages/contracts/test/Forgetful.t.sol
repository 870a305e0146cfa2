// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { Escrow } from "../src/Escrow.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { Fixture } from "./support/Fixture.sol";
import { GameTest } from "./support/GameTest.sol";
import { FactoryThere } from "./TwoChains.t.sol";

/// @notice Two chains with a clock each, and three attestors, two of which must sign. One of them is a
/// thief's, whichever the game picks, and signs anything. The others remember nothing: they read final
/// blocks and follow the written rules (`docs/formats.md`), whatever they or others signed before. Every
/// signature is known to everybody for good, and anybody's relayer uses it when it likes.
contract ForgetfulGame is Fixture {
    uint256 private constant N = 3;

    /// @dev Few locks and messages, so that random calls meet in them.
    uint256 private constant LOCKS = 3;
    uint256 private constant MESSAGES = 12;
    uint256 private constant CHAIN_THERE = 31_338;
    uint256 private constant FINAL_AFTER = 15 minutes;
    uint256 private constant SKEW = 30 minutes;
    uint256 private constant CLAIM_WITHIN = 12 hours;
    uint256 private constant LIFETIME = 24 hours;

    /// @dev Slot of the escrow's records (`release/storage.json`).
    uint256 private constant RECORDS = 0;

    struct Proof {
        bytes32 id;
        uint256 deadline;
    }

    /// @dev In the order of their accounts.
    uint256[3] private _keys = [uint256(0xa2), 0xa3, 0xa1];
    uint256 private immutable CHAIN_HERE = block.chainid;
    uint256 private _hostile = N;
    uint256 private _timeHere;
    uint256 private _timeThere;

    IDelivery.Order[] private _orders;
    IDelivery.Order[] private _asked;
    Proof[] private _returns;
    mapping(bytes32 message => uint256 signers) private _signers;
    mapping(bytes32 id => uint256 time) private _paidAt;

    uint256 public paid;
    uint256 public claimed;
    uint256 public returned;
    uint256 public takenBack;
    uint256 public refusedClaims;

    function setUp() public override {
        if (address(factory) != address(0)) return;
        super.setUp();
        address[] memory members = new address[](N);
        for (uint256 i; i < N; ++i) {
            members[i] = vm.addr(_keys[i]);
        }
        // A deployment of its own on each side.
        factory = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.prank(OWNER);
        factory.seal(none(), listOf(RELAYER), members, 2, TREASURY);
        DepositFactory there = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.prank(OWNER);
        there.seal(none(), none(), members, 2, TREASURY);
        _connect(address(new FactoryThere(there)));
        (_timeHere, _timeThere) = (block.timestamp, block.timestamp);
    }

    function corrupt(uint256 which) external {
        if (_hostile == N) _hostile = which % N;
    }

    function lock(uint64 amount) external {
        if (_orders.length == LOCKS) return;
        _here();
        IDepositFactory.Job memory job = escrowJob();
        usdc.mint(factory.predict(job.c), uint256(amount) + 1e6);
        vm.recordLogs();
        vm.prank(RELAYER);
        try factory.settle(job) {
            noteLocks();
            _orders.push(payoutOf(newestLock, lockOf(newestLock).minOut));
        } catch { }
    }

    /// @dev A lock in a block that is not final comes again in another one, at another time.
    function reorg(uint256 index, uint256 time) external {
        if (_orders.length == 0) return;
        _here();
        bytes32 id = _idOf(_orders[index % _orders.length]);
        (IEscrow.LockState state, uint256 lockedAt) = escrow.recordOf(id);
        if (state != IEscrow.LockState.Locked || _isFinalHere(lockedAt)) return;
        lockedAt = bound(time, block.timestamp - FINAL_AFTER + 1, block.timestamp);
        bytes32 record = bytes32(lockedAt << 8 | uint256(state));
        vm.store(address(escrow), keccak256(abi.encode(id, RECORDS)), record);
    }

    /// @dev The settler, or a thief of it, asks some attestors for a payout in any window.
    function askPayout(uint256 index, uint256 shift, bool earlier, uint256 mask) external {
        if (_orders.length == 0 || _asked.length == MESSAGES) return;
        IDelivery.Order memory order = _orders[index % _orders.length];
        uint64 lockedAt = lockedAtOf(_idOf(order));
        shift %= 2 * WINDOW;
        order.windowStart = uint64(earlier ? lockedAt - shift : lockedAt + shift);
        _asked.push(order);
        signPayout(_asked.length - 1, mask);
    }

    function signPayout(uint256 index, uint256 mask) public {
        if (_asked.length == 0) return;
        _here();
        index %= _asked.length;
        bytes32 id = _idOf(_asked[index]);
        uint64 lockedAt = lockedAtOf(id);
        bool isTrue = escrow.stateOf(id) == IEscrow.LockState.Locked && _isFinalHere(lockedAt)
            && mayPay(_asked[index].windowStart, lockedAt) && _paidAt[id] == 0;
        _sign(keccak256(abi.encode("payout", index)), mask, isTrue);
    }

    /// @dev With every signature that anybody ever made.
    function pay() external {
        _atDestination();
        for (uint256 i; i < _asked.length; ++i) {
            bytes memory signatures;
            for (uint256 k; k < N; ++k) {
                if (!_hasSigned("payout", i, k)) continue;
                signatures = bytes.concat(signatures, signDeliver(_keys[k], _asked[i]));
            }
            vm.prank(SETTLER);
            try delivery.deliver(_asked[i], signatures) {
                bytes32 id = _idOf(_asked[i]);
                assertEq(_paidAt[id], 0, "paid once");
                _paidAt[id] = _timeThere;
                ++paid;
            } catch { }
        }
    }

    function askReturn(uint256 index, uint256 lifetime, uint256 mask) external {
        if (_orders.length == 0 || _returns.length == MESSAGES) return;
        uint256 deadline = _timeHere + lifetime % LIFETIME;
        _returns.push(Proof(_idOf(_orders[index % _orders.length]), deadline));
        signReturn(_returns.length - 1, mask);
    }

    function signReturn(uint256 index, uint256 mask) public {
        if (_returns.length == 0) return;
        _here();
        index %= _returns.length;
        bytes32 id = _returns[index].id;
        uint64 lockedAt = lockedAtOf(id);
        uint256 finalThere = _timeThere - FINAL_AFTER;
        bool isUnpaid = _paidAt[id] == 0 || _paidAt[id] > finalThere;
        bool isTrue = escrow.stateOf(id) == IEscrow.LockState.Locked && _isFinalHere(lockedAt)
            && finalThere > lockedAt + WINDOW && isUnpaid;
        _sign(keccak256(abi.encode("return", index)), mask, isTrue);
    }

    function giveBack() external {
        _here();
        for (uint256 i; i < _returns.length; ++i) {
            Proof memory proof = _returns[i];
            bytes memory signatures;
            for (uint256 k; k < N; ++k) {
                if (!_hasSigned("return", i, k)) continue;
                signatures =
                    bytes.concat(signatures, signReturn(_keys[k], proof.id, proof.deadline));
            }
            vm.prank(RELAYER);
            try escrow.returnToWallet(lockOf(proof.id), proof.deadline, signatures) {
                ++returned;
            } catch { }
        }
    }

    /// @dev By the attestors of the mask who sign it now: each honest one if the payout is final.
    function claim(uint256 index, uint256 mask) public {
        if (_orders.length == 0) return;
        _here();
        bytes32 id = _idOf(_orders[index % _orders.length]);
        uint256 amount = _orders[index % _orders.length].amount;
        bool isTrue = _paidAt[id] != 0 && _paidAt[id] <= _timeThere - FINAL_AFTER
            && _isFinalHere(lockedAtOf(id));
        bytes memory signatures;
        for (uint256 i; i < N; ++i) {
            bool signs = mask >> i & 1 != 0 && (isTrue || i == _hostile);
            if (!signs) continue;
            signatures = bytes.concat(signatures, signClaim(_keys[i], id, amount, block.timestamp));
        }
        vm.prank(RELAYER);
        try escrow.claim(lockOf(id), amount, block.timestamp, signatures) {
            ++claimed;
        } catch { }
    }

    function announce() external {
        _here();
        vm.prank(REFUNDEE);
        try escrow.announceTakeBack(remoteCommitment(), address(usdc)) { } catch { }
    }

    function takeBack(uint256 index) external {
        if (_orders.length == 0) return;
        _here();
        IDelivery.Order memory order = _orders[index % _orders.length];
        vm.prank(REFUNDEE);
        try escrow.takeBack(lockOf(_idOf(order)), order.c) {
            ++takenBack;
        } catch { }
    }

    /// @dev The service claims in time: the two honest attestors suffice.
    function pass(uint256 time, uint256 skew, bool far) external {
        time %= far ? 1 days : 1 hours;
        for (uint256 i; i < _orders.length; ++i) {
            bytes32 id = _idOf(_orders[i]);
            if (_paidAt[id] == 0 || _timeHere + time <= _paidAt[id] + CLAIM_WITHIN) continue;
            // The payout became final meanwhile.
            uint256 isFinalAt = _paidAt[id] + FINAL_AFTER + SKEW;
            if (_timeHere < isFinalAt) _move(isFinalAt - _timeHere, 0);
            if (escrow.stateOf(id) != IEscrow.LockState.Locked) continue;
            uint256 before = claimed;
            claim(i, 7);
            if (claimed == before) ++refusedClaims;
        }
        _move(time, skew);
    }

    /// @dev Locks that ended otherwise than their payments, or without one.
    function wrong() external view returns (uint256 count) {
        for (uint256 i; i < _orders.length; ++i) {
            bytes32 id = _idOf(_orders[i]);
            IEscrow.LockState state = escrow.stateOf(id);
            bool isPaid = _paidAt[id] != 0;
            if (state == IEscrow.LockState.Claimed ? !isPaid : isPaid) {
                if (state != IEscrow.LockState.Locked) ++count;
            }
        }
    }

    /// @dev The first rule of attestors: no payout window starts after its lock.
    function mayPay(uint256 windowStart, uint256 lockedAt) internal pure virtual returns (bool) {
        return windowStart <= lockedAt;
    }

    function _connect(address there) private {
        escrow = new Escrow(address(factory), HERE, block.chainid);
        delivery = new Delivery(OWNER, GUARDIAN, DELAY, there, THERE, WINDOW);
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), capsOf(address(usdcThere), type(uint112).max));
        escrowRoute = new SameAssetRoute(pairOf(address(usdc)));
        listRoute(address(escrowRoute));
        usdcThere.mint(address(delivery), 1e40);
    }

    /// @dev The asked attestors of the mask: the thief always, others if it is true now.
    function _sign(bytes32 message, uint256 mask, bool isTrue) private {
        _signers[message] |= isTrue ? mask & 7 : mask & 7 & 1 << _hostile;
    }

    function _hasSigned(string memory kind, uint256 message, uint256 k)
        private
        view
        returns (bool)
    {
        return _signers[keccak256(abi.encode(kind, message))] >> k & 1 != 0;
    }

    function _isFinalHere(uint256 time) private view returns (bool) {
        return _timeHere >= time + FINAL_AFTER;
    }

    function _move(uint256 time, uint256 skew) private {
        _timeHere += time;
        uint256 there = _timeHere + SKEW / 2 - skew % SKEW;
        if (there > _timeThere) _timeThere = there;
    }

    function _idOf(IDelivery.Order memory order) private view returns (bytes32) {
        return delivery.deliveryIdOf(order);
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

/// @notice Attestors without the first rule: shows why they have it.
contract LateWindowsGame is ForgetfulGame {
    function mayPay(uint256, uint256) internal pure override returns (bool) {
        return true;
    }
}

/// @notice The law of the operator's and the depositor's money with any attestor stolen: a lock is claimed
/// if and only if it was paid, and a paid one is never returned or taken back.
contract ForgetfulTest is GameTest {
    ForgetfulGame private _game;

    function setUp() public override {
        _game = new ForgetfulGame();
        _game.setUp();
    }

    function played() internal view override returns (address) {
        return address(_game);
    }

    function invariant_LocksEndAsTheyWerePaidWithAnyAttestorStolen() public view {
        assertEq(_game.wrong(), 0, "paid and ended otherwise, or claimed unpaid");
        assertEq(_game.refusedClaims(), 0, "a claim in time was refused");
    }

    /// @dev A game in which nothing happens would prove nothing.
    function test_TheGameIsReal() public {
        _lockAndPay();
        assertEq(_game.paid(), 1, "paid by a thief and one honest attestor");
        _game.pass(59 minutes, 0, false);
        _game.claim(0, 1);
        _game.claim(0, 2);
        _game.claim(0, 4);
        assertEq(_game.claimed(), 0, "by one");
        _game.claim(0, 7);
        assertEq(_game.claimed(), 1, "claimed");

        _game.lock(1e6);
        _game.askReturn(1, 23 hours, 7);
        _game.giveBack();
        assertEq(_game.returned(), 0, "in its window");
        _game.pass(13 hours, 0, true);
        _game.signReturn(0, 2);
        _game.giveBack();
        assertEq(_game.returned(), 1, "after it, by a thief and one honest attestor");
        invariant_LocksEndAsTheyWerePaidWithAnyAttestorStolen();
    }

    function test_ALateWindowIsRefused() public {
        _playLateWindow();
        assertEq(_game.paid(), 0, "not paid");
        assertEq(_game.wrong(), 0, "nothing wrong");
    }

    function test_TheLawNeedsTheFirstRule() public {
        _game = new LateWindowsGame();
        _game.setUp();
        _playLateWindow();
        assertEq(_game.paid(), 1, "paid");
        assertEq(_game.wrong(), 1, "and returned");
    }

    function _lockAndPay() private {
        _game.corrupt(0);
        _game.lock(1e6);
        _game.askPayout(0, 0, false, 7);
        _game.pay();
        assertEq(_game.paid(), 0, "not final");
        _game.pass(30 minutes, 15 minutes, false);
        _game.pay();
        assertEq(_game.paid(), 0, "by one");
        _game.signPayout(0, 2);
        _game.pay();
    }

    /// @dev A window that starts ten hours after its lock, signed and kept until the lock is returned.
    function _playLateWindow() private {
        _game.corrupt(0);
        _game.lock(1e6);
        _game.pass(30 minutes, 15 minutes, false);
        _game.askPayout(0, 10 hours, false, 3);
        _game.pass(13 hours, 15 minutes, true);
        _game.askReturn(0, 1 hours, 3);
        _game.giveBack();
        assertEq(_game.returned(), 1, "returned");
        _game.pay();
    }
}
