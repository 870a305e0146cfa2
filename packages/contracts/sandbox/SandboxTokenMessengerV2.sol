// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { IMessageHandlerV2 } from "../src/interfaces/external/IMessageHandlerV2.sol";
import { IMessageTransmitterV2 } from "../src/interfaces/external/IMessageTransmitterV2.sol";
import { ITokenMessengerV2 } from "../src/interfaces/external/ITokenMessengerV2.sol";
import { Address32 } from "../src/types/Address32.sol";
import { TestToken } from "./TestToken.sol";

/// @title A double of Circle's TokenMessengerV2 and TokenMinterV2
/// @notice Has its functions, events, checks, revert reasons and message format, without its roles,
/// denylist and proxy; burns have no limit until one is set. One token; the deployer links it to others. Supply is conserved:
/// the linked messenger mints the burned amount. Never use it on a real chain.
contract SandboxTokenMessengerV2 is ITokenMessengerV2, IMessageHandlerV2 {
    using SafeERC20 for IERC20;

    /// @dev The first arguments of a burn, to avoid "stack too deep".
    struct Burn {
        uint256 amount;
        uint32 domain;
        bytes32 mintRecipient;
        address token;
        bytes32 destinationCaller;
    }

    uint256 private constant BODY_LENGTH = 228;
    uint32 private constant LEAST_FINALITY = 500;

    /// @notice Denominator of `minFee`.
    uint256 public constant MIN_FEE_MULTIPLIER = 10_000_000;
    uint32 public constant messageBodyVersion = 1;
    address public immutable localMessageTransmitter;
    address public immutable feeRecipient;
    TestToken private immutable TOKEN;
    address private immutable DEPLOYER = msg.sender;

    /// @notice Circle's fee switch: the smallest `maxFee` that a burn must allow.
    uint256 public minFee;
    mapping(uint32 domain => bytes32) public remoteTokenMessengers;

    /// @notice Largest burn of a token in one message, which Circle keeps in TokenMinterV2.
    mapping(address token => uint256) public burnLimitsPerMessage;
    mapping(uint32 domain => bytes32) private _remoteTokens;

    modifier onlyDeployer() {
        require(msg.sender == DEPLOYER, "Ownable: caller is not the owner");
        _;
    }

    modifier onlyMessages(uint32 domain, bytes32 sender) {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(
            sender != 0 && remoteTokenMessengers[domain] == sender,
            "Remote TokenMessenger unsupported"
        );
        _;
    }

    constructor(address transmitter, address token, address feeRecipient_) {
        localMessageTransmitter = transmitter;
        TOKEN = TestToken(token);
        feeRecipient = feeRecipient_;
        burnLimitsPerMessage[token] = type(uint256).max;
    }

    /// @notice The contract that mints and holds the burn limits: this one.
    function localMinter() external view returns (address) {
        return address(this);
    }

    function setMaxBurnAmountPerMessage(address token, uint256 limit) external onlyDeployer {
        burnLimitsPerMessage[token] = limit;
    }

    /// @notice Links the token to the token and messenger of another domain.
    function link(uint32 domain, bytes32 tokenMessenger, bytes32 remoteToken)
        external
        onlyDeployer
    {
        remoteTokenMessengers[domain] = tokenMessenger;
        _remoteTokens[domain] = remoteToken;
    }

    function setMinFee(uint256 minFee_) external onlyDeployer {
        require(minFee_ < MIN_FEE_MULTIPLIER, "Min fee too high");
        minFee = minFee_;
    }

    /// @inheritdoc ITokenMessengerV2
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        _burn(
            Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller),
            maxFee,
            minFinalityThreshold,
            ""
        );
    }

    /// @inheritdoc ITokenMessengerV2
    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        require(hookData.length > 0, "Hook data is empty");
        _burn(
            Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller),
            maxFee,
            minFinalityThreshold,
            hookData
        );
    }

    /// @inheritdoc IMessageHandlerV2
    function handleReceiveFinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32,
        bytes calldata messageBody
    ) external onlyMessages(sourceDomain, sender) returns (bool) {
        _mint(sourceDomain, messageBody);
        return true;
    }

    /// @inheritdoc IMessageHandlerV2
    function handleReceiveUnfinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external onlyMessages(sourceDomain, sender) returns (bool) {
        require(finalityThresholdExecuted >= LEAST_FINALITY, "Unsupported finality threshold");
        _mint(sourceDomain, messageBody);
        return true;
    }

    /// @inheritdoc ITokenMessengerV2
    function getMinFeeAmount(uint256 amount) public view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        uint256 least = amount * minFee / MIN_FEE_MULTIPLIER;
        return least == 0 ? 1 : least;
    }

    function _burn(
        Burn memory burn,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes memory hookData
    ) private {
        require(burn.amount > 0, "Amount must be nonzero");
        require(burn.mintRecipient != 0, "Mint recipient must be nonzero");
        require(maxFee < burn.amount, "Max fee must be less than amount");
        require(maxFee >= getMinFeeAmount(burn.amount), "Insufficient max fee");
        bytes32 messenger = remoteTokenMessengers[burn.domain];
        require(messenger != 0, "No TokenMessenger for domain");
        require(burn.token == address(TOKEN), "Burn token not supported");
        require(burnLimitsPerMessage[burn.token] > 0, "Burn token not supported");
        require(burn.amount <= burnLimitsPerMessage[burn.token], "Burn amount exceeds per tx limit");

        IERC20(burn.token).safeTransferFrom(msg.sender, address(this), burn.amount);
        TOKEN.burn(burn.amount);
        IMessageTransmitterV2(localMessageTransmitter)
            .sendMessage(
                burn.domain,
                messenger,
                burn.destinationCaller,
                minFinalityThreshold,
                bytes.concat(_formatBody(burn.mintRecipient, burn.amount, maxFee), hookData)
            );
        emit DepositForBurn(
            burn.token,
            burn.amount,
            msg.sender,
            burn.mintRecipient,
            burn.domain,
            messenger,
            burn.destinationCaller,
            maxFee,
            minFinalityThreshold,
            hookData
        );
    }

    function _mint(uint32 sourceDomain, bytes calldata body) private {
        require(body.length >= BODY_LENGTH, "Invalid message: too short");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expirationBlock = _wordAt(body, 196);
        require(
            expirationBlock == 0 || expirationBlock > block.number,
            "Message expired and must be re-signed"
        );
        uint256 amount = _wordAt(body, 68);
        uint256 fee = _wordAt(body, 164);
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= _wordAt(body, 132), "Fee exceeds max fee");
        bytes32 burnToken = bytes32(_wordAt(body, 4));
        require(
            burnToken != 0 && burnToken == _remoteTokens[sourceDomain], "Mint token not supported"
        );
        address recipient = Address32.toAddress(bytes32(_wordAt(body, 36)));

        TOKEN.mint(recipient, amount - fee);
        if (fee != 0) TOKEN.mint(feeRecipient, fee);
        emit MintAndWithdraw(recipient, amount - fee, address(TOKEN), fee);
    }

    /// @dev The fee executed and the block of expiry are zero; Circle's attestation service sets them.
    function _formatBody(bytes32 mintRecipient, uint256 amount, uint256 maxFee)
        private
        view
        returns (bytes memory)
    {
        return abi.encodePacked(
            messageBodyVersion,
            Address32.toBytes32(address(TOKEN)),
            mintRecipient,
            amount,
            Address32.toBytes32(msg.sender),
            maxFee,
            uint256(0),
            uint256(0)
        );
    }

    function _wordAt(bytes calldata body, uint256 index) private pure returns (uint256) {
        return uint256(bytes32(body[index:index + 32]));
    }
}
