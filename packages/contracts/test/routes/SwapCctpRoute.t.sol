// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "../../src/interfaces/IAttestedPrice.sol";
import { ICctpBurn } from "../../src/interfaces/ICctpBurn.sol";
import { IChargedRoute } from "../../src/interfaces/IChargedRoute.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { ISwapCctpRoute } from "../../src/interfaces/ISwapCctpRoute.sol";
import { IUniswapSwap } from "../../src/interfaces/IUniswapSwap.sol";
import { SwapCctpRoute } from "../../src/routes/SwapCctpRoute.sol";
import { Address32 } from "../../src/types/Address32.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";
import { StickyAllowanceToken } from "../doubles/Doubles.sol";
import { LyingRouter, TakingMessenger } from "../doubles/Markets.sol";
import { Market } from "../support/Market.sol";
import { Vm } from "../support/Vm.sol";

/// @notice Another token to USDC there: swapped by the route, then burned.
contract SwapCctpRouteTest is Market {
    function test_config_IsWhatWasBuiltIn() public view {
        assertEq(
            keccak256(abi.encode(ethToCctp.config())),
            keccak256(abi.encode(swapCctpConfig(NATIVE))),
            "configuration"
        );
    }

    function test_constructor_RevertsWhenItCannotWork() public {
        ISwapCctpRoute.Config memory config = swapCctpConfig(address(usdc));
        _expectInvalid(config);
        config = swapCctpConfig(NATIVE);
        config.messenger = address(0);
        _expectInvalid(config);
        config = swapCctpConfig(NATIVE);
        config.factory = address(0);
        _expectInvalid(config);
        config = swapCctpConfig(NATIVE);
        config.feeRecipient = address(0);
        _expectInvalid(config);
        config = swapCctpConfig(NATIVE);
        config.usdc = address(0);
        _expectInvalid(config);
        config = swapCctpConfig(NATIVE);
        config.destToken = 0;
        _expectInvalid(config);
    }

    function test_deliver_SwapsCoinAndBurnsWhatCameOut() public {
        IDepositFactory.Job memory job = _coin(fairAsk(ETH_IN_USDC));
        address wallet = factory.predict(job.c);
        uint256 supply = usdc.totalSupply();
        vm.recordLogs();
        vm.prank(RELAYER);
        factory.settle(job);
        uint256 burned = supply - usdc.totalSupply();
        assertTrue(burned >= 0.999 ether * 3000e6 / 1e18 * 99 / 100, "the least");
        assertEq(FEES.balance, 0.001 ether, "fee");
        assertEq(wallet.balance + usdc.balanceOf(wallet), 0, "wallet");
        assertEq(usdc.allowance(job.route, address(messengerHere)), 0, "allowance");
        (bool swapped, bool bridged) = (false, false);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].topics[0] == IUniswapSwap.Swapped.selector) {
                bytes memory said = abi.encode(NATIVE, usdc, 0.999 ether, burned, 0.001 ether);
                assertEq(keccak256(logs[i].data), keccak256(said), "swapped");
                swapped = logs[i].topics[1] == word(wallet) && logs[i].topics[2] == word(job.route)
                    && logs[i].emitter == job.route;
            }
            if (logs[i].topics[0] == ICctpBurn.Burned.selector) {
                bytes memory said = abi.encode(usdc, burned, 0, 0, DOMAIN_THERE, RECIPIENT);
                assertEq(keccak256(logs[i].data), keccak256(said), "burned");
                bridged = logs[i].topics[1] == word(wallet) && logs[i].emitter == job.route;
            }
        }
        assertTrue(swapped && bridged, "both are said");
    }

    function test_deliver_SwapsATokenAndLeavesNoAllowance() public {
        IDepositFactory.Job memory job = swapCctpJob(wethToCctp, fairAsk(ETH_IN_USDC));
        address wallet = factory.predict(job.c);
        giveWeth(wallet, 1 ether);
        settle(job);
        assertEq(weth.balanceOf(FEES), 0.001 ether, "fee");
        assertEq(weth.balanceOf(wallet) + usdc.balanceOf(wallet), 0, "wallet");
        assertEq(weth.allowance(job.route, address(router)), 0, "allowance");
        assertEq(weth.balanceOf(job.route) + usdc.balanceOf(job.route), 0, "route");
    }

    /// @dev The router pays with coin in its own balance before it takes the wallet's wrapped coin.
    /// Anybody may withdraw that coin, and then the swap works.
    function test_deliver_CoinInTheRouterHoldsUpWrappedCoinAndCostsNothing() public {
        IDepositFactory.Job memory job = swapCctpJob(wethToCctp, fairAsk(ETH_IN_USDC));
        address wallet = factory.predict(job.c);
        giveWeth(wallet, 1 ether);
        vm.deal(address(router), 5 ether);
        vm.expectRevert(abi.encodeWithSelector(IUniswapSwap.NotSpent.selector, 0.999 ether));
        settle(job);
        assertEq(weth.balanceOf(wallet), 1 ether, "the deposit stays");
        vm.deal(address(router), 0.999 ether - 1);
        settle(job);
        assertEq(address(router).balance, 0.999 ether - 1, "what is too little stays");
    }

    function test_deliver_DollarsThatLayThereStay() public {
        IDepositFactory.Job memory job = _coin(fairAsk(ETH_IN_USDC));
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, 77e6);
        usdc.mint(job.route, 78e6);
        settle(job);
        assertEq(usdc.balanceOf(wallet), 77e6, "they stay");
        assertEq(usdc.balanceOf(job.route), 78e6, "also in the route");
    }

    function test_T69_deliver_RevertsWhenThePriceWasMovedInTheSameBlock() public {
        IDepositFactory.Job memory job = _coin(fairAsk(ETH_IN_USDC));
        giveWeth(STRANGER, 10 ether);
        trade(STRANGER, address(weth), 10 ether);
        vm.expectRevert(bytes("Too little received"));
        settle(job);
        assertEq(factory.predict(job.c).balance, 1 ether, "the deposit stays");
    }

    function test_deliver_TheBridgeGetsWhatTheFeeLeavesOfTheCap() public {
        // Ten of fifty basis points are taken in coin: forty are left, of the output of 0.999 coins.
        uint256 out = _quote(0.999 ether);
        uint256 left = 0.004 ether * out / 0.999 ether;
        Ask memory ask = fairAsk(ETH_IN_USDC);
        ask.maxFee = left + 1;
        IDepositFactory.Job memory job = _coin(ask);
        vm.expectRevert(abi.encodeWithSelector(IChargedRoute.FeeAboveCap.selector, left + 1, left));
        settle(job);
        ask.maxFee = left;
        settle(swapCctpJob(ethToCctp, ask));
    }

    function testFuzz_deliver_FeeAndBridgeStayWithinTheCap(
        uint64 amount,
        uint16 bps,
        uint64 flat,
        uint64 maxFee
    ) public {
        uint256 deposit = bound(amount, 0.001 ether, 3 ether);
        Ask memory ask = fairAsk(ETH_IN_USDC);
        ask.fee = RouteFee(bps % 60, flat % (deposit / 200));
        uint256 fee = deposit * ask.fee.bps / 10_000 + ask.fee.flat;
        uint256 out = _quote(deposit - fee);
        ask.maxFee = maxFee % (out / 100 + 1);
        IDepositFactory.Job memory job = swapCctpJob(ethToCctp, ask);
        vm.deal(factory.predict(job.c), deposit);
        uint256 supply = usdc.totalSupply();
        // Both fees, in coin at the price of the swap, times the output.
        bool fits = fee * 10_000 <= deposit * 50
            && ask.maxFee * (deposit - fee) <= (deposit * 50 / 10_000 - fee) * out;
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(fits, "within the cap");
            assertEq(supply - usdc.totalSupply(), out, "burned");
            assertEq(FEES.balance, fee, "fee");
        } catch {
            assertTrue(!fits, "refused for the fee only");
            assertEq(factory.predict(job.c).balance, deposit, "kept");
        }
    }

    function test_deliver_RevertsForAnotherFinality() public {
        Ask memory ask = fairAsk(ETH_IN_USDC);
        ask.threshold = 1500;
        IDepositFactory.Job memory job = _coin(ask);
        vm.expectRevert(abi.encodeWithSelector(ICctpBurn.InvalidFinality.selector, 1500));
        settle(job);
        ask.threshold = 1000;
        settle(swapCctpJob(ethToCctp, ask));
    }

    function test_deliver_RevertsForAnotherChainTokenOrDestination() public {
        IDepositFactory.Job memory job = _coin(fairAsk(ETH_IN_USDC));
        job.route = address(wethToCctp);
        vm.expectRevert(abi.encodeWithSelector(IRoute.WrongToken.selector, NATIVE, address(weth)));
        settle(job);
        job = swapCctpJob(ethToCctp, fairAsk(ETH_IN_USDC));
        job.c.destChain = HERE;
        vm.deal(factory.predict(job.c), 1);
        vm.expectRevert(abi.encodeWithSelector(IRoute.WrongDestChain.selector, HERE, CCTP_CHAIN));
        settle(job);
        job = swapCctpJob(ethToCctp, fairAsk(ETH_IN_USDC));
        job.c.destToken = 0;
        vm.deal(factory.predict(job.c), 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IRoute.WrongDestToken.selector, bytes32(0), word(address(minted))
            )
        );
        settle(job);
        job = swapCctpJob(ethToCctp, fairAsk(ETH_IN_USDC));
        job.c.destWallet = 0;
        vm.deal(factory.predict(job.c), 1 ether);
        job.data = swapCctpData(job, fairAsk(ETH_IN_USDC));
        vm.expectRevert(abi.encodeWithSelector(Address32.NotAnAddress.selector, bytes32(0)));
        settle(job);
    }

    function test_T71_deliver_ThePriceOfAnotherRouteIsNone() public {
        IDepositFactory.Job memory job = _coin(fairAsk(ETH_IN_USDC));
        job.route = address(ethToUsdc);
        job.data = swapCctpData(job, fairAsk(ETH_IN_USDC));
        job.route = address(ethToCctp);
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(false, "a price of another route");
        } catch (bytes memory reason) {
            assertEq(
                bytes32(bytes4(reason)), bytes32(IDepositFactory.NotAttestor.selector), "the reason"
            );
        }
    }

    /// @dev A token whose allowances are not used up, USDC in the route before, and a messenger that
    /// takes twice.
    function test_deliver_RevertsWhenTheMessengerTakesMore() public {
        StickyAllowanceToken dollars = new StickyAllowanceToken();
        openPool(address(dollars), 3000e6);
        LyingRouter liar = new LyingRouter(address(weth), pools);
        ISwapCctpRoute.Config memory config = swapCctpConfig(NATIVE);
        config.router = address(liar);
        config.usdc = address(dollars);
        config.messenger = address(new TakingMessenger(2, 0));
        SwapCctpRoute route = new SwapCctpRoute(config);
        listRoute(address(route));
        IDepositFactory.Job memory job = swapCctpJob(route, fairAsk(ETH_IN_USDC));
        address wallet = factory.predict(job.c);
        vm.deal(wallet, 1 ether);
        dollars.mint(job.route, 3000e6);
        dollars.mint(address(liar), 3000e6);
        liar.behave(0.999 ether, 2990e6);
        vm.expectRevert(abi.encodeWithSelector(ICctpBurn.BurnedOther.selector, 2 * 2990e6, 2990e6));
        settle(job);
        assertEq(dollars.balanceOf(job.route), 3000e6, "they stay");
    }

    function _coin(Ask memory ask) private returns (IDepositFactory.Job memory job) {
        job = swapCctpJob(ethToCctp, ask);
        vm.deal(factory.predict(job.c), 1 ether);
    }

    /// @dev The pool's current output.
    function _quote(uint256 amount) private returns (uint256 out) {
        try this.tryTrade(amount) { }
        catch (bytes memory result) {
            out = abi.decode(result, (uint256));
        }
    }

    function tryTrade(uint256 amount) external {
        giveWeth(STRANGER, amount);
        uint256 out = trade(STRANGER, address(weth), amount);
        assembly ("memory-safe") {
            mstore(0, out)
            revert(0, 0x20)
        }
    }

    function _expectInvalid(ISwapCctpRoute.Config memory config) private {
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new SwapCctpRoute(config);
    }
}
