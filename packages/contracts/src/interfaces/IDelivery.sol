// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IGoverned } from "./IGoverned.sol";

/// @title Pays locked deposits out of inventory on the destination chain
/// @notice Each lock at most once, only to the committed wallet in the committed token, and only
/// when a settler and an attestor agree.
interface IDelivery is IGoverned {
    /// @param c The commitment of the deposit address.
    /// @param srcChain Bridge chain id of the chain that holds the lock.
    /// @param escrow The escrow there, padded on the left.
    /// @param srcToken The locked token, padded on the left.
    /// @param seq The lock's number among those of the same wallet and token.
    /// @param amount What to pay, in base units of the committed token.
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

    event Delivered(
        bytes32 indexed deliveryId,
        bytes32 indexed commitment,
        address indexed to,
        address token,
        uint256 amount
    );
    event Withdrawn(address indexed token, uint256 amount);

    error NotSettler(address caller);

    /// @notice The commitment names another destination chain.
    error WrongDestChain(uint16 destChain, uint16 expected);
    error Expired(uint256 deadline, uint256 timestamp);
    error ZeroAmount();
    error AlreadyDelivered(bytes32 deliveryId);

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

    /// @notice The delivery id that `order` would be paid under.
    function deliveryIdOf(Order calldata order) external view returns (bytes32);

    /// @notice Lists the first settlers. Owner only, once.
    function seal(address[] calldata settlers) external;

    /// @notice Pays one order. Settlers only, not while paused.
    /// @param signature By an attestor of the factory over
    /// `Deliver(bytes32 deliveryId,bytes32 commitment,uint256 amount,uint256 deadline)`.
    function deliver(Order calldata order, bytes calldata signature)
        external
        returns (bytes32 deliveryId);

    /// @notice Takes inventory out, to the treasury. Owner only.
    function withdraw(address token, uint256 amount) external;
}
