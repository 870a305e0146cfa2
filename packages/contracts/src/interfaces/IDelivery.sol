// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IGoverned } from "./IGoverned.sol";

/// @title Pays locked deposits out of inventory on the destination chain
/// @notice Pays each lock at most once, only to the committed wallet in the committed token, and
/// only when a settler and an attestor agree.
interface IDelivery is IGoverned {
    /// @param c The commitment of the deposit address.
    /// @param srcChain Bridge chain id of the chain that holds the lock.
    /// @param escrow The escrow there, padded on the left.
    /// @param srcToken The locked token, padded on the left.
    /// @param seq The lock's number among those of the same wallet and token.
    /// @param amount Payout in base units of the committed token.
    /// @param deadline Last second at which it may be paid.
    struct Order {
        Commitment c;
        uint16 srcChain;
        bytes32 escrow;
        bytes32 srcToken;
        uint64 seq;
        uint256 amount;
        uint256 deadline;
    }

    /// @param token The token paid out; zero is the native coin.
    /// @param perDay Maximum payout in any 24 hours, in base units.
    struct DailyCap {
        address token;
        uint112 perDay;
    }

    event Delivered(
        bytes32 indexed deliveryId,
        bytes32 indexed commitment,
        address indexed to,
        address token,
        uint256 amount
    );
    event Withdrawn(address indexed token, uint256 amount);
    event CapSet(address indexed token, uint256 perDay);
    event CapRaiseScheduled(address indexed token, uint256 perDay, uint256 eta);
    event CapRaiseCancelled(address indexed token);

    error NotSettler(address caller);

    /// @notice The commitment names another destination chain.
    error WrongDestChain(uint16 destChain, uint16 expected);
    error Expired(uint256 deadline, uint256 timestamp);
    error ZeroAmount();
    error AlreadyDelivered(bytes32 deliveryId);

    /// @notice Above the unused part of the token's daily cap.
    error AboveDailyCap(address token, uint256 amount, uint256 left);

    /// @notice The recipient received less than the payout.
    error ReceivedLess(uint256 received, uint256 amount);

    /// @notice The recipient refused native coin, or needed more than 100,000 gas for it.
    error RecipientRefused(address to);

    /// @notice A cap is lowered by `lowerCap` and raised by `scheduleCapRaise`.
    error NotLower(uint256 perDay, uint256 cap);
    error NotHigher(uint256 perDay, uint256 cap);
    error CapRaisePending(address token);
    error NoCapRaisePending(address token);

    /// @notice The signature is malformed or not by a listed attestor.
    error NotAttestor(address signer);

    /// @notice Role of `schedule`, `execute`, `cancel` and `remove`.
    function SETTLER() external view returns (bytes32);

    function isSettler(address who) external view returns (bool);
    function factory() external view returns (address);
    function bridgeId() external view returns (uint16);
    function treasury() external view returns (address);

    /// @notice The EIP-712 domain of `deliver`.
    function domainSeparator() external view returns (bytes32);
    function isDelivered(bytes32 deliveryId) external view returns (bool);

    /// @notice Returns the delivery id of `order`.
    function deliveryIdOf(Order calldata order) external view returns (bytes32);

    /// @notice Returns the maximum payout of a token in any 24 hours. Zero until it is set: a token
    /// without a cap is not paid out.
    function capOf(address token) external view returns (uint256);

    /// @notice Returns the unused part of the daily cap of a token.
    function capLeft(address token) external view returns (uint256);

    /// @notice Returns the pending raise of a cap; both zero without one.
    function capRaiseOf(address token) external view returns (uint256 perDay, uint256 eta);

    /// @notice Lists the first settlers and the first caps. Owner only, once.
    function seal(address[] calldata settlers, DailyCap[] calldata caps) external;

    /// @notice Announces a higher cap. Owner only.
    function scheduleCapRaise(address token, uint112 perDay) external;

    /// @notice Executes it after the delay. Owner only.
    function executeCapRaise(address token) external;

    /// @notice Withdraws a pending raise. Owner or guardian.
    function cancelCapRaise(address token) external;

    /// @notice Lowers a cap at once, zero included, and withdraws a pending raise. Owner or
    /// guardian.
    function lowerCap(address token, uint112 perDay) external;

    /// @notice Pays one order. Settlers only, not while paused. Native coin is sent with 100,000 gas.
    /// @param signature By an attestor of the factory over
    /// `Deliver(bytes32 deliveryId,bytes32 commitment,uint256 amount,uint256 deadline)`.
    function deliver(Order calldata order, bytes calldata signature)
        external
        returns (bytes32 deliveryId);

    /// @notice Withdraws inventory to the treasury. Owner only.
    function withdraw(address token, uint256 amount) external;
}
