// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import { Governed } from "./Governed.sol";
import { IDelivery } from "./interfaces/IDelivery.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { Address32 } from "./types/Address32.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { DeliveryIdLib } from "./types/DeliveryId.sol";
import { Eip712 } from "./types/Eip712.sol";
import { RollingCap } from "./types/RollingCap.sol";

/// @title The delivery
/// @notice Holds the inventory. Trust: a settler or an attestor alone moves nothing; both together
/// can pay committed wallets that locked nothing, up to the daily cap of each token. It cannot see
/// the source chain: the attestor's signature states that the lock exists, is final and promised no
/// more than `amount`. The wallet is computed with this chain's factory, which has the same address
/// as the source's.
contract Delivery is IDelivery, Governed {
    using SafeERC20 for IERC20;
    using RollingCap for RollingCap.Window;

    /// @inheritdoc IDelivery
    bytes32 public constant SETTLER = keccak256("sluice.role.settler");

    bytes32 private constant NAME_HASH = keccak256("Sluice Delivery");
    bytes32 private constant DELIVER_TYPEHASH = keccak256(
        "Deliver(bytes32 deliveryId,bytes32 commitment,uint256 amount,uint256 deadline)"
    );

    /// @dev Enough for a smart account to receive native coin, too little to make payouts expensive.
    uint256 private constant PAYOUT_GAS = 100_000;

    struct CapRaise {
        uint112 perDay;
        uint64 eta;
    }

    IDepositFactory private immutable FACTORY;
    uint16 private immutable BRIDGE_ID;
    address private immutable TREASURY;

    mapping(bytes32 deliveryId => bool) private _delivered;
    mapping(address token => RollingCap.Window) private _caps;
    mapping(address token => CapRaise) private _capRaises;

    constructor(
        address owner_,
        address guardian_,
        uint256 delay_,
        address factory_,
        uint16 bridgeId_,
        address treasury_
    ) Governed(owner_, guardian_, delay_) {
        if (factory_ == address(0) || treasury_ == address(0)) {
            revert ZeroAddress();
        }
        FACTORY = IDepositFactory(factory_);
        BRIDGE_ID = bridgeId_;
        TREASURY = treasury_;
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
    function scheduleCapRaise(address token, uint112 perDay) external onlyOwner {
        uint256 cap = _caps[token].cap;
        if (perDay <= cap) revert NotHigher(perDay, cap);
        if (_capRaises[token].eta != 0) revert CapRaisePending(token);
        uint256 readyAt = block.timestamp + delay();
        _capRaises[token] = CapRaise(perDay, SafeCast.toUint64(readyAt));
        emit CapRaiseScheduled(token, perDay, readyAt);
    }

    /// @inheritdoc IDelivery
    function executeCapRaise(address token) external onlyOwner {
        CapRaise memory raise = _capRaises[token];
        if (raise.eta == 0) revert NoCapRaisePending(token);
        if (block.timestamp < raise.eta) revert TooEarly(raise.eta, block.timestamp);
        delete _capRaises[token];
        _setCap(token, raise.perDay);
    }

    /// @inheritdoc IDelivery
    function cancelCapRaise(address token) external onlyOwnerOrGuardian {
        if (_capRaises[token].eta == 0) revert NoCapRaisePending(token);
        delete _capRaises[token];
        emit CapRaiseCancelled(token);
    }

    /// @inheritdoc IDelivery
    function lowerCap(address token, uint112 perDay) external onlyOwnerOrGuardian {
        uint256 cap = _caps[token].cap;
        if (perDay >= cap) revert NotLower(perDay, cap);
        delete _capRaises[token];
        _setCap(token, perDay);
    }

    /// @inheritdoc IDelivery
    function deliver(Order calldata order, bytes calldata signature)
        external
        whenNotPaused
        returns (bytes32 deliveryId)
    {
        if (!_isMember(SETTLER, msg.sender)) revert NotSettler(msg.sender);
        if (order.c.destChain != BRIDGE_ID) revert WrongDestChain(order.c.destChain, BRIDGE_ID);
        if (order.deadline < block.timestamp) revert Expired(order.deadline, block.timestamp);
        if (order.amount == 0) revert ZeroAmount();
        deliveryId = deliveryIdOf(order);
        if (_delivered[deliveryId]) revert AlreadyDelivered(deliveryId);
        bytes32 commitment = CommitmentLib.hash(order.c);
        _checkAttestor(deliveryId, commitment, order, signature);

        _delivered[deliveryId] = true;
        address to = Address32.toNonZeroAddress(order.c.destWallet);
        address token = Address32.toAddress(order.c.destToken);
        if (!_caps[token].spend(order.amount)) {
            revert AboveDailyCap(token, order.amount, _caps[token].left());
        }
        emit Delivered(deliveryId, commitment, to, token, order.amount);
        _pay(token, to, order.amount);
    }

    /// @inheritdoc IDelivery
    function withdraw(address token, uint256 amount) external onlyOwner {
        emit Withdrawn(token, amount);
        _send(token, TREASURY, amount);
    }

    /// @inheritdoc IDelivery
    function capOf(address token) external view returns (uint256) {
        return _caps[token].cap;
    }

    /// @inheritdoc IDelivery
    function capLeft(address token) external view returns (uint256) {
        return _caps[token].left();
    }

    /// @inheritdoc IDelivery
    function capRaiseOf(address token) external view returns (uint256, uint256) {
        return (_capRaises[token].perDay, _capRaises[token].eta);
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
    function treasury() external view returns (address) {
        return TREASURY;
    }

    /// @inheritdoc IDelivery
    function domainSeparator() external view returns (bytes32) {
        return Eip712.domainSeparator(NAME_HASH, address(this));
    }

    /// @inheritdoc IDelivery
    function isDelivered(bytes32 deliveryId) external view returns (bool) {
        return _delivered[deliveryId];
    }

    /// @inheritdoc IDelivery
    function deliveryIdOf(Order calldata order) public view returns (bytes32) {
        return DeliveryIdLib.compute(
            order.srcChain,
            order.escrow,
            Address32.toBytes32(FACTORY.predict(order.c)),
            order.srcToken,
            order.seq
        );
    }

    function _checkMember(bytes32, address) internal view override { }

    function _isListRole(bytes32 role) internal pure override returns (bool) {
        return role == SETTLER;
    }

    function _setCap(address token, uint112 perDay) private {
        _caps[token].cap = perDay;
        emit CapSet(token, perDay);
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

    function _checkAttestor(
        bytes32 deliveryId,
        bytes32 commitment,
        Order calldata order,
        bytes calldata signature
    ) private view {
        bytes32 structHash = keccak256(
            abi.encode(DELIVER_TYPEHASH, deliveryId, commitment, order.amount, order.deadline)
        );
        address signer = Eip712.signerOf(NAME_HASH, structHash, signature);
        if (!FACTORY.isAttestor(signer)) revert NotAttestor(signer);
    }
}
