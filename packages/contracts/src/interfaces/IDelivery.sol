// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IDailyCaps } from "./IDailyCaps.sol";
import { IEip712 } from "./IEip712.sol";
import { IGoverned } from "./IGoverned.sol";

/// @title Pays locked deposits out of inventory on the destination chain
/// @notice Pays each lock at most once, only to the committed wallet in the committed token, and
/// only when a settler and the attestors agree.
interface IDelivery is IGoverned, IDailyCaps, IEip712 {
    /// @notice A payout, and the lock that it is for.
    /// @param c The commitment of the deposit address.
    /// @param srcChain Bridge chain id of the chain that holds the lock.
    /// @param escrow The escrow there, padded on the left.
    /// @param srcToken The locked token, padded on the left.
    /// @param lockedAmount Locked amount, in base units of `srcToken`.
    /// @param minOut Minimum payout that the lock promised.
    /// @param seq The lock's number among those for this contract.
    /// @param windowStart Unix seconds from which the payout window counts: a time at or before that of
    /// the lock, whichever block holds it in the end.
    /// @param amount Payout in base units of the committed token.
    struct Order {
        Commitment c;
        uint16 srcChain;
        bytes32 escrow;
        bytes32 srcToken;
        uint256 lockedAmount;
        uint256 minOut;
        uint64 seq;
        uint64 windowStart;
        uint256 amount;
    }

    /// @param signatures As in `deliver`.
    struct SignedOrder {
        Order order;
        bytes signatures;
    }

    event Delivered(
        bytes32 indexed deliveryId,
        bytes32 indexed commitment,
        address indexed to,
        address token,
        uint256 amount
    );

    /// @notice A member of `deliverMany` failed; the others stand.
    event DeliveryFailed(uint256 indexed index, bytes32 indexed deliveryId, bytes reason);
    event Withdrawn(address indexed token, uint256 amount);

    error NotSettler(address caller);

    /// @notice The commitment names another destination chain.
    error WrongDestChain(uint16 destChain, uint16 expected);
    error ZeroAmount();

    /// @notice Less than the lock promised.
    error BelowMinimum(uint256 amount, uint256 minOut);

    /// @notice The payout window is over: the lock is given back instead.
    error PayoutWindowOver(uint256 until, uint256 timestamp);
    error InvalidPayoutWindow(uint256 payoutWindow, uint256 max);

    /// @notice Only this contract calls it.
    error NotSelf(address caller);

    /// @notice Too little gas is left for the next member of a batch.
    error NeedGas(uint256 left, uint256 needed);
    error AlreadyDelivered(bytes32 deliveryId);

    /// @notice The recipient received less than the payout.
    error ReceivedLess(uint256 received, uint256 amount);

    /// @notice The recipient refused native coin, or needed more than 100,000 gas for it.
    error RecipientRefused(address to);

    /// @notice Role of `schedule`, `execute`, `cancel` and `remove`.
    function SETTLER() external view returns (bytes32);

    function isSettler(address who) external view returns (bool);
    function factory() external view returns (address);
    function bridgeId() external view returns (uint16);

    /// @notice Seconds after its `windowStart` in which an order may be paid. Never changes; far below the
    /// 72 hours after which the refund authority may take the lock back.
    function PAYOUT_WINDOW() external view returns (uint256);

    /// @notice Returns whether a lock was paid. Chain, escrow and number are those of the lock that
    /// the id is the hash of.
    function isDelivered(bytes32 deliveryId, uint16 srcChain, bytes32 escrow, uint64 seq)
        external
        view
        returns (bool);

    /// @notice Returns the delivery id of `order`.
    function deliveryIdOf(Order calldata order) external view returns (bytes32);

    /// @notice Lists the first settlers and the first caps. Owner only, once.
    function seal(address[] calldata settlers, DailyCap[] calldata caps) external;

    /// @notice Pays one order. Settlers only, not while paused, within the payout window. Native coin
    /// is sent with 100,000 gas.
    /// @param signatures As in the factory's `checkAttested`, over
    /// `Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)`, given only if the escrow holds the
    /// lock and `windowStart` is not after its time: nobody can then pay a lock that was returned.
    function deliver(Order calldata order, bytes calldata signatures)
        external
        returns (bytes32 deliveryId);

    /// @notice Pays several orders, each with at most `gasPerOrder`. One that fails is reported by
    /// `DeliveryFailed` and undoes no other. Returns the number of paid ones.
    function deliverMany(SignedOrder[] calldata orders, uint256 gasPerOrder)
        external
        returns (uint256 done);

    /// @notice One member of `deliverMany`, by this contract only.
    function deliverOne(SignedOrder calldata signed) external;

    /// @notice Withdraws inventory to the factory's treasury. Owner only.
    function withdraw(address token, uint256 amount) external;
}
