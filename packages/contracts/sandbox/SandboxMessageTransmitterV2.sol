// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import { IMessageHandlerV2 } from "../src/interfaces/external/IMessageHandlerV2.sol";
import { IMessageTransmitterV2 } from "../src/interfaces/external/IMessageTransmitterV2.sol";
import { Address32 } from "../src/types/Address32.sol";

/// @title A double of Circle's MessageTransmitterV2
/// @notice Has its functions, events, checks, revert reasons and message format, without its roles,
/// pause and proxy. Never use it on a real chain.
contract SandboxMessageTransmitterV2 is IMessageTransmitterV2 {
    uint256 private constant HEADER_LENGTH = 148;
    uint256 private constant SIGNATURE_LENGTH = 65;
    uint32 private constant FINALIZED = 2000;
    uint256 private constant MAX_BODY = 8192;

    uint32 public constant version = 1;
    uint32 public immutable localDomain;
    uint256 public immutable signatureThreshold;
    mapping(address attester => bool) public isEnabledAttester;
    mapping(bytes32 nonce => uint256) public usedNonces;

    constructor(uint32 localDomain_, address[] memory attesters, uint256 signatureThreshold_) {
        require(signatureThreshold_ > 0, "Signature threshold is zero");
        require(signatureThreshold_ <= attesters.length, "Signature threshold exceeds attesters");
        localDomain = localDomain_;
        signatureThreshold = signatureThreshold_;
        for (uint256 i; i < attesters.length; ++i) {
            require(attesters[i] != address(0), "New attester must be nonzero");
            require(!isEnabledAttester[attesters[i]], "Attester already enabled");
            isEnabledAttester[attesters[i]] = true;
        }
    }

    /// @inheritdoc IMessageTransmitterV2
    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external {
        require(destinationDomain != localDomain, "Domain is local domain");
        require(messageBody.length <= MAX_BODY, "Message body exceeds max size");
        require(recipient != 0, "Recipient must be nonzero");
        emit MessageSent(abi.encodePacked(
                version,
                localDomain,
                destinationDomain,
                bytes32(0),
                Address32.toBytes32(msg.sender),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                messageBody
            ));
    }

    /// @inheritdoc IMessageTransmitterV2
    function receiveMessage(bytes calldata message, bytes calldata attestation)
        external
        returns (bool)
    {
        _checkAttestation(message, attestation);
        require(message.length >= HEADER_LENGTH, "Invalid message: too short");
        require(_uint32At(message, 8) == localDomain, "Invalid destination domain");
        bytes32 caller = _wordAt(message, 108);
        require(
            caller == 0 || caller == Address32.toBytes32(msg.sender), "Invalid caller for message"
        );
        require(_uint32At(message, 0) == version, "Invalid message version");
        bytes32 nonce = _wordAt(message, 12);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        _handle(message);
        emit MessageReceived(
            msg.sender,
            _uint32At(message, 4),
            nonce,
            _wordAt(message, 44),
            _uint32At(message, 144),
            message[HEADER_LENGTH:]
        );
        return true;
    }

    function _handle(bytes calldata message) private {
        IMessageHandlerV2 handler = IMessageHandlerV2(Address32.toAddress(_wordAt(message, 76)));
        uint32 sourceDomain = _uint32At(message, 4);
        bytes32 sender = _wordAt(message, 44);
        uint32 executed = _uint32At(message, 144);
        bytes calldata body = message[HEADER_LENGTH:];
        if (executed < FINALIZED) {
            require(
                handler.handleReceiveUnfinalizedMessage(sourceDomain, sender, executed, body),
                "handleReceiveUnfinalizedMessage() failed"
            );
        } else {
            require(
                handler.handleReceiveFinalizedMessage(sourceDomain, sender, executed, body),
                "handleReceiveFinalizedMessage() failed"
            );
        }
    }

    function _checkAttestation(bytes calldata message, bytes calldata attestation) private view {
        require(
            attestation.length == SIGNATURE_LENGTH * signatureThreshold,
            "Invalid attestation length"
        );
        bytes32 digest = keccak256(message);
        address last;
        for (uint256 i; i < attestation.length; i += SIGNATURE_LENGTH) {
            (address attester,,) =
                ECDSA.tryRecoverCalldata(digest, attestation[i:i + SIGNATURE_LENGTH]);
            require(attester > last, "Invalid signature order or dupe");
            require(isEnabledAttester[attester], "Invalid signature: not attester");
            last = attester;
        }
    }

    function _uint32At(bytes calldata message, uint256 index) private pure returns (uint32) {
        return uint32(bytes4(message[index:index + 4]));
    }

    function _wordAt(bytes calldata message, uint256 index) private pure returns (bytes32) {
        return bytes32(message[index:index + 32]);
    }
}
