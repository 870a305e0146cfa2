// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What is used of Circle's MessageTransmitterV2
/// @notice github.com/circlefin/evm-cctp-contracts, src/v2/MessageTransmitterV2.sol, documented at
/// developers.circle.com/cctp. The message is, packed: version u32, sourceDomain u32,
/// destinationDomain u32, nonce bytes32, sender bytes32, recipient bytes32, destinationCaller bytes32,
/// minFinalityThreshold u32, finalityThresholdExecuted u32, messageBody.
interface IMessageTransmitterV2 {
    /// @notice Nonce and `finalityThresholdExecuted` are zero in it; the attestation service fills
    /// them in.
    event MessageSent(bytes message);

    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external;

    /// @param attestation As many signatures of `keccak256(message)`, 65 bytes each, as the threshold
    /// asks for, in ascending order of their attesters.
    function receiveMessage(bytes calldata message, bytes calldata attestation)
        external
        returns (bool success);

    /// @notice Not zero once the nonce was used.
    function usedNonces(bytes32 nonce) external view returns (uint256);

    function localDomain() external view returns (uint32);
    function version() external view returns (uint32);
    function signatureThreshold() external view returns (uint256);
    function isEnabledAttester(address attester) external view returns (bool);
}
