// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Who receives messages of Circle's MessageTransmitterV2
/// @notice github.com/circlefin/evm-cctp-contracts, src/interfaces/v2/IMessageHandlerV2.sol.
interface IMessageHandlerV2 {
    function handleReceiveFinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool);

    function handleReceiveUnfinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool);
}
