// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Address32 } from "../src/types/Address32.sol";
import { Commitment } from "../src/types/Commitment.sol";
import {
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
        emit IDepositFactory.Refunded(_wallet, address(usdc), REFUNDEE, 1000);
        assertEq(_refund(address(usdc)), 1000, "amount");
        assertEq(usdc.balanceOf(REFUNDEE), 1000, "refunded");
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
        factory.refund(_c, address(usdc));
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
        factory.refund(_c, address(usdc));
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
        factory.refund(_c, NATIVE);
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
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, address(usdc), block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRelayer.selector, REFUNDEE));
        vm.prank(REFUNDEE);
        factory.refundBySignature(_c, address(usdc), block.timestamp, signature);
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
            malleate(signRefund(ATTESTOR_KEY, _wallet, address(usdc), block.timestamp));
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, address(0)));
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), block.timestamp, signature);
    }

    function test_refundBySignature_RevertsWhenSignatureIsForAnotherToken() public {
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, NATIVE, block.timestamp);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), block.timestamp, signature);
        assertEq(usdc.balanceOf(_wallet), 1000, "kept");
    }

    function test_refundBySignature_RevertsWhenSignatureIsFromAnotherChain() public {
        bytes memory signature = signRefund(ATTESTOR_KEY, _wallet, address(usdc), block.timestamp);
        vm.chainId(99);
        vm.expectRevert();
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), block.timestamp, signature);
    }

    function _refund(address token) private returns (uint256) {
        vm.prank(REFUNDEE);
        return factory.refund(_c, token);
    }

    function _refundBySignature(uint256 key, uint256 deadline) private returns (uint256) {
        bytes memory signature = signRefund(key, _wallet, address(usdc), deadline);
        vm.prank(RELAYER);
        return factory.refundBySignature(_c, address(usdc), deadline, signature);
    }

    function _expectRefundBySignatureRevert(uint256 key, uint256 deadline, bytes memory reason)
        private
    {
        bytes memory signature = signRefund(key, _wallet, address(usdc), deadline);
        vm.expectRevert(reason);
        vm.prank(RELAYER);
        factory.refundBySignature(_c, address(usdc), deadline, signature);
    }
}
