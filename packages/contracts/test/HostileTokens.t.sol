// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { Delivery } from "../src/Delivery.sol";
import { IChargedRoute } from "../src/interfaces/IChargedRoute.sol";
import { IDailyCaps } from "../src/interfaces/IDailyCaps.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { ITransferRoute } from "../src/interfaces/ITransferRoute.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { HostileToken } from "./doubles/HostileToken.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Every kind of unusual token with both kinds of route, and refunds. Law: a settlement
/// pays the promise of the commitment or changes nothing, and the refund authority gets everything
/// that a token releases.
contract HostileTokensTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;

    HostileToken private _token;
    IDepositFactory.Job private _transfer;
    IDepositFactory.Job private _lock;

    function setUp() public override {
        super.setUp();
        _token = new HostileToken("Odd", "ODD", 6);
        address route = address(newTransferRoute(address(_token)));
        listRoute(route);
        _transfer.c = localCommitment(address(_token));
        _transfer.token = address(_token);
        _transfer.route = route;
        _transfer.data = feeOf(10);
        route = address(new SameAssetRoute(pairOf(address(_token))));
        listRoute(route);
        _lock.c = remoteCommitment();
        _lock.token = address(_token);
        _lock.route = route;
    }

    function test_T14_aPlainTokenSettles() public {
        _settlesBoth();
    }

    function test_T14_aTokenWithoutReturnValuesSettles() public {
        HostileToken.Conduct memory conduct;
        conduct.answer = HostileToken.Answer.Nothing;
        _token.behave(conduct);
        _settlesBoth();
    }

    function test_T14_aTokenThatReturnsFalseSettlesNothing() public {
        HostileToken.Conduct memory conduct;
        conduct.answer = HostileToken.Answer.False;
        _token.behave(conduct);
        _settlesNeither();
        conduct.pretends = true;
        _token.behave(conduct);
        _settlesNeither();
        _refundsAll();
    }

    function test_T02_aTokenThatOnlyPretendsToMoveSettlesNothing() public {
        HostileToken.Conduct memory conduct;
        conduct.pretends = true;
        _token.behave(conduct);
        _settlesNeither();
        _refundsAll();
    }

    function test_T14_aTokenThatLeavesARestSettlesNothing() public {
        HostileToken.Conduct memory conduct;
        conduct.keepsOne = true;
        _token.behave(conduct);
        _settlesNeither();
        _refundsAll();
    }

    function test_T14_aTokenThatRefusesZeroApprovalsAndTransfersSettles() public {
        HostileToken.Conduct memory conduct;
        conduct.refusesZero = true;
        _token.behave(conduct);
        _settlesBoth();
        _transfer.data = feeOf(0);
        _settles(_transfer);
    }

    function test_T14_aTokenThatRefusesToChangeAnAllowanceSettles() public {
        HostileToken.Conduct memory conduct;
        conduct.refusesRace = true;
        _token.behave(conduct);
        _settlesBoth();
        _settlesBoth();
    }

    /// @dev No return values, no change of a standing allowance, blocked senders, a pause, and a fee
    /// that the issuer can switch on.
    function test_T14_theFormOfUsdtSettlesAndIsRefunded() public {
        HostileToken.Conduct memory conduct;
        conduct.answer = HostileToken.Answer.Nothing;
        conduct.refusesRace = true;
        _token.behave(conduct);
        _settlesBoth();
        _settlesBoth();
        conduct.feeBps = 20;
        _token.behave(conduct);
        address wallet = factory.predict(_lock.c);
        _token.mint(wallet, AMOUNT);
        _reverts(_lock);
        conduct.feeBps = 0;
        _token.behave(conduct);
        _refundWaitsForBlockAndPause(wallet, conduct);
    }

    /// @dev Blocked senders and recipients, and a pause; otherwise an ordinary token behind a proxy.
    function test_T14_theFormOfUsdcSettlesAndIsRefunded() public {
        HostileToken.Conduct memory conduct;
        _settlesBoth();
        address wallet = factory.predict(_lock.c);
        _token.mint(wallet, AMOUNT);
        _token.blockAccount(REFUNDEE, true);
        vm.expectRevert();
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_token), ALL);
        _token.blockAccount(REFUNDEE, false);
        _refundWaitsForBlockAndPause(wallet, conduct);
    }

    function _refundWaitsForBlockAndPause(address wallet, HostileToken.Conduct memory conduct)
        private
    {
        _token.blockAccount(wallet, true);
        vm.expectRevert();
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_token), ALL);
        _token.blockAccount(wallet, false);
        conduct.paused = true;
        _token.behave(conduct);
        vm.expectRevert();
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_token), ALL);
        conduct.paused = false;
        _token.behave(conduct);
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_token), ALL);
        assertEq(_token.balanceOf(REFUNDEE), AMOUNT, "refunded");
        assertEq(_token.balanceOf(wallet), 0, "wallet");
    }

    function test_T14_anAllowanceThatIsNotUsedUpDoesNotStay() public {
        HostileToken.Conduct memory conduct;
        conduct.stickyAllowance = true;
        _token.behave(conduct);
        _settlesBoth();
        _settlesBoth();
    }

    function test_T14_aTokenWithACapOf96BitsSettlesUpToIt() public {
        HostileToken.Conduct memory conduct;
        conduct.capped = true;
        _token.behave(conduct);
        _settlesBoth();
        address wallet = factory.predict(_lock.c);
        _token.mint(wallet, uint256(type(uint96).max) + 1);
        _reverts(_lock);
        assertEq(_token.balanceOf(wallet), uint256(type(uint96).max) + 1, "nothing moved");
    }

    function test_T14_aTokenThatRefusesTheZeroAddressAndItselfSettles() public {
        HostileToken.Conduct memory conduct;
        conduct.picky = true;
        _token.behave(conduct);
        _settlesBoth();
    }

    function test_T07_aFeeWithinTheCapIsPartOfIt() public {
        HostileToken.Conduct memory conduct;
        conduct.feeBps = 39;
        _token.behave(conduct);
        address wallet = factory.predict(_transfer.c);
        _token.mint(wallet, AMOUNT);
        uint256 paid = 999_000;
        paid -= paid * 39 / 10_000;
        vm.expectEmit(_transfer.route);
        emit ITransferRoute.Transferred(wallet, RECIPIENT, address(_token), paid, 1000);
        settle(_transfer);
        assertEq(_token.balanceOf(RECIPIENT), paid, "what is stated arrived");
    }

    function testFuzz_T07_aFeeAboveTheCapSettlesNothing(uint16 feeBps) public {
        HostileToken.Conduct memory conduct;
        conduct.feeBps = uint16(bound(feeBps, 41, 9999));
        _token.behave(conduct);
        _settlesNeither();
        vm.prank(REFUNDEE);
        factory.refund(_transfer.c, address(_token), ALL);
        assertEq(_token.balanceOf(factory.predict(_transfer.c)), 0, "nothing left");
        uint256 fee = AMOUNT * conduct.feeBps / 10_000;
        assertEq(_token.balanceOf(REFUNDEE), AMOUNT - fee, "the authority has what the fee left");
    }

    function test_T07_theReasonNamesWhatArrived() public {
        HostileToken.Conduct memory conduct;
        conduct.feeBps = 5000;
        _token.behave(conduct);
        _token.mint(factory.predict(_transfer.c), AMOUNT);
        vm.expectRevert(
            abi.encodeWithSelector(IChargedRoute.ReceivedLess.selector, 499_500, 995_000)
        );
        settle(_transfer);
        _token.mint(factory.predict(_lock.c), AMOUNT);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.ReceivedLess.selector, 500_000, AMOUNT));
        settle(_lock);
    }

    function test_T02_T07_aDeliveryThatDoesNotArriveIsNone() public {
        IDelivery.Order memory order = orderOf(0, AMOUNT);
        order.c.destToken = word(address(_token));
        delivery = _deliveryOf(address(_token));
        HostileToken.Conduct memory conduct;
        conduct.feeBps = 1;
        _notDelivered(order, conduct, AMOUNT - AMOUNT / 10_000);
        conduct.feeBps = 0;
        conduct.pretends = true;
        _notDelivered(order, conduct, 0);
        conduct.pretends = false;
        conduct.keepsOne = true;
        _notDelivered(order, conduct, AMOUNT - 1);
        conduct.keepsOne = false;
        _token.behave(conduct);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        assertEq(_token.balanceOf(RECIPIENT), AMOUNT, "once it behaves");
    }

    function testFuzz_T08_whatIsLeftOfARebaseIsSwept(uint64 index) public {
        address wallet = factory.predict(_transfer.c);
        _token.mint(wallet, AMOUNT);
        HostileToken.Conduct memory conduct;
        conduct.index = bound(index, 1e14, 10 ether);
        _token.behave(conduct);
        uint256 held = _token.balanceOf(wallet);
        vm.prank(RELAYER);
        try factory.settle(_transfer) returns (uint256 amount) {
            assertEq(amount, held, "the live balance");
            assertEq(_token.balanceOf(wallet), 0, "nothing left");
        } catch {
            assertEq(_token.balanceOf(wallet), held, "nothing moved");
        }
    }

    function test_T09_whatIsBlockedOrPausedWaitsAndThenSettles() public {
        HostileToken.Conduct memory conduct;
        conduct.paused = true;
        _token.behave(conduct);
        _settlesNeither();
        conduct.paused = false;
        _token.behave(conduct);
        address[3] memory parties = [factory.predict(_transfer.c), RECIPIENT, FEES];
        for (uint256 i; i < parties.length; ++i) {
            _token.blockAccount(parties[i], true);
            _reverts(_transfer);
            _token.blockAccount(parties[i], false);
        }
        _token.blockAccount(address(escrow), true);
        _reverts(_lock);
        _token.blockAccount(address(escrow), false);
        settle(_transfer);
        settle(_lock);
    }

    function test_T09_aBlockedRecipientKeepsNothingFromTheRefundAuthority() public {
        _token.blockAccount(RECIPIENT, true);
        _token.blockAccount(address(escrow), true);
        _settlesNeither();
        _refundsAll();
    }

    function test_T11_aHookChangesNothingWhateverItCalls() public {
        _lock.c.userId = bytes32(uint256(2));
        bytes[6] memory calls = [
            abi.encodeCall(IDepositFactory.settle, (_transfer)),
            abi.encodeCall(IDepositFactory.settle, (_lock)),
            abi.encodeCall(IDepositFactory.refund, (_transfer.c, address(_token), ALL)),
            abi.encodeCall(IDepositFactory.refund, (_lock.c, address(_token), ALL)),
            abi.encodeCall(IDepositFactory.settleMany, (new IDepositFactory.Job[](0), 0)),
            abi.encodeCall(IDepositFactory.deploy, (_lock.c))
        ];
        // Even if the token has every key that a stranger cannot have.
        vm.prank(OWNER);
        factory.setRelayer(address(_token), true);
        _transfer.c.refundAuthority = word(address(_token));
        _lock.c.refundAuthority = word(address(_token));
        address other = factory.predict(_lock.c);
        _token.mint(other, 7);
        for (uint256 i; i < calls.length; ++i) {
            _token.hook(address(factory), calls[i]);
            address wallet = factory.predict(_transfer.c);
            uint256 before = _token.balanceOf(RECIPIENT);
            _token.mint(wallet, AMOUNT);
            settle(_transfer);
            assertEq(_token.balanceOf(RECIPIENT) - before, 999_000, "recipient");
            assertEq(_token.balanceOf(wallet), 0, "wallet");
            assertEq(_token.balanceOf(other), 7, "another wallet");
            if (i == 5) continue;
            assertTrue(!_token.hookSucceeded(), "refused");
            bytes4 reason = bytes4(_token.hookAnswer());
            assertTrue(
                reason == ReentrancyGuard.ReentrancyGuardReentrantCall.selector, "by the guard"
            );
        }
    }

    function test_T12_gasAndDataBombsCostTheirBatchNoMoreThanTheirShare() public {
        IDepositFactory.Job[] memory jobs = new IDepositFactory.Job[](2);
        jobs[0] = _transfer;
        jobs[1] = transferJob(10);
        HostileToken.Conduct[3] memory bombs;
        bombs[0].waste = type(uint64).max;
        bombs[1].endless = true;
        bombs[2].bomb = 1_000_000;
        for (uint256 i; i < bombs.length; ++i) {
            HostileToken.Conduct memory plain;
            _token.behave(plain);
            _token.mint(factory.predict(_transfer.c), AMOUNT);
            _token.behave(bombs[i]);
            usdc.mint(factory.predict(jobs[1].c), AMOUNT);
            uint256 start = gasleft();
            vm.prank(RELAYER);
            assertEq(factory.settleMany(jobs, 300_000), 1, "the honest one");
            assertTrue(start - gasleft() < 800_000, "gas");
        }
    }

    function test_T13_aBalanceThatIsNotThereSettlesNothing() public {
        _token.lie(HostileToken.Lie(true, AMOUNT, address(0)));
        _reverts(_transfer);
        _reverts(_lock);
        // The token tells only the factory the truth, then only the wallet.
        _token.lie(HostileToken.Lie(true, AMOUNT, address(factory)));
        _reverts(_transfer);
        _token.lie(HostileToken.Lie(true, AMOUNT, factory.predict(_transfer.c)));
        _reverts(_transfer);
    }

    function test_T23_whatIsNotListedStaysForTheRefundAuthorityAlone() public {
        HostileToken stray = new HostileToken("Stray", "USDC", 6);
        address wallet = factory.predict(_transfer.c);
        stray.mint(wallet, 5);
        _transfer.token = address(stray);
        _reverts(_transfer);
        _lock.token = address(stray);
        _reverts(_lock);
        vm.prank(REFUNDEE);
        factory.refund(_transfer.c, address(stray), ALL);
        assertEq(stray.balanceOf(REFUNDEE), 5, "refunded");
    }

    function test_T119_aDelegatedAccountIsPaidAndCountsAsAnybody() public {
        // Code of EIP-7702: 0xef0100 and the address it delegates to.
        vm.etch(RECIPIENT, abi.encodePacked(hex"ef0100", address(_token)));
        vm.etch(RELAYER, abi.encodePacked(hex"ef0100", address(_token)));
        vm.etch(REFUNDEE, abi.encodePacked(hex"ef0100", address(_token)));
        _settlesBoth();
        _token.mint(factory.predict(_lock.c), AMOUNT);
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_token), ALL);
        assertEq(_token.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    /// @dev A delivery with a cap for the token and an inventory of it.
    function _deliveryOf(address token) private returns (Delivery there) {
        there = newDelivery();
        IDailyCaps.DailyCap[] memory caps = new IDailyCaps.DailyCap[](1);
        caps[0] = IDailyCaps.DailyCap(token, type(uint112).max);
        vm.prank(OWNER);
        there.seal(listOf(SETTLER), caps);
        HostileToken(token).mint(address(there), AMOUNT);
    }

    function _notDelivered(
        IDelivery.Order memory order,
        HostileToken.Conduct memory conduct,
        uint256 received
    ) private {
        _token.behave(conduct);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.expectRevert(
            abi.encodeWithSelector(IDelivery.ReceivedLess.selector, received, order.amount)
        );
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        assertTrue(!isDelivered(order), "not delivered");
        assertEq(_token.balanceOf(address(delivery)), AMOUNT, "nothing left");
    }

    function _settlesBoth() private {
        _settles(_transfer);
        uint256 before = _token.balanceOf(address(escrow));
        _settles(_lock);
        assertEq(_token.balanceOf(address(escrow)) - before, AMOUNT, "escrow");
        address wallet = factory.predict(_lock.c);
        assertEq(_token.allowance(wallet, address(escrow)), 0, "allowance");
    }

    function _settles(IDepositFactory.Job memory job) private {
        address wallet = factory.predict(job.c);
        _token.mint(wallet, AMOUNT);
        settle(job);
        assertEq(_token.balanceOf(wallet), 0, "nothing left");
    }

    /// @dev Both wallets are funded and keep their balances.
    function _settlesNeither() private {
        IDepositFactory.Job[2] memory jobs = [_transfer, _lock];
        for (uint256 i; i < jobs.length; ++i) {
            address wallet = factory.predict(jobs[i].c);
            if (_token.balanceOf(wallet) == 0) _token.mint(wallet, AMOUNT);
            _reverts(jobs[i]);
            assertEq(_token.balanceOf(wallet), AMOUNT, "nothing moved");
        }
    }

    function _reverts(IDepositFactory.Job memory job) private {
        vm.expectRevert();
        settle(job);
    }

    /// @dev After the token behaves again.
    function _refundsAll() private {
        HostileToken.Conduct memory plain;
        _token.behave(plain);
        vm.prank(REFUNDEE);
        factory.refund(_transfer.c, address(_token), ALL);
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_token), ALL);
        assertEq(_token.balanceOf(REFUNDEE), 2 * AMOUNT, "refunded");
    }
}
