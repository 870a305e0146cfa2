// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { Create2 } from "@openzeppelin/contracts/utils/Create2.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import { Eip712 } from "./Eip712.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { IEscrow } from "./interfaces/IEscrow.sol";
import { Address32 } from "./types/Address32.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { DeliveryIdLib, LockFacts } from "./types/DeliveryId.sol";

/// @title The escrow
/// @notice Trust: a relayer and the attestors together can move an undelivered lock to the treasury;
/// neither can alone. Both may have been removed since the lock: otherwise a guardian could make the
/// operator pay twice, by removing them between the payout and its claim. Everybody else can move a
/// lock only to the deposit address or its refund authority, who can act alone, after 72 hours and 24
/// hours' notice. Relayers, attestors and the pause are the factory's.
/// Assumes: only the factory makes a wallet act, and its guard lets no second wallet act meanwhile;
/// hence the balance difference in `lock` cannot be disturbed by another lock.
contract Escrow is IEscrow, Eip712 {
    using SafeERC20 for IERC20;
    using Address for address payable;

    /// @dev What is stored of a lock: one slot.
    struct Record {
        LockState state;
        uint64 lockedAt;
    }

    bytes32 private constant CLAIM_TYPEHASH =
        keccak256("Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)");

    bytes32 private constant RETURN_TYPEHASH =
        keccak256("Return(bytes32 deliveryId,uint256 deadline)");

    /// @inheritdoc IEscrow
    uint256 public constant TAKE_BACK_AFTER = 72 hours;

    /// @inheritdoc IEscrow
    uint256 public constant TAKE_BACK_NOTICE = 24 hours;

    /// @dev Bytes of a failed claim's revert data in its event.
    uint256 private constant REASON_MAX = 256;

    /// @dev Longest use of a signed claim or return.
    uint256 private constant ATTESTATION_LIFETIME = 24 hours;

    /// @dev Gas around a claim of a batch: the call, the event of a failure, the end of the batch.
    uint256 private constant CLAIM_OVERHEAD = 15_000;

    IDepositFactory private immutable FACTORY;
    bytes32 private immutable INIT_CODE_HASH;
    uint16 private immutable BRIDGE_ID;
    uint256 private immutable EVM_CHAIN_ID;

    mapping(bytes32 deliveryId => Record) private _records;
    mapping(bytes32 delivery => uint64) private _nextSeqs;
    mapping(address token => uint256) private _uncollected;

    /// @dev Times of standing announcements of a take-back; zero if there is none.
    mapping(address wallet => mapping(address token => uint256)) private _announcedAt;

    constructor(address factory_, uint16 bridgeId_, uint256 evmChainId_) {
        if (factory_ == address(0)) revert ZeroAddress();
        FACTORY = IDepositFactory(factory_);
        INIT_CODE_HASH = IDepositFactory(factory_).initCodeHash();
        BRIDGE_ID = bridgeId_;
        EVM_CHAIN_ID = evmChainId_;
    }

    /// @inheritdoc IEscrow
    function lock(
        Commitment calldata c,
        address token,
        uint256 amount,
        uint256 minOut,
        bytes32 delivery
    ) external payable returns (bytes32 deliveryId) {
        bytes32 commitment = CommitmentLib.hash(c);
        address wallet = _walletOf(commitment);
        if (msg.sender != wallet) revert NotWallet(msg.sender, wallet);
        if (FACTORY.paused()) revert IsPaused();
        if (block.chainid != EVM_CHAIN_ID) revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);
        if (!FACTORY.hasEnoughAttestors()) revert TooFewAttestors();
        if (_announcedAt[wallet][token] != 0) revert TakeBackPending(wallet, token);

        LockFacts memory facts = LockFacts({
            srcChain: BRIDGE_ID,
            escrow: Address32.toBytes32(address(this)),
            delivery: delivery,
            commitment: commitment,
            token: Address32.toBytes32(token),
            amount: _pull(token, wallet, amount),
            minOut: minOut,
            seq: _nextSeqs[delivery]++
        });
        deliveryId = DeliveryIdLib.compute(facts);
        uint64 lockedAt = SafeCast.toUint64(block.timestamp);
        _records[deliveryId] = Record({ state: LockState.Locked, lockedAt: lockedAt });
        _emitLocked(deliveryId, wallet, token, facts, lockedAt);
    }

    /// @inheritdoc IEscrow
    function claim(
        Lock calldata held,
        uint256 paidAmount,
        uint256 deadline,
        bytes calldata signatures
    ) external {
        _claim(msg.sender, held, paidAmount, deadline, signatures);
    }

    /// @inheritdoc IEscrow
    function claimMany(Claim[] calldata claims, uint256 gasPerClaim)
        external
        returns (uint256 done)
    {
        // A call receives at most 63/64 of the remaining gas; that must suffice for every claim.
        uint256 needed = gasPerClaim + gasPerClaim / 63 + CLAIM_OVERHEAD;
        for (uint256 i; i < claims.length; ++i) {
            bytes memory payload = abi.encodeCall(this.claimFor, (msg.sender, claims[i]));
            if (gasleft() < needed) revert NeedGas(gasleft(), needed);
            (bool ok, bytes memory reason) =
                BoundedCall.tryCall(address(this), gasPerClaim, payload, REASON_MAX);
            if (ok) ++done;
            else emit ClaimFailed(i, deliveryIdOf(claims[i].held), reason);
        }
    }

    /// @inheritdoc IEscrow
    function claimFor(address relayer, Claim calldata c) external {
        if (msg.sender != address(this)) revert NotSelf(msg.sender);
        _claim(relayer, c.held, c.paidAmount, c.deadline, c.signatures);
    }

    /// @inheritdoc IEscrow
    function collect(address token) external returns (uint256 amount) {
        amount = _uncollected[token];
        if (amount == 0) revert NothingToCollect(token);
        delete _uncollected[token];
        emit Collected(token, amount);
        _send(token, FACTORY.treasury(), amount);
    }

    /// @inheritdoc IEscrow
    function returnToWallet(Lock calldata held, uint256 deadline, bytes calldata signatures)
        external
    {
        (bytes32 deliveryId,) = _lockedOf(held);
        bytes32 structHash = keccak256(abi.encode(RETURN_TYPEHASH, deliveryId, deadline));
        _checkMembers(deadline, structHash, signatures);

        address wallet = _walletOf(held.commitment);
        emit Returned(deliveryId, wallet, held.token, held.amount);
        _release(deliveryId, held, LockState.Returned, wallet);
    }

    /// @inheritdoc IEscrow
    function announceTakeBack(Commitment calldata c, address token) external {
        _checkRefundAuthority(c);
        address wallet = _walletOf(CommitmentLib.hash(c));
        if (_announcedAt[wallet][token] != 0) revert TakeBackPending(wallet, token);
        _announcedAt[wallet][token] = block.timestamp;
        emit TakeBackAnnounced(wallet, token, block.timestamp);
    }

    /// @inheritdoc IEscrow
    function cancelTakeBack(Commitment calldata c, address token) external {
        _checkRefundAuthority(c);
        address wallet = _walletOf(CommitmentLib.hash(c));
        if (_announcedAt[wallet][token] == 0) revert NotAnnounced(wallet, token);
        delete _announcedAt[wallet][token];
        emit TakeBackCancelled(wallet, token);
    }

    /// @inheritdoc IEscrow
    function takeBack(Lock calldata held, Commitment calldata c) external {
        (bytes32 deliveryId, uint256 lockedAt) = _lockedOf(held);
        bytes32 commitment = CommitmentLib.hash(c);
        if (commitment != held.commitment) revert WrongCommitment(commitment, held.commitment);
        address authority = _checkRefundAuthority(c);
        address wallet = _walletOf(commitment);
        uint256 announcedAt = _announcedAt[wallet][held.token];
        if (announcedAt == 0) revert NotAnnounced(wallet, held.token);
        uint256 earliest = Math.max(lockedAt + TAKE_BACK_AFTER, announcedAt + TAKE_BACK_NOTICE);
        if (block.timestamp < earliest) revert TooEarly(earliest, block.timestamp);

        emit TakenBack(deliveryId, authority, held.amount);
        _release(deliveryId, held, LockState.TakenBack, authority);
    }

    /// @inheritdoc IEscrow
    function factory() external view returns (address) {
        return address(FACTORY);
    }

    /// @inheritdoc IEscrow
    function bridgeId() external view returns (uint16) {
        return BRIDGE_ID;
    }

    /// @inheritdoc IEscrow
    function evmChainId() external view returns (uint256) {
        return EVM_CHAIN_ID;
    }

    /// @inheritdoc IEscrow
    function uncollected(address token) external view returns (uint256) {
        return _uncollected[token];
    }

    /// @inheritdoc IEscrow
    function stateOf(bytes32 deliveryId) external view returns (LockState) {
        return _records[deliveryId].state;
    }

    /// @inheritdoc IEscrow
    function recordOf(bytes32 deliveryId) external view returns (LockState state, uint64 lockedAt) {
        Record storage record = _records[deliveryId];
        return (record.state, record.lockedAt);
    }

    /// @inheritdoc IEscrow
    function nextSeq(bytes32 delivery) external view returns (uint64) {
        return _nextSeqs[delivery];
    }

    /// @inheritdoc IEscrow
    function takeBackAnnouncedAt(address wallet, address token) external view returns (uint256) {
        return _announcedAt[wallet][token];
    }

    /// @inheritdoc IEscrow
    function deliveryIdOf(Lock calldata held) public view returns (bytes32) {
        return DeliveryIdLib.compute(
            LockFacts({
                srcChain: BRIDGE_ID,
                escrow: Address32.toBytes32(address(this)),
                delivery: held.delivery,
                commitment: held.commitment,
                token: Address32.toBytes32(held.token),
                amount: held.amount,
                minOut: held.minOut,
                seq: held.seq
            })
        );
    }

    function _claim(
        address relayer,
        Lock calldata held,
        uint256 paidAmount,
        uint256 deadline,
        bytes calldata signatures
    ) private {
        (bytes32 deliveryId, uint256 lockedAt) = _lockedOf(held);
        bytes32 structHash = keccak256(abi.encode(CLAIM_TYPEHASH, deliveryId, paidAmount, deadline));
        _checkClaimants(relayer, lockedAt, deadline, structHash, signatures);
        if (paidAmount < held.minOut) revert PaidTooLittle(paidAmount, held.minOut);

        emit Claimed(deliveryId, paidAmount, held.amount);
        _records[deliveryId].state = LockState.Claimed;
        _payTreasury(held.token, held.amount);
    }

    /// @dev Writes the state first, so that a reentrant recipient cannot end the lock twice.
    function _release(bytes32 deliveryId, Lock calldata held, LockState state, address to) private {
        _records[deliveryId].state = state;
        _send(held.token, to, held.amount);
    }

    /// @dev A treasury that cannot receive must not fail a claim: the refund authority would take
    /// the paid lock back. The amount waits for `collect`, and for another treasury if need be.
    function _payTreasury(address token, uint256 amount) private {
        address to = FACTORY.treasury();
        bool paid = token == address(0)
            ? BoundedCall.trySend(to, amount, BoundedCall.PAYOUT_GAS)
            : IERC20(token).trySafeTransfer(to, amount);
        if (paid) return;
        _uncollected[token] += amount;
        emit Uncollected(token, amount);
    }

    function _send(address token, address to, uint256 amount) private {
        if (token == address(0)) payable(to).sendValue(amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    /// @dev Any other field is another id, of which there is no lock.
    function _lockedOf(Lock calldata held)
        private
        view
        returns (bytes32 deliveryId, uint256 lockedAt)
    {
        deliveryId = deliveryIdOf(held);
        Record memory record = _records[deliveryId];
        if (record.state != LockState.Locked) revert NotLocked(deliveryId, record.state);
        lockedAt = record.lockedAt;
    }

    /// @dev The factory's derivation, without a call to it.
    function _walletOf(bytes32 commitment) private view returns (address) {
        return Create2.computeAddress(commitment, INIT_CODE_HASH, address(FACTORY));
    }

    /// @dev Requires a relayer and the attestors' signatures, before the deadline.
    function _checkMembers(uint256 deadline, bytes32 structHash, bytes calldata signatures)
        private
        view
    {
        if (!FACTORY.isRelayer(msg.sender)) revert NotRelayer(msg.sender);
        _checkDeadline(deadline);
        FACTORY.checkAttested(_digestOf(structHash), signatures);
    }

    /// @dev The same with members of now or of the time of the lock. They can pay only the treasury.
    function _checkClaimants(
        address relayer,
        uint256 lockedAt,
        uint256 deadline,
        bytes32 structHash,
        bytes calldata signatures
    ) private view {
        if (!FACTORY.isRelayer(relayer) && !FACTORY.wasRelayer(relayer, lockedAt)) {
            revert NotRelayer(relayer);
        }
        _checkDeadline(deadline);
        FACTORY.checkAttestedAt(_digestOf(structHash), signatures, lockedAt);
    }

    /// @dev A signature that stays usable for long would outlive what its signers knew.
    function _checkDeadline(uint256 deadline) private view {
        if (deadline < block.timestamp) revert Expired(deadline, block.timestamp);
        uint256 latest = block.timestamp + ATTESTATION_LIFETIME;
        if (deadline > latest) revert DeadlineTooFar(deadline, latest);
    }

    function _domainName() internal pure override returns (string memory) {
        return "Sluice Escrow";
    }

    function _checkRefundAuthority(Commitment calldata c) private view returns (address authority) {
        authority = Address32.toNonZeroAddress(c.refundAuthority);
        if (msg.sender != authority) revert NotRefundAuthority(msg.sender, c.refundAuthority);
    }

    /// @dev A function of its own to avoid "stack too deep" in `lock`.
    function _emitLocked(
        bytes32 id,
        address wallet,
        address token,
        LockFacts memory facts,
        uint64 lockedAt
    ) private {
        emit Locked(
            id,
            wallet,
            facts.commitment,
            token,
            facts.amount,
            facts.minOut,
            facts.seq,
            lockedAt,
            facts.delivery
        );
    }

    /// @dev Returns the balance difference, not the requested amount. Reverts if less than requested
    /// arrives: `minOut` was computed from the requested amount, and inventory must not pay for a token
    /// that starts to take a fee.
    function _pull(address token, address from, uint256 amount) private returns (uint256 received) {
        uint256 value = token == address(0) ? amount : 0;
        if (msg.value != value) revert WrongValue(msg.value, value);
        if (amount == 0) revert ReceivedLess(0, 0);
        if (token == address(0)) return amount;
        uint256 balanceBefore = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(from, address(this), amount);
        received = IERC20(token).balanceOf(address(this)) - balanceBefore;
        if (received < amount) revert ReceivedLess(received, amount);
    }
}
