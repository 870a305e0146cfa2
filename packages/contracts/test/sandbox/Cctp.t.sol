// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IMessageTransmitterV2 } from "../../src/interfaces/external/IMessageTransmitterV2.sol";
import { ITokenMessengerV2 } from "../../src/interfaces/external/ITokenMessengerV2.sol";
import { SandboxMessageTransmitterV2 } from "../../sandbox/SandboxMessageTransmitterV2.sol";
import { Market } from "../support/Market.sol";
import { Vm } from "../support/Vm.sol";

/// @notice The doubles of CCTP v2: Circle's exact messages and reverts.
contract CctpStandInsTest is Market {
    uint256 private constant AMOUNT = 1_000_000;
    bytes32 private constant NONCE = keccak256("nonce");

    function test_depositForBurn_EmitsCirclesMessageToTheByte() public {
        bytes memory message = _burn(700, 1000);
        bytes memory body = abi.encodePacked(
            uint32(1),
            word(address(usdc)),
            word(RECIPIENT),
            AMOUNT,
            word(STRANGER),
            uint256(700),
            uint256(0),
            uint256(0)
        );
        bytes memory header = abi.encodePacked(
            uint32(1),
            DOMAIN_HERE,
            DOMAIN_THERE,
            bytes32(0),
            word(address(messengerHere)),
            word(address(messengerThere)),
            bytes32(0),
            uint32(1000),
            uint32(0)
        );
        assertEq(header.length, 148, "header");
        assertEq(body.length, 228, "body");
        assertEq(keccak256(message), keccak256(bytes.concat(header, body)), "message");
        assertEq(usdc.balanceOf(STRANGER), 0, "burned");
    }

    function test_depositForBurnWithHook_AppendsTheData() public {
        usdc.mint(address(this), AMOUNT);
        usdc.approve(address(messengerHere), AMOUNT);
        vm.expectRevert(bytes("Hook data is empty"));
        messengerHere.depositForBurnWithHook(
            AMOUNT, DOMAIN_THERE, word(RECIPIENT), address(usdc), 0, 7, 1000, ""
        );
        vm.recordLogs();
        messengerHere.depositForBurnWithHook(
            AMOUNT, DOMAIN_THERE, word(RECIPIENT), address(usdc), 0, 7, 1000, hex"c0ffee"
        );
        Vm.Log[] memory logs = vm.getRecordedLogs();
        bytes memory message;
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].emitter != address(transmitterHere)) continue;
            message = abi.decode(logs[i].data, (bytes));
        }
        assertEq(message.length, 148 + 228 + 3, "length");
        (bytes memory filled, bytes memory attestation) = attest(message, "n", 1000, 7, 0);
        assertTrue(transmitterThere.receiveMessage(filled, attestation), "received");
        assertEq(minted.balanceOf(RECIPIENT), AMOUNT - 7, "recipient");
    }

    function test_interface_IsCircles() public pure {
        // As in 4byte directories and Circle's own calls.
        assertEq(
            bytes32(ITokenMessengerV2.depositForBurn.selector), bytes32(bytes4(0x8e0250ee)), "burn"
        );
        assertEq(
            bytes32(ITokenMessengerV2.depositForBurnWithHook.selector),
            bytes32(bytes4(0x779b432d)),
            "burn with data"
        );
        assertEq(
            bytes32(IMessageTransmitterV2.receiveMessage.selector),
            bytes32(bytes4(0x57ecfd28)),
            "receive"
        );
        assertEq(
            ITokenMessengerV2.DepositForBurn.selector,
            keccak256(
                "DepositForBurn(address,uint256,address,bytes32,uint32,bytes32,bytes32,uint256,uint32,bytes)"
            ),
            "burned"
        );
        assertEq(
            ITokenMessengerV2.MintAndWithdraw.selector,
            keccak256("MintAndWithdraw(address,uint256,address,uint256)"),
            "minted"
        );
        assertEq(
            IMessageTransmitterV2.MessageReceived.selector,
            keccak256("MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)"),
            "received"
        );
        assertEq(
            IMessageTransmitterV2.MessageSent.selector, keccak256("MessageSent(bytes)"), "sent"
        );
    }

    function test_receiveMessage_SaysWhatItDid() public {
        (bytes memory filled, bytes memory attestation) =
            attest(_burn(700, 1000), NONCE, 1000, 700, block.number + 1);
        vm.expectEmit(address(messengerThere));
        emit ITokenMessengerV2.MintAndWithdraw(RECIPIENT, AMOUNT - 700, address(minted), 700);
        vm.expectEmit(address(transmitterThere));
        emit IMessageTransmitterV2.MessageReceived(
            address(this), DOMAIN_HERE, NONCE, word(address(messengerHere)), 1000, _body(filled)
        );
        transmitterThere.receiveMessage(filled, attestation);
    }

    function test_receiveMessage_RevertsForAnythingButAnAttestedMessage() public {
        bytes memory message = _burn(700, 1000);
        (bytes memory filled, bytes memory attestation) = attest(message, NONCE, 1000, 700, 0);
        _refuses(filled, "", "Invalid attestation length");
        _refuses(filled, bytes.concat(attestation, attestation), "Invalid attestation length");
        _refuses(filled, signMessage(STRANGER_KEY, filled), "Invalid signature: not attester");
        _refuses(message, attestation, "Invalid signature: not attester");
        bytes memory short = "short";
        _refuses(short, signMessage(CIRCLE_KEY, short), "Invalid message: too short");
        put(filled, 76, word(STRANGER));
        _refuses(filled, attestation, "Invalid signature: not attester");
    }

    function test_receiveMessage_RevertsForWhatCircleWouldNotSign() public {
        bytes memory message = _burn(700, 1000);
        (bytes memory filled, bytes memory attestation) = attest(message, NONCE, 499, 700, 0);
        _refuses(filled, attestation, "Unsupported finality threshold");
        (filled, attestation) = attest(message, NONCE, 1000, 701, 0);
        _refuses(filled, attestation, "Fee exceeds max fee");
        (filled, attestation) = attest(message, NONCE, 1000, AMOUNT, 0);
        _refuses(filled, attestation, "Fee equals or exceeds amount");
        (filled, attestation) = attest(message, NONCE, 1000, 700, block.number);
        _refuses(filled, attestation, "Message expired and must be re-signed");
        (filled,) = attest(message, NONCE, 2000, 0, 0);
        put(filled, 44, word(STRANGER));
        _refuses(filled, signMessage(CIRCLE_KEY, filled), "Remote TokenMessenger unsupported");
        (filled,) = attest(message, NONCE, 2000, 0, 0);
        put(filled, 152, word(STRANGER));
        _refuses(filled, signMessage(CIRCLE_KEY, filled), "Mint token not supported");
        (filled,) = attest(message, NONCE, 2000, 0, 0);
        put(filled, 108, word(STRANGER));
        _refuses(filled, signMessage(CIRCLE_KEY, filled), "Invalid caller for message");
        (filled, attestation) = attest(message, NONCE, 2000, 0, 0);
        vm.expectRevert(bytes("Invalid destination domain"));
        transmitterHere.receiveMessage(filled, attestation);
        assertEq(minted.totalSupply(), 0, "nothing minted");
    }

    function test_receiveMessage_AnExpiredMessageIsGoodOnceSignedAgain() public {
        bytes memory message = _burn(700, 1000);
        (bytes memory filled, bytes memory attestation) =
            attest(message, NONCE, 1000, 700, block.number);
        _refuses(filled, attestation, "Message expired and must be re-signed");
        (filled, attestation) = attest(message, NONCE, 2000, 0, 0);
        transmitterThere.receiveMessage(filled, attestation);
        assertEq(minted.balanceOf(RECIPIENT), AMOUNT, "all of it");
        (filled, attestation) = attest(message, NONCE, 1000, 700, 0);
        _refuses(filled, attestation, "Nonce already used");
    }

    function test_receiveMessage_TakesAsManySignaturesInOrderAsTheThreshold() public {
        (uint256 first, uint256 second) = (1, 2);
        if (vm.addr(first) > vm.addr(second)) (first, second) = (second, first);
        address[] memory attesters = new address[](2);
        (attesters[0], attesters[1]) = (vm.addr(first), vm.addr(second));
        SandboxMessageTransmitterV2 transmitter =
            new SandboxMessageTransmitterV2(DOMAIN_THERE, attesters, 2);
        (bytes memory filled,) = attest(_burn(0, 2000), NONCE, 2000, 0, 0);
        bytes memory one = signMessage(first, filled);
        bytes memory two = signMessage(second, filled);
        vm.expectRevert(bytes("Invalid signature order or dupe"));
        transmitter.receiveMessage(filled, bytes.concat(two, one));
        vm.expectRevert(bytes("Invalid signature order or dupe"));
        transmitter.receiveMessage(filled, bytes.concat(one, one));
        // Valid signatures pass; the messenger there accepts another transmitter.
        vm.expectRevert(bytes("Invalid message transmitter"));
        transmitter.receiveMessage(filled, bytes.concat(one, two));
    }

    function test_constructor_RevertsForAttestersThatCannotSign() public {
        address[] memory attesters = listOf(vm.addr(CIRCLE_KEY));
        vm.expectRevert(bytes("Signature threshold is zero"));
        new SandboxMessageTransmitterV2(1, attesters, 0);
        vm.expectRevert(bytes("Signature threshold exceeds attesters"));
        new SandboxMessageTransmitterV2(1, attesters, 2);
        vm.expectRevert(bytes("New attester must be nonzero"));
        new SandboxMessageTransmitterV2(1, listOf(address(0)), 1);
        attesters = new address[](2);
        (attesters[0], attesters[1]) = (STRANGER, STRANGER);
        vm.expectRevert(bytes("Attester already enabled"));
        new SandboxMessageTransmitterV2(1, attesters, 1);
    }

    function test_depositForBurn_RevertsAsCirclesDoes() public {
        _refusesBurn(0, DOMAIN_THERE, word(RECIPIENT), address(usdc), 0, "Amount must be nonzero");
        _refusesBurn(1, DOMAIN_THERE, 0, address(usdc), 0, "Mint recipient must be nonzero");
        _refusesBurn(
            1, DOMAIN_THERE, word(RECIPIENT), address(usdc), 1, "Max fee must be less than amount"
        );
        _refusesBurn(2, 9, word(RECIPIENT), address(usdc), 1, "No TokenMessenger for domain");
        _refusesBurn(
            2, DOMAIN_THERE, word(RECIPIENT), address(minted), 1, "Burn token not supported"
        );
        messengerHere.setMinFee(1);
        _refusesBurn(1, DOMAIN_THERE, word(RECIPIENT), address(usdc), 0, "Amount too low");
        _refusesBurn(2, DOMAIN_THERE, word(RECIPIENT), address(usdc), 0, "Insufficient max fee");
        assertEq(messengerHere.getMinFeeAmount(20_000_000), 2, "of larger amounts");
        vm.expectRevert(bytes("Min fee too high"));
        messengerHere.setMinFee(10_000_000);
    }

    function test_sendMessage_RevertsAsCirclesDoes() public {
        vm.expectRevert(bytes("Domain is local domain"));
        transmitterHere.sendMessage(DOMAIN_HERE, word(RECIPIENT), 0, 1000, "");
        vm.expectRevert(bytes("Recipient must be nonzero"));
        transmitterHere.sendMessage(DOMAIN_THERE, 0, 0, 1000, "");
        vm.expectRevert(bytes("Message body exceeds max size"));
        transmitterHere.sendMessage(DOMAIN_THERE, word(RECIPIENT), 0, 1000, new bytes(8193));
    }

    function test_handlers_ObeyTheTransmitterAlone() public {
        bytes32 sender = word(address(messengerHere));
        vm.expectRevert(bytes("Invalid message transmitter"));
        messengerThere.handleReceiveFinalizedMessage(DOMAIN_HERE, sender, 2000, "");
        vm.expectRevert(bytes("Invalid message transmitter"));
        messengerThere.handleReceiveUnfinalizedMessage(DOMAIN_HERE, sender, 1000, "");
        vm.prank(STRANGER);
        vm.expectRevert(bytes("Ownable: caller is not the owner"));
        messengerThere.setMinFee(1);
        vm.prank(STRANGER);
        vm.expectRevert(bytes("Ownable: caller is not the owner"));
        messengerThere.link(9, word(STRANGER), word(STRANGER));
    }

    function _burn(uint256 maxFee, uint32 threshold) private returns (bytes memory) {
        usdc.mint(STRANGER, AMOUNT);
        vm.startPrank(STRANGER);
        usdc.approve(address(messengerHere), AMOUNT);
        vm.recordLogs();
        messengerHere.depositForBurn(
            AMOUNT, DOMAIN_THERE, word(RECIPIENT), address(usdc), 0, maxFee, threshold
        );
        vm.stopPrank();
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].emitter == address(transmitterHere)) {
                return abi.decode(logs[i].data, (bytes));
            }
        }
        revert();
    }

    function _body(bytes memory message) private pure returns (bytes memory body) {
        body = new bytes(message.length - 148);
        for (uint256 i; i < body.length; ++i) {
            body[i] = message[148 + i];
        }
    }

    function _refuses(bytes memory message, bytes memory attestation, string memory reason)
        private
    {
        vm.expectRevert(bytes(reason));
        transmitterThere.receiveMessage(message, attestation);
    }

    function _refusesBurn(
        uint256 amount,
        uint32 domain,
        bytes32 recipient,
        address token,
        uint256 maxFee,
        string memory reason
    ) private {
        vm.expectRevert(bytes(reason));
        messengerHere.depositForBurn(amount, domain, recipient, token, 0, maxFee, 1000);
    }
}
