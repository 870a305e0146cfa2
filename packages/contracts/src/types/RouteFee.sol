// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";

/// @notice The relayer's fee for a settlement.
/// @param bps A share of the deposit, in basis points.
/// @param flat On top, in base units of the deposited token: gas and bridge cost, estimated off chain.
struct RouteFee {
    uint16 bps;
    uint256 flat;
}

/// @title The amount of a fee and its maximum
library RouteFeeLib {
    uint256 internal constant BPS = 10_000;

    /// @notice `amount` x bps / 10000, rounded down, plus `flat`; saturates at the largest number.
    function amountOf(RouteFee memory fee, uint256 amount) internal pure returns (uint256) {
        return Math.saturatingAdd(amount * fee.bps / BPS, fee.flat);
    }

    /// @notice Returns the maximum of all fees of `amount`, rounded down. A commitment may name a cap of
    /// 100% or above; something is left to deliver in any case.
    function cap(uint256 amount, uint16 maxFeeBps) internal pure returns (uint256) {
        return Math.min(amount * maxFeeBps / BPS, amount - 1);
    }
}
