// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { DailyCaps } from "./DailyCaps.sol";
import { Eip712 } from "./Eip712.sol";
import { Governed } from "./Governed.sol";
import { IDelivery } from "./interfaces/IDelivery.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { Address32 } from "./types/Address32.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { DeliveryIdLib, LockFacts } from "./types/DeliveryId.sol";

/// @title The delivery
/// @notice Holds the inventory. Trust: a settler or the attestors alone move nothing; both together
/// can pay committed wallets that locked nothing, up to the daily cap of each token. It cannot see
/// the source chain: the attestors' signatures state that the lock exists and is final. The id is
/// computed from the whole lock, so no other lock is paid for it, nor less than it promised.
contract Delivery is IDelivery, Governed, DailyCaps, Eip712 {
    using SafeERC20 for IERC20;

    /// @inheritdoc IDelivery
    bytes32 public constant SETTLER = keccak256("sluice.role.settler");

    bytes32 private constant DELIVER_TYPEHASH =
        keccak256("Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)");

    /// @dev Returns of locks wait for it, and take-backs begin 72 hours after the lock.
    uint256 private constant PAYOUT_WINDOW_MAX = 24 hours;

    /// @dev Tags in a slot.
    uint256 private constant LANES = 4;
    uint256 private constant TAG_BITS = 64;

    /// @dev Bytes of a failed order's revert data in its event.
    uint256 private constant REASON_MAX = 256;

    /// @dev Gas around an order of a batch: the call, the event of a failure, the end of the batch.
    uint256 private constant ORDER_OVERHEAD = 15_000;

    /// @dev Enough for a smart account to receive native coin, too little to make payouts expensive.
    uint256 private constant PAYOUT_GAS = 100_000;

    /// @inheritdoc IDelivery
    uint256 public immutable PAYOUT_WINDOW;

    IDepositFactory private immutable FACTORY;
    uint16 private immutable BRIDGE_ID;

    /// @dev Paid locks: four tags of ids to a slot, by chain, escrow and number of the lock. Locks
    /// are counted without gaps, so a payout costs a quarter of a new slot. The tag tells the lock that
    /// was paid from another that has its number after a reorganisation.
    mapping(uint16 srcChain => mapping(bytes32 escrow => mapping(uint256 slot => uint256))) private
        _tags;

    /// @dev Paid locks whose number was taken by another.
    mapping(bytes32 deliveryId => bool) private _displaced;

    modifier onlySettler() {
        if (!_isMember(SETTLER, msg.sender)) revert NotSettler(msg.sender);
        _;
    }

    constructor(
        address owner_,
        address guardian_,
        uint256 delay_,
        address factory_,
        uint16 bridgeId_,
        uint256 payoutWindow_
    ) Governed(owner_, guardian_, delay_) {
        if (factory_ == address(0)) revert ZeroAddress();
        if (payoutWindow_ == 0 || payoutWindow_ > PAYOUT_WINDOW_MAX) {
            revert InvalidPayoutWindow(payoutWindow_, PAYOUT_WINDOW_MAX);
        }
        PAYOUT_WINDOW = payoutWindow_;
        FACTORY = IDepositFactory(factory_);
        BRIDGE_ID = bridgeId_;
    }

    /// @dev Inventory in native coin.
    receive() external payable { }

    /// @inheritdoc IDelivery
    function seal(address[] calldata settlers, DailyCap[] calldata caps) external {
        _sealOnce();
        for (uint256 i; i < settlers.length; ++i) {
            _grant(SETTLER, settlers[i]);
        }
        for (uint256 i; i < caps.length; ++i) {
            _setCap(caps[i].token, caps[i].perDay);
        }
    }

    /// @inheritdoc IDelivery
    function deliver(Order calldata order, bytes calldata signatures)
        external
        whenNotPaused
        onlySettler
        returns (bytes32 deliveryId)
    {
        return _deliver(order, signatures);
    }

    /// @inheritdoc IDelivery
    function deliverMany(SignedOrder[] calldata orders, uint256 gasPerOrder)
        external
        whenNotPaused
        onlySettler
        returns (uint256 done)
    {
        // A call receives at most 63/64 of the remaining gas; that must suffice for every order.
        uint256 needed = gasPerOrder + gasPerOrder / 63 + ORDER_OVERHEAD;
        for (uint256 i; i < orders.length; ++i) {
            bytes memory payload = abi.encodeCall(this.deliverOne, (orders[i]));
            if (gasleft() < needed) revert NeedGas(gasleft(), needed);
            (bool ok, bytes memory reason) =
                BoundedCall.tryCall(address(this), gasPerOrder, payload, REASON_MAX);
            if (ok) ++done;
            else emit DeliveryFailed(i, deliveryIdOf(orders[i].order), reason);
        }
    }

    /// @inheritdoc IDelivery
    function deliverOne(SignedOrder calldata signed) external {
        if (msg.sender != address(this)) revert NotSelf(msg.sender);
        _deliver(signed.order, signed.signatures);
    }

    /// @inheritdoc IDelivery
    function withdraw(address token, uint256 amount) external onlyOwner {
        address to = FACTORY.treasury();
        if (to == address(0)) revert ZeroAddress();
        emit Withdrawn(token, amount);
        _send(token, to, amount);
    }

    /// @inheritdoc IDelivery
    function isSettler(address who) external view returns (bool) {
        return _isMember(SETTLER, who);
    }

    /// @inheritdoc IDelivery
    function factory() external view returns (address) {
        return address(FACTORY);
    }

    /// @inheritdoc IDelivery
    function bridgeId() external view returns (uint16) {
        return BRIDGE_ID;
    }

    /// @inheritdoc IDelivery
    function isDelivered(bytes32 deliveryId, uint16 srcChain, bytes32 escrow, uint64 seq)
        external
        view
        returns (bool)
    {
        uint256 paid = uint64(_tags[srcChain][escrow][seq / LANES] >> _shiftOf(seq));
        return paid == _tagOf(deliveryId) || _displaced[deliveryId];
    }

    /// @inheritdoc IDelivery
    function deliveryIdOf(Order calldata order) public view returns (bytes32) {
        return _idOf(order, CommitmentLib.hash(order.c));
    }

    function _checkScheduled(bytes32, address) internal override { }

    function _checkMember(bytes32, address) internal override { }

    function _isListRole(bytes32 role) internal pure override returns (bool) {
        return role == SETTLER;
    }

    function _capPowers() internal view override returns (CapPowers memory) {
        return CapPowers({ owner: owner(), guardian: guardian(), delay: delay() });
    }

    function _domainName() internal pure override returns (string memory) {
        return "Sluice Delivery";
    }

    function _deliver(Order calldata order, bytes calldata signatures)
        private
        returns (bytes32 deliveryId)
    {
        if (order.c.destChain != BRIDGE_ID) {
            revert WrongDestChain(order.c.destChain, BRIDGE_ID);
        }
        uint256 until = order.windowStart + PAYOUT_WINDOW;
        if (block.timestamp > until) revert PayoutWindowOver(until, block.timestamp);
        if (order.amount == 0) revert ZeroAmount();
        if (order.amount < order.minOut) revert BelowMinimum(order.amount, order.minOut);
        bytes32 commitment = CommitmentLib.hash(order.c);
        deliveryId = _idOf(order, commitment);
        _checkAttestors(deliveryId, order, signatures);
        _markDelivered(deliveryId, order);

        address to = Address32.toNonZeroAddress(order.c.destWallet);
        address token = Address32.toAddress(order.c.destToken);
        _spendCap(token, order.amount);
        emit Delivered(deliveryId, commitment, to, token, order.amount);
        _pay(token, to, order.amount);
    }

    /// @dev Reverts for a lock that was paid.
    function _markDelivered(bytes32 deliveryId, Order calldata order) private {
        mapping(uint256 => uint256) storage slots = _tags[order.srcChain][order.escrow];
        uint256 slot = order.seq / LANES;
        uint256 shift = _shiftOf(order.seq);
        uint256 tags = slots[slot];
        uint256 paid = uint64(tags >> shift);
        uint256 tag = _tagOf(deliveryId);
        if (paid == tag || _displaced[deliveryId]) revert AlreadyDelivered(deliveryId);
        if (paid == 0) slots[slot] = tags | (tag << shift);
        else _displaced[deliveryId] = true;
    }

    /// @dev Requires the whole amount to arrive: a token that starts to take a fee is not delivered.
    function _pay(address token, address to, uint256 amount) private {
        if (token == address(0)) return _send(token, to, amount);
        uint256 balanceBefore = IERC20(token).balanceOf(to);
        _send(token, to, amount);
        uint256 received = IERC20(token).balanceOf(to) - balanceBefore;
        if (received < amount) revert ReceivedLess(received, amount);
    }

    function _send(address token, address to, uint256 amount) private {
        if (token != address(0)) return IERC20(token).safeTransfer(to, amount);
        if (!BoundedCall.trySend(to, amount, PAYOUT_GAS)) revert RecipientRefused(to);
    }

    function _checkAttestors(bytes32 deliveryId, Order calldata order, bytes calldata signatures)
        private
        view
    {
        bytes32 structHash = keccak256(
            abi.encode(DELIVER_TYPEHASH, deliveryId, order.amount, uint256(order.windowStart))
        );
        FACTORY.checkAttested(_digestOf(structHash), signatures);
    }

    function _idOf(Order calldata order, bytes32 commitment) private view returns (bytes32) {
        return DeliveryIdLib.compute(
            LockFacts({
                srcChain: order.srcChain,
                escrow: order.escrow,
                delivery: Address32.toBytes32(address(this)),
                commitment: commitment,
                token: order.srcToken,
                amount: order.lockedAmount,
                minOut: order.minOut,
                seq: order.seq
            })
        );
    }

    function _shiftOf(uint64 seq) private pure returns (uint256) {
        return seq % LANES * TAG_BITS;
    }

    /// @dev Never zero, which is an empty lane.
    function _tagOf(bytes32 deliveryId) private pure returns (uint256) {
        return uint64(bytes8(deliveryId)) | 1;
    }
}
