// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEscrowRoute } from "./IEscrowRoute.sol";

/// @title Through the escrow to another asset on another chain, at a price an attestor signed
/// @notice `data` is `abi.encode(Price, bytes signature)`. The signature covers no exact amount and
/// no sequence number: one unit sent by anybody in between must not void it. What it covers is
/// bounded by `maxAmount` and 120 seconds.
interface IPricedRoute is IEscrowRoute {
    /// @param rate The fair price: whole destination tokens per whole source token, times 1e18.
    /// @param maxAmount The most it may be used for, in base units of the source token.
    /// @param deadline Last second at which it may be used.
    struct Price {
        uint256 rate;
        uint256 maxAmount;
        uint256 deadline;
    }

    error Expired(uint256 deadline, uint256 timestamp);

    /// @notice The deadline lies further ahead than a price is good for.
    error DeadlineTooFar(uint256 deadline, uint256 latest);
    error AboveMaxAmount(uint256 amount, uint256 maxAmount);

    /// @notice The signature is malformed or not by a listed attestor.
    error NotAttestor(address signer);

    /// @notice The EIP-712 domain of a price: `Price(address factory,address wallet,address
    /// token,uint256 rate,uint256 maxAmount,uint256 deadline)`.
    function domainSeparator() external view returns (bytes32);

    /// @notice The factory whose attestors it listens to.
    function factory() external view returns (address);

    /// @notice The least that must be delivered for `amount` at `rate`, in base units of the
    /// destination token, rounded down twice: the fair amount, amount x rate x 10^destDecimals /
    /// (10^18 x 10^sourceDecimals); and of it the share (10000 - maxSlippageBps - maxFeeBps) /
    /// 10000.
    function minOut(uint256 amount, uint256 rate, uint16 maxSlippageBps, uint16 maxFeeBps)
        external
        view
        returns (uint256);
}
