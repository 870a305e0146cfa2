// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { PoolPrice } from "../src/types/PoolPrice.sol";
import { IPool, IPoolFactory, Market } from "./support/Market.sol";

/// @notice The averaged price, against pools whose authors compute ticks themselves.
contract PoolPriceTest is Market {
    uint256 private constant Q96 = 1 << 96;

    /// @dev Prices from 10^-14 to 10^14 base units.
    function testFuzz_valueAt_IsThePriceOfThePool(uint256 seed, uint64 amount) public {
        uint256 sqrtPrice = bound(seed, Q96 / 1e7, Q96 * 1e7);
        address fresh = IPoolFactory(pools).createPool(address(1), address(2), POOL_FEE);
        IPool(fresh).initialize(uint160(sqrtPrice));
        vm.warp(block.timestamp + AVERAGED);
        int256 tick = PoolPrice.meanTick(fresh, AVERAGED);
        uint256 held = bound(amount, 1e6, type(uint64).max);

        uint256 exact = Math.mulDiv(held * 1e30, sqrtPrice * sqrtPrice, Q96 * Q96);
        // A tick is the price rounded down to a power of 1.0001.
        uint256 value = PoolPrice.valueAt(tick, held * 1e30, true);
        assertTrue(value <= exact + exact / 1e9, "rounded down");
        assertTrue(value + value * 10_001 / 1e8 >= exact, "by less than a tick");
        exact = Math.mulDiv(held * 1e30, Q96 * Q96, sqrtPrice * sqrtPrice);
        value = PoolPrice.valueAt(tick, held * 1e30, false);
        assertTrue(value + value / 1e9 >= exact, "the inverse is rounded up");
        assertTrue(value <= exact + exact * 10_001 / 1e8, "by less than a tick");
    }

    function test_meanTick_IsRoundedDownOnBothSidesOfZero() public {
        SumsOf sums = new SumsOf();
        sums.set(0, 7);
        assertEq(uint256(PoolPrice.meanTick(address(sums), 2)), 3, "above");
        sums.set(0, -7);
        assertEq(uint256(-PoolPrice.meanTick(address(sums), 2)), 4, "below");
        sums.set(0, -8);
        assertEq(uint256(-PoolPrice.meanTick(address(sums), 2)), 4, "exactly");
        sums.set(type(int56).max - 2, type(int56).min + 3);
        assertEq(uint256(PoolPrice.meanTick(address(sums), 2)), 3, "across the end of the sums");
    }

    /// @dev A price that stood for a third of the window counts for a third.
    function test_meanTick_WeighsPricesByTheirTime() public {
        int256 before = PoolPrice.meanTick(address(pool), AVERAGED);
        usdc.mint(STRANGER, 300_000e6);
        trade(STRANGER, address(usdc), 300_000e6);
        assertTrue(PoolPrice.meanTick(address(pool), AVERAGED) == before, "not in its own block");
        vm.warp(block.timestamp + AVERAGED);
        int256 moved = PoolPrice.meanTick(address(pool), AVERAGED) - before;
        assertTrue(moved * moved > 1900 ** 2 && moved * moved < 1912 ** 2, "21 percent");
        int256 third = PoolPrice.meanTick(address(pool), 3 * AVERAGED / 2) - before;
        assertTrue(third * 3 - moved * 2 < 4 && moved * 2 - third * 3 < 4, "two thirds of it");
    }
}

/// @notice A pool whose sums are set.
contract SumsOf {
    int56 private _first;
    int56 private _second;

    function set(int56 first, int56 second) external {
        (_first, _second) = (first, second);
    }

    function observe(uint32[] calldata)
        external
        view
        returns (int56[] memory sums, uint160[] memory)
    {
        sums = new int56[](2);
        (sums[0], sums[1]) = (_first, _second);
        return (sums, new uint160[](2));
    }
}
