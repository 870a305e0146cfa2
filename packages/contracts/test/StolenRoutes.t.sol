// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IUniswapSwap } from "../src/interfaces/IUniswapSwap.sol";
import { IMessageTransmitterV2 } from "../src/interfaces/external/IMessageTransmitterV2.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { RouteFee } from "../src/types/RouteFee.sol";
import { Fixture } from "./support/Fixture.sol";
import { GameTest } from "./support/GameTest.sol";
import { Market } from "./support/Market.sol";
import { Vm } from "./support/Vm.sol";

/// @notice The stolen-key game on the swap and bridge routes. A thief has the relayer's key, trades
/// in the pool around every settlement, submits Circle's messages, and requests any price; the games
/// below differ in the signatures that it gets.
abstract contract StolenRoutesGame is Market {
    address internal constant THIEF = address(0xbad);
    /// @dev The thief's account in the pool, separate to tell trading from theft.
    address private constant TRADER = address(0xbad2);

    /// @dev One user per route from its token.
    struct User {
        Commitment c;
        address token;
        address route;
        bool swaps;
        bool burns;
    }

    User[] internal users;
    bytes[] internal messages;
    uint256 public burned;
    uint256 public settled;

    function setUp() public override {
        if (address(factory) != address(0)) return;
        super.setUp();
        addUser(address(usdc), address(cctpRoute), cctpCommitment(), false, true);
        addUser(address(usdc), address(usdcToEth), localCommitment(NATIVE), true, false);
        addUser(address(usdc), address(usdcToWeth), localCommitment(address(weth)), true, false);
        addUser(NATIVE, address(ethToUsdc), localCommitment(address(usdc)), true, false);
        addUser(NATIVE, address(ethToCctp), cctpCommitment(), true, true);
        addUser(address(weth), address(wethToCctp), cctpCommitment(), true, true);
    }

    /// @dev The signer of the thief's price.
    function voice(uint256 rate, uint256 fair) internal view virtual returns (uint256 key, uint256);

    /// @dev The minimum output of a settlement.
    function least(uint256 amountIn, uint256 fair, uint256 decimals)
        internal
        pure
        virtual
        returns (uint256);

    /// @dev Up to 30,000 dollars, or ten coins.
    function fund(uint256 index, uint256 amount) external {
        User storage user = users[index % users.length];
        address wallet = factory.predict(user.c);
        if (user.token == address(usdc)) {
            usdc.mint(wallet, bound(amount, 1, 30_000e6));
        } else if (user.token == NATIVE) {
            vm.deal(wallet, wallet.balance + bound(amount, 1, 10 ether));
        } else {
            giveWeth(wallet, bound(amount, 1, 10 ether));
        }
    }

    /// @dev USDC that is already in a wallet before a pool swap.
    function fundAside(uint64 amount) external {
        usdc.mint(factory.predict(users[4].c), amount);
    }

    /// @dev Opens a position or closes the open one: together, a sandwich.
    function trade(uint256 size, bool up) external {
        uint256 dollars = usdc.balanceOf(TRADER);
        uint256 coins = weth.balanceOf(TRADER);
        if (dollars != 0) {
            trade(TRADER, address(usdc), dollars);
        } else if (coins != 0) {
            trade(TRADER, address(weth), coins);
        } else if (up) {
            usdc.mint(TRADER, bound(size, 1e6, 300_000e6));
            trade(TRADER, address(usdc), usdc.balanceOf(TRADER));
            return;
        } else {
            giveWeth(TRADER, bound(size, 1e15, 100 ether));
            trade(TRADER, address(weth), weth.balanceOf(TRADER));
            return;
        }
        // Closed: its proceeds leave the game.
        vm.startPrank(TRADER);
        usdc.transfer(address(1), usdc.balanceOf(TRADER));
        weth.transfer(address(1), weth.balanceOf(TRADER));
        vm.stopPrank();
    }

    /// @dev Through any of the routes, with any fee, at any price that the thief can get signed.
    function settleAny(uint256 index, uint256 via, uint256 rate, uint256 seed) external {
        User memory user = users[index % users.length];
        User memory other = users[(seed % 4 == 0 ? via : index) % users.length];
        IDepositFactory.Job memory job =
            IDepositFactory.Job(user.c, user.token, 0, other.route, "", noProof());
        uint256 held = balanceOf(user.token, factory.predict(user.c));
        if (held == 0) return;
        Ask memory ask = askOf(user, rate, seed, held);
        if (!other.swaps) job.data = abi.encode(ask.fee, ask.maxFee, ask.threshold);
        else job.data = other.burns ? swapCctpData(job, ask) : swapData(job, ask);
        settleAndCheck(user, job, held);
    }

    /// @dev With or without the wallet, the fields and the refund authority of a user.
    function settleTampered(uint256 index, bool keepsId, uint256 rate, uint256 seed) external {
        User memory user = users[index % users.length];
        (user.c.destWallet, user.c.refundAuthority) = (word(THIEF), word(THIEF));
        if (!keepsId) user.c.maxFeeBps = 10_000;
        uint256 held = balanceOf(user.token, factory.predict(users[index % users.length].c));
        IDepositFactory.Job memory job =
            IDepositFactory.Job(user.c, user.token, 0, user.route, "", noProof());
        Ask memory ask = askOf(user, rate, seed, held);
        if (!user.swaps) job.data = abi.encode(ask.fee, ask.maxFee, ask.threshold);
        else job.data = user.burns ? swapCctpData(job, ask) : swapData(job, ask);
        vm.prank(RELAYER);
        (bool done,) = address(factory).call(abi.encodeCall(factory.settle, (job)));
        assertTrue(!done, "another commitment is another address");
    }

    /// @dev Anybody submits Circle's message, with any fee up to the maximum, and again.
    function mintAny(uint256 index, uint256 fee, bool tampers) external {
        if (messages.length == 0) return;
        index = index % messages.length;
        uint256 maxFee = wordAt(messages[index], 148 + 132);
        uint256 executed = fee % (maxFee + 1);
        (bytes memory filled, bytes memory attestation) =
            attest(messages[index], bytes32(index), executed == 0 ? 2000 : 1000, executed, 0);
        if (tampers) put(filled, 148 + 36, word(THIEF));
        vm.prank(THIEF);
        try transmitterThere.receiveMessage(filled, attestation) {
            assertTrue(!tampers, "nothing but what was attested");
        } catch { }
    }

    function checkRefund(uint256 index) external {
        User memory user = users[index % users.length];
        address authority = address(uint160(uint256(user.c.refundAuthority)));
        uint256 held = balanceOf(user.token, factory.predict(user.c));
        if (held == 0) return;
        uint256 before = balanceOf(user.token, authority);
        vm.prank(authority);
        factory.refund(user.c, user.token, ALL);
        assertEq(balanceOf(user.token, authority), before + held, "the refund");
    }

    function pass(uint16 time) external {
        vm.warp(block.timestamp + time % 300);
    }

    /// @dev The thief's balance of anything.
    function gained() external view returns (uint256) {
        return
            usdc.balanceOf(THIEF) + weth.balanceOf(THIEF) + minted.balanceOf(THIEF) + THIEF.balance;
    }

    function mintedInPlace() external view returns (uint256 sum) {
        sum = minted.balanceOf(CIRCLE_FEES);
        for (uint256 i; i < users.length; ++i) {
            sum += minted.balanceOf(recipientOf(i));
        }
    }

    function mintedAtAll() external view returns (uint256) {
        return minted.totalSupply();
    }

    /// @dev Neither the router nor a route keeps a balance that anybody could withdraw.
    function strewn() external view returns (uint256 sum) {
        sum = usdc.balanceOf(address(router)) + weth.balanceOf(address(router))
            + address(router).balance + usdc.balanceOf(address(messengerHere));
        for (uint256 i; i < users.length; ++i) {
            address route = users[i].route;
            sum += usdc.balanceOf(route) + weth.balanceOf(route) + route.balance;
            address[2] memory owners = [factory.predict(users[i].c), route];
            for (uint256 k; k < owners.length; ++k) {
                sum += usdc.allowance(owners[k], address(router));
                sum += weth.allowance(owners[k], address(router));
                sum += usdc.allowance(owners[k], address(messengerHere));
            }
        }
    }

    function settleAndCheck(User memory user, IDepositFactory.Job memory job, uint256 held)
        private
    {
        address wallet = factory.predict(user.c);
        address to = user.burns ? address(0) : address(uint160(uint256(user.c.destWallet)));
        address tokenOut = address(uint160(uint256(user.c.destToken)));
        uint256 fees = balanceOf(user.token, FEES);
        uint256 out = user.burns ? usdc.totalSupply() : balanceOf(tokenOut, to);
        uint256 aside = user.swaps && user.burns ? usdc.balanceOf(wallet) : 0;
        vm.recordLogs();
        vm.prank(RELAYER);
        try factory.settle(job) { }
        catch {
            return;
        }
        settled += 1;
        keepMessages();
        assertEq(job.route, user.route, "the route that leads to what was committed");
        uint256 fee = balanceOf(user.token, FEES) - fees;
        assertTrue(fee * 10_000 <= held * user.c.maxFeeBps, "fee within the cap");
        assertEq(balanceOf(user.token, wallet), 0, "all of it moved");
        if (user.burns) {
            out -= usdc.totalSupply();
            burned += out;
            if (user.swaps) assertEq(usdc.balanceOf(wallet), aside, "what lay there stays");
            else assertEq(out, held - fee, "all the rest is burned");
        } else {
            out = balanceOf(tokenOut, to) - out;
        }
        if (!user.swaps) return;
        assertTrue(out >= IUniswapSwap(user.route).bandMinOut(held - fee), "within the band");
        bool dollars = user.token == address(usdc);
        uint256 fair = dollars ? USDC_IN_ETH : ETH_IN_USDC;
        assertTrue(out >= least(held - fee, fair, dollars ? 18 : 6), "the least arrives");
    }

    function keepMessages() private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].topics[0] != IMessageTransmitterV2.MessageSent.selector) continue;
            bytes memory message = abi.decode(logs[i].data, (bytes));
            messages.push(message);
            uint256 amount = wordAt(message, 148 + 68);
            assertTrue(wordAt(message, 148 + 132) * 10_000 <= amount * 50, "maxFee within the cap");
        }
    }

    function askOf(User memory user, uint256 rate, uint256 seed, uint256 held)
        private
        view
        returns (Ask memory ask)
    {
        uint256 fair = user.token == address(usdc) ? USDC_IN_ETH : ETH_IN_USDC;
        ask = fairAsk(fair);
        (ask.key, ask.price.rate) = voice(bound(rate, 1, fair * 2), fair);
        ask.fee = RouteFee(uint16(seed >> 8) % 60, (seed >> 24) % (held / 150 + 2));
        ask.maxFee = (seed >> 100) % 4 == 0 ? (seed >> 120) % (30e6) : 0;
        ask.minOut = (seed >> 160) % 8 == 0 ? seed >> 180 : 0;
        ask.threshold = seed % 3 == 0 ? 1000 : 2000;
    }

    function addUser(address token, address route, Commitment memory c, bool swaps, bool burns)
        private
    {
        c.userId = bytes32(users.length);
        c.destWallet = word(recipientOf(users.length));
        c.refundAuthority = word(address(uint160(0xf0000 + users.length)));
        users.push(User(c, token, route, swaps, burns));
    }

    function recipientOf(uint256 user) private pure returns (address) {
        return address(uint160(0xd0000 + user));
    }

    function balanceOf(address token, address who) internal view returns (uint256) {
        if (token == NATIVE) return who.balance;
        return token == address(usdc) ? usdc.balanceOf(who) : weth.balanceOf(who);
    }

    function wordAt(bytes memory message, uint256 index) private pure returns (uint256 value) {
        assembly ("memory-safe") { value := mload(add(add(message, 0x20), index)) }
    }
}

/// @notice The relayer's key alone: the attestor signs the fair price for anybody, and nothing else.
contract RelayerRoutesGame is StolenRoutesGame {
    function voice(uint256 rate, uint256 fair) internal pure override returns (uint256, uint256) {
        return rate % 2 == 0 ? (ATTESTOR_KEY, fair) : (STRANGER_KEY, rate);
    }

    /// @dev The committed slippage of one percent, rounded down twice.
    function least(uint256 amountIn, uint256 fair, uint256 decimals)
        internal
        pure
        override
        returns (uint256)
    {
        return amountIn * fair * 10 ** decimals / 10 ** (24 - decimals) / 1e18 * 99 / 100;
    }
}

/// @notice Relayer and attestor together: any price, so only the pool's averaged price bounds a swap. The
/// loss stays in the pool, for its traders; the rest still goes to the committed wallet.
contract BothRoutesGame is StolenRoutesGame {
    function voice(uint256 rate, uint256) internal pure override returns (uint256, uint256) {
        return (ATTESTOR_KEY, rate % 4 == 0 ? 1e13 : rate);
    }

    function least(uint256, uint256, uint256) internal pure override returns (uint256) {
        return 0;
    }
}

abstract contract StolenRoutesTest is GameTest {
    StolenRoutesGame internal immutable game;

    constructor(StolenRoutesGame theft) {
        game = theft;
    }

    function setUp() public override {
        game.setUp();
    }

    function played() internal view override returns (address) {
        return address(game);
    }

    /// @dev The pool asks the game for the tokens of its liquidity.
    function noActions() internal pure override returns (bytes4[] memory selectors) {
        selectors = new bytes4[](2);
        selectors[0] = Fixture.setUp.selector;
        selectors[1] = Market.uniswapV3MintCallback.selector;
    }

    /// @dev A game without activity would prove nothing: every route settles, and is minted.
    function test_BusinessIsReal() public {
        for (uint256 i; i < 6; ++i) {
            game.fund(i, 3e16 + 1e9);
            game.settleAny(i, i, 300_000_000_000_001, 5);
        }
        assertEq(game.settled(), 6, "settlements");
        game.mintAny(0, 0, true);
        assertEq(game.mintedAtAll(), 0, "nothing that was tampered with");
        for (uint256 i; i < 3; ++i) {
            game.mintAny(i, 0, false);
            game.mintAny(i, 0, false);
        }
        assertEq(game.mintedAtAll(), game.burned(), "all that was burned is minted, once");
        checkAll();
    }

    function checkAll() internal view {
        assertEq(game.gained(), 0, "the thief");
        assertEq(game.mintedInPlace(), game.mintedAtAll(), "minted where it was committed to");
        assertTrue(game.mintedAtAll() <= game.burned(), "no more than was burned");
        assertEq(game.strewn(), 0, "nothing lies about");
    }
}

contract StolenRelayerRoutesTest is StolenRoutesTest(new RelayerRoutesGame()) {
    function invariant_RelayerKeyTakesNothingFromRoutes() public view {
        checkAll();
    }
}

contract StolenBothRoutesTest is StolenRoutesTest(new BothRoutesGame()) {
    function invariant_BothKeysMoveNothingToTheThief() public view {
        checkAll();
    }
}
