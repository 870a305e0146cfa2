// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "../../src/interfaces/IAttestedPrice.sol";
import { IChargedRoute } from "../../src/interfaces/IChargedRoute.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { ISwapRoute } from "../../src/interfaces/ISwapRoute.sol";
import { IUniswapSwap } from "../../src/interfaces/IUniswapSwap.sol";
import { SwapRoute } from "../../src/routes/SwapRoute.sol";
import { Address32 } from "../../src/types/Address32.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";
import { BoundedCall } from "../../src/types/BoundedCall.sol";
import { Refuser } from "../doubles/Doubles.sol";
import { Forwarder, LyingRouter } from "../doubles/Markets.sol";
import { Market } from "../support/Market.sol";

/// @notice Another token on the same chain, through the real router and a real pool.
contract SwapRouteTest is Market {
    uint256 private constant DOLLARS = 3000e6;
    /// @dev The rest of 2,997 dollars in coin under the cap of 100 basis points.
    uint256 private constant FAIR = 2997e6 * USDC_IN_ETH / 1e6;
    uint256 private constant LEAST = FAIR - FAIR / 100;

    function test_config_IsWhatWasBuiltIn() public view {
        assertEq(
            keccak256(abi.encode(usdcToEth.config())),
            keccak256(abi.encode(swapConfig(address(usdc), 6, NATIVE, 18))),
            "configuration"
        );
        assertEq(usdcToEth.factory(), address(factory), "factory");
        assertEq(
            usdcToEth.domainSeparator(),
            domainOf("Sluice PricedRoute", address(usdcToEth)),
            "domain"
        );
    }

    function test_constructor_RevertsWhenItCannotWork() public {
        ISwapRoute.Config memory config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.feeRecipient = address(0);
        _expectInvalid(config);
        config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.factory = address(0);
        _expectInvalid(config);
        config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.weth = address(usdc);
        _expectInvalid(config);
        config.weth = address(0);
        _expectInvalid(config);
        _expectInvalid(swapConfig(address(usdc), 37, NATIVE, 18));
        _expectInvalid(swapConfig(address(usdc), 6, NATIVE, 37));
        _expectInvalid(swapConfig(address(usdc), 6, address(usdc), 6));
        _expectInvalid(swapConfig(NATIVE, 18, address(weth), 18));
        _expectInvalid(swapConfig(address(weth), 18, NATIVE, 18));
        config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.router = address(new LyingRouter(address(0), pools));
        config.weth = address(0);
        _expectInvalid(config);
        config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.poolFee = 500;
        _expectInvalid(config);
        config = swapConfig(address(usdc), 6, NATIVE, 18);
        config.limits.window = 0;
        _expectInvalid(config);
        config.limits.window = 1;
        config.limits.toleranceBps = 10_000;
        _expectInvalid(config);
    }

    function test_deliver_SwapsATokenToNativeCoin() public {
        IDepositFactory.Job memory job = _dollars(fairAsk(USDC_IN_ETH));
        address wallet = factory.predict(job.c);
        vm.expectEmit(job.route);
        // The actual output of the pool.
        emit IUniswapSwap.Swapped(
            wallet, RECIPIENT, address(usdc), NATIVE, 2997e6, 995_011_965_097_726_768, 3e6
        );
        settle(job);
        assertEq(RECIPIENT.balance, 995_011_965_097_726_768, "recipient");
        assertEq(usdc.balanceOf(FEES), 3e6, "fee");
        assertEq(usdc.balanceOf(wallet), 0, "wallet");
        assertEq(usdc.allowance(job.route, address(router)), 0, "allowance");
        assertEq(usdc.balanceOf(job.route) + job.route.balance, 0, "route");
        assertEq(weth.balanceOf(address(router)) + address(router).balance, 0, "router");
    }

    function test_deliver_SwapsATokenToAToken() public {
        IDepositFactory.Job memory job = swapJob(usdcToWeth, fairAsk(USDC_IN_ETH));
        usdc.mint(factory.predict(job.c), DOLLARS);
        settle(job);
        assertEq(weth.balanceOf(RECIPIENT), 995_011_965_097_726_768, "recipient");
    }

    function test_deliver_SwapsNativeCoinToAToken() public {
        IDepositFactory.Job memory job = swapJob(ethToUsdc, fairAsk(ETH_IN_USDC));
        address wallet = factory.predict(job.c);
        vm.deal(wallet, 1 ether);
        settle(job);
        assertEq(FEES.balance, 0.001 ether, "fee");
        assertTrue(usdc.balanceOf(RECIPIENT) > 2980e6, "recipient");
        assertTrue(usdc.balanceOf(RECIPIENT) < 2990e6, "no more than it is worth");
        assertEq(wallet.balance + address(router).balance, 0, "nothing stays");
    }

    function test_deliver_CoinThatLayInTheRouterChangesNothing() public {
        vm.deal(address(router), 5 ether);
        _swapCoin();
        assertEq(address(router).balance, 5 ether, "it stays");
    }

    function test_deliver_WrappedCoinThatLayInTheRouterChangesNothing() public {
        giveWeth(address(router), 5 ether);
        _swapCoin();
        assertEq(weth.balanceOf(address(router)), 5 ether, "it stays");
        settle(_dollars(fairAsk(USDC_IN_ETH)));
        assertTrue(RECIPIENT.balance > 5.99 ether, "the next caller who unwraps gets it");
    }

    function test_deliver_RevertsWhenThePoolCannotTakeAllOfTheCoin() public {
        (LyingRouter liar, IDepositFactory.Job memory job) = _liar(NATIVE, 18, address(usdc), 6);
        vm.deal(factory.predict(job.c), 1 ether);
        vm.deal(address(liar), 5 ether);
        usdc.mint(address(liar), DOLLARS);
        liar.behave(0.5 ether, DOLLARS);
        _expect(job, abi.encodeWithSelector(IUniswapSwap.NotSpent.selector, 0.499 ether));
        assertEq(factory.predict(job.c).balance, 1 ether, "the deposit stays");
        assertEq(address(liar).balance, 5 ether, "and what lay there");
    }

    /// @dev To the router, the first means the wallet and the second itself, and anybody can withdraw
    /// its balance. Coin would be lost in a precompile.
    function test_deliver_RevertsForARecipientThatTheRouterTakesForAnother() public {
        for (uint160 i = 1; i <= 2; ++i) {
            _expectSpecial(usdcToWeth, USDC_IN_ETH, address(i));
            _expectSpecial(usdcToEth, USDC_IN_ETH, address(i));
            _expectSpecial(ethToUsdc, ETH_IN_USDC, address(i));
        }
        IDepositFactory.Job memory job = _jobTo(usdcToWeth, USDC_IN_ETH, address(3));
        settle(job);
        assertEq(weth.balanceOf(address(3)), 995_011_965_097_726_768, "to the next as to anybody");
    }

    function test_T69_deliver_RevertsWhenThePriceWasMovedInTheSameBlock() public {
        IDepositFactory.Job memory job = _dollars(fairAsk(USDC_IN_ETH));
        usdc.mint(STRANGER, 30_000e6);
        trade(STRANGER, address(usdc), 30_000e6);
        vm.expectRevert(bytes("Too little received"));
        settle(job);
        assertEq(usdc.balanceOf(factory.predict(job.c)), DOLLARS, "the deposit stays");
    }

    function testFuzz_T69_deliver_ASandwichTakesNoMoreThanTheSlippage(uint96 size, bool raises)
        public
    {
        uint256 attack = bound(size, 1e6, 1_000_000e6);
        IDepositFactory.Job memory job = _dollars(fairAsk(USDC_IN_ETH));
        if (raises) {
            usdc.mint(STRANGER, attack);
            attack = trade(STRANGER, address(usdc), attack);
        } else {
            attack = attack * 1e18 / 3000e6;
            giveWeth(STRANGER, attack);
            attack = trade(STRANGER, address(weth), attack);
        }
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(RECIPIENT.balance >= LEAST, "the least arrives");
        } catch {
            assertEq(usdc.balanceOf(factory.predict(job.c)), DOLLARS, "or everything stays");
            assertTrue(raises, "a better price is taken");
        }
        trade(STRANGER, raises ? address(weth) : address(usdc), attack);
    }

    function test_deliver_TheRelayerMayOnlyRaiseTheMinimum() public {
        Ask memory ask = fairAsk(USDC_IN_ETH);
        ask.minOut = 1 ether;
        IDepositFactory.Job memory job = _dollars(ask);
        vm.expectRevert(bytes("Too little received"));
        settle(job);
        // A price two percent too high requires more than the pool gives.
        job.data = swapData(job, fairAsk(USDC_IN_ETH * 102 / 100));
        vm.expectRevert(bytes("Too little received"));
        settle(job);
        ask.minOut = 0.995 ether;
        job.data = swapData(job, ask);
        settle(job);
    }

    function test_deliver_RevertsWithoutAMinimum() public {
        IDepositFactory.Job memory job = _dollars(fairAsk(0));
        _expect(
            job,
            abi.encodeWithSelector(IUniswapSwap.NoMinimum.selector, 2997e6, job.c.maxSlippageBps)
        );
        job.c.maxSlippageBps = 10_000;
        usdc.mint(factory.predict(job.c), DOLLARS);
        job.data = swapData(job, fairAsk(USDC_IN_ETH));
        _expect(job, abi.encodeWithSelector(IUniswapSwap.NoMinimum.selector, 2997e6, 10_000));
    }

    function test_deliver_RevertsOutsideItsDeadline() public {
        Ask memory ask = fairAsk(USDC_IN_ETH);
        ask.deadline = block.timestamp - 1;
        _expect(
            _dollars(ask),
            abi.encodeWithSelector(IAttestedPrice.Expired.selector, ask.deadline, block.timestamp)
        );
        uint256 latest = block.timestamp + 10 minutes;
        ask.deadline = latest + 1;
        _expect(
            _again(ask),
            abi.encodeWithSelector(IAttestedPrice.DeadlineTooFar.selector, latest + 1, latest)
        );
        ask.deadline = latest;
        settle(_again(ask));
    }

    function test_deliver_RevertsForAPriceThatIsOldFarOrForLess() public {
        Ask memory ask = fairAsk(USDC_IN_ETH);
        ask.price.deadline = block.timestamp - 1;
        _expect(
            _dollars(ask),
            abi.encodeWithSelector(
                IAttestedPrice.Expired.selector, ask.price.deadline, block.timestamp
            )
        );
        uint256 latest = block.timestamp + 120;
        ask.price.deadline = latest + 1;
        _expect(
            _again(ask),
            abi.encodeWithSelector(IAttestedPrice.DeadlineTooFar.selector, latest + 1, latest)
        );
        ask = fairAsk(USDC_IN_ETH);
        ask.price.maxAmount = DOLLARS - 1;
        _expect(
            _again(ask),
            abi.encodeWithSelector(IAttestedPrice.AboveMaxAmount.selector, DOLLARS, DOLLARS - 1)
        );
    }

    function test_T71_deliver_ThePriceOfAnotherKeyWalletRouteOrChainIsNone() public {
        Ask memory ask = fairAsk(USDC_IN_ETH);
        ask.key = STRANGER_KEY;
        _expect(
            _dollars(ask),
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(STRANGER_KEY))
        );
        IDepositFactory.Job memory job = _again(fairAsk(USDC_IN_ETH));
        job.c.userId = bytes32(uint256(77));
        usdc.mint(factory.predict(job.c), DOLLARS);
        _expectNotAttested(job);
        // Signed for the twin that pays out WETH, used with the one that pays out coin.
        job = _again(fairAsk(USDC_IN_ETH));
        job.route = address(usdcToWeth);
        job.data = swapData(job, fairAsk(USDC_IN_ETH));
        job.route = address(usdcToEth);
        _expectNotAttested(job);
        job = _again(fairAsk(USDC_IN_ETH));
        vm.chainId(99);
        vm.expectRevert();
        settle(job);
    }

    function testFuzz_deliver_TheRelayerCannotChangeThePrice(uint256 rate, uint256 max, uint256 end)
        public
    {
        Ask memory ask = fairAsk(USDC_IN_ETH);
        IDepositFactory.Job memory job = _dollars(ask);
        bytes memory signature = signAsk(job, ask);
        vm.assume(rate != ask.price.rate || max != ask.price.maxAmount || end != ask.price.deadline);
        ask.price = IAttestedPrice.Price(rate, max, end);
        job.data = abi.encode(ask.price, signature, ask.fee, ask.minOut, ask.deadline);
        vm.expectRevert();
        settle(job);
        assertEq(usdc.balanceOf(factory.predict(job.c)), DOLLARS, "untouched");
    }

    function test_deliver_RevertsWhenTheFeeIsAboveTheCap() public {
        Ask memory ask = fairAsk(USDC_IN_ETH);
        ask.fee = RouteFee(49, 300_001);
        _expect(
            _dollars(ask),
            abi.encodeWithSelector(IChargedRoute.FeeAboveCap.selector, 15_000_001, 15_000_000)
        );
        ask.fee = RouteFee(49, 300_000);
        settle(_again(ask));
    }

    function testFuzz_deliver_FeeStaysWithinTheCap(uint64 amount, uint16 bps, uint64 flat) public {
        amount = uint64(bound(amount, 1e6, 10_000e6));
        Ask memory ask = fairAsk(USDC_IN_ETH);
        ask.fee = RouteFee(bps % 60, flat % 50e6);
        IDepositFactory.Job memory job = swapJob(usdcToEth, ask);
        usdc.mint(factory.predict(job.c), amount);
        uint256 fee = uint256(amount) * ask.fee.bps / 10_000 + ask.fee.flat;
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(fee * 10_000 <= uint256(amount) * 50, "within the cap");
            assertEq(usdc.balanceOf(FEES), fee, "fee");
            uint256 least = (amount - fee) * USDC_IN_ETH / 1e6 * 99 / 100;
            assertTrue(RECIPIENT.balance >= least, "the least arrives");
        } catch {
            assertTrue(fee * 10_000 > uint256(amount) * 50, "refused for the fee only");
            assertEq(usdc.balanceOf(factory.predict(job.c)), amount, "kept");
        }
    }

    function test_deliver_RevertsForAnotherChainTokenOrDestination() public {
        IDepositFactory.Job memory job = _dollars(fairAsk(USDC_IN_ETH));
        job.route = address(usdcToWeth);
        _expect(
            job,
            abi.encodeWithSelector(IRoute.WrongDestToken.selector, bytes32(0), word(address(weth)))
        );
        job.route = address(ethToUsdc);
        _expect(job, abi.encodeWithSelector(IRoute.WrongToken.selector, address(usdc), NATIVE));
        job.c.destChain = THERE;
        usdc.mint(factory.predict(job.c), 1);
        _expect(job, abi.encodeWithSelector(IRoute.WrongDestChain.selector, THERE, HERE));
        job = _again(fairAsk(USDC_IN_ETH));
        job.c.destWallet = bytes32(type(uint256).max);
        usdc.mint(factory.predict(job.c), 1);
        _expect(job, abi.encodeWithSelector(Address32.NotAnAddress.selector, job.c.destWallet));
        uint256 home = block.chainid;
        vm.chainId(99);
        _expect(job, abi.encodeWithSelector(IRoute.WrongEvmChain.selector, 99, home));
    }

    function test_deliver_PaysARecipientThatPassesTheCoinOn() public {
        IDepositFactory.Job memory job = _jobTo(usdcToEth, USDC_IN_ETH, address(new Forwarder()));
        settle(job);
        assertEq(address(0xdead).balance, 995_011_965_097_726_768, "passed on");
        assertEq(address(usdcToEth).balance, 0, "nothing stays in the route");
    }

    function test_deliver_RevertsWhenTheRecipientRefusesTheCoin() public {
        address refuser = address(new Refuser());
        IDepositFactory.Job memory job = _jobTo(usdcToEth, USDC_IN_ETH, refuser);
        _expect(job, abi.encodeWithSelector(BoundedCall.RecipientRefused.selector, refuser));
        assertEq(usdc.balanceOf(factory.predict(job.c)), DOLLARS, "the deposit stays");
    }

    /// @dev Coin and tokens that somebody sent to a route pay for nothing and go nowhere.
    function test_deliver_WhatLayInTheRouteChangesNothing() public {
        vm.deal(address(usdcToEth), 5 ether);
        usdc.mint(address(usdcToEth), 7e6);
        settle(_dollars(fairAsk(USDC_IN_ETH)));
        assertEq(RECIPIENT.balance, 995_011_965_097_726_768, "recipient");
        assertEq(address(usdcToEth).balance, 5 ether, "coin");
        assertEq(usdc.balanceOf(address(usdcToEth)), 7e6, "tokens");
    }

    function test_complete_RevertsWhenCallerIsNotTheFactory() public {
        IDepositFactory.Job memory job = _dollars(fairAsk(USDC_IN_ETH));
        address wallet = factory.predict(job.c);
        address[4] memory routes =
            [job.route, address(cctpRoute), address(ethToCctp), address(transferRoute)];
        for (uint256 i; i < routes.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IChargedRoute.NotFactory.selector, RELAYER));
            vm.prank(RELAYER);
            IChargedRoute(routes[i]).complete(job.c, wallet, job.token, DOLLARS, 0, job.data);
        }
    }

    function test_deliver_WhatArrivesCountsAndNotWhatTheRouterSays() public {
        (LyingRouter liar, IDepositFactory.Job memory job) =
            _liar(address(usdc), 6, address(weth), 18);
        usdc.mint(factory.predict(job.c), DOLLARS);
        liar.behave(2997e6, LEAST - 1);
        _expect(job, abi.encodeWithSelector(IChargedRoute.ReceivedLess.selector, LEAST - 1, LEAST));
        liar.behave(2997e6 - 1, LEAST);
        _expect(job, abi.encodeWithSelector(IUniswapSwap.NotSpent.selector, 1));
        liar.behave(2997e6, LEAST);
        settle(job);
        assertEq(weth.balanceOf(RECIPIENT), LEAST, "exactly the least");
    }

    function test_deliver_RevertsWhenTheRouterKeepsCoin() public {
        (LyingRouter liar, IDepositFactory.Job memory job) = _liar(NATIVE, 18, address(usdc), 6);
        vm.deal(factory.predict(job.c), 1 ether);
        usdc.mint(address(liar), DOLLARS);
        liar.behave(0.999 ether - 1, DOLLARS);
        _expect(job, abi.encodeWithSelector(IUniswapSwap.NotSpent.selector, 1));
        liar.behave(0.999 ether, DOLLARS);
        settle(job);
    }

    function testFuzz_T142_minOut_IsTheFormula(uint96 amount, uint96 rate, uint16 slippage)
        public
        view
    {
        uint256 expected;
        if (slippage < 10_000) {
            uint256 fair = uint256(amount) * rate / 1e6;
            // The share that may be lost, rounded down.
            expected = fair - (fair / 10_000 * slippage + fair % 10_000 * slippage / 10_000);
        }
        assertEq(usdcToEth.minOut(amount, rate, slippage), expected, "minimum");
    }

    function _swapCoin() private {
        IDepositFactory.Job memory job = swapJob(ethToUsdc, fairAsk(ETH_IN_USDC));
        vm.deal(factory.predict(job.c), 1 ether);
        settle(job);
    }

    /// @dev With a separate deposit.
    function _dollars(Ask memory ask) private returns (IDepositFactory.Job memory job) {
        job = _again(ask);
        usdc.mint(factory.predict(job.c), DOLLARS);
    }

    function _again(Ask memory ask) private view returns (IDepositFactory.Job memory) {
        return swapJob(usdcToEth, ask);
    }

    function _liar(address tokenIn, uint8 decimalsIn, address tokenOut, uint8 decimalsOut)
        private
        returns (LyingRouter liar, IDepositFactory.Job memory)
    {
        liar = new LyingRouter(address(weth), pools);
        giveWeth(address(liar), 10 ether);
        ISwapRoute.Config memory config = swapConfig(tokenIn, decimalsIn, tokenOut, decimalsOut);
        config.router = address(liar);
        SwapRoute route = new SwapRoute(config);
        listRoute(address(route));
        return (liar, swapJob(route, fairAsk(tokenIn == NATIVE ? ETH_IN_USDC : USDC_IN_ETH)));
    }

    function _expect(IDepositFactory.Job memory job, bytes memory reason) private {
        vm.expectRevert(reason);
        settle(job);
    }

    function _expectNotAttested(IDepositFactory.Job memory job) private {
        uint256 held = usdc.balanceOf(factory.predict(job.c));
        _expectSelector(job, IDepositFactory.NotAttestor.selector);
        assertEq(usdc.balanceOf(factory.predict(job.c)), held, "kept");
    }

    function _expectSelector(IDepositFactory.Job memory job, bytes4 selector) private {
        vm.prank(RELAYER);
        try factory.settle(job) {
            assertTrue(false, "it has to revert");
        } catch (bytes memory reason) {
            assertEq(bytes32(bytes4(reason)), bytes32(selector), "the reason");
        }
    }

    function _expectSpecial(SwapRoute route, uint256 rate, address to) private {
        IDepositFactory.Job memory job = _jobTo(route, rate, to);
        _expect(job, abi.encodeWithSelector(IUniswapSwap.SpecialRecipient.selector, to));
        vm.prank(REFUNDEE);
        assertEq(
            factory.refund(job.c, job.token, ALL),
            job.token == NATIVE ? 1 ether : DOLLARS,
            "refundable"
        );
    }

    /// @dev With a deposit of 3,000 dollars or a coin of its own, for another recipient.
    function _jobTo(SwapRoute route, uint256 rate, address to)
        private
        returns (IDepositFactory.Job memory job)
    {
        job = swapJob(route, fairAsk(rate));
        job.c.destWallet = word(to);
        job.data = swapData(job, fairAsk(rate));
        if (job.token == NATIVE) vm.deal(factory.predict(job.c), 1 ether);
        else usdc.mint(factory.predict(job.c), DOLLARS);
    }

    function _expectInvalid(ISwapRoute.Config memory config) private {
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new SwapRoute(config);
    }
}
