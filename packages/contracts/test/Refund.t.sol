// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Address32 } from "../src/types/Address32.sol";
import { Commitment } from "../src/types/Commitment.sol";
import {
    FeeOnTopToken,
    LeavesOneBehindToken,
    ReenteringRefundee,
    Refuser,
    SilentToken
} from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Refunds: always to the committed refund authority, even while all else is paused.
contract RefundTest is Fixture {
    Commitment private _c;
    address private _wallet;

    function setUp() public override {
        super.setUp();
        _c = remoteCommitment();
        _wallet = factory.predict(_c);
        usdc.mint(_wallet, 1000);
    }

    function test_refund_ReturnsTokensToTheAuthority() public {
        vm.expectEmit(address(factory));
        emit IDepositFactory.Refunded(_wallet, address(usdc), REFUNDEE, 1000, 0);
        assertEq(_refund(address(usdc)), 1000, "amount");
        assertEq(usdc.balanceOf(REFUNDEE), 1000, "refunded");
    }

    function test_refund_ReturnsAPartOfTheBalance() public {
        vm.prank(REFUNDEE);
        assertEq(factory.refund(_c, address(usdc), 400), 400, "a part");
        assertEq(usdc.balanceOf(_wallet), 600, "left");
        vm.prank(REFUNDEE);
        assertEq(factory.refund(_c, address(usdc), 601), 600, "no more than the balance");
        assertEq(usdc.balanceOf(REFUNDEE), 1000, "in two parts");
    }

    function test_refund_RevertsForAPartOfNothing() public {
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Nothing.selector, _wallet, address(usdc))
        );
        vm.prank(REFUNDEE);
        factory.refund(_c, address(usdc), 0);
    }

    /// @dev The whole balance never leaves: the token takes its fee on top of the amount.
    function test_refund_OfATokenWithAFeeOnTopLeavesInParts() public {
        FeeOnTopToken token = new FeeOnTopToken(10);
        token.mint(_wallet, 1000);
        vm.expectRevert();
        _refund(address(token));
        vm.prank(REFUNDEE);
        assertEq(factory.refund(_c, address(token), 990), 990, "amount");
        assertEq(token.balanceOf(REFUNDEE), 990, "refunded");
    }

    function test_refundBySignature_FitsOnlyTheSignedPart() public {
        uint256 deadline = block.timestamp;
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, address(usdc), 400, deadline);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 401, 1, deadline, signature);
        vm.prank(RELAYER);
        assertEq(
            factory.refundBySignature(_c, address(usdc), 400, 1, deadline, signature),
            400,
            "the part"
        );
    }

    function test_refund_ReturnsNativeCoin() public {
        vm.deal(_wallet, 1 ether);
        assertEq(_refund(NATIVE), 1 ether, "amount");
        assertEq(REFUNDEE.balance, 1 ether, "refunded");
    }

    function test_refund_ReturnsTokenWithoutReturnValue() public {
        SilentToken token = new SilentToken();
        token.mint(_wallet, 5);
        assertEq(_refund(address(token)), 5, "amount");
        assertEq(token.balanceOf(REFUNDEE), 5, "refunded");
    }

    function test_refund_ReturnsWhatATokenThatLeavesARestLetsGo() public {
        LeavesOneBehindToken token = new LeavesOneBehindToken();
        token.mint(_wallet, 100);
        _refund(address(token));
        assertEq(token.balanceOf(REFUNDEE), 99, "refunded");
    }

    function test_refund_WorksWhilePaused() public {
        vm.prank(GUARDIAN);
        factory.pause();
        assertEq(_refund(address(usdc)), 1000, "amount");
    }

    function test_refund_WorksUnsealed() public {
        factory = new DepositFactory(OWNER, GUARDIAN, DELAY);
        usdc.mint(factory.predict(_c), 7);
        assertEq(_refund(address(usdc)), 7, "amount");
    }

    function test_refund_RevertsWhenCallerIsNotTheAuthority() public {
        vm.expectRevert(
            abi.encodeWithSelector(
                IDepositFactory.NotRefundAuthority.selector, OWNER, word(REFUNDEE)
            )
        );
        vm.prank(OWNER);
        factory.refund(_c, address(usdc), ALL);
    }

    function test_refund_RevertsWhenAuthorityIsOfAnotherFamily() public {
        _c.refundAuthority = bytes32(uint256(1) << 160 | uint160(REFUNDEE));
        vm.expectRevert(abi.encodeWithSelector(Address32.NotAnAddress.selector, _c.refundAuthority));
        _refund(address(usdc));
    }

    function test_refund_RevertsWhenAuthorityIsZero() public {
        _c.refundAuthority = 0;
        vm.expectRevert(abi.encodeWithSelector(Address32.NotAnAddress.selector, bytes32(0)));
        vm.prank(address(0));
        factory.refund(_c, address(usdc), ALL);
    }

    function test_refund_RevertsWhenWalletIsEmpty() public {
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.Nothing.selector, _wallet, NATIVE));
        _refund(NATIVE);
    }

    function test_refund_RevertsWhenAuthorityRefusesNativeCoin() public {
        Refuser refuser = new Refuser();
        _c.refundAuthority = word(address(refuser));
        vm.deal(factory.predict(_c), 1);
        vm.expectRevert(abi.encodeWithSelector(Refuser.NoThanks.selector));
        vm.prank(address(refuser));
        factory.refund(_c, NATIVE, ALL);
    }

    function test_refund_RevertsWhenReentered() public {
        ReenteringRefundee refundee = new ReenteringRefundee(factory);
        _c.refundAuthority = word(address(refundee));
        vm.deal(factory.predict(_c), 1 ether);
        refundee.refund(_c);
        assertEq(
            bytes32(bytes4(refundee.reason())),
            bytes32(ReentrancyGuard.ReentrancyGuardReentrantCall.selector),
            "inner refund"
        );
        assertEq(address(refundee).balance, 1 ether, "outer refund");
    }

    function test_refundBySignature_ReturnsTokensToTheAuthority() public {
        uint256 deadline = block.timestamp + 10 minutes;
        assertEq(_refundBySignature(ATTESTOR_KEY, deadline), 1000, "amount");
        assertEq(usdc.balanceOf(REFUNDEE), 1000, "refunded");
    }

    function test_refundBySignature_WorksWhilePaused() public {
        vm.prank(GUARDIAN);
        factory.pause();
        assertEq(_refundBySignature(ATTESTOR_KEY, block.timestamp), 1000, "amount");
    }

    function test_refundBySignature_RevertsWhenCallerIsNotRelayer() public {
        bytes memory signature =
            signRefund(ATTESTOR_KEY, _wallet, address(usdc), ALL, block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRelayer.selector, REFUNDEE));
        vm.prank(REFUNDEE);
        factory.refundBySignature(_c, address(usdc), ALL, 1, block.timestamp, signature);
    }

    function test_refundBySignature_RevertsWhenExpired() public {
        uint256 deadline = block.timestamp - 1;
        _expectRefundBySignatureRevert(
            ATTESTOR_KEY,
            deadline,
            abi.encodeWithSelector(IDepositFactory.Expired.selector, deadline, block.timestamp)
        );
    }

    function test_refundBySignature_RevertsWhenDeadlineIsTooFar() public {
        uint256 latest = block.timestamp + 10 minutes;
        _expectRefundBySignatureRevert(
            ATTESTOR_KEY,
            latest + 1,
            abi.encodeWithSelector(IDepositFactory.DeadlineTooFar.selector, latest + 1, latest)
        );
    }

    function test_refundBySignature_RevertsWhenSignerIsNotAttestor() public {
        address signer = vm.addr(STRANGER_KEY);
        _expectRefundBySignatureRevert(
            STRANGER_KEY,
            block.timestamp,
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, signer)
        );
    }

    function test_refundBySignature_RevertsWhenAttestorWasRemoved() public {
        bytes32 role = factory.ATTESTOR();
        address signer = vm.addr(ATTESTOR_KEY);
        vm.prank(GUARDIAN);
        factory.remove(role, signer);
        _expectRefundBySignatureRevert(
            ATTESTOR_KEY,
            block.timestamp,
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, signer)
        );
    }

    function test_refundBySignature_RevertsWhenSignatureIsMalleated() public {
        bytes memory signature =
            malleate(signRefund(ATTESTOR_KEY, _wallet, address(usdc), ALL, block.timestamp));
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, address(0)));
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), ALL, 1, block.timestamp, signature);
    }

    function test_refundBySignature_RevertsWhenSignatureIsForAnotherToken() public {
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, NATIVE, ALL, block.timestamp);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), ALL, 1, block.timestamp, signature);
        assertEq(usdc.balanceOf(_wallet), 1000, "kept");
    }

    function test_refundBySignature_RevertsWhenSignatureIsFromAnotherChain() public {
        bytes memory signature =
            signRefund(ATTESTOR_KEY, _wallet, address(usdc), ALL, block.timestamp);
        vm.chainId(99);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), ALL, 1, block.timestamp, signature);
    }

    function test_refundBySignature_NamesItsReasonInTheEvent() public {
        for (uint8 reason = 1; reason <= 4; ++reason) {
            uint256 deadline = block.timestamp + reason;
            bytes memory signature =
                signRefund(ATTESTOR_KEY, _wallet, address(usdc), 10, reason, deadline);
            vm.expectEmit(address(factory));
            emit IDepositFactory.Refunded(_wallet, address(usdc), REFUNDEE, 10, reason);
            vm.prank(RELAYER);
            factory.refundBySignature(_c, address(usdc), 10, reason, deadline, signature);
        }
        assertEq(usdc.balanceOf(REFUNDEE), 40, "refunded");
    }

    function testFuzz_refundBySignature_RevertsWhenReasonIsUnknown(uint8 reason) public {
        if (reason != 0) reason = 5 + reason % 251;
        bytes memory signature =
            signRefund(ATTESTOR_KEY, _wallet, address(usdc), ALL, reason, block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.UnknownReason.selector, reason));
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), ALL, reason, block.timestamp, signature);
    }

    function test_refundBySignature_RevertsWhenReasonIsNotTheSignedOne() public {
        bytes memory signature =
            signRefund(ATTESTOR_KEY, _wallet, address(usdc), ALL, 1, block.timestamp);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), ALL, 2, block.timestamp, signature);
        assertEq(usdc.balanceOf(_wallet), 1000, "kept");
    }

    function test_refundBySignature_RevertsWhenUsedAgainForALaterDeposit() public {
        uint256 deadline = block.timestamp + 5 minutes;
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, address(usdc), 1000, 1, deadline);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 1000, 1, deadline, signature);
        usdc.mint(_wallet, 1000);
        bytes memory reason = abi.encodeWithSelector(
            IDepositFactory.AlreadyRefunded.selector, _wallet, address(usdc), deadline
        );
        vm.expectRevert(reason);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 1000, 1, deadline, signature);
        assertEq(usdc.balanceOf(_wallet), 1000, "the later deposit");
    }

    function test_refundBySignature_NeedsALaterDeadlineThanTheLastOne() public {
        uint256 deadline = block.timestamp + 5 minutes;
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, address(usdc), 10, 1, deadline);
        bytes memory before = signRefund(ATTESTOR_KEY, _wallet, address(usdc), 10, 1, deadline - 1);
        bytes memory later = signRefund(ATTESTOR_KEY, _wallet, address(usdc), 10, 1, deadline + 1);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 10, 1, deadline, signature);
        bytes memory reason = abi.encodeWithSelector(
            IDepositFactory.AlreadyRefunded.selector, _wallet, address(usdc), deadline - 1
        );
        vm.expectRevert(reason);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 10, 1, deadline - 1, before);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 10, 1, deadline + 1, later);
    }

    /// @dev An attempt that fails uses nothing up, and other tokens have deadlines of their own.
    function test_refundBySignature_FailedOneCanBeRepeated() public {
        uint256 deadline = block.timestamp + 5 minutes;
        bytes memory native = signRefund(ATTESTOR_KEY, _wallet, NATIVE, 5, 2, deadline);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.Nothing.selector, _wallet, NATIVE));
        vm.prank(RELAYER);
        factory.refundBySignature(_c, NATIVE, 5, 2, deadline, native);
        _refundBySignature(ATTESTOR_KEY, deadline);
        vm.deal(_wallet, 7);
        vm.prank(RELAYER);
        assertEq(factory.refundBySignature(_c, NATIVE, 5, 2, deadline, native), 5, "amount");
    }

    /// @dev A sweep that is mined first leaves nothing to refund.
    function test_refundBySignature_RevertsAfterASweepOfTheBalance() public {
        bytes memory signature =
            signRefund(ATTESTOR_KEY, _wallet, address(usdc), 1000, 1, block.timestamp);
        settle(escrowJob());
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.Nothing.selector, _wallet, address(usdc))
        );
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), 1000, 1, block.timestamp, signature);
    }

    function _refund(address token) private returns (uint256) {
        vm.prank(REFUNDEE);
        return factory.refund(_c, token, ALL);
    }

    function _refundBySignature(uint256 key, uint256 deadline) private returns (uint256) {
        bytes memory signature = signRefund(key, _wallet, address(usdc), ALL, deadline);
        vm.prank(RELAYER);
        return factory.refundBySignature(_c, address(usdc), ALL, 1, deadline, signature);
    }

    function _expectRefundBySignatureRevert(uint256 key, uint256 deadline, bytes memory reason)
        private
    {
        bytes memory signature = signRefund(key, _wallet, address(usdc), ALL, deadline);
        vm.expectRevert(reason);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), ALL, 1, deadline, signature);
    }
}
