// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "./IAttestedPrice.sol";
import { IEscrowRoute } from "./IEscrowRoute.sol";

/// @title Locks for another asset on another chain, at a price that the attestors signed
/// @notice `data` is `abi.encode(Price price, bytes signatures, RateBounds bounds)`.
interface IPricedRoute is IEscrowRoute, IAttestedPrice {
    /// @notice The relayer's own view of the rate, from its own sources. An attestor alone can
    /// therefore not make a lock promise more than the deposit is worth.
    /// @param min Lowest rate that the relayer accepts, as in `Price`.
    /// @param max Highest rate that the relayer accepts.
    struct RateBounds {
        uint256 min;
        uint256 max;
    }

    /// @notice The attested rate is outside the relayer's bounds.
    error RateOutOfBounds(uint256 rate, uint256 min, uint256 max);

    /// @notice Returns the minimum delivery for `amount` at `rate`, in base units of the destination
    /// token: the fair amount, amount x rate x 10^destDecimals / (10^18 x
    /// 10^sourceDecimals), rounded down; and its
    /// share (10000 - maxSlippageBps - maxFeeBps) / 10000, rounded up.
    function minOut(uint256 amount, uint256 rate, uint16 maxSlippageBps, uint16 maxFeeBps)
        external
        view
        returns (uint256);
}
