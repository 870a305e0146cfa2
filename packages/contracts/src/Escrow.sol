// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { SafeCast } from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { IEscrow } from "./interfaces/IEscrow.sol";
import { Address32 } from "./types/Address32.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { DeliveryIdLib } from "./types/DeliveryId.sol";
import { Eip712 } from "./types/Eip712.sol";

/// @title The escrow
/// @notice Trust: a relayer and an attestor together can move a lock to the treasury although
/// nothing was delivered; neither can alone, and nobody can move it anywhere else. Relayers,
/// attestors and the pause are the factory's.
/// Assumes: only the factory makes a wallet act, and its guard lets no second wallet act meanwhile;
/// hence the balance difference in `lock` cannot be disturbed by another lock.
contract Escrow is IEscrow {
    using SafeERC20 for IERC20;

    bytes32 private constant NAME_HASH = keccak256("Sluice Escrow");
    bytes32 private constant CLAIM_TYPEHASH =
        keccak256("Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)");

    IDepositFactory private immutable FACTORY;
    uint16 private immutable BRIDGE_ID;
    uint256 private immutable EVM_CHAIN_ID;
    address private immutable TREASURY;

    mapping(bytes32 deliveryId => Lock) private _locks;
    mapping(address wallet => mapping(address token => uint64)) private _nextSeq;

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
    ) external returns (bytes32 deliveryId) {
        address wallet = FACTORY.predict(c);
        if (msg.sender != wallet) revert NotWallet(msg.sender, wallet);
        if (FACTORY.paused()) revert IsPaused();
        if (block.chainid != EVM_CHAIN_ID) revert WrongEvmChain(block.chainid, EVM_CHAIN_ID);

        uint64 seq = _nextSeq[wallet][token]++;
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
        if (!FACTORY.isRelayer(msg.sender)) revert NotRelayer(msg.sender);
        if (deadline < block.timestamp) revert Expired(deadline, block.timestamp);
        Lock storage held = _locks[deliveryId];
        if (held.state != LockState.Locked) revert NotLocked(deliveryId, held.state);
        if (paidAmount < held.minOut) revert PaidTooLittle(paidAmount, held.minOut);
        bytes32 structHash = keccak256(abi.encode(CLAIM_TYPEHASH, deliveryId, paidAmount, deadline));
        address signer = Eip712.signerOf(NAME_HASH, structHash, signature);
        if (!FACTORY.isAttestor(signer)) revert NotAttestor(signer);

        held.state = LockState.Claimed;
        uint256 amount = held.amount;
        emit Claimed(deliveryId, paidAmount, amount);
        IERC20(held.token).safeTransfer(TREASURY, amount);
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
        return _nextSeq[wallet][token];
    }

    /// @dev Apart, because the compiler runs out of stack in `lock`.
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

    /// @dev The balance difference, not the asked amount. Less than asked is refused: `minOut` was
    /// promised on the whole, and a token that starts taking a fee must not be paid for by the
    /// inventory.
    function _pull(address token, address from, uint256 amount) private returns (uint256 received) {
        uint256 before = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(from, address(this), amount);
        received = IERC20(token).balanceOf(address(this)) - before;
        if (received == 0 || received < amount) revert ReceivedLess(received, amount);
    }
}
