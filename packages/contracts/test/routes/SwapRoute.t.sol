// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Market } from "../support/Market.sol";

contract SwapRouteTest is Market {
    function test_x() public {
        usdc.mint(factory.predict(swapJob(usdcToEth, fairAsk(USDC_IN_ETH)).c), 3000e6);
        settle(swapJob(usdcToEth, fairAsk(USDC_IN_ETH)));
        assertEq(RECIPIENT.balance, 1, "recipient");
    }
}
