// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What the routes call of Circle's TokenMessengerV2
/// @notice github.com/circlefin/evm-cctp-contracts, src/v2/TokenMessengerV2.sol, documented at
/// developers.circle.com/cctp.
interface ITokenMessengerV2 {
    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );

    event MintAndWithdraw(
        address indexed mintRecipient,
        uint256 amount,
        address indexed mintToken,
        uint256 feeCollected
    );

    /// @param destinationCaller Who may hand the message in; zero is anybody.
    /// @param maxFee The most that may be kept on the destination, below `amount`.
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external;

    /// @notice The same with data that is attested and passed on in the message, and not executed.
    /// @param hookData Not empty.
    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external;

    /// @notice The least `maxFee` that `depositForBurn` accepts for `amount`.
    function getMinFeeAmount(uint256 amount) external view returns (uint256);

    function localMessageTransmitter() external view returns (address);
    function messageBodyVersion() external view returns (uint32);
    function remoteTokenMessengers(uint32 domain) external view returns (bytes32);
    function feeRecipient() external view returns (address);
}
