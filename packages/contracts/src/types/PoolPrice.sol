// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IUniswapV3Pool } from "../interfaces/external/IUniswapV3.sol";

/// @title The time-averaged price of a Uniswap v3 pool
/// @notice The pool itself accumulates its ticks, and a tick is 0.01 % of price. A trade counts for the
/// time until the next block only, so a price that is moved and restored in one transaction, or in one
/// block, does not count at all.
library PoolPrice {
    uint256 private constant ONE = 1 << 128;

    /// @dev 2^128 / 1.0001, as in Uniswap's TickMath.
    uint256 private constant STEP = 0xfff97272373d413259a46990580e213a;

    /// @notice Returns the mean tick of the last `window` seconds, rounded down. Reverts with the
    /// pool's `OLD` if its history is shorter.
    function meanTick(address pool, uint32 window) internal view returns (int256 tick) {
        uint32[] memory secondsAgo = new uint32[](2);
        secondsAgo[0] = window;
        (int56[] memory sums,) = IUniswapV3Pool(pool).observe(secondsAgo);
        int256 sum;
        // The pool's sums wrap around; their difference does not.
        unchecked {
            sum = sums[1] - sums[0];
        }
        int256 length = int256(uint256(window));
        tick = sum / length;
        if (sum < 0 && sum % length != 0) --tick;
    }

    /// @notice Returns the value of `amount` at a tick, rounded down: 1.0001^tick is the price of
    /// token 0 in token 1.
    /// @param ofToken0 Whether `amount` is of token 0; the value is of the other.
    function valueAt(int256 tick, uint256 amount, bool ofToken0) internal pure returns (uint256) {
        uint256 ratio = _power(tick < 0 ? uint256(-tick) : uint256(tick));
        bool rises = (tick >= 0) == ofToken0;
        return rises ? Math.mulDiv(amount, ONE, ratio) : Math.mulDiv(amount, ratio, ONE);
    }

    /// @dev Returns 1.0001^-exponent x 2^128, by squaring. At most 2^128, so no product overflows.
    function _power(uint256 exponent) private pure returns (uint256 ratio) {
        ratio = ONE;
        uint256 square = STEP;
        for (uint256 rest = exponent; rest != 0; rest >>= 1) {
            if (rest & 1 != 0) ratio = ratio * square >> 128;
            square = square * square >> 128;
        }
    }
}
