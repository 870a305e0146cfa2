// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "./IAttestedPrice.sol";
import { IEscrowRoute } from "./IEscrowRoute.sol";

/// @title Locks for another asset on another chain, at a price that an attestor signed
/// @notice `data` is `abi.encode(Price price, bytes signature)`.
interface IPricedRoute is IEscrowRoute, IAttestedPrice {
    /// @notice Returns the minimum delivery for `amount` at `rate`, in base units of the destination
    /// token, rounded down twice: the fair amount, amount x rate x 10^destDecimals / (10^18 x
    /// 10^sourceDecimals); and its share (10000 - maxSlippageBps - maxFeeBps) / 10000.
    function minOut(uint256 amount, uint256 rate, uint16 maxSlippageBps, uint16 maxFeeBps)
        external
        view
        returns (uint256);
}
