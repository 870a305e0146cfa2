// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";

/// @title Holds a deposit while it is paid out of inventory on another chain
/// @notice A lock names what must be delivered at least, and by which contract. Once an attestor
/// has seen the final delivery, the lock goes to the treasury.
interface IEscrow {
    /// @notice Locked until claimed. `None` is an unknown delivery id.
    enum LockState {
        None,
        Locked,
        Claimed
    }

    /// @param wallet The deposit address it came from.
    /// @param seq This lock's number among those of the same wallet and token, from 0.
    /// @param destChain Bridge chain id of the destination.
    /// @param state See `LockState`.
    /// @param token What is locked.
    /// @param lockedAt Block timestamp of the lock.
    /// @param amount What really arrived here, in base units of `token`.
    /// @param minOut The least to deliver, in base units of the committed token.
    /// @param commitment Hash of the wallet's commitment.
    /// @param delivery The contract that pays out on the destination chain.
    struct Lock {
        address wallet;
        uint64 seq;
        uint16 destChain;
        LockState state;
        address token;
        uint64 lockedAt;
        uint128 amount;
        uint128 minOut;
        bytes32 commitment;
        bytes32 delivery;
    }

    event Locked(
        bytes32 indexed deliveryId,
        address indexed wallet,
        bytes32 indexed commitment,
        address token,
        uint256 amount,
        uint256 minOut,
        uint64 seq,
        uint16 destChain,
        bytes32 delivery
    );

    /// @notice `amount` went to the treasury after `paidAmount` was delivered.
    event Claimed(bytes32 indexed deliveryId, uint256 paidAmount, uint256 amount);

    error ZeroAddress();
    error NotRelayer(address caller);

    /// @notice Only the wallet of the commitment may lock under it.
    error NotWallet(address caller, address wallet);
    error IsPaused();
    error WrongEvmChain(uint256 chainId, uint256 expected);

    /// @notice The transfer brought nothing, or less than the promise was made on.
    error ReceivedLess(uint256 received, uint256 amount);
    error Expired(uint256 deadline, uint256 timestamp);
    error NotLocked(bytes32 deliveryId, LockState state);
    error PaidTooLittle(uint256 paidAmount, uint256 minOut);

    /// @notice The signature is malformed or not by a listed attestor.
    error NotAttestor(address signer);

    function factory() external view returns (address);
    function bridgeId() external view returns (uint16);
    function evmChainId() external view returns (uint256);
    function treasury() external view returns (address);

    /// @notice The EIP-712 domain of `claim`.
    function domainSeparator() external view returns (bytes32);
    function lockOf(bytes32 deliveryId) external view returns (Lock memory);
    function nextSeq(address wallet, address token) external view returns (uint64);

    /// @notice Pulls `amount` from the calling wallet and promises `minOut`. Not while paused.
    function lock(
        Commitment calldata c,
        address token,
        uint256 amount,
        uint256 minOut,
        bytes32 delivery
    ) external returns (bytes32 deliveryId);

    /// @notice Pays a lock to the treasury once its delivery is final. Relayers only; works while
    /// paused, because the delivery has left the inventory already.
    /// @param signature By an attestor over
    /// `Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)`.
    function claim(
        bytes32 deliveryId,
        uint256 paidAmount,
        uint256 deadline,
        bytes calldata signature
    ) external;
}
