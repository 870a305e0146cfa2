// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { RouteFee } from "../src/types/RouteFee.sol";
import { Market } from "./support/Market.sol";

/// @notice Writes the gas of settlements through a pool and the bridge to vectors/gas/MarketGasTest.json,
/// as `GasTest` does. The pool has a history of trades in which its averaged price must be found, and
/// liquidity in one range: each initialised tick that a swap crosses costs about 25,000 more. The
/// bridge is the double.
/// forge-config: default.isolate = true
contract MarketGasTest is Market {
    uint256 private constant DOLLARS = 3000e6;

    function setUp() public override {
        super.setUp();
        for (uint256 i; i < 150; ++i) {
            vm.warp(block.timestamp + 12);
            bool up = i % 2 == 0;
            if (up) usdc.mint(STRANGER, 100e6);
            else giveWeth(STRANGER, 0.033 ether);
            trade(STRANGER, up ? address(usdc) : address(weth), up ? 100e6 : 0.033 ether);
        }
        vm.warp(block.timestamp + 12);
        usdc.mint(FEES, 1);
        usdc.mint(RECIPIENT, 1);
        giveWeth(FEES, 1);
        vm.deal(FEES, 1);
        vm.deal(RECIPIENT, 1);
    }

    function test_gas_SettleSwap() public {
        IDepositFactory.Job memory job = swapJob(usdcToEth, fairAsk(USDC_IN_ETH));
        _dollars(job);
        vm.snapshotGasLastCall("settle swap to coin, first of its hour");
        _dollars(job);
        vm.snapshotGasLastCall("settle swap to coin, repeated");
        job = swapJob(ethToUsdc, fairAsk(ETH_IN_USDC));
        _coin(job);
        vm.snapshotGasLastCall("settle swap of coin, first of its hour");
        _coin(job);
        vm.snapshotGasLastCall("settle swap of coin, repeated");
    }

    function test_gas_SettleBurn() public {
        _dollars(cctpJob(RouteFee(10, 0), 0, 2000));
        vm.snapshotGasLastCall("settle burn");
    }

    function test_gas_SettleSwapAndBurn() public {
        IDepositFactory.Job memory job = swapCctpJob(ethToCctp, fairAsk(ETH_IN_USDC));
        _coin(job);
        vm.snapshotGasLastCall("settle swap and burn of coin, first of its hour");
        job = swapCctpJob(wethToCctp, fairAsk(ETH_IN_USDC));
        factory.deploy(job.c);
        giveWeth(factory.predict(job.c), 1 ether);
        settle(job);
        vm.snapshotGasLastCall("settle swap and burn of a token, first of its hour");
    }

    function _dollars(IDepositFactory.Job memory job) private {
        factory.deploy(job.c);
        usdc.mint(factory.predict(job.c), DOLLARS);
        settle(job);
    }

    function _coin(IDepositFactory.Job memory job) private {
        factory.deploy(job.c);
        vm.deal(factory.predict(job.c), 1 ether);
        settle(job);
    }
}
