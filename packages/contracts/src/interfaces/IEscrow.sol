// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";

/// @title Holds a deposit while it is paid out of inventory on another chain
/// @notice A lock records the minimum delivery and the contract that pays it. It ends in exactly one
/// of three ways: claimed to the treasury after an attestor has seen the final delivery; returned to
/// the deposit address after an attestor has seen that it can no longer be delivered; taken back by
/// the refund authority after 72 hours and 24 hours' notice, independent of anybody else.
interface IEscrow {
    /// @notice `None` is an unknown delivery id; the last three are final.
    enum LockState {
        None,
        Locked,
        Claimed,
        Returned,
        TakenBack
    }

    /// @param wallet The deposit address it came from.
    /// @param seq This lock's number among those of the same wallet and token, from 0.
    /// @param destChain Bridge chain id of the destination.
    /// @param state See `LockState`.
    /// @param token Locked token; zero is the native coin.
    /// @param lockedAt Block timestamp of the lock.
    /// @param amount Amount that arrived here, in base units of `token`.
    /// @param minOut Minimum delivery in base units of the committed token.
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

    /// @notice `amount` was paid to the treasury after `paidAmount` was delivered.
    event Claimed(bytes32 indexed deliveryId, uint256 paidAmount, uint256 amount);

    /// @notice `amount` was returned to the deposit address, undelivered.
    event Returned(bytes32 indexed deliveryId, address indexed wallet, uint256 amount);

    /// @notice The refund authority gave notice that it will take back the locks of a wallet and token.
    event TakeBackAnnounced(address indexed wallet, address indexed token, uint256 announcedAt);
    event TakeBackCancelled(address indexed wallet, address indexed token);

    /// @notice `amount` was taken back by the refund authority.
    event TakenBack(bytes32 indexed deliveryId, address indexed to, uint256 amount);

    error ZeroAddress();
    error NotRelayer(address caller);

    /// @notice Only the wallet of the commitment may lock under it.
    error NotWallet(address caller, address wallet);
    error IsPaused();

    /// @notice The listed attestors do not suffice to claim the lock.
    error TooFewAttestors();

    /// @notice The refund authority has announced a take-back: nothing is locked until it cancels.
    error TakeBackPending(address wallet, address token);
    error NotAnnounced(address wallet, address token);
    error WrongEvmChain(uint256 chainId, uint256 expected);

    /// @notice The native coin sent differs from the amount to lock.
    error WrongValue(uint256 value, uint256 expected);

    /// @notice The transfer brought nothing, or less than the promised minimum assumes.
    error ReceivedLess(uint256 received, uint256 amount);
    error Expired(uint256 deadline, uint256 timestamp);
    error NotLocked(bytes32 deliveryId, LockState state);

    /// @notice The lock was made under another commitment.
    error WrongCommitment(bytes32 commitment, bytes32 expected);
    error NotRefundAuthority(address caller, bytes32 refundAuthority);

    /// @notice 72 hours since the lock or 24 hours since the announcement have not passed yet.
    error TooEarly(uint256 earliest, uint256 timestamp);
    error PaidTooLittle(uint256 paidAmount, uint256 minOut);

    /// @notice The signature is malformed or not by an attestor that may give it.
    error NotAttestor(address signer);

    function factory() external view returns (address);
    function bridgeId() external view returns (uint16);
    function evmChainId() external view returns (uint256);
    function treasury() external view returns (address);

    /// @notice Returns the seconds after a lock from which its refund authority may take it back.
    function TAKE_BACK_AFTER() external view returns (uint256);

    /// @notice Returns the seconds after its announcement from which a take-back is possible.
    function TAKE_BACK_NOTICE() external view returns (uint256);

    /// @notice The EIP-712 domain of `claim` and `returnToWallet`.
    function domainSeparator() external view returns (bytes32);
    function lockOf(bytes32 deliveryId) external view returns (Lock memory);
    function nextSeq(address wallet, address token) external view returns (uint64);

    /// @notice Returns the time of the standing announcement; zero if there is none.
    function takeBackAnnouncedAt(address wallet, address token) external view returns (uint256);

    /// @notice Pulls `amount` from the calling wallet (native coin is sent with the call) and
    /// promises `minOut`. Not while paused, nor while a take-back is announced, nor without enough
    /// attestors to claim it.
    function lock(
        Commitment calldata c,
        address token,
        uint256 amount,
        uint256 minOut,
        bytes32 delivery
    ) external payable returns (bytes32 deliveryId);

    /// @notice Pays a lock to the treasury after its delivery is final. Works while paused, since the
    /// delivery was already paid from inventory. Relayer and attestor are listed now, or were when the
    /// lock was made: no removal may keep the operator from its claim.
    /// @param signature By an attestor over
    /// `Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)`.
    function claim(
        bytes32 deliveryId,
        uint256 paidAmount,
        uint256 deadline,
        bytes calldata signature
    ) external;

    /// @notice Returns a lock to its deposit address, to be settled again. Present relayers and
    /// attestors only; works while paused.
    /// @param signature By an attestor over `Return(bytes32 deliveryId,uint256 deadline)`, given
    /// only when a final block of the destination lies past every deadline signed for the id and
    /// shows it undelivered.
    function returnToWallet(bytes32 deliveryId, uint256 deadline, bytes calldata signature) external;

    /// @notice Announces that the locks of a wallet and token will be taken back. Stands until it is
    /// cancelled; meanwhile nothing is locked, so no new lock can put the take-back off. By the refund
    /// authority itself; needs nobody else, and works while paused.
    function announceTakeBack(Commitment calldata c, address token) external;

    /// @notice Withdraws the announcement: the wallet may lock again. By the refund authority itself.
    function cancelTakeBack(Commitment calldata c, address token) external;

    /// @notice Pays an announced lock to the refund authority of its commitment, not before 72 hours
    /// after the lock and 24 hours after the announcement. By the authority itself; needs nobody
    /// else, and works while paused.
    function takeBack(bytes32 deliveryId, Commitment calldata c) external;
}
