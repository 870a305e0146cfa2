// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IEip712 } from "./IEip712.sol";

/// @title Holds a deposit while it is paid out of inventory on another chain
/// @notice A lock names the minimum delivery and the contract that pays it. It ends in exactly one
/// of three ways: claimed to the treasury after the attestors have seen the final delivery; returned to
/// the deposit address after they have seen that it can no longer be delivered; taken back by
/// the refund authority after 72 hours and 24 hours' notice, independent of anybody else.
interface IEscrow is IEip712 {
    /// @notice `None` is an unknown delivery id; the last three are final.
    enum LockState {
        None,
        Locked,
        Claimed,
        Returned,
        TakenBack
    }

    /// @notice A lock. Its delivery id is the hash of it with this chain and escrow; the escrow stores
    /// only state and time, so the caller that ends a lock passes it.
    /// @param commitment Hash of the wallet's commitment.
    /// @param delivery The contract that pays out on the destination chain, padded on the left.
    /// @param token Locked token; zero is the native coin.
    /// @param amount Amount that arrived here, in base units of `token`.
    /// @param minOut Minimum delivery in base units of the committed token.
    /// @param seq This lock's number among those for the same `delivery`, from 0.
    struct Lock {
        bytes32 commitment;
        bytes32 delivery;
        address token;
        uint256 amount;
        uint256 minOut;
        uint64 seq;
    }

    /// @notice An attested claim.
    /// @param held The lock.
    /// @param paidAmount The amount delivered for it.
    /// @param deadline Last second at which it may be used, at most 24 hours ahead.
    /// @param signatures As in `claim`.
    struct Claim {
        Lock held;
        uint256 paidAmount;
        uint256 deadline;
        bytes signatures;
    }

    event Locked(
        bytes32 indexed deliveryId,
        address indexed wallet,
        bytes32 indexed commitment,
        address token,
        uint256 amount,
        uint256 minOut,
        uint64 seq,
        uint64 lockedAt,
        bytes32 delivery
    );

    /// @notice `amount` was paid to the treasury after `paidAmount` was delivered.
    event Claimed(bytes32 indexed deliveryId, uint256 paidAmount, uint256 amount);

    /// @notice The treasury refused the `amount` of a claim: it waits for `collect`.
    event Uncollected(address indexed token, uint256 amount);

    /// @notice `amount` of earlier claims was paid to the treasury.
    event Collected(address indexed token, uint256 amount);
    /// @notice A member of `claimMany` failed; the others stand.
    event ClaimFailed(uint256 indexed index, bytes32 indexed deliveryId, bytes reason);

    /// @notice `amount` was returned to the deposit address, undelivered.
    event Returned(
        bytes32 indexed deliveryId, address indexed wallet, address token, uint256 amount
    );

    /// @notice The refund authority gave notice that it will take back the locks of a wallet and token.
    event TakeBackAnnounced(address indexed wallet, address indexed token, uint256 announcedAt);
    event TakeBackCancelled(address indexed wallet, address indexed token);

    /// @notice `amount` was taken back by the refund authority.
    event TakenBack(bytes32 indexed deliveryId, address indexed to, uint256 amount);

    error ZeroAddress();
    error NotRelayer(address caller);

    /// @notice Only this contract calls it.
    error NotSelf(address caller);

    /// @notice Too little gas is left for the next member of a batch.
    error NeedGas(uint256 left, uint256 needed);

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

    /// @notice The deadline is more than 24 hours ahead.
    error DeadlineTooFar(uint256 deadline, uint256 latest);
    error NotLocked(bytes32 deliveryId, LockState state);

    /// @notice The lock was made under another commitment.
    error WrongCommitment(bytes32 commitment, bytes32 expected);
    error NotRefundAuthority(address caller, bytes32 refundAuthority);

    /// @notice 72 hours since the lock or 24 hours since the announcement have not passed yet.
    error TooEarly(uint256 earliest, uint256 timestamp);
    error PaidTooLittle(uint256 paidAmount, uint256 minOut);
    error NothingToCollect(address token);

    function factory() external view returns (address);
    function bridgeId() external view returns (uint16);
    function evmChainId() external view returns (uint256);

    /// @notice Returns the amount of claims that the treasury refused.
    function uncollected(address token) external view returns (uint256);

    /// @notice Returns the seconds after a lock from which its refund authority may take it back.
    function TAKE_BACK_AFTER() external view returns (uint256);

    /// @notice Returns the seconds after its announcement from which a take-back is possible.
    function TAKE_BACK_NOTICE() external view returns (uint256);

    function stateOf(bytes32 deliveryId) external view returns (LockState);

    /// @notice Returns the state of a lock and the block timestamp at which it was made, which stays
    /// when the lock has ended. The time is zero for an unknown id.
    function recordOf(bytes32 deliveryId) external view returns (LockState state, uint64 lockedAt);

    /// @notice Returns the delivery id of a lock of this escrow.
    function deliveryIdOf(Lock calldata held) external view returns (bytes32);

    /// @notice Returns the number of the next lock for a `delivery`.
    function nextSeq(bytes32 delivery) external view returns (uint64);

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
    /// delivery was already paid from inventory. Relayer and attestors are listed now, or were when the
    /// lock was made: no removal may keep the operator from its claim. Nor may a treasury that refuses
    /// the token: the amount then waits for `collect`.
    /// @param signatures As in the factory's `checkAttestedAt` at the time of the lock, over
    /// `Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)`.
    function claim(
        Lock calldata held,
        uint256 paidAmount,
        uint256 deadline,
        bytes calldata signatures
    ) external;

    /// @notice Claims several locks, each with at most `gasPerClaim`. One that fails is reported by
    /// `ClaimFailed` and undoes no other. Returns the number of claimed ones.
    function claimMany(Claim[] calldata claims, uint256 gasPerClaim) external returns (uint256 done);

    /// @notice One member of `claimMany`, by this contract only.
    function claimFor(address relayer, Claim calldata c) external;

    /// @notice Pays the treasury of now what an earlier one refused. Anybody may call.
    function collect(address token) external returns (uint256 amount);

    /// @notice Returns a lock to its deposit address, to be settled again. Present relayers and
    /// attestors only; works while paused.
    /// @param signatures As in the factory's `checkAttested`, over
    /// `Return(bytes32 deliveryId,uint256 deadline)`, given only when a final block of the destination
    /// lies past the payout window of its `Delivery` and shows the id undelivered: then nobody can pay
    /// it any more, also with earlier signatures.
    function returnToWallet(Lock calldata held, uint256 deadline, bytes calldata signatures)
        external;

    /// @notice Announces that the locks of a wallet and token will be taken back. Stands until it is
    /// cancelled; meanwhile nothing is locked, so no new lock can put the take-back off. By the refund
    /// authority itself; needs nobody else, and works while paused.
    function announceTakeBack(Commitment calldata c, address token) external;

    /// @notice Withdraws the announcement: the wallet may lock again. By the refund authority itself.
    function cancelTakeBack(Commitment calldata c, address token) external;

    /// @notice Pays an announced lock to the refund authority of its commitment, not before 72 hours
    /// after the lock and 24 hours after the announcement. By the authority itself; needs nobody
    /// else, and works while paused.
    function takeBack(Lock calldata held, Commitment calldata c) external;
}
