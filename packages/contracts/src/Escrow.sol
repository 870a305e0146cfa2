// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { IEscrow } from "./interfaces/IEscrow.sol";
import { Address32 } from "./types/Address32.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { DeliveryIdLib } from "./types/DeliveryId.sol";
import { Eip712 } from "./types/Eip712.sol";

/// @title The escrow
/// @notice Trust: a relayer and an attestor together can move an undelivered lock to the treasury;
/// neither can alone. Both may have been removed since the lock: otherwise a guardian could make the
/// operator pay twice, by removing them between the payout and its claim. Everybody else can move a
/// lock only to the deposit address or its refund authority, who can act alone, after 72 hours and 24
/// hours' notice. Relayers, attestors and the pause are the factory's.
/// Assumes: only the factory makes a wallet act, and its guard lets no second wallet act meanwhile;
/// hence the balance difference in `lock` cannot be disturbed by another lock.
contract Escrow is IEscrow {
    using SafeERC20 for IERC20;
    using Address for address payable;

    bytes32 private constant NAME_HASH = keccak256("Sluice Escrow");
    bytes32 private constant CLAIM_TYPEHASH =
        keccak256("Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)");

    bytes32 private constant RETURN_TYPEHASH =
        keccak256("Return(bytes32 deliveryId,uint256 deadline)");

    /// @inheritdoc IEscrow
    uint256 public constant TAKE_BACK_AFTER = 72 hours;

    /// @inheritdoc IEscrow
    uint256 public constant TAKE_BACK_NOTICE = 24 hours;

    /// @param nextSeq Number of the next lock.
    /// @param announcedAt Time of the standing announcement of a take-back; zero if there is none.
    struct Account {
        uint64 nextSeq;
        uint64 announcedAt;
    }

    IDepositFactory private immutable FACTORY;
    uint16 private immutable BRIDGE_ID;
    uint256 private immutable EVM_CHAIN_ID;
    address private immutable TREASURY;

    mapping(bytes32 deliveryId => Lock) private _locks;
    mapping(address wallet => mapping(address token => Account)) private _accounts;

    constructor(address factory_, uint16 bridgeId_, uint256 evmChainId_, address treasury_) {
        if (factory_ == address(0) || treasury_ == address(0)) revert ZeroAddress();
        FACTORY = IDepositFactory(factory_);
        BRIDGE_ID = bridgeId_;
        EVM_CHAIN_ID = evmChainId_;
        TREASURY = treasury_;
    }

    /// @inheritdoc IEscrow
    function lock(
        Commitment calldata c,
        address token,
        uint256 amount,
        uint256 minOut,
        bytes32 delivery
    ) external payable returns (bytes32 deliveryId) {
        address wallet = FACTORY.predict(c);
        if (msg.sender != wallet) revert NotWallet(msg.sender, wallet);
        if (FACTORY.paused()) revert IsPaused();
        if (block.chainid != EVM_CHAIN_ID) revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);

        if (!FACTORY.hasEnoughAttestors()) revert TooFewAttestors();
        if (_accounts[wallet][token].announcedAt != 0) revert TakeBackPending(wallet, token);

        uint64 seq = _accounts[wallet][token].nextSeq++;
        deliveryId = DeliveryIdLib.compute(
            BRIDGE_ID,
            Address32.toBytes32(address(this)),
            Address32.toBytes32(wallet),
            Address32.toBytes32(token),
            seq
        );
        Lock memory held = Lock({
            wallet: wallet,
            seq: seq,
            destChain: c.destChain,
            state: LockState.Locked,
            token: token,
            lockedAt: uint64(block.timestamp),
            amount: SafeCast.toUint128(_pull(token, wallet, amount)),
            minOut: SafeCast.toUint128(minOut),
            commitment: CommitmentLib.hash(c),
            delivery: delivery
        });
        _locks[deliveryId] = held;
        _emitLocked(deliveryId, held);
    }

    /// @inheritdoc IEscrow
    function claim(
        bytes32 deliveryId,
        uint256 paidAmount,
        uint256 deadline,
        bytes calldata signature
    ) external {
        bytes32 structHash = keccak256(abi.encode(CLAIM_TYPEHASH, deliveryId, paidAmount, deadline));
        Lock storage held = _locked(deliveryId);
        _checkClaimant(held.lockedAt, deadline, structHash, signature);
        if (paidAmount < held.minOut) revert PaidTooLittle(paidAmount, held.minOut);

        emit Claimed(deliveryId, paidAmount, held.amount);
        _release(held, LockState.Claimed, TREASURY);
    }

    /// @inheritdoc IEscrow
    function returnToWallet(bytes32 deliveryId, uint256 deadline, bytes calldata signature)
        external
    {
        bytes32 structHash = keccak256(abi.encode(RETURN_TYPEHASH, deliveryId, deadline));
        _checkMembers(deadline, structHash, signature);
        Lock storage held = _locked(deliveryId);

        emit Returned(deliveryId, held.wallet, held.amount);
        _release(held, LockState.Returned, held.wallet);
    }

    /// @inheritdoc IEscrow
    function announceTakeBack(Commitment calldata c, address token) external {
        _checkRefundAuthority(c);
        address wallet = FACTORY.predict(c);
        Account storage account = _accounts[wallet][token];
        if (account.announcedAt != 0) revert TakeBackPending(wallet, token);
        account.announcedAt = SafeCast.toUint64(block.timestamp);
        emit TakeBackAnnounced(wallet, token, block.timestamp);
    }

    /// @inheritdoc IEscrow
    function cancelTakeBack(Commitment calldata c, address token) external {
        _checkRefundAuthority(c);
        address wallet = FACTORY.predict(c);
        Account storage account = _accounts[wallet][token];
        if (account.announcedAt == 0) revert NotAnnounced(wallet, token);
        account.announcedAt = 0;
        emit TakeBackCancelled(wallet, token);
    }

    /// @inheritdoc IEscrow
    function takeBack(bytes32 deliveryId, Commitment calldata c) external {
        Lock storage held = _locked(deliveryId);
        bytes32 commitment = CommitmentLib.hash(c);
        if (commitment != held.commitment) revert WrongCommitment(commitment, held.commitment);
        address authority = _checkRefundAuthority(c);
        uint256 announcedAt = _accounts[held.wallet][held.token].announcedAt;
        if (announcedAt == 0) revert NotAnnounced(held.wallet, held.token);
        uint256 earliest = Math.max(held.lockedAt + TAKE_BACK_AFTER, announcedAt + TAKE_BACK_NOTICE);
        if (block.timestamp < earliest) revert TooEarly(earliest, block.timestamp);

        emit TakenBack(deliveryId, authority, held.amount);
        _release(held, LockState.TakenBack, authority);
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
    function treasury() external view returns (address) {
        return TREASURY;
    }

    /// @inheritdoc IEscrow
    function domainSeparator() external view returns (bytes32) {
        return Eip712.domainSeparator(NAME_HASH, address(this));
    }

    /// @inheritdoc IEscrow
    function lockOf(bytes32 deliveryId) external view returns (Lock memory) {
        return _locks[deliveryId];
    }

    /// @inheritdoc IEscrow
    function nextSeq(address wallet, address token) external view returns (uint64) {
        return _accounts[wallet][token].nextSeq;
    }

    /// @inheritdoc IEscrow
    function takeBackAnnouncedAt(address wallet, address token) external view returns (uint256) {
        return _accounts[wallet][token].announcedAt;
    }

    /// @dev Writes the state first, so that a reentrant recipient cannot end the lock twice.
    function _release(Lock storage held, LockState state, address to) private {
        held.state = state;
        (address token, uint256 amount) = (held.token, held.amount);
        if (token == address(0)) payable(to).sendValue(amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _locked(bytes32 deliveryId) private view returns (Lock storage held) {
        held = _locks[deliveryId];
        if (held.state != LockState.Locked) revert NotLocked(deliveryId, held.state);
    }

    /// @dev Requires a relayer and an attestor's signature, before the deadline.
    function _checkMembers(uint256 deadline, bytes32 structHash, bytes calldata signature)
        private
        view
    {
        if (!FACTORY.isRelayer(msg.sender)) revert NotRelayer(msg.sender);
        address signer = _signerOf(deadline, structHash, signature);
        if (!FACTORY.isAttestor(signer)) revert NotAttestor(signer);
    }

    /// @dev The same with members of now or of the time of the lock. They can pay only the treasury.
    function _checkClaimant(
        uint256 lockedAt,
        uint256 deadline,
        bytes32 structHash,
        bytes calldata signature
    ) private view {
        if (!FACTORY.isRelayer(msg.sender) && !FACTORY.wasRelayer(msg.sender, lockedAt)) {
            revert NotRelayer(msg.sender);
        }
        address signer = _signerOf(deadline, structHash, signature);
        if (!FACTORY.isAttestor(signer) && !FACTORY.wasAttestor(signer, lockedAt)) {
            revert NotAttestor(signer);
        }
    }

    function _signerOf(uint256 deadline, bytes32 structHash, bytes calldata signature)
        private
        view
        returns (address)
    {
        if (deadline < block.timestamp) revert Expired(deadline, block.timestamp);
        return Eip712.signerOf(NAME_HASH, structHash, signature);
    }

    function _checkRefundAuthority(Commitment calldata c) private view returns (address authority) {
        authority = Address32.toNonZeroAddress(c.refundAuthority);
        if (msg.sender != authority) revert NotRefundAuthority(msg.sender, c.refundAuthority);
    }

    /// @dev A function of its own to avoid "stack too deep" in `lock`.
    function _emitLocked(bytes32 deliveryId, Lock memory held) private {
        emit Locked(
            deliveryId,
            held.wallet,
            held.commitment,
            held.token,
            held.amount,
            held.minOut,
            held.seq,
            held.destChain,
            held.delivery
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
